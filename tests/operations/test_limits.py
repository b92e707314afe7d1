"""Maximum and Minimum of large arrays and one number give what they give for two arrays."""

from __future__ import annotations

import numpy as np
import pytest

import sessrun.reference as tf

#: Sizes below, at and above those from which on rows are taken, with elements after the last row.
_SIZES = (65535, 65536, 70000, 81921)


def _numbers(size: int, dtype: str) -> np.ndarray:
    """Numbers of both signs; among floats NaN, infinities and both zeros."""
    numbers = np.random.default_rng(size).integers(-100, 100, size).astype(dtype)
    if numbers.dtype.kind == "f":
        special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], dtype)
        numbers[: len(special)] = numbers[-len(special) :] = special
    return numbers


@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("number", [0, -3])
def test_a_number_is_as_good_as_an_array_of_it(
    name: str, dtype: str, size: int, number: int
) -> None:
    array, function = _numbers(size, dtype), getattr(tf, name)
    want = getattr(np, name)(array, np.full(size, number, dtype))
    constant = tf.constant(number, dtype)
    x = tf.placeholder(dtype, [None])
    with tf.Session() as session:
        left, right = session.run([function(x, constant), function(constant, x)], {x: array})
    assert left.tobytes() == want.tobytes()
    assert right.tobytes() == getattr(np, name)(np.full(size, number, dtype), array).tobytes()


@pytest.mark.parametrize("shape", [(65536,), (3, 256, 100), (1, 80001)])
def test_relu_of_large_arrays_keeps_shapes(shape: tuple[int, ...]) -> None:
    array = _numbers(int(np.prod(shape)), "float32").reshape(shape)
    transposed = np.asfortranarray(array)
    x = tf.placeholder("float32", None)
    relu = tf.nn.relu(x)
    with tf.Session() as session:
        for given in (array, transposed):
            got = session.run(relu, {x: given})
            np.testing.assert_array_equal(got, np.maximum(array, np.zeros_like(array)))
