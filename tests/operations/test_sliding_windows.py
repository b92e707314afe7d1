"""Convolutions whose windows are copied along rows alone compute what their definitions say."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sessrun.reference.kernels import products, sliding_windows
from sessrun.reference.kernels.sliding_windows import (
    added_rows,
    can_add_rows,
    convolved,
    returned,
    summed,
)
from sessrun.spec.rules.windows import Axis, axes

#: What is added before and behind rows, and columns, where the padding is explicit.
PADS = ((1, 2), (0, 3))
#: Sizes of images: several are a tile, or one is, or one is several tiles.
SIZES = ((9, 7), (14, 14), (70, 31))
GEOMETRIES = [
    (size, window, channels, strides, dilations, padding)
    for size, window, channels, strides, dilations, padding in itertools.product(
        SIZES,
        ((1, 3), (3, 1), (2, 3), (5, 5)),
        (1, 5),
        ((1, 1), (2, 1), (1, 2)),
        ((1, 1), (2, 1), (1, 2)),
        ("SAME", "VALID", "EXPLICIT"),
    )
    if min(axis.out for axis in axes(size, window, strides, dilations, padding, PADS)) > 0
]


@pytest.fixture(autouse=True, params=[True, False], ids=["small kernels", "other processors"])
def _kernels(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """BLAS with kernels for small products, or without; tiles so small that images have several."""
    monkeypatch.setattr(products, "_has_small_kernels", lambda: request.param)
    monkeypatch.setattr(products, "_SMALL", 20_000)
    monkeypatch.setattr(sliding_windows, "_TILE", 1 << 13)
    monkeypatch.setattr(sliding_windows, "_SHORT_TILE", 1 << 13)
    monkeypatch.setattr(sliding_windows, "_MOST_POSITIONS", 100)
    products._step.cache_clear()
    yield
    products._step.cache_clear()


def offsets(along: tuple[Axis, ...]) -> Iterator[tuple[tuple[int, int], Any, Any]]:
    """For each element of the window, indices of positions where it is in the image, and of it."""
    for row, column in itertools.product(*(range(axis.window) for axis in along)):
        pairs = [axis.within(at) for axis, at in zip(along, (row, column), strict=True)]
        here, there = ((slice(None), *slices) for slices in zip(*pairs, strict=True))
        yield (row, column), here, there


def expected(x: Any, filters: Any, grad: Any, along: tuple[Axis, ...]) -> tuple[Any, Any, Any]:
    """The convolution, the gradient by the filters and by the images, summed in float64."""
    wide, kernels, above = (array.astype(np.float64) for array in (x, filters, grad))
    out, by_filters, by_x = np.zeros(grad.shape), np.zeros(filters.shape), np.zeros(x.shape)
    for element, here, there in offsets(along):
        out[here] += wide[there] @ kernels[element]
        by_filters[element] = np.einsum("nyxc,nyxo->co", wide[there], above[here])
        by_x[there] += above[here] @ kernels[element].T
    return out, by_filters, by_x


def drawn(geometry: Any, images: int = 3, depth: int = 4) -> tuple[Any, Any, Any, Any]:
    size, window, channels, strides, dilations, padding = geometry
    along = axes(size, window, strides, dilations, padding, PADS)
    draw = np.random.default_rng(random.Random(str(geometry)).randrange(1 << 30))
    x = draw.standard_normal((images, *size, channels)).astype(np.float32)
    filters = draw.standard_normal((*window, channels, depth)).astype(np.float32)
    grad = draw.standard_normal((images, *(axis.out for axis in along), depth)).astype(np.float32)
    return x, filters, grad, along


@pytest.mark.parametrize("geometry", random.Random(1).sample(GEOMETRIES, 150), ids=str)
def test_convolutions_and_their_gradients_are_the_sums_over_the_window(geometry: Any) -> None:
    x, filters, grad, along = drawn(geometry)
    out, by_filters, by_x = expected(x, filters, grad, along)
    first, last = along
    if first.dilation == 1:
        np.testing.assert_allclose(convolved(x, filters, along), out, rtol=1e-3, atol=1e-4)
    if first.stride == 1:
        np.testing.assert_allclose(added_rows(x, filters, along), out, rtol=1e-3, atol=1e-4)
        got = summed(x, grad, along).reshape(filters.shape)
        np.testing.assert_allclose(got, by_filters, rtol=1e-3, atol=1e-3)
    reach = (last.window - 1) * last.dilation
    if first.stride == last.stride == 1 and reach >= max(last.before, last.after):
        np.testing.assert_allclose(returned(grad, filters, along), by_x, rtol=1e-3, atol=1e-4)


def test_images_that_do_not_lie_side_by_side_are_convolved() -> None:
    x, filters, grad, along = drawn(((14, 14), (3, 3), 5, (1, 1), (1, 1), "VALID"))
    apart = np.repeat(x, 2, axis=3)[..., ::2]
    turned = np.ascontiguousarray(grad.transpose(3, 0, 1, 2)).transpose(1, 2, 3, 0)
    assert np.array_equal(convolved(apart, filters, along), convolved(x, filters, along))
    assert np.array_equal(added_rows(apart, filters, along), added_rows(x, filters, along))
    assert np.array_equal(summed(apart, turned, along), summed(x, grad, along))
    assert np.array_equal(returned(turned, filters, along), returned(grad, filters, along))


def test_rows_are_added_of_images_with_rows_and_by_finite_filters() -> None:
    """Without rows there is nothing to be added; what is left out at the border is times 0."""
    x, filters, _, along = drawn(((14, 14), (3, 3), 32, (1, 1), (1, 1), "SAME"), images=8)
    assert can_add_rows(x, filters, along)
    filters[0, 0, 0, 0] = np.nan
    assert not can_add_rows(x, filters, along)
    empty = axes((0, 14), (3, 3), (1, 1), (1, 1), "EXPLICIT", ((2, 2), (1, 1)))
    assert not can_add_rows(x[:, :0], np.ones_like(filters), empty)


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_a_number_that_is_not_finite_stays_in_the_windows_that_it_is_in(number: float) -> None:
    x, filters, grad, along = drawn(((14, 14), (3, 3), 5, (1, 1), (1, 1), "SAME"))
    x[1, 4, 4, 2] = grad[1, 4, 4, 2] = number
    with np.errstate(invalid="ignore"):
        outside = np.isfinite(convolved(x, filters, along))
        back = np.isfinite(returned(grad, filters, along))
    for finite in (outside, back):
        assert not finite[1, 3:6, 3:6].any()
        finite[1, 3:6, 3:6] = True
        assert finite.all()


def test_threads_change_no_value_and_warn_of_nothing_that_the_caller_ignores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, filters, grad, along = drawn(((70, 31), (5, 5), 5, (1, 1), (1, 1), "SAME"), images=5)
    x[0, 0, 0, 0] = grad[0, 0, 0, 0] = np.inf
    x[0, 0, 1, 0] = grad[0, 0, 1, 0] = -np.inf
    results = []
    pool, _ = products._threads()
    for cores in (1, 4):
        monkeypatch.setattr(products, "_threads", lambda cores=cores: (pool, cores))
        monkeypatch.setattr(products, "_WORTH_SHARING", 1)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            results.append(
                (
                    convolved(x, filters, along),
                    added_rows(x, filters, along),
                    summed(x, grad, along),
                    returned(grad, filters, along),
                )
            )
    for one, four in zip(*results, strict=True):
        assert np.array_equal(one, four, equal_nan=True)


@pytest.mark.parametrize("height", [1, 5, 12, 13, 24, 97, 200])
def test_products_in_steps_of_rows_are_the_products(height: int) -> None:
    draw = np.random.default_rng(height)
    left, right = draw.random((3, height, 40)), products.aligned((40, 24), np.dtype("float64"))
    right[...] = draw.random((40, 24))
    out = np.full((3, height, 24), np.nan)
    products.multiply(left, right, out)
    np.testing.assert_allclose(out, left @ right)


def test_an_aligned_array_begins_with_a_cache_line() -> None:
    for shape in ((3,), (5, 7), (2, 3, 4)):
        memory = products.aligned(shape, np.dtype("float32"))
        assert memory.shape == shape
        assert memory.ctypes.data % 64 == 0
