"""Numeric contracts: when two tensors of one dtype and shape count as equal.

`free`               any tensor of the dtype, of any shape: what it is is the backend's own affair
`exact`              the same values; NaN equals NaN, -0.0 equals 0.0
`signed`             as `exact`, but -0.0 is not 0.0
`ulp(n)`             each element within n units in the last place of the wanted one, if finite
`close(rtol, atol)`  |got - want| <= atol + rtol * |want|, infinities and NaN in the same places
`columns(rtol, atol)`  as `close`, each column of a matrix up to a factor of modulus one
`rows(rtol, atol)`     the same of each row
`unordered(rtol, atol)`  as `close`, the elements of the last dimension in any order
`mixed_columns(rtol, atol)`  as `columns`, the columns in any order
`levels(n)`          integers, quantized or not, each within n of the wanted one
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final, TypeAlias

import ml_dtypes
import numpy as np

__all__ = ["ContractError", "difference"]


class ContractError(ValueError):
    """A numeric contract's text is not one."""


def difference(contract: str, want: np.ndarray, got: np.ndarray) -> str | None:
    """Why `got` is not `want` under the contract; None if it is.

    Both have one dtype and, unless `free`, one shape (any dtype of the spec; strings are object
    arrays of bytes).

    Raises:
      ContractError: the contract is unknown.

    """
    if contract == "free":
        return None
    if want.dtype.names is not None:  # quantized: a structure of one integer
        want, got = want.view(want.dtype[0]), got.view(want.dtype[0])
    if _is_float(want) or contract.startswith("levels("):
        equal = np.asarray(_test(contract)(want, got))
    else:
        equal = want == got
    if np.all(equal):
        return None
    differing = np.argwhere(~np.asarray(equal))
    index = tuple(int(i) for i in differing[0])
    where = f" at index {list(index)}" if index else ""
    return (
        f"want {want[index]!r}, got {got[index]!r}{where}"
        f" ({len(differing)} of {want.size} elements differ, contract {contract})"
    )


#: For each element whether it is as wanted.
Truths: TypeAlias = np.ndarray


def _is_float(array: np.ndarray) -> bool:
    return array.dtype.kind in "fc" or _has_finfo(array.dtype)


def _finfo(dtype: np.dtype) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


@functools.cache
def _has_finfo(dtype: np.dtype) -> bool:
    try:
        _finfo(dtype)
    except (ValueError, TypeError, KeyError):
        return False
    return True


@functools.cache
def _test(contract: str) -> Callable[[np.ndarray, np.ndarray], Truths]:
    if contract in _WITHOUT_NUMBERS:
        return _WITHOUT_NUMBERS[contract]
    parts = re.fullmatch(r"([a-z_]+)\(([^()]*)\)", contract)
    if parts is None:
        raise ContractError(f"unknown numeric contract {contract!r}")
    numbers = [float(text) for text in parts[2].split(",")]
    if parts[1] in _WITHIN and len(numbers) == 1:
        return functools.partial(_WITHIN[parts[1]], numbers[0])
    if parts[1] in _NEAR and len(numbers) == 2:
        return functools.partial(_NEAR[parts[1]], numbers[0], numbers[1])
    if parts[1] not in _WITHIN and parts[1] not in _NEAR:
        raise ContractError(f"unknown numeric contract {contract!r}")
    raise ContractError(f"{contract!r} has the wrong number of arguments")


def _exact(want: np.ndarray, got: np.ndarray) -> Truths:
    with np.errstate(invalid="ignore"):
        same: Truths = (want == got) | ((want != want) & (got != got))  # noqa: PLR0124 - only NaN differs from itself
    return same


def _signed(want: np.ndarray, got: np.ndarray) -> Truths:
    if want.dtype.kind == "c":
        both: Truths = _signed(want.real, got.real) & _signed(want.imag, got.imag)
        return both
    alike = np.signbit(want) == np.signbit(got)
    same: Truths = _exact(want, got) & (alike | (want != 0))
    return same


#: The contracts without numbers.
_WITHOUT_NUMBERS: Final = {"exact": _exact, "signed": _signed}


def _ulp(units: float, want: np.ndarray, got: np.ndarray) -> Truths:
    if want.dtype.kind == "c":
        both: Truths = _ulp(units, want.real, got.real) & _ulp(units, want.imag, got.imag)
        return both
    info = _finfo(want.dtype)
    wide, seen = want.astype(np.float64), got.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(wide), float(info.tiny))))
        spacing = float(info.eps) * np.exp2(exponent)
        near = np.isfinite(wide) & (np.abs(wide - seen) <= units * spacing)
    close: Truths = _exact(want, got) | near
    return close


def _levels(count: float, want: np.ndarray, got: np.ndarray) -> Truths:
    if want.dtype.kind not in "iu":
        return _exact(want, got)
    wide = [array.astype(object) for array in (want, got)]  # no integer overflows
    close: Truths = np.abs(wide[0] - wide[1]) <= count
    return close


#: The contracts of one number.
_WITHIN: Final = {"ulp": _ulp, "levels": _levels}


def _close(rtol: float, atol: float, want: np.ndarray, got: np.ndarray) -> Truths:
    wider = np.complex128 if want.dtype.kind == "c" else np.float64
    wide, seen = want.astype(wider), got.astype(wider)
    with np.errstate(all="ignore"):
        near = np.isfinite(wide) & (np.abs(wide - seen) <= atol + rtol * np.abs(wide))
    close: Truths = _exact(want, got) | near
    return close


def _columns(rtol: float, atol: float, want: np.ndarray, got: np.ndarray) -> Truths:
    """Turn each column so that its inner product with the wanted one is positive."""
    if want.ndim < 2:
        return _columns(rtol, atol, want.reshape(-1, 1), got.reshape(-1, 1)).reshape(want.shape)
    with np.errstate(all="ignore"):
        products = np.sum(np.conj(got) * want, axis=-2, keepdims=True)
        sizes = np.abs(products)
        turned = got * np.where(sizes > 0, products / sizes, 1)
    return _close(rtol, atol, want, turned)


def _rows(rtol: float, atol: float, want: np.ndarray, got: np.ndarray) -> Truths:
    if want.ndim < 2:
        return _columns(rtol, atol, want, got)
    turned = _columns(rtol, atol, np.swapaxes(want, -1, -2), np.swapaxes(got, -1, -2))
    return np.swapaxes(turned, -1, -2)


def _matched(likeness: np.ndarray) -> list[int]:
    """For each row the column that is most like it and not taken by a row before."""
    free = list(range(likeness.shape[1]))
    chosen = []
    for row in likeness:
        chosen.append(max(free, key=lambda column: row[column]))
        free.remove(chosen[-1])
    return chosen


def _unordered(rtol: float, atol: float, want: np.ndarray, got: np.ndarray) -> Truths:
    if not want.size or not want.ndim:
        return _close(rtol, atol, want, got)
    size = want.shape[-1]
    rows = zip(want.reshape((-1, size)), got.reshape((-1, size)), strict=True)
    moved = [mine[_matched(-np.abs(its[:, None] - mine[None, :]))] for its, mine in rows]
    return _close(rtol, atol, want, np.reshape(moved, want.shape))


def _mixed_columns(rtol: float, atol: float, want: np.ndarray, got: np.ndarray) -> Truths:
    if not want.size or want.ndim < 2:
        return _columns(rtol, atol, want, got)
    shape = (-1, *want.shape[-2:])
    pairs = zip(want.reshape(shape), got.reshape(shape), strict=True)
    moved = []
    for its, mine in pairs:
        sizes = np.sqrt((np.abs(mine) ** 2).sum(axis=0)) + np.finfo(np.float32).tiny
        moved.append(mine[:, _matched(np.abs(its.conj().T @ mine) / sizes)])
    return _columns(rtol, atol, want, np.reshape(moved, want.shape))


#: The contracts of two tolerances.
_NEAR: Final = {
    "close": _close,
    "columns": _columns,
    "mixed_columns": _mixed_columns,
    "rows": _rows,
    "unordered": _unordered,
}
