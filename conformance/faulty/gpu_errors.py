"""Faults of GPU: errors that come late or never, wrong values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import elements, running
from sessrun.conformance.subjects.gpu.faults import failing, is_on


@fault("GPU-036", "An error on a GPU shows in the next run where nothing is fetched.")
def errors_come_late(tf: Any) -> Any:
    """Keep it for the next run."""

    def run(session: Any, base: Any, fetches: Any, _feeds: Any) -> Any:
        late = vars(session).pop("faulty_late", None)
        if late is not None:
            raise late
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError as error:
            if getattr(fetches, "type", "") != "CheckNumerics":
                raise
            session.faulty_late = error

    return running(tf, run)


@fault("GPU-037", "The run after one that failed on a GPU fails, too.")
def errors_stay(tf: Any) -> Any:
    """Raise it once more."""

    def run(session: Any, base: Any, fetches: Any, _feeds: Any) -> Any:
        stays = vars(session).pop("faulty_error", None)
        if stays is not None:
            raise stays
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError as error:
            if getattr(error.op, "type", "") == "CheckNumerics":
                session.faulty_error = error
            raise

    return running(tf, run)


@fault("GPU-038", "A row that is not there is what lies behind the others.")
def rows_behind_the_last(tf: Any) -> Any:
    """Give something."""
    return failing(tf, "GatherV2", lambda _error: np.array([2, 77], np.float32))


@fault("GPU-039", "Matrices that do not go together have a product on a GPU.")
def any_matrices_go_together(tf: Any) -> Any:
    """Give zeros."""
    return failing(tf, "MatMul", lambda _error: np.zeros((2, 3), np.float32))


@fault("GPU-040", "A GPU computes float64 in float32.")
def doubles_are_singles(tf: Any) -> Any:
    """Round what it gives."""

    def rounded(value: Any, tensor: Any) -> Any:
        op = getattr(tensor, "op", tensor)
        if op.type == "Identity" or not is_on(op, "GPU") or tensor.dtype.name != "float64":
            return value
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(value).astype(np.float32).astype(np.float64)

    def run(session: Any, base: Any, fetches: Any, _feeds: Any) -> Any:
        values = base(fetches)
        if not isinstance(fetches, list):
            return values
        named = zip(values, elements(session, fetches), strict=True)
        return [rounded(value, tensor) for value, tensor in named]

    return running(tf, run)
