"""Vectors of ERRORS: the classes and codes of `tf.errors`, and what an error object tells."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case

#: The classes of `tf.errors`, in the order of their codes from 1.
CLASSES: Final = (
    "CancelledError",
    "UnknownError",
    "InvalidArgumentError",
    "DeadlineExceededError",
    "NotFoundError",
    "AlreadyExistsError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "FailedPreconditionError",
    "AbortedError",
    "OutOfRangeError",
    "UnimplementedError",
    "InternalError",
    "UnavailableError",
    "DataLossError",
    "UnauthenticatedError",
)
#: The constants of the codes, in their order from 0.
CODES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


# --- classes and codes --------------------------------------------------------------------


@api_case("ERRORS-001", title="An error of each class is an OpError.")
def each_class_is_an_op_error(c: ApiAuthor) -> None:
    for name in CLASSES:
        error = getattr(c.tf.errors, name)(None, None, "told")
        c.check_instance(error, c.tf.errors.OpError)


@api_case("ERRORS-001", title="What a failed run raises is an OpError, which is an Exception.")
def a_failed_run_raises_an_op_error(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    checked = c.tf.check_numerics(p, "not finite")
    sess = c.tf.Session()
    c.raises("OpError", lambda: sess.run(checked, {p: np.float32(np.nan)}))
    c.raises("Exception", lambda: sess.run(checked, {p: np.float32(np.inf)}))


@api_case("ERRORS-002", title="tf.OpError is tf.errors.OpError.")
def op_error_has_two_names(c: ApiAuthor) -> None:
    c.check_same(c.tf.OpError, c.tf.errors.OpError)


@api_case("ERRORS-004", title="The constants of the codes are 0 to 16.")
def the_constants_of_the_codes(c: ApiAuthor) -> None:
    for code, name in enumerate(CODES):
        c.check(getattr(c.tf.errors, name), code)


@api_case("ERRORS-035", title="Classes are found from their codes.")
def classes_are_found_from_codes(c: ApiAuthor) -> None:
    errors = c.tf.errors
    for code, name in enumerate(CLASSES, 1):
        c.check_same(errors.exception_type_from_error_code(code), getattr(errors, name))


@api_case("ERRORS-036", title="Codes are found from their classes.")
def codes_are_found_from_classes(c: ApiAuthor) -> None:
    errors = c.tf.errors
    for code, name in enumerate(CLASSES, 1):
        c.check(errors.error_code_from_exception_type(getattr(errors, name)), code)


@api_case("ERRORS-006", title="A number that is no code has no class.")
def a_number_that_is_no_code(c: ApiAuthor) -> None:
    for code in (0, 17, 99, -1):
        c.raises("KeyError", partial(c.tf.errors.exception_type_from_error_code, code))


@api_case("ERRORS-007", title="An OpError keeps its four arguments.")
def an_op_error_keeps_its_arguments(c: ApiAuthor) -> None:
    op = c.tf.constant(1, name="a").op
    node_def = op.node_def
    error = c.tf.errors.OpError(node_def, op, "told", 7)
    c.check_same(error.op, op)
    c.check(c.expr("$op", "==", error.node_def, node_def), want=True)
    c.check(error.node_def.name, "a")
    c.check(error.message, "told")
    c.check(error.error_code, 7)


@api_case("ERRORS-007", title="An OpError may be made without a node and an operation.")
def an_op_error_without_an_operation(c: ApiAuthor) -> None:
    error = c.tf.errors.OpError(None, None, "told", 10)
    c.check(error.op, None)
    c.check(error.node_def, None)
    c.check(error.message, "told")
    c.check(error.error_code, 10)


@api_case("ERRORS-008", title="The attributes of an error cannot be set.")
def the_attributes_cannot_be_set(c: ApiAuthor) -> None:
    c.named_check("errors.attributes_that_can_be_set", want=[])


# --- what an error tells ------------------------------------------------------------------


@api_case("ERRORS-009", title="The op of an error is the operation that failed, not the fetch.")
def the_op_is_the_one_that_failed(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    checked = c.tf.check_numerics(p, "not finite")
    doubled = c.tf.multiply(checked, 2.0)
    sess = c.tf.Session()
    for bad, fetch in ((np.nan, doubled), (np.inf, doubled), (np.nan, checked)):
        feeds = {p: np.float32(bad)}
        c.named_check(
            "errors.failed_op_is",
            want=True,
            session=sess,
            fetches=fetch,
            feeds=feeds,
            operation=checked.op,
        )


@api_case("ERRORS-009", title="The op of an error is found behind a control dependency too.")
def the_op_behind_a_control_dependency(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.bool, [])
    check = c.tf.raw_ops.Assert(condition=p, data=[p])
    with c.within(c.tf.control_dependencies([check])):
        after = c.tf.constant(1)
    sess, feeds = c.tf.Session(), {p: np.bool_(False)}
    c.named_check(
        "errors.failed_op_is",
        want=True,
        session=sess,
        fetches=after,
        feeds=feeds,
        operation=check,
    )


@api_case("ERRORS-010", title="The node_def of an error is the failed operation's.")
def the_node_def_is_the_failed_operations(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [], name="p")
    with c.within(c.tf.name_scope("scope")):
        checked = c.tf.check_numerics(p, "not finite", name="checked")
    sess, feeds = c.tf.Session(), {p: np.float32(np.nan)}
    c.named_check(
        "errors.node_def_of_failure",
        want=["scope/checked", "CheckNumerics", "p"],
        session=sess,
        fetches=c.tf.negative(checked),
        feeds=feeds,
    )


@api_case("ERRORS-011", title="The message of an error of a run is a str.")
def the_message_is_a_str(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    feeds = {p: np.float32(np.nan)}
    c.named_check(
        "errors.message_type",
        want="str",
        session=c.tf.Session(),
        fetches=c.tf.check_numerics(p, "not finite"),
        feeds=feeds,
    )


@api_case("ERRORS-012", title="An error that no operation raised has no op.")
def an_error_of_no_operation_has_no_op(c: ApiAuthor) -> None:
    with c.within(c.tf.device("/gpu:7")):
        a = c.tf.constant(1)
    c.named_check("errors.failed_op_is_none", want=True, session=c.tf.Session(), fetches=a)
