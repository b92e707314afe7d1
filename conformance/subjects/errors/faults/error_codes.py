"""Faults of ERRORS: failures with another code, failures unseen, and failures that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import data_inputs, editing, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    FeedDict,
    Fetches,
    Operation,
    OpError,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

_ELEMENTWISE: Final = frozenset(
    {
        "Add",
        "AddV2",
        "Sub",
        "Mul",
        "Maximum",
        "Minimum",
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "Equal",
        "NotEqual",
        "LogicalAnd",
        "LogicalOr",
    }
)


def answering(
    tf: Namespace,
    types: set[str] | frozenset[str],
    answer: Callable[[OpError, list[Tensor]], Value],
) -> Namespace:
    """The namespace where `answer(error, tensors)` handles failures of operations of these types.

    It raises another error, or gives the value of each tensor fetched.
    """

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            op = error.op
            if op is None or op.type not in types:
                raise
            return answer(error, elements(session, fetches))

    return running(tf, change)


def recoding(tf: Namespace, types: set[str] | frozenset[str], name: str) -> Namespace:
    """The namespace where these operations fail with the named class of `tf.errors`."""

    def answer(error: OpError, _tensors: list[Tensor]) -> NoReturn:
        raise getattr(tf.errors, name)(error.node_def, error.op, error.message)

    return answering(tf, types, answer)


@fault("ERRORS-003", "A DataLossError has the code of an InternalError.")
def data_loss_has_another_code(tf: Namespace) -> Namespace:
    """Construct errors of this class with code 13."""

    class DataLossError(tf.errors.OpError):  # type: ignore[misc, name-defined]
        def __init__(self, node_def: NodeDef | None, op: Operation | None, message: str) -> None:
            super().__init__(node_def, op, message, 13)

    return override(tf, errors=override(tf.errors, DataLossError=DataLossError))


@fault("ERRORS-009", "An error's op is the operation that was fetched.")
def errors_tell_what_was_fetched(tf: Namespace) -> Namespace:
    """Raise the error again with the first fetched operation as its `op`."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.OpError as error:
            fetched = elements(session, fetches)
            if error.op is None or not fetched or isinstance(error, ValueError):
                raise
            op = getattr(fetched[0], "op", fetched[0])
            kind = tf.errors.exception_type_from_error_code(error.error_code)
            raise kind(op.node_def, op, "the run failed") from error

    return running(tf, change)


@fault("ERRORS-013", "MatMul of a value that is no matrix is an internal error.")
def matmul_fails_internally(tf: Namespace) -> Namespace:
    """Raise InternalError (code 13)."""
    return recoding(tf, {"MatMul"}, "InternalError")


@fault("ERRORS-015", "Reshape to another number of elements gives zeros.")
def reshape_never_fails(tf: Namespace) -> Namespace:
    """Give zeros for what was fetched when a Reshape has failed."""

    def answer(_error: OpError, tensors: list[Tensor]) -> Value:
        return [np.zeros((), tensor.dtype.as_numpy_dtype) for tensor in tensors]

    return answering(tf, {"Reshape"}, answer)


@fault("ERRORS-017", "Shapes that cannot be broadcast are reported as not implemented.")
def broadcasting_is_not_implemented(tf: Namespace) -> Namespace:
    """Raise UnimplementedError (code 12)."""
    return recoding(tf, _ELEMENTWISE, "UnimplementedError")


@fault("ERRORS-018", "Concatenating values that do not fit is an internal error.")
def concatenation_fails_internally(tf: Namespace) -> Namespace:
    """Raise InternalError (code 13)."""
    return recoding(tf, {"Concat", "ConcatV2"}, "InternalError")


@fault("ERRORS-019", "A floor remainder by zero is an internal error, as a truncating one is.")
def floor_remainder_fails_internally(tf: Namespace) -> Namespace:
    """Raise InternalError (code 13)."""
    return recoding(tf, {"FloorMod"}, "InternalError")


@fault("ERRORS-020", "A truncating division by zero is an invalid argument, as a floor one is.")
def truncating_division_is_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError (code 3)."""
    return recoding(tf, {"TruncateDiv", "TruncateMod"}, "InvalidArgumentError")


@fault("ERRORS-021", "A division of floats by zero fails.")
def float_division_fails(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError when a fetched quotient is infinite."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        values = base(fetches)
        fetched = elements(session, fetches)
        quotients = [e for e in fetched if getattr(e, "op", e).type in {"RealDiv", "Div"}]
        if quotients and isinstance(values, list) and len(values) == len(fetched):
            for element, value in zip(fetched, values, strict=True):
                if element in quotients and np.isinf(value).any():
                    raise tf.errors.InvalidArgumentError(None, element.op, "division by zero")
        return values

    return running(tf, change)


@fault("ERRORS-022", "Gathering an index that is not there gives zeros, as a GPU does.")
def gathering_gives_zeros(tf: Namespace) -> Namespace:
    """Give zeros for what was fetched when a gathering operation has failed."""

    def answer(_error: OpError, tensors: list[Tensor]) -> Value:
        return [np.zeros((), tensor.dtype.as_numpy_dtype) for tensor in tensors]

    return answering(tf, {"Gather", "GatherV2"}, answer)


@fault("ERRORS-024", "An Assert that is fetched itself fails as a precondition.")
def a_fetched_assert_is_a_precondition(tf: Namespace) -> Namespace:
    """Raise FailedPreconditionError if the Assert is among the fetches."""

    def answer(error: Any, fetched: list[Tensor]) -> NoReturn:
        if error.op not in fetched:
            raise error
        raise tf.errors.FailedPreconditionError(error.node_def, error.op, error.message)

    return answering(tf, {"Assert"}, answer)


@fault("ERRORS-025", "CheckNumerics lets negative infinity pass.")
def negative_infinity_passes(tf: Namespace) -> Namespace:
    """Put a Maximum with the lowest float before each check."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op == "CheckNumerics"]:
            lowest = definition.node.add(name=f"{node.name}/lowest", op="Const")
            above = definition.node.add(name=f"{node.name}/above", op="Maximum")
            dtype = tf.as_dtype(node.attr["T"].type)
            lowest.attr["dtype"].type = dtype.as_datatype_enum
            value = np.finfo(dtype.as_numpy_dtype).min
            lowest.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, dtype))
            above.attr["T"].type = dtype.as_datatype_enum
            above.input.extend([node.input[0], lowest.name])
            node.input[0] = above.name

    return editing(tf, change)


@fault("ERRORS-026", "Integer divisions of constants are computed when the graph is loaded.")
def divides_constants_ahead(tf: Namespace) -> Namespace:
    """Run each floor division of two constants on the GraphDef before it is imported."""

    def change(definition: GraphDef) -> None:
        constants = {node.name for node in definition.node if node.op == "Const"}
        ready = [
            node.name
            for node in definition.node
            if node.op in {"FloorDiv", "FloorMod"} and constants.issuperset(data_inputs(node))
        ]
        if ready:
            graph = tf.Graph()
            with graph.as_default():
                tf.import_graph_def(definition, name="")
            with tf.Session(graph=graph) as session:
                session.run([f"{name}:0" for name in ready])

    return editing(tf, change)


@fault("ERRORS-029", "A Cast of strings to numbers is an invalid argument.")
def casting_strings_is_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError (code 3)."""
    return recoding(tf, {"Cast"}, "InvalidArgumentError")


@fault("ERRORS-030", "A maximum over the batch is an invalid argument.")
def pooling_the_batch_is_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError (code 3)."""
    return recoding(tf, {"MaxPool"}, "InvalidArgumentError")


@fault("ERRORS-034", "A label outside the classes is out of range.")
def odd_labels_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError (code 11)."""
    return recoding(tf, {"SparseSoftmaxCrossEntropyWithLogits"}, "OutOfRangeError")
