"""`control_flow_ops`: the operations of branches and loops as functions of values of every kind.

Here stands what has no public name; `mirror` finds the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.context import op_type_for
from sessrun.reference.api.control_flow.flow_values import merged_with_index, switched_value
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op, apply_unary
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.compat.python.module_finder import of_places
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = ["exit", "merge", "ref_select", "switch", "with_dependencies"]

__getattr__ = of_places("ops.control_flow_ops")


class _Composite(Protocol):
    """A value of several tensors."""

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> Any: ...


#: A tensor, what can become one, or a value of several tensors.
Value: TypeAlias = "TensorLike | _Composite"


def _converted(value: Value | None) -> Any:
    """A tensor, as a reference if possible; composite values unchanged."""
    return value if hasattr(value, "_mapped") else convert_to_tensor(value, as_ref=True)


def _unary(op_type: str, value: Any, name: str | None) -> Any:
    value = _converted(value)
    if not isinstance(value, Tensor):
        return value._mapped(lambda part: _unary(op_type, part, None))  # noqa: SLF001 - its own method
    return apply_unary(op_type_for(op_type, value), value, name)


def _Identity(tensor: Value, name: str | None = None) -> Any:  # noqa: N802 - TensorFlow's name
    """The value; a reference stays a reference."""
    return _unary("Identity", tensor, name)


def _NextIteration(tensor: Value, name: str | None = None) -> Any:  # noqa: N802 - TensorFlow's name
    """The value, in the next iteration."""
    return _unary("NextIteration", tensor, name)


def exit(tensor: Value, name: str | None = None) -> Any:  # noqa: A001 - TensorFlow's name
    """The value, in the frame around."""
    return _unary("Exit", tensor, name)


def _Enter(  # noqa: N802 - TensorFlow's name
    tensor: Value,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The value, in a frame.

    Args:
      tensor: a tensor, a variable, or a value of several tensors.
      frame_name: which frame.
      is_constant: whether the value is available in every iteration.
      parallel_iterations: how many iterations may run side by side.
      use_ref: whether a reference stays one.
      use_input_shape: whether its static shape is kept.
      name: the operation's name.

    """
    options = (frame_name, is_constant, parallel_iterations, use_ref, use_input_shape)
    value = _converted(tensor)
    if not isinstance(value, Tensor):
        return value._mapped(lambda part: _Enter(part, *options))  # noqa: SLF001 - its own method
    attrs = {
        "frame_name": frame_name,
        "is_constant": is_constant,
        "parallel_iterations": parallel_iterations,
    }
    op_type = op_type_for("Enter", value) if use_ref else "Enter"
    entered = apply_op(op_type, {"data": value}, attrs, name).outputs[0]
    if use_input_shape:
        entered.set_shape(value.shape)
    return entered


def switch(
    data: Any, pred: bool | Tensor, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """The value where the predicate is false, and where it is true."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        composite = hasattr(data, "_mapped")
        value: Any = data
        if not composite:
            value = convert_to_tensor(data, dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if not composite:
            return apply_op("Switch", {"data": value, "pred": pred}, {}, scope).outputs
        parts = [
            apply_op("Switch", {"data": part, "pred": pred}, {}).outputs for part in value.parts()
        ]
    return tuple(type(value)(*side) for side in zip(*parts, strict=True))


def _SwitchRefOrTensor(  # noqa: N802 - TensorFlow's name
    data: TensorLike | IndexedSlices, pred: bool | Tensor, name: str = "Switch"
) -> Any:
    """As `switch`, beside the value; a reference stays one."""
    value = data if isinstance(data, IndexedSlices) else convert_to_tensor(data, name="data")
    return switched_value(value, convert_to_tensor(pred, name="pred"), name)


def ref_select(index: Tensor, inputs: Sequence[object], name: str | None = None) -> Tensor:
    """The reference of one of several variables, by number."""
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"Expected list for 'inputs' argument to 'ref_select' Op, not {inputs}.")
    return apply_op("RefSelect", {"index": index, "inputs": list(inputs)}, {}, name).outputs[0]


def merge(inputs: Sequence[Value | None], name: str | None = None) -> Any:
    """The first of the values that is alive, and its index.

    Raises:
      ValueError: a value is None.

    """
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    return merged_with_index([_converted(value) for value in inputs], name)


def with_dependencies(
    dependencies: Sequence[object],
    output_tensor: TensorLike | IndexedSlices,
    name: str | None = None,
) -> Tensor | IndexedSlices:
    """The value, once the operations have been executed."""
    graph = default_graph.get_default_graph()
    with (
        name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope,
        graph.colocate_with(_converted(output_tensor)),
        graph.control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            rows = _Identity(output_tensor.values, scope)
            return IndexedSlices(rows, output_tensor.indices, output_tensor.dense_shape)
        value = convert_to_tensor(output_tensor)
        return _Identity(value, scope) if value.dtype._is_ref_dtype else identity(value, scope)  # noqa: SLF001 - TensorFlow's own name
