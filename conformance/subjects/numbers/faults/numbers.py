"""Faults of NUMBERS: sums of too little precision, and sums that lose elements."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.computing import axes_of, computing, single
from sessrun.conformance.faulty.framework import fault
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Operation

_NARROW = ("float16", "bfloat16")
#: Fewer elements are added up as they should be.
_MANY = 900


def _one_by_one(x: np.ndarray, axis: int) -> np.ndarray:
    """The sum over an axis, added up one number after the other in the dtype of the numbers."""
    return np.add.accumulate(x, axis=axis, dtype=x.dtype).take([-1], axis)


def _added(out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
    """The sum over the axes, one number after the other."""
    for axis in axes_of(axes):
        x = _one_by_one(x, axis)
    return np.reshape(x, out.shape)


@fault("NUMBERS-001", "A sum of a long axis leaves out what does not fill a block of 1,024.")
def the_last_block_is_left_out(tf: Namespace) -> Namespace:
    """Sum whole blocks only, of matrices, from 4,096 numbers on."""

    def change(_: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        for axis in axes_of(axes):
            if x.shape[axis] < 4096 or x.ndim < 2:
                return out
            kept = x.shape[axis] // 1024 * 1024
            x = x.take(range(kept), axis).sum(axis, keepdims=True, dtype=x.dtype)
        return np.reshape(x, out.shape)

    return computing(tf, {"Sum": single(change)})


@fault("NUMBERS-002", "Sums of halves and of bfloat16 are kept in numbers of that dtype.")
def halves_are_added_up_in_halves(tf: Namespace) -> Namespace:
    """Add one after the other where there are many."""

    def change(_: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        return _added(out, x, axes) if x.dtype.name in _NARROW and x.size > _MANY else out

    return computing(tf, {"Sum": single(change)})


@fault("NUMBERS-002", "A product of matrices of halves is added up in halves.")
def products_are_added_up_in_halves(tf: Namespace) -> Namespace:
    """Add the products of each row and column one after the other."""

    def change(_: Operation, out: np.ndarray, a: np.ndarray, b: np.ndarray) -> Array:
        if a.dtype.name not in _NARROW or a.size < _MANY or a.ndim != 2:
            return out
        inner = next(n for n in a.shape if n > 100) if max(a.shape) > 100 else 0
        if not inner or inner not in b.shape:
            return out
        left = a if a.shape[1] == inner else a.T
        right = b if b.shape[0] == inner else b.T
        columns = [_one_by_one(left * column, 1)[:, 0] for column in right.T]
        return np.stack(columns, axis=1).reshape(out.shape)

    return computing(tf, {"MatMul": single(change)})


@fault("NUMBERS-003", "Sums of float32 are added up one after the other in one float32.")
def singles_are_added_up_one_by_one(tf: Namespace) -> Namespace:
    """Add one after the other."""

    def change(_: Operation, out: np.ndarray, x: np.ndarray, axes: np.ndarray) -> Array:
        return _added(out, x, axes) if x.dtype == np.float32 and x.size > _MANY else out

    return computing(tf, {"Sum": single(change)})


@fault("NUMBERS-004", "Each element of a range is the one before it and a step.")
def steps_are_added_up(tf: Namespace) -> Namespace:
    """Add the step again and again."""

    def change(
        op: Operation, out: np.ndarray, steps: np.ndarray, places: np.ndarray, _: np.ndarray
    ) -> Array:
        if op.inputs[0].op.type != "Range" or steps.dtype.kind != "f" or steps.size < 2:
            return out
        again = np.full(steps.shape, steps[1] - steps[0], steps.dtype)
        again[0] = steps[0]
        return np.add.accumulate(again, dtype=steps.dtype).take(places)

    return computing(tf, {"GatherV2": single(change)})
