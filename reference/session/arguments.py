"""The arguments of a session's constructor: checks of the target, of messages, of a session's name.

Clauses: SESSION.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

from sessrun.reference import errors
from sessrun.reference.graph.graph import Graph
from sessrun.spec.proto import ConfigProto, SessionMetadata
from sessrun.spec.proto.foreign import adopt

__all__ = [
    "adopted",
    "check_containers",
    "check_graph",
    "check_name",
    "checked_target",
    "no_engine",
]

M = TypeVar("M", bound=Message)


def check_graph(graph: object) -> None:
    """Check that a session's `graph` is a Graph or None.

    Raises:
      TypeError: it is neither.

    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{_kind(graph)}"')


def checked_target(target: object) -> bytes | None:
    """A session's target as bytes; None stays None.

    Raises:
      TypeError: the target is neither a string nor None.

    """
    if target is None or isinstance(target, bytes):
        return target
    if isinstance(target, str | bytearray):
        return target.encode() if isinstance(target, str) else bytes(target)
    text = f'Argument `target` must be a string, but got "{_kind(target)}"'
    if _kind(target) == "ConfigProto":
        text += ". Write Session(config=config), not Session(config)."
    raise TypeError(text)


def no_engine(target: object, config: ConfigProto) -> errors.OpError:
    """The error for a target that no engine answers to."""
    return errors.NotFoundError(
        None,
        None,
        "No session factory registered for the given session options: "
        f"{{target: {target!r} config: {config}}} Registered factories are "
        "{DIRECT_SESSION}.",
    )


def adopted(message: object, cls: type[M], name: str) -> M | None:
    """A protobuf message as an instance of `cls`; None stays None.

    Args:
      message: an instance of `cls`, or of TensorFlow's class of the same name.
      cls: this package's message class.
      name: the name of the argument, for the error.

    Raises:
      TypeError: the message is an instance of neither class.

    """
    if message is None:
        return None
    try:
        return adopt(message, cls)
    except TypeError as error:
        raise TypeError(
            f'Argument `{name}` must be a tf.{cls.__name__}, but got "{_kind(message)}"'
        ) from error


def check_containers(containers: Iterable[object] | None) -> None:
    """Check that the names of containers are strings.

    Raises:
      TypeError: a name is not a string.

    """
    if not all(isinstance(name, str | bytes) for name in containers or ()):
        raise TypeError(f"`containers` must be a list of strings, got {containers!r}")


def check_name(config: ConfigProto, others: Iterable[ConfigProto]) -> None:
    """Check the session's name and version in a ConfigProto (`experimental.session_metadata`).

    Args:
      config: the configuration of the new session.
      others: the configurations of the open sessions.

    Raises:
      InvalidArgumentError: the version is negative, or an open session has this name and version.

    """
    label = _label(config)
    if label is None:
        return
    if label.version < 0:
        raise errors.bad_argument(f"Session version shouldn't be negative: {label}")
    if any(_label(other) == label for other in others):
        raise errors.bad_argument(
            f"A session with the same name and version has already been created: {label}"
        )


def _label(config: ConfigProto) -> SessionMetadata | None:
    """The name and version that a configuration gives to its session, if any."""
    experimental = config.experimental
    return experimental.session_metadata if experimental.HasField("session_metadata") else None


def _kind(value: object) -> str:
    return type(value).__name__
