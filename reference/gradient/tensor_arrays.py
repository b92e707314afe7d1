"""Gradients of TensorArrays: gradients of reads are written to an array of gradients.

A TensorArray has one array of gradients for each call of `gradients`, which is known by the name
scope of the incoming gradient. Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _source(grad: Tensor) -> str:
    """The name of a gradient up to its last part that begins with `gradients`.

    Raises:
      ValueError: no part begins with that.

    """
    parts = grad.name.split("/")
    positions = [position for position, part in enumerate(parts) if part.startswith("gradients")]
    if not positions:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{grad.name}. This means that a tf.gradients op with this op in its dependency path "
            "has a custom name that does not start with 'gradients'. Please make sure all calls "
            "to tf.gradients that include non-empty `name` arguments have names that start with "
            "'gradients'."
        )
    return "/".join(parts[: positions[-1] + 1])


def _gradients(op: Operation, flow: Tensor, dtype: DType, grad: Tensor) -> TensorArray:
    """The array of gradients of the TensorArray that an operation reads or writes."""
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=_source(grad), flow=flow)


def _gradients_after_writes(op: Operation, flow: Tensor) -> tuple[TensorArray, Tensor]:
    """The array of gradients, created after all writes to the TensorArray, and its flow.

    So it has the TensorArray's final size, which writes may increase.
    """
    last_flow = identity(op.outputs[0], "flow_out")
    with default_graph.get_default_graph().control_dependencies([last_flow]):
        flow = identity(flow, "write_barrier")
    return _gradients(op, flow, op.get_attr("T"), flow), flow


@gradient("TensorArrayReadV3")
def _read(op: Operation, grad: Tensor) -> Gradients:
    _, index, flow = op.inputs
    array = _gradients(op, flow, op.get_attr("dtype"), grad)
    return [None, None, array.write(index, grad).flow]


@gradient("TensorArrayWriteV3")
def _write(op: Operation, flow: Tensor) -> Gradients:
    array, flow = _gradients_after_writes(op, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@gradient("TensorArrayGatherV3")
def _gather(op: Operation, grad: Tensor) -> Gradients:
    _, indices, flow = op.inputs
    array = _gradients(op, flow, op.get_attr("dtype"), grad)
    return [None, None, array.scatter(indices, grad).flow]


@gradient("TensorArrayScatterV3")
def _scatter(op: Operation, flow: Tensor) -> Gradients:
    array, flow = _gradients_after_writes(op, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@gradient("TensorArrayConcatV3")
def _concat(op: Operation, grad: Tensor, _lengths: Tensor) -> Gradients:
    array = _gradients(op, op.inputs[1], op.get_attr("dtype"), grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@gradient("TensorArraySplitV3")
def _split(op: Operation, flow: Tensor) -> Gradients:
    array, flow = _gradients_after_writes(op, flow)
    return [None, array.concat(), None, flow]
