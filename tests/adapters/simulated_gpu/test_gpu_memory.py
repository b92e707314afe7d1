"""Memory: poison where nobody wrote, pools, limits, and what is freed too early."""

import gc

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_new_memory_is_nan(cp, dtype):
    assert np.isnan(cp.empty((2, 3), dtype).get()).all()
    assert np.isnan(cp.empty_like(cp.zeros(3, dtype)).get()).all()
    assert np.isnan(cp.ndarray((3,), dtype).get()).all()


def test_new_memory_of_integers_is_garbage(cp):
    assert (abs(cp.empty(4, np.int32).get()) > 10**6).all()
    assert set(cp.empty(4, bool).get().tolist()) == {True, False}


def test_new_memory_of_bfloat16_is_nan(cp):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert np.isnan(cp.empty(3, ml_dtypes.bfloat16).get().astype(np.float32)).all()


def test_freed_memory_is_poison(cp):
    array = cp.ones(4)
    under = array.host
    del array
    assert np.isnan(under).all()


def test_a_view_keeps_its_memory(cp):
    view = cp.ones((2, 3))[1, 1:]
    assert view.get().tolist() == [1, 1]
    assert view.base is not None
    assert cp.ones(3).base is None


def test_a_bare_address_needs_somebody_who_keeps_the_memory(cp, machine):
    array = cp.arange(4.0)
    view, bare = (
        cp.ndarray((3,), array.dtype, cp.cuda.MemoryPointer(memory, 8))
        for memory in (cp.cuda.UnownedMemory(array.data.ptr, 32, owner) for owner in (array, None))
    )
    view *= 2
    assert array.get().tolist() == [0, 2, 4, 6]
    del array
    assert bare.get().tolist() == [2, 4, 6]
    assert not machine.races
    del view
    assert np.isnan((bare + 1).get()).all()
    assert "memory is used that was freed" in machine.races[0]
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        cp.cuda.UnownedMemory(7, 1, None)


def test_a_pool_that_nobody_holds_gives_its_memory_back(cp):
    for _ in range(10):
        with cp.cuda.using_allocator(cp.cuda.MemoryPool().malloc):
            assert cp.zeros(2**15).get()[0] == 0
    assert cp.zeros(2**16).get()[0] == 0


def test_bytes_are_counted_in_blocks_of_512(cp, machine):
    pool = cp.get_default_memory_pool()
    arrays = [cp.zeros(1), cp.zeros(65)]
    assert pool.used_bytes() == 512 + 1024
    assert arrays.pop().shape == (65,)
    assert pool.used_bytes() == 512
    assert pool.free_bytes() == 1024
    assert pool.total_bytes() == 1536
    cp.zeros(100)
    assert pool.total_bytes() == 1536
    pool.free_all_blocks()
    assert pool.total_bytes() == 512
    assert simulated_gpu.counters().peak_bytes == 1536
    assert cp.cuda.Device().mem_info == (2**20 - 512, 2**20)


def test_a_limit_and_the_device_run_out(cp):
    pool = cp.get_default_memory_pool()
    pool.set_limit(size=4096)
    assert pool.get_limit() == 4096
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match=r"limit set to: 4,096 bytes"):
        cp.zeros(1000)
    pool.set_limit(size=0)
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="Out of memory allocating"):
        cp.zeros(2**18)
    kept = cp.zeros(2**16)
    assert kept.nbytes == 2**19
    del kept
    cp.cuda.Stream(non_blocking=True).use()
    assert cp.zeros(2**16 + 2**15).size  # the free blocks of another stream are given up for it


def test_an_allocator_of_ones_own(cp):
    asked = []
    pool = cp.cuda.MemoryPool()

    def allocate(size):
        asked.append(size)
        return pool.malloc(size)

    cp.cuda.set_allocator(allocate)
    array = cp.ones(4)
    assert asked == [32]
    assert pool.used_bytes() == 512
    with cp.cuda.using_allocator(None):
        other = cp.ones(4)
    assert pool.used_bytes() == 512
    assert (array + other).get().tolist() == [2, 2, 2, 2]
    cp.cuda.set_allocator(cp.get_default_memory_pool().malloc)


def test_an_array_over_a_part_of_a_block(cp):
    memory = cp.cuda.alloc(1024)
    first = cp.ndarray((4,), np.float32, memory)
    second = cp.ndarray((4,), np.float32, memory + 16)
    assert np.isnan(first.get()[0]) or first.get()[0] != 0
    first[...] = 1
    second[...] = 2
    whole = cp.ndarray((8,), np.float32, memory)
    assert whole.get().tolist() == [1] * 4 + [2] * 4
    assert second.data.ptr - first.data.ptr == 16


def test_memory_that_another_stream_uses_is_freed_too_early(cp, machine):
    stream = cp.cuda.Stream(non_blocking=True)
    array = cp.ones(4)
    cp.cuda.Stream.null.synchronize()
    with stream:
        kept = array + 1
    del array
    gc.collect()
    assert len(machine.races) == 1
    assert "is freed while stream" in machine.races[0]
    assert kept.shape == (4,)


def test_memory_that_was_waited_for_is_free(cp, machine):
    stream = cp.cuda.Stream(non_blocking=True)
    array = cp.ones(4)
    cp.cuda.Stream.null.synchronize()
    with stream:
        kept = array + 1
    stream.synchronize()
    del array
    gc.collect()
    assert not machine.races
    assert kept.get(stream=stream).tolist() == [2] * 4
