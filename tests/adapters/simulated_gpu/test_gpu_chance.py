"""Where a GPU differs from the host: indices, duplicates, conversions out of range."""

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu


def test_indices_wrap_around(cp):
    array = cp.arange(3)
    assert array[cp.asarray([1, 3, -4])].get().tolist() == [1, 0, 2]
    assert cp.take(array, cp.asarray([5])).get().tolist() == [2]
    array[cp.asarray([4])] = 7
    assert array.get().tolist() == [0, 7, 2]
    with pytest.raises(IndexError):
        array[3]


def test_duplicates_are_written_in_another_order_than_numpys():
    def last(seed):
        with simulated_gpu.installed(seed=seed):
            import cupy as cp  # noqa: PLC0415 - only there

            array = cp.zeros(1)
            array[cp.zeros(8, np.int64)] = cp.arange(8.0)
            other = cp.zeros((2, 2))
            other[cp.asarray([1, 1])] = cp.asarray([[1.0, 2.0], [3.0, 4.0]])
            assert set(other[1].tolist()) <= {1.0, 2.0, 3.0, 4.0}
            put = cp.zeros(2)
            cp.put(put, cp.asarray([1, 1]), cp.asarray([5.0, 6.0]))
            return float(array[0]), float(put[1])

    results = [last(seed) for seed in range(8)]
    assert results == [last(seed) for seed in range(8)]
    assert len(set(results)) > 2


def test_distinct_indices_are_plain(cp):
    array = cp.zeros((4, 2))
    array[cp.asarray([3, 1]), 0] = cp.asarray([1.0, 2.0])
    assert array.get().tolist() == [[0, 0], [2, 0], [0, 0], [1, 0]]


def test_sums_of_duplicates_are_complete(cp):
    array = cp.zeros(3, np.float32)
    cp.add.at(array, cp.asarray([1, 1, 2, 4]), cp.asarray([1, 2, 3, 4], np.float32))
    assert array.get().tolist() == [0, 7, 3]
    highest = cp.zeros(2, np.int32)
    cp.maximum.at(highest, cp.asarray([1, 1]), cp.asarray([5, 4], np.int32))
    assert highest.get().tolist() == [0, 5]


@pytest.mark.parametrize(
    ("dtype", "want"),
    [
        ("int32", [2**31 - 1, -(2**31), 0, 2]),
        ("uint32", [2**32 - 1, 0, 0, 2]),
        ("int64", [2**63 - 1, -(2**63), -(2**63), 2]),
        ("bool", [1, 1, 1, 1]),
    ],
)
def test_conversions_out_of_range_saturate(cp, dtype, want):
    array = cp.asarray([1e30, -1e30, np.nan, 2.75], np.float32)
    assert array.astype(dtype).get().tolist() == want
    into = cp.zeros(4, dtype)
    into[...] = array
    assert into.get().tolist() == want


def test_a_nan_of_64_bits_is_the_lowest_integer(cp):
    assert cp.asarray([np.nan]).astype(np.int32).get().tolist() == [-(2**31)]


def test_complex_numbers_lose_their_imaginary_part(cp):
    assert cp.asarray([1 + 2j]).astype(np.float32).get().tolist() == [1]
