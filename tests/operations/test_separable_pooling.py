"""Poolings one dimension after the other, and in blocks, are those of whole windows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from sessrun.reference.kernels import separable_pooling
from sessrun.reference.kernels.separable_pooling import first_maxima_gradient, folded, spread_evenly
from sessrun.spec.rules.windows import Axis, axes

GEOMETRIES = list(
    itertools.product(
        ((1, 1), (2, 2), (3, 3), (2, 3), (1, 4)), ((1, 1), (2, 2), (3, 2)), ("SAME", "VALID")
    )
)


@pytest.fixture(autouse=True)
def _blocks_of_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separable_pooling, "_BLOCK", 1)


def positions(along: tuple[Axis, ...]) -> Any:
    """For each position, its index and the indices of its window's elements, in C order."""
    for place in itertools.product(*(range(axis.out) for axis in along)):
        spans = [
            range(
                max(at * axis.stride - axis.before, 0),
                min(at * axis.stride - axis.before + axis.window, axis.size),
            )
            for at, axis in zip(place, along, strict=True)
        ]
        yield place, list(itertools.product(*spans))


def drawn(windows: Any, strides: Any, padding: str) -> tuple[Any, Any, tuple[Axis, ...]]:
    """Images of few numbers, so that maxima are equal, gradients, and the geometry."""
    along = axes((7, 6), windows, strides, (1, 1), padding)
    draw = np.random.default_rng(5)
    x = draw.integers(-2, 3, (3, 7, 6, 2)).astype(np.float32)
    grad = draw.integers(-9, 10, (3, *(axis.out for axis in along), 2)).astype(np.float32)
    return x, grad, along


def given(x: Any, grad: Any, along: tuple[Axis, ...]) -> Any:
    """Each gradient added to the first maximum of its window; a NaN is one if it comes first."""
    out = np.zeros(x.shape, np.float64)
    for image, channel in itertools.product(range(len(x)), range(x.shape[-1])):
        for place, elements in positions(along):
            best = elements[0]
            for element in elements:
                if x[(image, *element, channel)] > x[(image, *best, channel)]:
                    best = element
            out[(image, *best, channel)] += grad[(image, *place, channel)]
    return out


def never(*_: Any) -> Any:
    raise AssertionError("there are no NaNs")


@pytest.mark.parametrize(("windows", "strides", "padding"), GEOMETRIES)
def test_a_gradient_goes_to_the_first_maximum_of_its_window(
    windows: Any, strides: Any, padding: str
) -> None:
    x, grad, along = drawn(windows, strides, padding)
    want = given(x, grad, along)
    assert np.array_equal(first_maxima_gradient(x, grad, along, -9, never), want)
    whole = first_maxima_gradient(x.astype(np.int32), grad.astype(np.int32), along, -9, never)
    assert np.array_equal(whole, want)


def test_an_infinite_gradient_leaves_zeros_beside_it() -> None:
    x, grad, along = drawn((2, 2), (2, 2), "SAME")
    grad[0, 0, 0, 0] = np.inf
    got = first_maxima_gradient(x, grad, along, -9, never)
    assert np.array_equal(got, given(x, grad, along))
    assert np.isfinite(got).sum() == got.size - 1


def test_blocks_with_nans_alone_are_given_to_the_function_for_them() -> None:
    x, grad, along = drawn((2, 2), (2, 2), "SAME")
    x[1, 3, 3, 1] = np.nan
    got = first_maxima_gradient(x, grad, along, -9, lambda x, grad: given(x, grad, along))
    assert np.array_equal(got, given(x, grad, along))


@pytest.mark.parametrize(("windows", "strides", "padding"), GEOMETRIES)
def test_sums_and_their_gradients_are_those_of_the_windows(
    windows: Any, strides: Any, padding: str
) -> None:
    x, grad, along = drawn(windows, strides, padding)
    sums, spread = np.zeros(grad.shape), np.zeros(x.shape)
    for place, elements in positions(along):
        for element in elements:
            sums[:, *place] += x[:, *element]
            spread[:, *element] += grad[:, *place]
    assert np.array_equal(folded(np.add, np, x, along, 0), sums)
    assert np.array_equal(spread_evenly(np, grad, along), spread)
