"""What every context of control flow does: it knows the values that are inside of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from sessrun.reference import stacks
from sessrun.reference.build import apply_op
from sessrun.reference.errors import bad_value

if TYPE_CHECKING:
    from sessrun.reference.operation import Operation
    from sessrun.reference.tensor import Tensor

__all__ = ["Context", "context_after", "is_constant_enter", "loop_around", "op_type_for",
           "switched"]  # fmt: skip

_EXITS: Final = frozenset({"Exit", "RefExit"})
_ENTERS: Final = frozenset({"Enter", "RefEnter"})
_SWITCHES: Final = frozenset({"Switch", "RefSwitch"})


class Context:
    """The inside of a branch or of a loop; `Conditional` and `Loop` are the kinds.

    Args:
      name: what it is called, made unique in the graph.

    Attributes:
      graph: the graph whose operations it is told.
      name: its name.
      outer_context: the context around it, or None.

    """

    def __init__(self, name: str) -> None:
        graph = stacks.get_default_graph()
        graph.tell = _take_in
        self.graph = graph
        self.name = graph.unique_name(name)
        self.outer_context: Context | None = graph.scopes.control_flow
        self._known: set[Tensor] = set()
        self._inside: dict[Tensor, Tensor] = {}

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let what is made in the `with` be inside."""
        with self.graph.scopes.replaced(control_flow=self):
            yield

    @property
    def pivot(self) -> Tensor | None:
        """What an operation without inputs waits for, so that it runs only when this does."""
        raise NotImplementedError

    def loop(self) -> Context | None:
        """The innermost loop that this is, or is in."""
        return None if self.outer_context is None else self.outer_context.loop()

    def value_inside(self, value: Tensor) -> Tensor:
        """What stands inside for a tensor, which may be of outside."""
        raise NotImplementedError

    def take(self, op: Operation) -> None:
        """Take in an operation that was made inside."""
        raise NotImplementedError

    # -- what the kinds share

    def knows(self, tensor: Tensor) -> None:
        """Note that a tensor is inside, here and in every context around."""
        context: Context | None = self
        while context is not None:
            context._known.add(tensor)  # noqa: SLF001 - of the same kind
            context = context.outer_context

    def leave_with(self, results: list[Tensor]) -> None:
        """Let the context around know what comes out of this one."""
        if self.outer_context is not None:
            self.outer_context._known.update(results)  # noqa: SLF001 - of the same kind

    def _from_outside(self, value: Tensor) -> Tensor:
        """What stands in the context around for a value of further outside."""
        if self.outer_context is None:
            return value
        found = self.outer_context.value_inside(value)
        if found is not value:
            self._known.add(found)
            self._inside[found] = found
        return found

    def _bring_in_inputs(self, op: Operation) -> None:
        for index, tensor in enumerate(op.inputs):
            inside = self.value_inside(tensor)
            if inside is not tensor:
                op._replace_input(index, inside)  # noqa: SLF001 - it is being made here

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
            op._remove_all_control_inputs()  # noqa: SLF001 - it is being made here
            op._add_control_inputs(inner)  # noqa: SLF001 - the same
        return outer

    def _hide(self, op: Operation) -> bool:
        """Refuse fetches of what may be dead, or be there many times; whether that is so."""
        if self.outer_context is None and op.type in _EXITS:
            return False
        op.graph.prevent_fetching(op)
        return True


def _take_in(op: Operation) -> None:
    """Tell the innermost context of an operation that was made.

    Raises:
      InvalidArgumentValueError: it takes what is inside of a loop that it is not in.

    """
    context: Context | None = op.graph.scopes.control_flow
    op._control_flow_context = context  # noqa: SLF001 - it is being made here
    for tensor in op.inputs:
        _check_inside(op, tensor.op)
    if context is not None:
        with op.graph.name_scope(op.name + "/"):
            context.take(op)


def _check_inside(op: Operation, source: Operation) -> None:
    there = context_after(source)
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if there is None or there is context:
        return
    loop, other = loop_around(context), loop_around(there)
    if loop is None:
        if other is None or op.type in _ENTERS or op.type in _SWITCHES:
            return
        raise bad_value(
            f"Cannot use '{source.name}' as input to '{op.name}' because '{source.name}' is in a "
            "while loop. Use what the loop returns."
        )
    around: Context | None = loop
    while around is not None and around is not other:
        around = around.outer_context
    if other is not None and around is None:
        raise bad_value(
            f"Cannot use '{source.name}' as input to '{op.name}' because they are in different "
            "while loops. Use what the loop returns."
        )


def context_after(op: Operation) -> Context | None:
    """The context that an operation's outputs are in."""
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    if context is not None and op.type in _EXITS:
        return context.outer_context
    return context


def loop_around(context: Context | None) -> Context | None:
    """The innermost loop that a context is, or is in."""
    return None if context is None else context.loop()


def is_constant_enter(op: Operation) -> bool:
    """Whether it brings a value into every iteration of a loop."""
    return op.type in _ENTERS and bool(op.attrs["is_constant"])


def op_type_for(op_type: str, *values: Tensor) -> str:
    """The op type, or if all the values are references its form for these."""
    refs = all(value.dtype._is_ref_dtype for value in values)  # noqa: SLF001 - TensorFlow's own name
    return f"Ref{op_type}" if refs else op_type


def switched(value: Tensor, pred: Tensor, name: str = "Switch") -> list[Tensor]:
    """The two outputs, for false and for true, of a `Switch` beside the value."""
    graph = stacks.get_default_graph()
    with graph.colocate_with(value, ignore_existing=True):
        inputs: dict[str, Any] = {"data": value, "pred": pred}
        return apply_op(op_type_for("Switch", value), inputs, {}, name).outputs
