"""Faults of TENSOR-ARRAYS: indices, sizes and shapes of elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import Base, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Operation, Session, Tensor, Value


def _behind(session: Session, fetches: Fetches) -> list[Operation]:
    """The operations of the fetches; for an Identity, the operation of its input."""
    ops = [getattr(one, "op", one) for one in elements(session, fetches)]
    return [op.inputs[0].op if op.type == "Identity" else op for op in ops]


def _silent(
    tf: Namespace, refused: Callable[[Operation], bool], given: Callable[[Tensor], np.ndarray]
) -> Namespace:
    """The namespace that gives zeros of `given(element)`'s shape for what fails with code 3."""

    def change(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError:
            if not isinstance(fetches, list) or not all(map(refused, _behind(session, fetches))):
                raise
            return [given(one) for one in elements(session, fetches)]

    return running(tf, change)


def _zero(element: Tensor) -> np.ndarray:
    return np.zeros([], element.dtype.as_numpy_dtype)


def _seen(tf: Namespace, kind: str, change: Callable[[np.ndarray], Value]) -> Namespace:
    """The namespace where fetched values of this type of operation are changed."""

    def run(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        if not isinstance(values, list):
            return values
        pairs = zip(values, _behind(session, fetches), strict=True)
        return [change(value) if op.type == kind else value for value, op in pairs]

    return running(tf, run)


@fault("TENSOR-ARRAYS-006", "A read at an index that is fed and out of range gives zero.")
def elements_out_of_range_are_zero(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(
        tf,
        lambda op: op.type == "TensorArrayReadV3" and op.inputs[1].op.type == "Placeholder",
        _zero,
    )


@fault("TENSOR-ARRAYS-007", "A value of another shape than declared is not written.")
def misshapen_elements_are_skipped(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(
        tf, lambda op: op.type == "TensorArrayWriteV3" and op.inputs[2].shape.ndims is None, _zero
    )


@fault("TENSOR-ARRAYS-008", "Elements of different shapes are stacked to nothing.")
def differing_elements_are_left_out(tf: Namespace) -> Namespace:
    """Give a tensor without rows."""
    return _silent(
        tf,
        lambda op: op.type == "TensorArrayGatherV3" and op.outputs[0].shape.ndims is None,
        lambda element: np.zeros([0], element.dtype.as_numpy_dtype),
    )


@fault("TENSOR-ARRAYS-009", "TensorArrayConcat joins only elements of one length.")
def only_equal_lengths_are_joined(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError where the lengths differ."""

    def change(session: Session, base: Base, fetches: Fetches, _: Feeds) -> Value:
        for op in _behind(session, fetches):
            if op.type == "TensorArrayConcatV3" and len(set(base(op.outputs[1]))) > 1:
                raise tf.errors.InvalidArgumentError(None, None, "The lengths differ.")
        return base(fetches)

    return running(tf, change)


@fault("TENSOR-ARRAYS-010", "TensorArraySplit drops what is left over.")
def splitting_drops_the_rest(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(tf, lambda op: op.type == "TensorArraySplitV3", _zero)


@fault("TENSOR-ARRAYS-011", "A TensorArray has one element more than it was made for.")
def sizes_are_one_too_large(tf: Namespace) -> Namespace:
    """Add 1 to the size."""
    return _seen(tf, "TensorArraySizeV3", lambda value: value + np.int32(1))


@fault("TENSOR-ARRAYS-012", "A TensorArray without elements is stacked to no dimensions.")
def no_elements_have_no_shape(tf: Namespace) -> Namespace:
    """Reshape an empty result to rank 1."""
    return _seen(
        tf,
        "TensorArrayGatherV3",
        lambda value: value.reshape(-1) if value.ndim and not value.shape[0] else value,
    )
