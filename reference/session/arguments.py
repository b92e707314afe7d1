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
    """Refuse what is neither a graph nor None.

    Raises:
      TypeError: it is such a thing.

    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{_kind(graph)}"')


def checked_target(target: object) -> bytes | None:
    """The target as bytes.

    Raises:
      TypeError: it is neither text nor None.

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
    """Our message of a message given, ours or TensorFlow's; None of None.

    Raises:
      TypeError: it is no such message.

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
    """Refuse names of containers that are no text.

    Raises:
      TypeError: one is not.

    """
    if not all(isinstance(name, str | bytes) for name in containers or ()):
        raise TypeError(f"`containers` must be a list of strings, got {containers!r}")


def check_name(config: ConfigProto, others: Iterable[ConfigProto]) -> None:
    """Refuse a name and version that the configuration may not give to its session.

    Raises:
      InvalidArgumentError: the version is negative, or another open session has both.

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
