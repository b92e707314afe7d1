"""`tensorflow.python.framework.subscribe`: functions that see a tensor whenever it is computed.

A subscribed tensor gets an `Identity` behind it, which waits for what the functions made of it.
Every operation that read the tensor, or waited for its operation, has the identity instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["subscribe"]

SideEffect = Callable[[Tensor], Iterable[Any]]
#: Which operations waited for an operation before anything was rewritten.
_Waiting = dict[Operation, list[Operation]]


def subscribe(tensors: Any, side_effects: Any) -> Any:
    """Let functions see tensors from now on, in every run that computes them.

    Args:
      tensors: a Tensor, a variable (its value is meant), or a list, tuple, namedtuple or dict of
        these, nested as deep as one likes.
      side_effects: a function of a tensor, or several: each makes operations and returns them, or
        tensors, in a list.

    Returns:
      The identities, in the structure of `tensors`. A tensor that was subscribed before keeps the
      one it has; one that numpy has no dtype for is returned as it is.

    Raises:
      TypeError: something in the structure is none of these.

    """
    functions = list(side_effects) if hasattr(side_effects, "__iter__") else [side_effects]
    return _subscribe_all(tensors, functions, {})


def _subscribe_all(tensors: Any, functions: Sequence[SideEffect], waiting: _Waiting) -> Any:
    if isinstance(tensors, Tensor):
        return _subscribed(tensors, functions, waiting)
    if hasattr(tensors, "initializer") and hasattr(tensors, "value"):
        return _subscribed(tensors.value(), functions, waiting)
    if isinstance(tensors, list | tuple):
        items = [_subscribe_all(item, functions, waiting) for item in tensors]
        return type(tensors)(*items) if hasattr(tensors, "_fields") else type(tensors)(items)
    if isinstance(tensors, dict):
        return {key: _subscribe_all(item, functions, waiting) for key, item in tensors.items()}
    raise TypeError(f"{tensors!r} has invalid type {type(tensors)!r}: no tensor to subscribe to")


def _subscribed(tensor: Tensor, functions: Sequence[SideEffect], waiting: _Waiting) -> Tensor:
    """The identity behind a tensor, made now or before, which waits for the functions' work."""
    if not tensor.dtype.is_numpy_compatible:
        return tensor
    seen = tensor if _is_subscribed_identity(tensor) else _identity_behind(tensor)
    source = tensor if seen is None else seen.op.inputs[0]
    # One that reads it several times has the identity in the first place only, as in TensorFlow.
    readers = {op: op.inputs.index(source) for op in source.consumers()}
    waiting.setdefault(source.op, source.op._control_outputs)  # noqa: SLF001 - rewriting a graph is our trade here
    graph = tensor.graph
    scope = graph.name_scope(f"{source.op.name}/subscription/")
    with graph.as_default(), graph.device(tensor.device), scope:
        side_effects = [item for function in functions for item in function(source)]
        if seen is None:
            with graph.control_dependencies(side_effects):
                new = identity(source)
            _replace(source, new, readers, waiting[source.op])
            return new
    seen.op._add_control_inputs(graph._operation_of(item) for item in side_effects)  # noqa: SLF001 - the same
    return seen


def _replace(
    source: Tensor,
    seen: Tensor,
    readers: Mapping[Operation, int],
    waiting: Iterable[Operation],
) -> None:
    """Let `seen` stand for `source` with those that read it or waited for its operation."""
    for op, index in readers.items():
        op._update_input(index, seen)  # noqa: SLF001 - rewriting a graph is our trade here
    for op in waiting:
        kept = [other for other in op.control_inputs if other is not source.op]
        op._remove_all_control_inputs()  # noqa: SLF001 - the same
        op._add_control_inputs([*kept, seen.op])  # noqa: SLF001 - the same


def _identity_behind(tensor: Tensor) -> Tensor | None:
    """The identity that an earlier call made behind this tensor, or None."""
    identities = (op.outputs[0] for op in tensor.consumers() if op.type == "Identity")
    return next(filter(_is_subscribed_identity, identities), None)


def _is_subscribed_identity(tensor: Tensor) -> bool:
    """Whether `subscribe` made this tensor, as its name says."""
    op = tensor.op
    if op.type != "Identity":
        return False
    return op.name.startswith(f"{op.inputs[0].op.name}/subscription/Identity")
