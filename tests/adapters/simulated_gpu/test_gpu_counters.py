"""What is counted: launches, waits, copies and their bytes, on the device where they happen."""

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu


@pytest.mark.parametrize(
    ("call", "launches"),
    [
        (lambda cp, a: a + a * 2, 2),
        (lambda cp, a: a.T, 0),
        (lambda cp, a: a.reshape(3, 2), 0),
        (lambda cp, a: a.T.reshape(-1), 1),
        (lambda cp, a: a[0], 0),
        (lambda cp, a: a[:, 1:], 0),
        (lambda cp, a: cp.broadcast_to(a, (4, 2, 3)), 0),
        (lambda cp, a: cp.empty(3), 0),
        (lambda cp, a: cp.zeros(3), 1),
        (lambda cp, a: a.astype(np.float64), 1),
        (lambda cp, a: a.astype(np.float32, copy=False), 0),
        (lambda cp, a: cp.ascontiguousarray(a), 0),
        (lambda cp, a: cp.ascontiguousarray(a.T), 1),
        (lambda cp, a: cp.matmul(a, a.T), 1),
        (lambda cp, a: a.sum(axis=0), 1),
        (lambda cp, a: cp.concatenate([a, a, a]), 3),
        (lambda cp, a: cp.asarray(np.ones(3)), 0),
        (lambda cp, a: cp.split(a, 3, axis=1), 0),
        (lambda cp, a: cp.expand_dims(a, 0), 0),
    ],
)
def test_views_launch_nothing(cp, call, launches):
    array = cp.ones((2, 3), np.float32)
    simulated_gpu.reset()
    call(cp, array)
    assert simulated_gpu.counters().launches == launches


@pytest.mark.parametrize(
    "call",
    [
        bool,
        int,
        float,
        lambda a: a.item(),
        lambda a: a.tolist(),
        str,
        lambda a: f"{a:.1f}",
    ],
)
def test_reads_like_pythons_are_hidden_waits(cp, call):
    number = cp.ones(())
    simulated_gpu.reset()
    call(number)
    counted = simulated_gpu.counters()
    assert (counted.hidden_synchronizations, counted.hidden_downloads) == (1, 1)
    assert (counted.synchronizations, counted.download_bytes) == (0, 8)
    assert simulated_gpu.log()[-1].file == __file__


def test_a_number_of_the_host_is_filled_in_and_not_uploaded(cp):
    simulated_gpu.reset()
    assert cp.asarray(np.float32(3)).get() == 3
    assert (simulated_gpu.counters().launches, simulated_gpu.counters().uploads) == (1, 0)


def test_memory_that_is_given_back_is_waited_for(cp):
    pool = cp.get_default_memory_pool()
    simulated_gpu.reset()
    pool.free_all_blocks()
    assert simulated_gpu.counters().hidden_synchronizations == 0
    cp.ones(3)
    pool.free_all_blocks()
    assert simulated_gpu.counters().hidden_synchronizations == 1


def test_a_source_is_compiled_once_for_its_dtypes(cp):
    simulated_gpu.kernel("squared", lambda x: x * x)
    for dtype in ("float32", "float64", "float32"):
        kernel = cp.ElementwiseKernel("T x", "T y", "y = x * x", "squared")
        assert kernel(cp.full(2, 3, dtype)).get().tolist() == [9, 9]
    assert simulated_gpu.counters().compilations == 2


def test_iteration_gives_arrays_without_a_wait(cp):
    array = cp.ones(3)
    simulated_gpu.reset()
    assert [item.shape for item in array] == [()] * 3
    assert len(array) == 3
    assert simulated_gpu.counters().hidden_synchronizations == 0


def test_sizes_in_the_data_wait(cp):
    array = cp.arange(4)
    simulated_gpu.reset()
    assert array[array > 1].shape == (2,)
    assert cp.nonzero(array)[0].shape == (3,)
    array[array > 2] = 0
    assert simulated_gpu.counters().hidden_synchronizations == 2


def test_copies_are_counted_with_their_bytes(cp):
    simulated_gpu.reset()
    array = cp.asarray(np.ones(4, np.float32))
    array.get()
    cp.asnumpy(array)
    array.set(np.zeros(4, np.float32))
    counted = simulated_gpu.counters()
    assert (counted.uploads, counted.upload_bytes) == (2, 32)
    assert (counted.downloads, counted.download_bytes) == (2, 32)
    assert (counted.synchronizations, counted.hidden_downloads) == (2, 0)
    assert counted.allocations == 1
    assert counted.as_dict()["uploads"] == 2


def test_counters_are_those_of_the_device(two):
    import cupy as cp  # noqa: PLC0415 - only there

    with cp.cuda.Device(1):
        cp.ones(3)
    assert simulated_gpu.counters(0).launches == 0
    assert simulated_gpu.counters(1).launches == 1


def test_the_log_names_the_caller(cp):
    simulated_gpu.reset()
    cp.ones(3)
    (event,) = simulated_gpu.log()
    assert str(event).startswith(f"{__file__}:{event.line}: launch of ones")
