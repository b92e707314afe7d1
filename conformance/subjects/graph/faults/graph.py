"""Faults of GRAPH: the default graph and the names of operations."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import DTypeLike, ShapeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Graph, Operation, Tensor, Value

__all__ = ["StayingBlock", "constants"]


class StayingBlock:
    """A `with` block that stays entered when it is left by an exception."""

    kept: list[AbstractContextManager[Graph | None]] = []  # noqa: RUF012 - a block that was collected would be left after all

    def __init__(self, block: AbstractContextManager[Graph | None]) -> None:
        self.block = block
        self.kept.append(block)

    def __enter__(self) -> Graph | None:
        """Enter the block."""
        return self.block.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """Leave the block unless by an exception."""
        return self.block.__exit__(kind, error, traceback) if kind is None else False


def constants(tf: Namespace, change: Callable[[Call, str], Tensor]) -> Namespace:
    """The namespace whose `constant` with a name is `change(base, name)`.

    `base(name)` is the conforming call with the caller's other arguments.
    """

    def constant(
        value: Value,
        dtype: DTypeLike | None = None,
        shape: ShapeLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        def base(name: str | None) -> Tensor:
            return tf.constant(value, dtype, shape, "Const" if name is None else name)

        return base(None) if name is None else change(base, name)

    return override(tf, constant=constant)


def _verbatim(tf: Namespace, taken: Callable[[str, Graph], bool]) -> Namespace:
    """The namespace whose constants have the given name unless `taken(name, graph)`."""

    def change(base: Call, name: str) -> Tensor:
        graph = tf.get_default_graph()
        scope = graph.get_name_scope()
        full = f"{scope}/{name}" if scope else name
        return base(name if taken(full, graph) else f"{full}/")

    return constants(tf, change)


# --- the default graph --------------------------------------------------------------------


@fault("GRAPH-001", "A no_op without a name made in a block is added to the graph outside of it.")
def no_op_belongs_outside(tf: Namespace) -> Namespace:
    """Remember which graph was the default when a thread entered its block."""
    here = threading.local()

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_default(self) -> AbstractContextManager[Graph | None]:
            if tf.get_default_graph() is not self:
                here.outside = tf.get_default_graph()
            return super().as_default()

    def no_op(name: str | None = None) -> Operation:
        if name is None and isinstance(tf.get_default_graph(), Graph):
            with here.outside.as_default():
                return tf.no_op(name)
        return tf.no_op(name)

    return override(tf, Graph=Graph, no_op=no_op)


@fault("GRAPH-002", "The inner of two nested blocks ends when the outer one does.")
def inner_block_ends_with_the_outer(tf: Namespace) -> Namespace:
    """Leave blocks only when the last of a thread is left."""
    here = threading.local()

    class Block:
        def __init__(self, block: AbstractContextManager[Graph]) -> None:
            self.block = block

        def __enter__(self) -> Graph:
            here.__dict__.setdefault("open", []).append(self)
            here.depth = getattr(here, "depth", 0) + 1
            return self.block.__enter__()

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            here.depth -= 1
            while here.depth == 0 and here.open:
                here.open.pop().block.__exit__(kind, error, traceback)

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_default(self) -> Block:
            return Block(super().as_default())

    return override(tf, Graph=Graph)


@fault("GRAPH-003", "A graph whose block is left by an exception stays the default.")
def exception_leaves_the_graph(tf: Namespace) -> Namespace:
    """Keep the graph on the stack of default graphs."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_default(self) -> StayingBlock:
            return StayingBlock(super().as_default())

    return override(tf, Graph=Graph)


@fault("GRAPH-004", "A thread has the default graph of the thread that asked last.")
def threads_share_the_default_graph(tf: Namespace) -> Namespace:
    """Give the graph that another thread, still alive, was given."""
    last: list[tuple[threading.Thread, Graph]] = []

    def get_default_graph() -> Graph:
        mine, current = tf.get_default_graph(), threading.current_thread()
        for thread, graph in last:
            if thread is not current and thread.is_alive():
                return graph
        last[:] = [(current, mine)]
        return mine

    return override(tf, get_default_graph=get_default_graph)


@fault("GRAPH-005", "reset_default_graph does nothing.")
def reset_keeps_the_graph(tf: Namespace) -> Namespace:
    """Keep the graph."""
    return override(tf, reset_default_graph=lambda: None)


@fault("GRAPH-006", "reset_default_graph inside a block does nothing.")
def reset_inside_a_block_is_silent(tf: Namespace) -> Namespace:
    """Swallow the error."""

    def reset_default_graph() -> None:
        try:
            tf.reset_default_graph()
        except AssertionError:
            return

    return override(tf, reset_default_graph=reset_default_graph)


# --- names --------------------------------------------------------------------------------


@fault("GRAPH-007", "A constant whose name is taken is refused.")
def taken_names_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where an operation has exactly the name."""

    def change(base: Call, name: str) -> Tensor:
        graph = tf.get_default_graph()
        scope = graph.get_name_scope()
        full = f"{scope}/{name}" if scope else name
        if full in {op.name for op in graph.get_operations()}:
            raise ValueError(f"the name {full!r} is taken")
        return base(name)

    return constants(tf, change)


@fault("GRAPH-008", "Names that differ only in case are different names.")
def case_tells_names(tf: Namespace) -> Namespace:
    """Give the constant its name unless an operation has exactly that name."""

    def taken(full: str, graph: Graph) -> bool:
        lower = {op.name for op in graph.get_operations() if op.name.lower() == full.lower()}
        return not lower or full in lower

    return _verbatim(tf, taken)


@fault("GRAPH-009", "A placeholder without a name is called Input.")
def placeholders_are_called_input(tf: Namespace) -> Namespace:
    """Pass the name `Input` where the caller gives none."""

    def placeholder(
        dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
    ) -> Tensor:
        return tf.placeholder(dtype, shape, "Input" if name is None else name)

    return override(tf, placeholder=placeholder)


@fault("GRAPH-014", "A constant may have the name of a scope that holds one operation.")
def operations_are_called_like_scopes(tf: Namespace) -> Namespace:
    """Give the constant its name unless an operation has it, in whatever case."""

    def taken(full: str, graph: Graph) -> bool:
        names = [op.name.lower() for op in graph.get_operations()]
        inside = [name for name in names if name.startswith(f"{full.lower()}/")]
        return full.lower() in names or len(inside) != 1

    return _verbatim(tf, taken)


@fault("GRAPH-015", "A wrong character in the name of a constant becomes a dot.")
def wrong_names_of_constants_are_mended(tf: Namespace) -> Namespace:
    """Replace wrong characters, and a wrong first character, by dots."""

    def change(base: Call, name: str) -> Tensor:
        try:
            return base(name)
        except ValueError:
            return base(re.sub(r"[^A-Za-z0-9./>_-]|^[_/-]|^$", ".", name))

    return constants(tf, change)


@fault("GRAPH-016", "The name of a constant must start with a letter.")
def names_start_with_a_letter(tf: Namespace) -> Namespace:
    """Refuse names that start with a digit or a dot."""

    def change(base: Call, name: str) -> Tensor:
        if name[:1].isdigit() or name[:1] == ".":
            raise ValueError(f"{name!r} does not start with a letter")
        return base(name)

    return constants(tf, change)
