"""That an operator in generated code gives what the kernel gives, bit for bit."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.session.execute.infix import INFIX, Infix

CASES = [
    pytest.param(kernel, infix, name, id=f"{infix.form}-{name}")
    for kernel, infix in INFIX.items()
    for name in sorted(infix.dtypes or ())
]


def operator_of(infix: Infix) -> Callable[..., Any]:
    """The form as a function."""
    count = 2 if "{1}" in infix.form else 1
    names = ("x", "y")[:count]
    return eval(f"lambda {', '.join(names)}: {infix.form.format(*names)}")  # noqa: S307 - our own table


def every_value(name: str) -> np.ndarray:
    """Every value of a dtype of at most 16 bits; of a wider one its extremes and some drawn."""
    dtype = dtype_of(name)
    if name == "bool":
        return np.array([False, True])
    if dtype.itemsize <= 2:
        bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"uint{8 * dtype.itemsize}")
        return bits.view(dtype)
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, 1 << 62, 2000, dtype=np.uint64) * np.uint64(5)
    return np.concatenate([drawn.view(dtype), extremes(name)])


def extremes(name: str) -> np.ndarray:
    """The values at which arithmetic is special."""
    dtype = dtype_of(name)
    if name == "bool":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = {
            limits.min,
            limits.min + 1,
            0,
            1,
            2,
            3,
            limits.max - 1,
            limits.max,
            limits.max // 2,
        }
        return np.array(sorted(values | ({-1, -2} if dtype.kind == "i" else set())), dtype)
    limits = ml_dtypes.finfo(dtype)
    tiny, most = float(limits.smallest_subnormal), float(limits.max)
    positive = [0.0, tiny, float(limits.tiny), 1 / 3, 0.5, 1.0, 1.1, 3.0, most, np.inf, np.nan]
    return np.array([*positive, *(-value for value in positive)], dtype)


def operands(name: str, count: int) -> Iterator[tuple[Any, ...]]:
    """Scalars: every value of one, every pair of the extremes, and some pairs that are drawn."""
    if count == 1:
        yield from ((value,) for value in every_value(name))
        return
    yield from itertools.product(extremes(name), repeat=2)
    values = every_value(name)
    order = np.random.default_rng(11).permutation(len(values))[:700]
    yield from zip(values[order], values[order[::-1]], strict=True)


def bits(value: Any) -> tuple[str, bytes]:
    assert isinstance(value, np.generic)
    return str(value.dtype), value.tobytes()


@pytest.mark.parametrize(("kernel", "infix", "name"), CASES)
def test_an_operator_gives_what_the_kernel_gives(kernel: Any, infix: Infix, name: str) -> None:
    operator = operator_of(infix)
    count = len(inspect.signature(operator).parameters)
    with np.errstate(all="ignore"):
        for values in operands(name, count):
            assert bits(operator(*values)) == bits(kernel(*values)), values
        for values in itertools.product(extremes(name), repeat=count):
            held = [np.asarray(value) for value in values]  # what a variable of rank 0 may hold
            assert bits(operator(*held)) == bits(kernel(*values)), values


def test_the_other_kernels_are_the_operators_themselves() -> None:
    plain = {kernel.__name__: infix.form for kernel, infix in INFIX.items() if infix.dtypes is None}
    assert plain == {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}"}
    assert {kernel.__module__ for kernel, infix in INFIX.items() if infix.dtypes is None} == {
        "_operator"
    }
