"""Placeholders, identities, groups: the operations that a program uses to shape its graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sessrun.reference.base import tensor_shape
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "gated",
    "group",
    "identity",
    "no_op",
    "placeholder",
    "placeholder_with_default",
    "tuple_",
]


@public("placeholder")
def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A tensor that every run that needs it must feed.

    Args:
      dtype: its dtype.
      shape: what feeds must fit; None for anything.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError: `dtype` is no dtype, or `shape` is no shape.
      InvalidArgumentValueError: a dimension is negative.

    """
    if dtype is None:
        raise bad_type("Expected DataType for argument 'dtype' not None.")
    return apply_op("Placeholder", {}, {"dtype": dtype, "shape": shape}, name).outputs[0]


@public("placeholder_with_default")
def placeholder_with_default(
    input: TensorLike,  # noqa: A002 - TensorFlow's signature
    shape: ShapeLike,
    name: str | None = None,
) -> Tensor:
    """A tensor that a run may feed; the value of `input` if it does not.

    Raises:
      InvalidArgumentValueError: `input` does not fit `shape`.

    """
    attrs = {"shape": tensor_shape.as_shape(shape)}
    return apply_op("PlaceholderWithDefault", {"input": input}, attrs, name).outputs[0]


@public("identity")
def identity(input: object, name: str | None = None) -> Tensor:  # noqa: A002 - TensorFlow's signature
    """An `Identity` of a tensor; of a composite, identities of its tensors."""
    if hasattr(input, "_mapped"):
        return input._mapped(identity)  # type: ignore[no-any-return]  # noqa: SLF001 - sparse values' own method
    return apply_op("Identity", {"input": input}, {}, name).outputs[0]


@public("no_op")
def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing; it carries control dependencies."""
    return apply_op("NoOp", {}, {}, name)


@public("group")
def group(*inputs: object, **kwargs: Any) -> Operation:
    """An operation that finishes when all the inputs have finished.

    Args:
      *inputs: operations and tensors, in any nesting of lists, tuples and dicts.
      **kwargs: `name`, the operation's name.

    Raises:
      TypeError: an input is neither.
      ValueError: there is another keyword.

    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    ops = [_operation_of(item) for item in _flat(inputs)]
    graph = default_graph.graph_for(ops[0].graph) if ops else default_graph.get_default_graph()
    with graph.as_default(), graph.name_scope(name or "group_deps") as scope:
        by_device: dict[str, list[Operation]] = {}
        for op in ops:
            by_device.setdefault(op.device, []).append(op)
        if len(by_device) == 1:
            return _gate(ops, ops[0].device, scope)
        gates = [_gate(by_device[device], device) for device in sorted(by_device)]
        return _gate(gates, "", scope)


def _gate(ops: list[Operation], device: str, name: str | None = None) -> Operation:
    """An operation on the device that waits for these."""
    graph = default_graph.get_default_graph()
    with graph.control_dependencies(ops), graph.device(device):
        return no_op(name)


def _operation_of(item: object) -> Operation:
    if hasattr(item, "_as_graph_element") and not hasattr(item, "_handle"):
        item = item._as_graph_element()  # noqa: SLF001 - the protocol of things in a graph
    if isinstance(item, Operation):
        return item
    if hasattr(item, "op") and isinstance(item.op, Operation):
        return item.op
    raise TypeError(
        f"'inputs' should be zero or more (nested) Tensors. Received '{item}' with type "
        f"'{type(item)}'."
    )


def _flat(item: Any) -> Iterator[object]:
    if isinstance(item, Mapping):
        item = [item[key] for key in sorted(item)]
    elif hasattr(item, "_mapped"):  # a sparse value
        item = item.parts()
    if isinstance(item, list | tuple):
        for inner in item:
            yield from _flat(inner)
    else:
        yield item


def gated(graph: Graph, item: Any) -> Any:
    """An identity of a tensor, on its device; of an operation one that comes after it.

    Rows of a tensor come with their values again, a sparse tensor with all of its parts.
    """
    if isinstance(item, Operation):
        return group(item)
    if hasattr(item, "_mapped"):
        with graph.colocate_with(item.values), graph.name_scope("control_dependency") as scope:
            if item.parts()[0] is item.values:
                again = identity(item.values, name=scope)
                return type(item)(again, item.indices, item.dense_shape)
            return item._mapped(identity)  # noqa: SLF001 - its own method
    tensor = convert_to_tensor(item)
    with graph.colocate_with(tensor):
        return identity(tensor, name="control_dependency")


@public("tuple")
def tuple_(
    tensors: Sequence[object],
    name: str | None = None,
    control_inputs: Iterable[object] | None = None,
) -> list[Any]:
    """Identities of the tensors, all of which run after all of the tensors are computed.

    Args:
      tensors: tensors, what becomes one, operations or None; None comes back as None, an
        operation as one that waits for all.
      name: a name scope.
      control_inputs: more operations to wait for.

    Raises:
      ValueError: there is not a tensor.
      TypeError: a control input is no tensor and no operation.

    """
    items = list(tensors)
    graphs = [item.graph for item in items if hasattr(item, "graph")]
    graph = default_graph.graph_for(graphs[0]) if graphs else default_graph.get_default_graph()
    with graph.as_default(), graph.name_scope(name or "tuple"):
        items = [
            item if item is None or hasattr(item, "graph") else convert_to_tensor(item)
            for item in items
        ]
        ops = [_operation_of(item) for item in items if item is not None]
        if not ops:
            raise bad_value(f"'tensors' must have at least one Tensor. Received: {items}.")
        for item in control_inputs or ():
            if not isinstance(item, Tensor | Operation):
                raise TypeError(
                    "'control_inputs' must only contain Operation or Tensor. "
                    f"Received: {type(item)}"
                )
            ops.append(_operation_of(item))
        gate = group(*sorted(set(ops), key=lambda op: op.id))
        with graph.control_dependencies([gate]):
            return [None if item is None else gated(graph, item) for item in items]
