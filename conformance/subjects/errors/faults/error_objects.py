"""Faults of ERRORS: the classes and codes of `tf.errors`, what an error object tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.conformance.faulty.run_fragments import elements, running
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    Feeds,
    Fetches,
    Operation,
    Session,
    Value,
)
from sessrun.spec.proto.graph_pb2 import NodeDef

# --- classes and codes --------------------------------------------------------------------


def _errors(tf: Namespace, **changes: Argument) -> Namespace:
    """The namespace with these classes and functions of `tf.errors` replaced."""
    return override(tf, errors=Overlay(tf.errors, changes))


@fault("ERRORS-001", "A class of tf.errors is an exception of its own, no OpError.")
def one_error_stands_apart(tf: Namespace) -> Namespace:
    """Give a DataLossError class with the same attributes that is not derived from OpError."""

    class DataLossError(Exception):
        error_code = tf.errors.DATA_LOSS

        def __init__(self, node_def: NodeDef | None, op: Operation | None, message: str) -> None:
            super().__init__(message)
            self.node_def, self.op, self.message = node_def, op, message

    return _errors(tf, DataLossError=DataLossError)


@fault("ERRORS-002", "tf.OpError is a class derived from tf.errors.OpError.")
def op_error_is_two_classes(tf: Namespace) -> Namespace:
    """Derive another class for the namespace itself."""
    return override(tf, OpError=type("OpError", (tf.errors.OpError,), {}))


@fault("ERRORS-004", "The last two constants of the codes are one too high.")
def constants_skip_a_code(tf: Namespace) -> Namespace:
    """Add 1 to the last two constants."""
    return _errors(
        tf, DATA_LOSS=tf.errors.DATA_LOSS + 1, UNAUTHENTICATED=tf.errors.UNAUTHENTICATED + 1
    )


@fault("ERRORS-035", "The classes of codes are counted from 0.")
def classes_are_counted_from_zero(tf: Namespace) -> Namespace:
    """Look up the class of the next code where there is one."""
    class_of = tf.errors.exception_type_from_error_code

    def exception_type_from_error_code(error_code: int) -> type[Exception]:
        return class_of(min(error_code + 1, 16) if 0 < error_code <= 16 else error_code)

    return _errors(tf, exception_type_from_error_code=exception_type_from_error_code)


@fault("ERRORS-036", "The code of UnauthenticatedError is that of PermissionDeniedError.")
def unauthenticated_has_another_code(tf: Namespace) -> Namespace:
    """Look up the code of the other class."""
    errors = tf.errors
    code_of = errors.error_code_from_exception_type

    def error_code_from_exception_type(cls: type[Exception]) -> int:
        denied = errors.PermissionDeniedError
        code: int = code_of(denied if cls is errors.UnauthenticatedError else cls)
        return code

    return _errors(tf, error_code_from_exception_type=error_code_from_exception_type)


@fault("ERRORS-006", "A number that is no code has the class UnknownError.")
def every_number_has_a_class(tf: Namespace) -> Namespace:
    """Return UnknownError where the lookup raises KeyError."""
    class_of = tf.errors.exception_type_from_error_code

    def exception_type_from_error_code(error_code: int) -> type[Exception]:
        try:
            return class_of(error_code)
        except KeyError:
            return tf.errors.UnknownError

    return _errors(tf, exception_type_from_error_code=exception_type_from_error_code)


@fault("ERRORS-007", "An OpError without an operation forgets its message.")
def messages_need_an_operation(tf: Namespace) -> Namespace:
    """Make `message` of an OpError without an operation empty."""

    class Kind(type(tf.errors.OpError)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, tf.errors.OpError)

    class OpError(tf.errors.OpError, metaclass=Kind):  # type: ignore[misc, name-defined]
        def __init__(
            self, node_def: NodeDef | None, op: Operation | None, message: str, error_code: int
        ) -> None:
            text = message if op is not None else ""
            super().__init__(node_def, op, text, error_code)

    return override(_errors(tf, OpError=OpError), OpError=OpError)


@fault("ERRORS-008", "The attributes of an InvalidArgumentError can be set.")
def attributes_can_be_set(tf: Namespace) -> Namespace:
    """Keep them as plain attributes of a derived class."""

    class InvalidArgumentError(tf.errors.InvalidArgumentError):  # type: ignore[misc, name-defined]
        op, node_def, message, error_code = None, None, "", tf.errors.INVALID_ARGUMENT

        def __init__(self, node_def: NodeDef | None, op: Operation | None, message: str) -> None:
            super().__init__(node_def, op, message)
            self.op, self.node_def, self.message = op, node_def, message

    return _errors(tf, InvalidArgumentError=InvalidArgumentError)


# --- what an error tells ------------------------------------------------------------------


@fault("ERRORS-010", "The node_def of an error has the name of the operation only.")
def node_defs_are_names(tf: Namespace) -> Namespace:
    """Raise the errors of operations again, with a NodeDef that has only the name."""

    def change(error: Any, _fetched: list[Element]) -> Exception | None:
        if error.op is None:
            return None
        return type(error)(tf.NodeDef(name=error.op.name), error.op, error.message)

    return _replacing(tf, change)


@fault("ERRORS-011", "The message of an error of a run is bytes.")
def messages_are_bytes(tf: Namespace) -> Namespace:
    """Raise the errors again with `message` encoded; `str` of the error stays the same."""

    def change(error: Any, _fetched: list[Element]) -> Exception | None:
        raw, text = error.message.encode(), str(error)
        body = {"message": property(lambda _: raw), "__str__": lambda _: text}
        cls = type(error)
        return type(cls.__name__, (cls,), body)(error.node_def, error.op, text)

    return _replacing(tf, change)


@fault("ERRORS-012", "An error that no operation raised is blamed on the fetch.")
def blames_the_fetch(tf: Namespace) -> Namespace:
    """Raise errors without an operation again, with the first fetched element as `op`."""

    def change(error: Any, fetched: list[Any]) -> Exception | None:
        if error.op is not None or not fetched:
            return None
        op = getattr(fetched[0], "op", fetched[0])
        return type(error)(op.node_def, op, error.message)

    return _replacing(tf, change)


def _replacing(tf: Namespace, change: Callable[[Any, list[Any]], Exception | None]) -> Namespace:
    """The namespace whose runs raise `change(error, fetched elements)`, unless that is None.

    Errors that are built-in exceptions besides, from before the run, stay as they are.
    """

    def run(session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            plain = type(error) is tf.errors.exception_type_from_error_code(error.error_code)
            other = change(error, elements(session, fetches)) if plain else None
            raise other or error from error.__cause__

    return running(tf, run)
