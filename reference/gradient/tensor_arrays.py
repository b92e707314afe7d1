"""Gradients of arrays of tensors: what was read is written to the array's gradient, and back.

An array has one array of gradients for each `gradients` call, told apart by the name scope of
the gradient that comes in. Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__: list[str] = []


def _source(grad: Tensor) -> str:
    """The name up to the last part that begins with `gradients`.

    Raises:
      ValueError: there is none.

    """
    parts = grad.name.split("/")
    places = [place for place, part in enumerate(parts) if part.startswith("gradients")]
    if not places:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{grad.name}. This means that a tf.gradients op with this op in its dependency path "
            "has a custom name that does not start with 'gradients'. Please make sure all calls "
            "to tf.gradients that include non-empty `name` arguments have names that start with "
            "'gradients'."
        )
    return "/".join(parts[: places[-1] + 1])


def _gradients(op: Operation, flow: Tensor, dtype: Any, grad: Tensor) -> TensorArray:
    """The array of gradients of the one that an operation works on."""
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=_source(grad), flow=flow)


def _after_writing(op: Operation, flow: Tensor) -> tuple[TensorArray, Tensor]:
    """The array of gradients of one that was written to, and the flow once all is written.

    It is sized as the array is then.
    """
    written = identity(op.outputs[0], "flow_out")
    with stacks.get_default_graph().control_dependencies([written]):
        flow = identity(flow, "write_barrier")
    return _gradients(op, flow, op.get_attr("T"), flow), flow


@gradient("TensorArrayReadV3")
def _read(op: Operation, grad: Any) -> Any:
    _, index, flow = op.inputs
    array = _gradients(op, flow, op.get_attr("dtype"), grad)
    return [None, None, array.write(index, grad).flow]


@gradient("TensorArrayWriteV3")
def _write(op: Operation, flow: Any) -> Any:
    array, flow = _after_writing(op, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@gradient("TensorArrayGatherV3")
def _gather(op: Operation, grad: Any) -> Any:
    _, indices, flow = op.inputs
    array = _gradients(op, flow, op.get_attr("dtype"), grad)
    return [None, None, array.scatter(indices, grad).flow]


@gradient("TensorArrayScatterV3")
def _scatter(op: Operation, flow: Any) -> Any:
    array, flow = _after_writing(op, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@gradient("TensorArrayConcatV3")
def _concat(op: Operation, grad: Any, _lengths: Any) -> Any:
    array = _gradients(op, op.inputs[1], op.get_attr("dtype"), grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@gradient("TensorArraySplitV3")
def _split(op: Operation, flow: Any) -> Any:
    array, flow = _after_writing(op, flow)
    return [None, array.concat(), None, flow]
