"""Faults of GPU: errors that come late or never, wrong values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import Base, elements, giving, running
from sessrun.conformance.subjects.gpu.faults.gpu import failing, is_on
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, Feeds, Fetches, Session, Value


def _raising_again(tf: Namespace, *, is_late: bool) -> Namespace:
    """The namespace where a run raises the error of a CheckNumerics in the run before it.

    Args:
      tf: the conforming namespace.
      is_late: whether the run before raises nothing if it fetches that operation alone; else both
        runs raise the error.

    """

    def run(session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        kept = vars(session).pop("faulty_error", None)
        if kept is not None:
            raise kept
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError as error:
            op = fetches if is_late else error.op
            is_kept = getattr(op, "type", "") == "CheckNumerics"
            session.faulty_error = error if is_kept else None
            if not (is_late and is_kept):
                raise
            return None

    return running(tf, run)


@fault("GPU-036", "An error on a GPU shows in the next run where nothing is fetched.")
def errors_come_late(tf: Namespace) -> Namespace:
    """Raise the error in the next run instead."""
    return _raising_again(tf, is_late=True)


@fault("GPU-037", "The run after one that failed on a GPU fails, too.")
def errors_stay(tf: Namespace) -> Namespace:
    """Raise the error of the last run once more."""
    return _raising_again(tf, is_late=False)


@fault("GPU-038", "A row that is not there is what lies behind the others.")
def rows_behind_the_last(tf: Namespace) -> Namespace:
    """Give 77 for each index of a GatherV2 that is out of range, where 0 or an error is right."""

    def is_gather(element: Any) -> bool:
        return getattr(getattr(element, "op", None), "type", "") == "GatherV2"

    def run(session: Session, base: Base, fetches: Fetches, _feeds: Feeds) -> Value:
        gathered = [tensor for tensor in elements(session, fetches) if is_gather(tensor)]
        if not gathered:
            return base(fetches)
        rows, indices = base(list(gathered[0].op.inputs[:2]))
        is_there = (indices >= 0) & (indices < len(rows))
        return np.where(is_there, rows[indices * is_there], np.float32(77))

    return running(tf, run)


@fault("GPU-039", "Matrices that do not go together have a product on a GPU.")
def any_matrices_go_together(tf: Namespace) -> Namespace:
    """Return zeros where the run fails."""
    return failing(tf, "MatMul", lambda _error: np.zeros((2, 3), np.float32))


@fault("GPU-040", "A GPU computes float64 in float32.")
def doubles_are_singles(tf: Namespace) -> Namespace:
    """Round float64 values of GPU operations to float32."""

    def rounded(value: Array, tensor: Any) -> Value:
        op = getattr(tensor, "op", tensor)
        if op.type == "Identity" or not is_on(op, "GPU") or tensor.dtype.name != "float64":
            return value
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(value).astype(np.float32).astype(np.float64)

    return giving(tf, rounded)
