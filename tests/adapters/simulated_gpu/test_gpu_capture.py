"""Capture: nothing is computed within, what waits is refused, and graphs keep addresses."""

import operator

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu


@pytest.fixture
def stream(cp):
    return cp.cuda.Stream(non_blocking=True)


def test_a_graph_computes_when_it_is_launched(cp, machine, stream):
    with stream:
        array, into = cp.ones(4), cp.zeros(4)
        stream.begin_capture()
        assert stream.is_capturing()
        made = array * 2 + 1
        into += made
        graph = stream.end_capture()
        assert into.get().tolist() == [0] * 4
        assert np.isnan(made.get()).all()
        graph.launch()
        assert into.get().tolist() == [3] * 4
        array[...] = 10
        graph.launch()
        assert into.get().tolist() == [24] * 4
        assert made.get().tolist() == [21] * 4
    assert not machine.races
    assert simulated_gpu.counters().graph_launches == 2
    assert simulated_gpu.counters().graph_nodes == 6


def test_copies_of_pinned_memory_are_part_of_a_graph(cp, machine, stream):
    import cupyx  # noqa: PLC0415 - only there

    given, out = cupyx.zeros_pinned((4,)), cupyx.empty_pinned((4,))
    with stream:
        array = cp.zeros(4)
        stream.begin_capture()
        array.set(given)
        array += 1
        array.get(out=out, blocking=False)
        graph = stream.end_capture()
        given[...] = 5
        graph.launch()
        assert np.isnan(out).all()
        stream.synchronize()
    assert out.tolist() == [6] * 4
    assert not machine.races


def test_the_default_stream_cannot_be_captured(cp):
    with pytest.raises(RuntimeError, match="default"):
        cp.cuda.Stream.null.begin_capture()


@pytest.mark.parametrize(
    "call",
    [
        lambda cp, a: bool(a[0]),
        lambda cp, a: int(a[0]),
        lambda cp, a: float(a[0]),
        lambda cp, a: a[0].item(),
        lambda cp, a: a.tolist(),
        lambda cp, a: a.get(),
        lambda cp, a: cp.asnumpy(a),
        lambda cp, a: cp.nonzero(a),
        lambda cp, a: a[a > 0],
        lambda cp, a: cp.unique(a),
        lambda cp, a: cp.asarray(np.ones(3)),
        lambda cp, a: cp.cuda.get_current_stream().synchronize(),
        lambda cp, a: cp.cuda.Device().synchronize(),
        lambda cp, a: repr(a),
    ],
)
def test_what_waits_breaks_a_capture(cp, stream, call):
    with stream:
        array = cp.ones(3)
        stream.begin_capture()
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="StreamCaptureUnsupported"):
            call(cp, array)
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="StreamCaptureInvalidated"):
            stream.end_capture()
        assert array.get().tolist() == [1] * 3


def test_writes_by_a_mask_do_not_wait(cp, machine, stream):
    with stream:
        array = cp.arange(4.0)
        stream.begin_capture()
        array[array > 1] = 0
        operator.setitem(array, cp.zeros(1, np.int64), 9)
        graph = stream.end_capture()
        graph.launch()
        assert array.get().tolist() == [9, 1, 0, 0]
    assert not machine.races


def test_a_graph_that_uses_freed_memory_is_found_out(cp, machine, stream):
    with stream:
        array, into = cp.ones(4), cp.zeros(4)
        stream.begin_capture()
        into += array
        graph = stream.end_capture()
        del array
        graph.launch()
        assert np.isnan(into.get()).all()
    assert "a graph uses memory that was freed" in machine.races[0]


def test_temporary_memory_of_a_graph_needs_a_pool_of_its_own(cp, machine, stream):
    pool = cp.cuda.MemoryPool()

    def captured():
        stream.begin_capture()
        into[...] = (array + 1) * 2
        return stream.end_capture()

    with stream:
        array, into = cp.ones(4), cp.zeros(4)
        with cp.cuda.using_allocator(pool.malloc):
            graph = captured()
        cp.zeros(4)
        graph.launch()
        assert into.get().tolist() == [4] * 4
        assert not machine.races
        other = captured()
        kept = cp.zeros(4)
        other.launch()
        assert "given to another" in machine.races[0]
        assert kept.shape == (4,)


def test_graphs_may_share_a_pool_of_their_own(cp, machine, stream):
    import cupyx  # noqa: PLC0415 - only there

    pool = cp.cuda.MemoryPool()
    given, out = cupyx.zeros_pinned((4,)), cupyx.empty_pinned((4,))
    with stream:
        x, weight, graphs = cp.zeros(4), cp.ones(4), []
        for bias in (1, 2):
            with cp.cuda.using_allocator(pool.malloc):
                stream.begin_capture()
                x.set(given)
                ((x * weight + bias) * 2).get(out=out, blocking=False)
                weight += 1
                graphs.append(stream.end_capture())
        for number in range(4):
            given[...] = number
            graphs[number % 2].launch()
            stream.synchronize()
            assert out.tolist() == [(number * (number + 1) + number % 2 + 1) * 2] * 4
    assert not machine.races


def test_a_stream_that_joins_must_come_back(cp, machine, stream):
    side = cp.cuda.Stream(non_blocking=True)
    with stream:
        array = cp.ones(4)

    def captured(*, joined):
        stream.begin_capture()
        side.wait_event(stream.record())
        with side:
            result = array + 1
        if joined:
            stream.wait_event(side.record())
        return stream.end_capture(), result

    graph, result = captured(joined=True)
    graph.launch(stream)
    assert result.get(stream=stream).tolist() == [2] * 4
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="StreamCaptureUnjoined"):
        captured(joined=False)


def test_a_kernel_of_source_is_a_python_function(cp, stream):
    code = 'extern "C" __global__ void twice(float* x, int n) {}'
    launch = cp.RawModule(code=code).get_function("twice")
    array = cp.ones(4, np.float32)
    with pytest.raises(NotImplementedError, match=r"simulated_gpu\.kernel\('twice'"):
        launch((1,), (4,), (array, 4))
    simulated_gpu.kernel("twice", lambda grid, block, x, n: np.multiply(x, 2, out=x))
    launch((1,), (4,), (array, 4))
    assert array.get().tolist() == [2] * 4
    with pytest.raises(TypeError):
        launch((1,), (4,), (np.ones(4), 4))
