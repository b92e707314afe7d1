"""Context: the base of control flow contexts, the insides of branches and `while_loop` bodies.

A context holds the values known inside of it. An operation created in it takes a value from
outside by a Switch or an Enter, which the context creates once.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference.api.control_flow.context_defs import (
    nested_defs,
    restore_nested,
    restored_values,
    values_def,
)
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.build.build import apply_op
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_prefixes import without
from sessrun.reference.graph.tensor import Tensor

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Context",
    "calls_function",
    "constant_enter_of",
    "containing_loop",
    "contains",
    "is_constant_enter",
    "is_loop_switch",
    "is_switch_of_branch",
    "op_type_for",
    "output_context",
    "switched",
]

#: What `tf.logging` writes to.
_LOGGER: Final = logging.getLogger("sessrun")
_EXITS: Final = frozenset({"Exit", "RefExit"})
_FORWARDING: Final = frozenset({"Switch", "RefSwitch", "Identity", "RefIdentity"})
_SWITCHES: Final = frozenset({"Switch", "RefSwitch"})


class Context(ABC):
    """The inside of a branch or of a loop: a `Conditional` or a `Loop`.

    Args:
      name: its name.

    Attributes:
      is_branch: whether it is the inside of a branch.
      graph: the graph whose operations it contains.
      name: its name.
      outer_context: the context around it, or None.
      nested: the contexts within it.

    """

    is_branch = False

    def __init__(self, name: str) -> None:
        graph = default_graph.get_default_graph()
        graph.on_new_operation = _add_to_context
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

    def suspended(self) -> AbstractContextManager[None]:
        """The `with` in which operations belong to the context that this one was entered from."""
        return self.graph.scopes.replaced(control_flow=self._entered_from[-1])

    def outer_entered(self) -> AbstractContextManager[None]:
        """The `with` in which operations belong to the enclosing context, if there is one."""
        return nullcontext() if self.outer_context is None else self.outer_context.entered()

    def set_context_of(self, op: Operation) -> None:
        """Add an operation to this context, whatever context it was created in."""
        op._control_flow_context = self  # noqa: SLF001 - the two belong together

    @property
    @abstractmethod
    def pivot(self) -> Tensor | None:
        """The tensor that operations without inputs have as a control input.

        So they run only if the branch is taken, or once in every iteration of the loop.
        """

    def loop(self) -> Context | None:
        """The innermost loop that contains this context, which may be a loop itself; or None."""
        return None if self.outer_context is None else self.outer_context.loop()

    @abstractmethod
    def value_inside(self, value: Tensor) -> Tensor:
        """The tensor to use inside for a tensor, which may be from outside."""

    @abstractmethod
    def add_op(self, op: Operation) -> None:
        """Add an operation that was created inside; its inputs from outside are replaced."""

    def add_new_op(self, op: Operation) -> None:
        """As `add_op`, for an operation just created here; it may be moved to another context."""
        self.add_op(op)

    # -- to and from messages

    def _write_shared_fields(self, message: Any, scope: str | None) -> None:
        """Write the fields that the messages of all kinds of context have."""
        message.context_name = without(scope, self.name)
        message.values_def.CopyFrom(values_def(self._known, self._inside, scope))
        message.nested_contexts.extend(nested_defs(self.nested, scope))

    def _restore(self, message: Any, scope: str | None) -> None:
        """Restore the known values and the nested contexts from a message."""
        definition = message.values_def
        self._known, self._inside = restored_values(
            self.graph, definition, scope, self.set_context_of
        )
        with self.entered():
            for nested in message.nested_contexts:
                restore_nested(nested, scope)

    # -- values and inputs, for the subclasses

    def add_known(self, tensor: Tensor) -> None:
        """Note that a tensor needs no Switch or Enter in this context and in all around it."""
        context: Context | None = self
        while context is not None:
            context._known.add(tensor)  # noqa: SLF001 - of the same kind
            context = context.outer_context

    def add_known_here(self, tensor: Tensor) -> None:
        """Note that a tensor needs no Switch or Enter in this context."""
        self._known.add(tensor)

    def add_known_outside(self, results: list[Tensor]) -> None:
        """Note the results of this context as values that the enclosing context knows."""
        if self.outer_context is not None:
            self.outer_context._known.update(results)  # noqa: SLF001 - of the same kind

    def _from_outside(self, value: Tensor) -> Tensor:
        """The tensor to use in the enclosing context for a value from outside of that."""
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
        """Remove control inputs that are not in the innermost loop of this context.

        Returns:
          The operations that were control inputs; [] if this context is in no loop.

        """
        loop = self.loop()
        if loop is None:
            return []
        inner: list[Operation] = []
        outer: list[Operation] = []
        for other in op.control_inputs:
            (inner if containing_loop(output_context(other)) is loop else outer).append(other)
        if outer:
            op._remove_all_control_inputs()  # noqa: SLF001 - it is being built here
            op._add_control_inputs(inner)  # noqa: SLF001 - the same
        return outer

    def _prevent_fetching(self, op: Operation) -> bool:
        """Make an operation unfetchable: its outputs may be dead, or differ between iterations.

        An Exit of an outermost loop stays fetchable; returns whether the operation is unfetchable.
        """
        if self.outer_context is None and op.type in _EXITS:
            return False
        op.graph.prevent_fetching(op)
        return True


def _add_to_context(op: Operation) -> None:
    """Add a new operation to the innermost context of its graph.

    Raises:
      InvalidArgumentValueError: an input is inside of a loop that the operation is not in.

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
        context.add_new_op(op)


def _check_inside(op: Operation, source: Operation) -> None:
    """Check that an operation may take outputs of another one, which may be in a loop."""
    source_context = output_context(source)
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if source_context is None or source_context is context:
        return
    loop, other = containing_loop(context), containing_loop(source_context)
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
    """Whether operations of a loop may take values of another loop.

    They may if the other one is around it, or if one of the two computes the other's gradient.
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
    """Whether `outer` is `inner` or encloses it; None encloses every context."""
    while inner is not outer:
        if inner is None:
            return False
        inner = inner.outer_context
    return True


def output_context(op: Operation) -> Context | None:
    """The context that an operation's outputs are in: for an Exit, the one around its loop."""
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if context is not None and op.type in _EXITS:
        return context.outer_context
    return context


def containing_loop(context: Context | None) -> Context | None:
    """The innermost loop that contains a context, which may be a loop itself; or None."""
    return None if context is None else context.loop()


def calls_function(op: Operation) -> bool:
    """Whether an operation calls a function of the graph: its type is one, or SymbolicGradient.

    Such an operation gets the pivot of its context as a control input.
    """
    return op.type in op.graph.functions or op.type == "SymbolicGradient"


def is_loop_switch(op: Operation) -> bool:
    """Whether an operation is a Switch of a loop's variable, not of a branch in the loop."""
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if op.type not in _SWITCHES or context is None or context.loop() is not context:
        return False
    return not is_switch_of_branch(op)


def is_switch_of_branch(op: Operation) -> bool:
    """Whether a Switch belongs to a `cond`: all consumers of its outputs are inside of branches."""
    consumers = [consumer for output in op.outputs for consumer in output.consumers()]
    return all(_is_of_branch(consumer) for consumer in consumers)


def _is_of_branch(op: Operation) -> bool:
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if op.type in ENTERS:
        context = context.outer_context
    return context is not None and context.is_branch


def is_constant_enter(op: Operation) -> bool:
    """Whether an operation is an Enter whose value is the same in every iteration."""
    return op.type in ENTERS and bool(op.attrs["is_constant"])


def constant_enter_of(value: Tensor) -> Operation | None:
    """The constant Enter that a value inside a loop comes from, only by Switch and Identity.

    None if the value comes from any other operation.
    """
    op = value.op
    while op.type in _FORWARDING:
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def op_type_for(op_type: str, *values: Tensor) -> str:
    """The op type, or its `Ref` form if all the values are references: `Switch`, `RefSwitch`."""
    refs = all(value.dtype._is_ref_dtype for value in values)  # noqa: SLF001 - TensorFlow's own name
    return f"Ref{op_type}" if refs else op_type


def switched(value: Tensor, pred: Tensor, name: str = "Switch") -> list[Tensor]:
    """The outputs, for false and for true, of a new `Switch` colocated with the value."""
    graph = default_graph.get_default_graph()
    with graph.colocate_with(value, ignore_existing=True):
        inputs: dict[str, object] = {"data": value, "pred": pred}
        return apply_op(op_type_for("Switch", value), inputs, {}, name).outputs
