"""Faults of SESSION: the stack of default sessions, with blocks, eval and run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.spec.cases.arguments import Argument, Scope
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Graph, Session, Value

# --- the stack ----------------------------------------------------------------------------


@fault("SESSION-008", "A constructed Session is the default session where there is no other.")
def constructing_makes_default(tf: Namespace) -> Namespace:
    """Answers `get_default_session` with the thread's latest session."""
    here = threading.local()

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            here.latest = self

    def get_default_session() -> Session | None:
        return tf.get_default_session() or getattr(here, "latest", None)

    return override(tf, Session=Session, get_default_session=get_default_session)


@fault("SESSION-009", "In an as_default block the default session is a stand-in.")
def as_default_installs_a_stand_in(tf: Namespace) -> Namespace:
    """Answers `get_default_session` with another object unless a with block was entered."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        entered = False

        def __enter__(self) -> Self:
            self.entered = True
            return super().__enter__()

    def get_default_session() -> Session | Overlay | None:
        session = tf.get_default_session()
        return session if getattr(session, "entered", True) else Overlay(session, {})

    return override(tf, Session=Session, get_default_session=get_default_session)


@fault("SESSION-010", "Leaving an as_default block closes the session.")
def as_default_closes(tf: Namespace) -> Namespace:
    """Closes however the block is left."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @contextlib.contextmanager
        def as_default(self) -> Iterator[Session]:
            try:
                with super().as_default() as session:
                    yield session
            finally:
                self.close()

    return override(tf, Session=Session)


@fault("SESSION-011", "The outer session of nested with blocks does not come back.")
def the_outer_is_forgotten(tf: Namespace) -> Namespace:
    """Answers None for a default session inside whose block another block has ended."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        forgotten = False

        def __exit__(self, *raised: object) -> bool | None:
            answer = super().__exit__(*raised)
            outer = tf.get_default_session()
            if outer is not None:
                outer.forgotten = True
            return answer

    def get_default_session() -> Session | None:
        session = tf.get_default_session()
        return None if getattr(session, "forgotten", False) else session

    return override(tf, Session=Session, get_default_session=get_default_session)


@fault("SESSION-012", "An as_default block that is left by an exception stays on the stack.")
def exception_leaves_the_session(tf: Namespace) -> Namespace:
    """Does not take the session off."""
    kept: list[Scope] = []  # a block that was collected would leave the stack after all

    class Block:
        def __init__(self, block: Scope) -> None:
            self.block = block
            kept.append(block)

        def __enter__(self) -> object:
            return self.block.__enter__()

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> bool | None:
            return self.block.__exit__(kind, error, traceback) if kind is None else False

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def as_default(self) -> Scope:
            return Block(super().as_default())

    return override(tf, Session=Session)


# --- with blocks --------------------------------------------------------------------------


def _own_blocks(
    tf: Namespace,
    enter: Callable[[contextlib.ExitStack, Session], object],
    close: Callable[[bool], bool],
) -> Namespace:
    """A namespace whose sessions have other `with` blocks.

    `enter(stack, session)` enters contexts at the beginning; `close(raised)` says whether the
    session is closed at the end, where `raised` is whether an exception left the block.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        block: contextlib.ExitStack | None = None

        def __enter__(self) -> Self:
            if self.block is not None:
                raise RuntimeError("a with block of this session is open")
            self.block = contextlib.ExitStack()
            enter(self.block, self)
            return self

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            block, self.block = self.block, None
            if block is not None:
                block.__exit__(kind, error, traceback)
            if close(kind is not None):
                self.close()

    return override(tf, Session=Session)


def _enter_both(block: contextlib.ExitStack, session: Session) -> None:
    block.enter_context(session.graph.as_default())
    block.enter_context(session.as_default())


@fault("SESSION-013", "A with block installs the session, but not its graph.")
def with_keeps_the_default_graph(tf: Namespace) -> Namespace:
    """Enters as_default only."""
    return _own_blocks(tf, lambda block, s: block.enter_context(s.as_default()), lambda _: True)


@fault("SESSION-014", "A with block inside another block leaves the outer session the default.")
def with_keeps_the_default_session(tf: Namespace) -> Namespace:
    """Installs only the graph where there is a default session already."""

    def enter(block: contextlib.ExitStack, session: Session) -> None:
        block.enter_context(session.graph.as_default())
        if tf.get_default_session() is None:
            block.enter_context(session.as_default())

    return _own_blocks(tf, enter, lambda _: True)


@fault("SESSION-015", "Leaving a with block normally leaves the session open.")
def with_does_not_close(tf: Namespace) -> Namespace:
    """Closes after an exception only."""
    return _own_blocks(tf, _enter_both, lambda raised: raised)


@fault("SESSION-016", "Leaving a with block by an exception leaves the session open.")
def exception_does_not_close(tf: Namespace) -> Namespace:
    """Closes after a normal end only."""
    return _own_blocks(tf, _enter_both, lambda raised: not raised)


@fault("SESSION-017", "A with block swallows the exceptions of its body.")
def with_swallows_exceptions(tf: Namespace) -> Namespace:
    """Says that every exception was handled."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __exit__(self, *raised: object) -> bool | None:
            super().__exit__(*raised)
            return True

    return override(tf, Session=Session)


@fault("SESSION-018", "A with block can be entered again inside itself.")
def with_is_reentrant(tf: Namespace) -> Namespace:
    """Takes the second entry for none; the first exit leaves."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        entered = False

        def __enter__(self) -> Self:
            again, self.entered = self.entered, True
            return self if again else super().__enter__()

        def __exit__(self, *raised: object) -> bool | None:
            self.entered = False
            return super().__exit__(*raised)

    return override(tf, Session=Session)


@fault("SESSION-019", "A new thread inherits the default session of another.")
def threads_share_the_default(tf: Namespace) -> Namespace:
    """Answers with any thread's as_default block where the thread itself has none."""
    entered = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @contextlib.contextmanager
        def as_default(self) -> Iterator[Session]:
            with super().as_default() as session:
                entered.append(session)
                try:
                    yield session
                finally:
                    entered.remove(session)

    def get_default_session() -> Session | None:
        return tf.get_default_session() or (entered[-1] if entered else None)

    return override(tf, Session=Session, get_default_session=get_default_session)


@fault("SESSION-030", "A closed session cannot be entered.")
def closed_session_cannot_be_entered(tf: Namespace) -> Namespace:
    """Raises RuntimeError from `__enter__` of a closed session."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        closed = False

        def close(self) -> None:
            self.closed = True
            super().close()

        def __enter__(self) -> Self:
            if self.closed:
                raise RuntimeError("the session is closed")
            return super().__enter__()

    return override(tf, Session=Session)


# --- eval and run -------------------------------------------------------------------------


def _goes_to_the_outer(tf: Namespace, kind: type) -> Namespace:
    """A namespace whose innermost as_default block runs single fetches of `kind` in the outer."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        outer = None

        def as_default(self) -> Scope:
            self.outer = tf.get_default_session()
            return super().as_default()

        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            outer = self.outer if tf.get_default_session() is self else None
            if outer not in {None, self} and isinstance(fetches, kind):
                return outer.run(fetches, *args, **kwargs)
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-020", "In nested blocks a tensor is evaluated in the outer session.")
def eval_goes_to_the_outer(tf: Namespace) -> Namespace:
    """Passes a single tensor on."""
    return _goes_to_the_outer(tf, tf.Tensor)


@fault("SESSION-021", "In nested blocks an operation is run in the outer session.")
def operation_run_goes_to_the_outer(tf: Namespace) -> Namespace:
    """Passes a single operation on to the session that was the default before."""
    return _goes_to_the_outer(tf, tf.Operation)


@fault("SESSION-022", "eval() without a default session runs in a session of its own.")
def eval_needs_no_default(tf: Namespace) -> Namespace:
    """Hides a spare default session in each thread that constructs one."""
    spares: list[tuple[Session, Scope]] = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            if tf.get_default_session() is None:
                spare = tf.Session(graph=self.graph)
                block = spare.as_default()
                block.__enter__()
                spares.append((spare, block))

    def get_default_session() -> Session | None:
        session = tf.get_default_session()
        return None if any(session is spare for spare, _ in spares) else session

    return override(tf, Session=Session, get_default_session=get_default_session)


@fault("SESSION-023", "eval(session=s) runs in the default session where there is one.")
def eval_ignores_its_session(tf: Namespace) -> Namespace:
    """Passes a single tensor or operation on to the default session of the same graph."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            default = tf.get_default_session()
            if (
                isinstance(fetches, tf.Tensor | tf.Operation)
                and default not in {None, self}
                and default.graph is self.graph
            ):
                return default.run(fetches, *args, **kwargs)
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-024", "The default session drops the feeds of a single fetch, as eval's.")
def eval_drops_its_feeds(tf: Namespace) -> Namespace:
    """Runs a single tensor or operation of the default session without its feed_dict."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            single = isinstance(fetches, tf.Tensor | tf.Operation)
            fed = None if single and tf.get_default_session() is self else feed_dict
            return super().run(fetches, fed, *args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-025", "The default session evaluates tensors of the default graph, too.")
def eval_crosses_graphs(tf: Namespace) -> Namespace:
    """Follows the default graph while it is the default session, outside its runs."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        running = False

        @property
        def graph(self) -> Graph:
            follows = tf.get_default_session() is self and not self.running
            return tf.get_default_graph() if follows else super().graph

        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            asked = self.graph
            if isinstance(fetches, tf.Tensor | tf.Operation) and asked is not super().graph:
                return tf.Session(graph=asked).run(fetches, *args, **kwargs)
            self.running = True
            try:
                return super().run(fetches, *args, **kwargs)
            finally:
                self.running = False

    return override(tf, Session=Session)
