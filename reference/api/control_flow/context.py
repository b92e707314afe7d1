"""What every context of control flow does: it knows the values that are inside of it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.api.control_flow.context_defs import (
    known_in,
    nested_defs,
    restore_nested,
    values_def,
)
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.build.build import apply_op
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import stacks
from sessrun.reference.graph.name_prefixes import without
from sessrun.reference.graph.tensor import Tensor

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Context",
    "constant_enter_of",
    "contains",
    "context_after",
    "derives_or_calls",
    "is_constant_enter",
    "is_loop_switch",
    "is_switch_of_branch",
    "loop_around",
    "op_type_for",
    "switched",
]

#: What `tf.logging` writes to.
_LOGGER: Final = logging.getLogger("sessrun")
_EXITS: Final = frozenset({"Exit", "RefExit"})
_HANDING_ON: Final = frozenset({"Switch", "RefSwitch", "Identity", "RefIdentity"})
_SWITCHES: Final = frozenset({"Switch", "RefSwitch"})


class Context(ABC):
    """The inside of a branch or of a loop; `Conditional` and `Loop` are the kinds.

    Args:
      name: what it is called.

    Attributes:
      is_branch: whether it is the inside of a branch.
      graph: the graph whose new operations it is given.
      name: its name.
      outer_context: the context around it, or None.
      nested: the contexts within it.

    """

    is_branch = False

    def __init__(self, name: str) -> None:
        graph = stacks.get_default_graph()
        graph.tell = _take_in
        self.graph = graph
        self.name = name
        self.outer_context: Context | None = graph.scopes.control_flow
        self.nested: list[Context] = []
        if self.outer_context is not None:
            self.outer_context.nested.append(self)
        self._known: set[Tensor] = set()
        self._inside: dict[Tensor, Tensor] = {}
        self._entered_from: list[Context | None] = []

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The `with` in which new operations belong to this context."""
        self._entered_from.append(self.graph.scopes.control_flow)
        try:
            with self.graph.scopes.replaced(control_flow=self):
                yield
        finally:
            self._entered_from.pop()

    def left(self) -> AbstractContextManager[None]:
        """The `with` in which operations belong to the context that this one was entered from."""
        return self.graph.scopes.replaced(control_flow=self._entered_from[-1])

    def around(self) -> AbstractContextManager[None]:
        """The `with` in which operations belong to the enclosing context, if there is one."""
        return nullcontext() if self.outer_context is None else self.outer_context.entered()

    def settles(self, op: Operation) -> None:
        """Add an operation to this context, whatever context it was created in."""
        op._control_flow_context = self  # noqa: SLF001 - the two belong together

    @property
    @abstractmethod
    def pivot(self) -> Tensor | None:
        """The operation that operations without inputs wait for, to run only when it does."""

    def loop(self) -> Context | None:
        """The innermost loop that this is, or is in."""
        return None if self.outer_context is None else self.outer_context.loop()

    @abstractmethod
    def value_inside(self, value: Tensor) -> Tensor:
        """The tensor of this context that stands for a tensor, which may be from outside."""

    @abstractmethod
    def take(self, op: Operation) -> None:
        """Add an operation that was created inside: its inputs from outside are let in."""

    def take_new(self, op: Operation) -> None:
        """Take in an operation that was just created here, or put it where it belongs instead."""
        self.take(op)

    # -- as data

    def _says(self, message: Any, scope: str | None) -> None:
        """Put into a message what all kinds say."""
        message.context_name = without(scope, self.name)
        message.values_def.CopyFrom(values_def(self._known, self._inside, scope))
        message.nested_contexts.extend(nested_defs(self.nested, scope))

    def _restore(self, message: Any, scope: str | None) -> None:
        """Restore the tensors that a message lists, and the nested contexts."""
        definition = message.values_def
        self._known, self._inside = known_in(self.graph, definition, scope, self.settles)
        with self.entered():
            for nested in message.nested_contexts:
                restore_nested(nested, scope)

    # -- what the kinds share

    def knows(self, tensor: Tensor) -> None:
        """Note that a tensor is inside, here and in every context around."""
        context: Context | None = self
        while context is not None:
            context._known.add(tensor)  # noqa: SLF001 - of the same kind
            context = context.outer_context

    def knows_here(self, tensor: Tensor) -> None:
        """Note that a tensor may be taken inside as it is."""
        self._known.add(tensor)

    def leave_with(self, results: list[Tensor]) -> None:
        """Let the context around know what comes out of this one."""
        if self.outer_context is not None:
            self.outer_context._known.update(results)  # noqa: SLF001 - of the same kind

    def _from_outside(self, value: Tensor) -> Tensor:
        """The tensor of the enclosing context that stands for a tensor from further outside."""
        if self.outer_context is None:
            return value
        outer_value = self.outer_context.value_inside(value)
        if outer_value is not value:
            self._known.add(outer_value)
            self._inside[outer_value] = outer_value
        return outer_value

    def _bring_in_inputs(self, op: Operation) -> None:
        for index, tensor in enumerate(op.inputs):
            inside = self.value_inside(tensor)
            if inside is not tensor:
                op._replace_input(index, inside)  # noqa: SLF001 - it is being built here

    def _drop_outer_edges(self, op: Operation) -> list[Operation]:
        """Take away control inputs of another loop, or of none; they are returned."""
        loop = self.loop()
        if loop is None:
            return []
        inner: list[Operation] = []
        outer: list[Operation] = []
        for other in op.control_inputs:
            (inner if loop_around(context_after(other)) is loop else outer).append(other)
        if outer:
            op._remove_all_control_inputs()  # noqa: SLF001 - it is being built here
            op._add_control_inputs(inner)  # noqa: SLF001 - the same
        return outer

    def _hide(self, op: Operation) -> bool:
        """Refuse fetches of what may be dead, or be there many times; whether that is so."""
        if self.outer_context is None and op.type in _EXITS:
            return False
        op.graph.prevent_fetching(op)
        return True


def _take_in(op: Operation) -> None:
    """Add a new operation to the innermost context of its graph.

    Raises:
      InvalidArgumentValueError: it takes what is inside of a loop that it is not in.

    """
    context: Context | None = op.graph.scopes.control_flow
    op._control_flow_context = context  # noqa: SLF001 - it is being built here
    for tensor in op.inputs:
        _check_inside(op, tensor.op)
    if context is None:
        return
    # A constant, and a call of a function, is created without a scope of its own.
    is_bare = op.type == "Const" or op.type in op.graph.functions
    with nullcontext() if is_bare else op.graph.name_scope(op.name + "/"):
        context.take_new(op)


def _check_inside(op: Operation, source: Operation) -> None:
    there = context_after(source)
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if there is None or there is context:
        return
    loop, other = loop_around(context), loop_around(there)
    advice = f"What a loop makes is taken from what the loop returns, not from '{source.name}'."
    if loop is None:
        if other is None or op.type in ENTERS or op.type in _SWITCHES:
            return
        _LOGGER.info(advice)
        raise bad_value(
            f"Cannot use '{source.name}' as input to '{op.name}' because '{source.name}' is in a "
            "while loop. See info log for more details."
        )
    if other is not None and not _may_take(loop, other):
        _LOGGER.info(advice)
        raise bad_value(
            f"Cannot use '{source.name}' as input to '{op.name}' because they are in different "
            "while loops. See info log for more details."
        )


def _may_take(loop: Any, other: Any) -> bool:
    """Whether operations inside of one loop may take tensors of another one.

    It may if that is around it, or if one is of the gradient of the other.
    """
    state, source = loop.gradient, other.gradient
    if contains(other, loop):
        return True
    if state is not None:
        forward = state.forward
        if contains(other, forward) or forward is other.outer_context:
            return True
    if source is None:
        return False
    if source.forward is loop:
        return True
    second = source.forward.gradient
    return second is not None and second.forward is loop


def contains(outer: Context | None, inner: Context | None) -> bool:
    """Whether a context is, or is around, another; None is around all."""
    while inner is not outer:
        if inner is None:
            return False
        inner = inner.outer_context
    return True


def context_after(op: Operation) -> Context | None:
    """The context that an operation's outputs are in."""
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if context is not None and op.type in _EXITS:
        return context.outer_context
    return context


def loop_around(context: Context | None) -> Context | None:
    """The innermost loop that a context is, or is in."""
    return None if context is None else context.loop()


def derives_or_calls(op: Operation) -> bool:
    """Whether it calls a function by its type, or derives one, which must wait for the pivot."""
    return op.type in op.graph.functions or op.type == "SymbolicGradient"


def is_loop_switch(op: Operation) -> bool:
    """Whether it is the Switch at a loop's condition, and not one of a branch in the loop."""
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if op.type not in _SWITCHES or context is None or context.loop() is not context:
        return False
    return not is_switch_of_branch(op)


def is_switch_of_branch(op: Operation) -> bool:
    """Whether a Switch is one of a branch: all that takes its outputs is inside of branches."""
    users = [user for output in op.outputs for user in output.consumers()]
    return all(_is_of_branch(user) for user in users)


def _is_of_branch(op: Operation) -> bool:
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if op.type in ENTERS:
        context = context.outer_context
    return context is not None and context.is_branch


def is_constant_enter(op: Operation) -> bool:
    """Whether it brings a value into every iteration of a loop."""
    return op.type in ENTERS and bool(op.attrs["is_constant"])


def constant_enter_of(value: Tensor) -> Operation | None:
    """The constant `Enter` that a tensor comes from through operations that pass it on, or None."""
    op = value.op
    while op.type in _HANDING_ON:
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def op_type_for(op_type: str, *values: Tensor) -> str:
    """The op type, or if all the values are references its form for these."""
    refs = all(value.dtype._is_ref_dtype for value in values)  # noqa: SLF001 - TensorFlow's own name
    return f"Ref{op_type}" if refs else op_type


def switched(value: Tensor, pred: Tensor, name: str = "Switch") -> list[Tensor]:
    """The two outputs, for false and for true, of a `Switch` beside the value."""
    graph = stacks.get_default_graph()
    with graph.colocate_with(value, ignore_existing=True):
        inputs: dict[str, object] = {"data": value, "pred": pred}
        return apply_op(op_type_for("Switch", value), inputs, {}, name).outputs
