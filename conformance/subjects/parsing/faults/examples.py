"""Faults of PARSING: features of Examples and SequenceExamples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sessrun.conformance.faulty.computing import array
from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import Base, elements, running
from sessrun.conformance.subjects.parsing.faults.parsing import recoded
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Operation, Session, Value

_BATCH = "ParseExampleV2"
_SEQUENCES = "ParseSequenceExampleV2"


def _parsing(
    tf: Namespace, op_type: str, change: Callable[[Session, Operation, int, np.ndarray], Value]
) -> Namespace:
    """The namespace in which `change(session, op, number, value)` replaces fetched values.

    Only values that are fetched through an Identity of an output of this type of operation.
    """

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        for index, element in enumerate(elements(session, fetches)):
            op = getattr(element, "op", element)
            source = op.inputs[0] if op.type == "Identity" else None
            if source is not None and source.op.type == op_type:
                values[index] = change(session, source.op, source.value_index, array(values[index]))
        return values

    return running(tf, run)


def _dense(op: Operation, number: int) -> int | None:
    """The index of the dense feature that this output of ParseExampleV2 gives, or None."""
    number -= 3 * op.get_attr("num_sparse")
    return number if 0 <= number < len(op.get_attr("Tdense")) else None


def _is_single(op: Operation) -> bool:
    return bool(op.inputs[0].shape.ndims == 0)


def _without_default(
    tf: Namespace, session: Session, op: Operation, number: int, value: np.ndarray, varies: bool
) -> Value:
    """A dense value with zeros, or empty strings, for what is its default."""
    index = _dense(op, number)
    if index is None or _is_single(op):
        return value
    sizes = [dim.size for dim in op.get_attr("dense_shapes")[index].dim] if varies else []
    default = tf.Session.run(session, op.inputs[5 + index])
    if np.size(default) == 0 or varies != (value.ndim == 2 and -1 in sizes):
        return value
    nothing = b"" if value.dtype == object else 0
    return np.where(value == default, nothing, value).astype(value.dtype)


@fault("PARSING-018", "A feature that an example lacks is zero.")
def lacking_features_are_zero(tf: Namespace) -> Namespace:
    """Put zeros in the place of defaults."""

    def change(session: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        return _without_default(tf, session, op, number, value, varies=False)

    return _parsing(tf, _BATCH, change)


@fault("PARSING-019", "A feature that must be there and is not is an internal error.")
def lacking_features_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return recoded(tf, _BATCH, "InvalidArgumentError", "InternalError", "could not be found")


@fault("PARSING-020", "A feature of another dtype or size is an internal error.")
def odd_features_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError."""
    return recoded(tf, _BATCH, "InvalidArgumentError", "InternalError", "expected")


@fault("PARSING-021", "A sparse feature is one wider than the longest example.")
def sparse_features_are_wide(tf: Namespace) -> Namespace:
    """Add one to the width, of several examples."""

    def change(_: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        sparse = op.get_attr("num_sparse")
        is_shape = 2 * sparse <= number < 3 * sparse and not _is_single(op)
        return value + np.array([0, 1]) if is_shape else value

    return _parsing(tf, _BATCH, change)


@fault("PARSING-022", "Shorter examples are filled up with zeros whatever the default is.")
def features_are_padded_with_zeros(tf: Namespace) -> Namespace:
    """Put zeros in the place of defaults."""

    def change(session: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        return _without_default(tf, session, op, number, value, varies=True)

    return _parsing(tf, _BATCH, change)


@fault("PARSING-023", "The row splits of a ragged feature are the lengths of its rows.")
def splits_are_lengths(tf: Namespace) -> Namespace:
    """Give lengths, and 0 at the end."""

    def change(_: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        splits = len(op.get_attr("ragged_split_types"))
        if not splits or number < len(op.outputs) - splits:
            return value
        return np.append(np.diff(value), 0).astype(value.dtype)

    return _parsing(tf, _BATCH, change)


@fault("PARSING-024", "A single Example is a batch of one.")
def single_examples_are_batches(tf: Namespace) -> Namespace:
    """Add a dimension to dense features."""

    def change(_: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        return value[np.newaxis] if _is_single(op) and _dense(op, number) is not None else value

    return _parsing(tf, _BATCH, change)


@fault("PARSING-025", "Bytes that are no Example are lost data.")
def odd_examples_are_lost_data(tf: Namespace) -> Namespace:
    """Raise DataLossError."""
    return recoded(tf, _BATCH, "InvalidArgumentError", "DataLossError", "Could not parse example")


_Item = TypeVar("_Item")


def _first(data: _Item) -> _Item | bytes:
    """The first of several short serialized Examples."""
    if not isinstance(data, bytes) or len(data) < 2 or data[0] != 0x0A or data[1] > 0x7F:
        return data
    return data[: 2 + data[1]]


@fault("PARSING-026", "Of examples that follow one another the first counts.")
def first_examples_count(tf: Namespace) -> Namespace:
    """Feed only the first of the serialized examples of a string."""

    def run(session: Session, base: Base, fetches: Fetches, feeds: Feeds) -> Value:
        if not any(op.type == _BATCH for op in session.graph.get_operations()):
            return base(fetches)
        cut = {}
        for key, value in (feeds or {}).items():
            given = np.asarray(value, object)
            items = [_first(item) for item in given.reshape(-1).tolist()]
            examples = np.empty(len(items), object)
            examples[:] = items
            cut[key] = examples.reshape(given.shape)
        return base(fetches, cut)

    return running(tf, run)


@fault("PARSING-027", "Every feature list is as long as the longest.")
def lists_are_all_long(tf: Namespace) -> Namespace:
    """Give the largest length for each list."""

    def change(_: Session, op: Operation, number: int, value: np.ndarray) -> Value:
        before = 3 * op.get_attr("Ncontext_sparse") + len(op.get_attr("Tcontext_dense"))
        before += 3 * op.get_attr("Nfeature_list_sparse") + op.get_attr("Nfeature_list_dense")
        return np.full_like(value, value.max()) if number >= before and value.ndim else value

    return _parsing(tf, _SEQUENCES, change)


@fault("PARSING-028", "A feature list that must be there and is not is an internal error.")
def lacking_lists_are_internal(tf: Namespace) -> Namespace:
    """Raise InternalError instead."""
    return recoded(tf, _SEQUENCES, "InvalidArgumentError", "InternalError", "missing_assumed_empty")


@fault("PARSING-029", "JSON must have its names in lowerCamelCase.")
def json_is_camel_case(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError for JSON with the name `int64_list`."""

    def run(_session: Session, base: Base, fetches: Fetches, feeds: Feeds) -> Value:
        given = [np.asarray(value, object).reshape(-1) for value in (feeds or {}).values()]
        if any(isinstance(item, bytes) and b"int64_list" in item for row in given for item in row):
            raise tf.errors.InvalidArgumentError(None, None, "no field is called so")
        return base(fetches)

    return running(tf, run)


@fault("PARSING-030", "Text that is no JSON is lost data.")
def odd_json_is_lost_data(tf: Namespace) -> Namespace:
    """Raise DataLossError."""
    return recoded(tf, "DecodeJSONExample", "InvalidArgumentError", "DataLossError")
