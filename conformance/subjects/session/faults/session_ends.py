"""Faults of SESSION: runs that are cut short by a close, a timeout or a reset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Value
from sessrun.spec.proto.config_pb2 import ConfigProto


@fault("SESSION-043", "A run that a close cuts short is aborted, not cancelled.")
def closing_aborts(tf: Namespace) -> Namespace:
    """Raises AbortedError from a run during which the session was closed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        closed = False

        def close(self) -> None:
            self.closed = True
            super().close()

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            before = self.closed
            try:
                return super().run(*args, **kwargs)
            except tf.errors.CancelledError as error:
                if before or not self.closed:
                    raise
                raise tf.errors.AbortedError(None, None, "the session was closed") from error

    return override(tf, Session=Session)


@fault("SESSION-044", "A run past its session's timeout is unavailable, not late.")
def timeout_is_unavailable(tf: Namespace) -> Namespace:
    """Raises UnavailableError past `operation_timeout_in_ms`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            self.timed = getattr(config, "operation_timeout_in_ms", 0) > 0

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(*args, **kwargs)
            except tf.errors.DeadlineExceededError as error:
                if not self.timed:
                    raise
                raise tf.errors.UnavailableError(None, None, "no answer in time") from error

    return override(tf, Session=Session)


@fault("SESSION-061", "A reset of the in-process engine gives the number of sessions.")
def reset_counts_sessions(tf: Namespace) -> Namespace:
    """Returns a number."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @staticmethod
        def reset(target: str, containers: Any = None, config: ConfigProto | None = None) -> int:
            tf.Session.reset(target, containers, config)
            return 1

    return override(tf, Session=Session)


@fault("SESSION-062", "A reset of the in-process engine does nothing.")
def reset_does_nothing(tf: Namespace) -> Namespace:
    """Resets distributed targets only."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @staticmethod
        def reset(
            target: str, containers: Sequence[str] | None = None, config: ConfigProto | None = None
        ) -> None:
            if target:
                tf.Session.reset(target, containers, config)

    return override(tf, Session=Session)


@fault("SESSION-046", "After a reset no session can be opened.")
def reset_is_final(tf: Namespace) -> Namespace:
    """Raises UnavailableError from the constructor after the first reset."""
    resets: list[str] = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            if resets:
                raise tf.errors.UnavailableError(None, None, "the engine was reset")
            super().__init__(*args, **kwargs)

        @staticmethod
        def reset(
            target: str, containers: Sequence[str] | None = None, config: ConfigProto | None = None
        ) -> None:
            tf.Session.reset(target, containers, config)
            resets.append(target)

    return override(tf, Session=Session)


@fault("SESSION-047", "A reset of an unknown target succeeds.")
def reset_accepts_any_target(tf: Namespace) -> Namespace:
    """Does nothing where no engine answers."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        @staticmethod
        def reset(
            target: str, containers: Sequence[str] | None = None, config: ConfigProto | None = None
        ) -> None:
            try:
                tf.Session.reset(target, containers, config)
            except tf.errors.NotFoundError:
                return

    return override(tf, Session=Session)
