"""The order of streams: what was not waited for is poison, and a race."""

import numpy as np
import pytest

from sessrun.adapters.fakes import simulated_gpu


@pytest.fixture
def streams(cp):
    return cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)


def test_what_another_stream_wrote_is_poison(cp, machine, streams):
    first, second = streams
    with first:
        array = cp.ones(4)
    with second:
        result = array + 1
        assert np.isnan(result.get()).all()
    assert any("reads what stream" in race and __file__ in race for race in machine.races)


@pytest.mark.parametrize("way", ["event", "synchronize", "device", "event synchronize"])
def test_what_was_waited_for_is_there(cp, machine, streams, way):
    first, second = streams
    with first:
        array = cp.ones(4)
        event = first.record()
    if way == "event":
        second.wait_event(event)
    elif way == "event synchronize":
        event.synchronize()
    elif way == "synchronize":
        first.synchronize()
    else:
        cp.cuda.Device().synchronize()
    with second:
        assert (array + 1).get().tolist() == [2] * 4
    second.synchronize()
    assert not machine.races


def test_an_event_before_the_write_does_not_help(cp, machine, streams):
    first, second = streams
    event = first.record()
    with first:
        array = cp.ones(4)
    second.wait_event(event)
    with second:
        assert np.isnan((array + 1).get()).all()
    assert machine.races


def test_the_default_stream_waits_for_blocking_streams_and_they_for_it(cp, machine):
    blocking = cp.cuda.Stream()
    array = cp.ones(4)
    with blocking:
        array = array + 1
    assert (array * 2).get().tolist() == [4] * 4
    assert not machine.races


def test_the_default_stream_does_not_wait_for_others(cp, machine, streams):
    with streams[0]:
        array = cp.ones(4)
    assert np.isnan((array * 2).get()).all()
    assert len(machine.races) == 1


def test_writing_over_what_another_stream_reads_is_a_race(cp, machine, streams):
    first, second = streams
    array = cp.ones(4)
    cp.cuda.Device().synchronize()
    with first:
        result = array + 1
    with second:
        array[...] = 5
    assert len(machine.races) == 1
    assert "writes over what stream" in machine.races[0]
    assert result.get(stream=first).tolist() == [2] * 4


def test_two_writes_leave_poison(cp, machine, streams):
    first, second = streams
    array = cp.zeros(4)
    cp.cuda.Device().synchronize()
    with first:
        array[...] = 1
    with second:
        array[...] = 2
    cp.cuda.Device().synchronize()
    assert np.isnan(array.get()).all()
    assert "writes what stream" in machine.races[0]


def test_streams_may_share_an_array_by_parts(cp, machine, streams):
    first, second = streams
    array = cp.zeros(4)
    cp.cuda.Device().synchronize()
    with first:
        array[:2] = 1
    with second:
        array[2:] = 2
    cp.cuda.Device().synchronize()
    assert array.get().tolist() == [1, 1, 2, 2]
    assert not machine.races


def test_a_race_may_raise(machine):
    with simulated_gpu.installed(raising=True):
        import cupy as cp  # noqa: PLC0415 - only there

        with cp.cuda.Stream(non_blocking=True):
            array = cp.ones(4)
        with pytest.raises(AssertionError, match="reads what stream"):
            array + 1


def test_a_download_that_is_not_waited_for_is_poison(cp, machine):
    import cupyx  # noqa: PLC0415 - only there

    stream = cp.cuda.Stream(non_blocking=True)
    out = cupyx.empty_pinned((4,), np.float32)
    with stream:
        array = cp.ones(4, np.float32)
        assert array.get(out=out, blocking=False) is out
    assert np.isnan(out).all()
    stream.synchronize()
    assert out.tolist() == [1] * 4
    assert not machine.races


def test_copies_by_pointers_arrive_as_late(cp, machine):
    stream = cp.cuda.Stream(non_blocking=True)
    host = np.arange(4, dtype=np.float32)
    out = np.zeros(4, np.float32)
    with stream:
        array = cp.empty(4, np.float32)
    array.data.copy_from_host_async(host.ctypes.data, 16, stream)
    array.data.copy_to_host_async(out.ctypes.data, 16, stream)
    assert not (out == host).any()
    stream.synchronize()
    assert out.tolist() == [0, 1, 2, 3]
    array.data.memset(0, 16)
    assert "writes over" not in "".join(machine.races)
    array.data.copy_to_host(out.ctypes.data, 16)
    assert out.tolist() == [0] * 4


def test_pinned_memory_that_changes_before_its_upload_is_done_is_a_race(cp, machine):
    import cupyx  # noqa: PLC0415 - only there

    host = cupyx.zeros_pinned((4,), np.float32)
    array = cp.empty(4, np.float32)
    array.set(host)
    host[0] = 1
    cp.cuda.Device().synchronize()
    assert "pinned memory was changed" in machine.races[0]
    assert np.isnan(array.get()).all()


@pytest.mark.parametrize("way", ["set", "asarray"])
def test_pinned_memory_is_kept_by_what_cupy_makes_of_it_only(cp, machine, way):
    import cupyx  # noqa: PLC0415 - only there

    host = cupyx.zeros_pinned((4,), np.float32)
    if way == "asarray":
        array = cp.asarray(host)
    else:
        array = cp.empty(4, np.float32)
        array.set(host)
    del host
    cp.cuda.Device().synchronize()
    assert array.get().tolist() == pytest.approx(
        [0] * 4 if way == "asarray" else [np.nan] * 4, nan_ok=True
    )
    assert ["freed" in race for race in machine.races] == [True] * (way == "set")


def test_streams_may_write_parts_of_one_array_any_number_of_times(cp, machine, streams):
    array = cp.zeros(4)
    cp.cuda.Device().synchronize()
    for number in range(100):
        for part, stream in enumerate(streams):
            with stream:
                array[2 * part : 2 * part + 2] = number
    cp.cuda.Device().synchronize()
    assert array.get().tolist() == [99] * 4
    assert not machine.races


def test_two_buffers_of_pinned_memory_take_turns(cp, machine, streams):
    """Each is filled again once it is uploaded, each array once it was read."""
    import cupyx  # noqa: PLC0415 - only there

    copies, work = streams
    pinned = [cupyx.empty_pinned((4,)) for _ in range(2)]
    with copies:
        arrays = [cp.empty(4) for _ in range(2)]
    with work:
        total = cp.zeros(4)
    uploaded, read = ([cp.cuda.Event() for _ in range(2)] for _ in range(2))
    for number in range(6):
        turn = number % 2
        uploaded[turn].synchronize()
        pinned[turn][...] = number
        copies.wait_event(read[turn])
        arrays[turn].set(pinned[turn], stream=copies)
        uploaded[turn].record(copies)
        work.wait_event(uploaded[turn])
        with work:
            total += arrays[turn] * 2
        read[turn].record(work)
    assert total.get(stream=work).tolist() == [30] * 4
    copies.wait_event(work.record())
    del arrays
    assert not machine.races


def test_what_a_stream_of_another_device_made_is_copied_after_its_event(two):
    import cupy as cp  # noqa: PLC0415 - only there

    with cp.cuda.Device(1):
        there = cp.cuda.Stream(non_blocking=True)
        with there:
            array = cp.full(4, 3.0)
        made = there.record()
    here = cp.cuda.Stream(non_blocking=True)
    here.wait_event(made)
    with here:
        copied = cp.asarray(array)
        there.wait_event(here.record())
        assert copied.get().tolist() == [3] * 4
    del array
    assert not two.races


def test_events_and_streams_are_done_when_the_host_has_waited(cp):
    stream = cp.cuda.Stream()
    event = stream.record()
    assert not event.done
    stream.synchronize()
    assert event.done
    assert stream.done in {True, False}
    later = stream.record()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorNotReady"):
        cp.cuda.get_elapsed_time(event, later)
    later.synchronize()
    assert cp.cuda.get_elapsed_time(event, later) >= 0


def test_arrays_of_another_device_are_refused_or_copied(two):
    import cupy as cp  # noqa: PLC0415 - only there

    with cp.cuda.Device(1):
        array = cp.ones(4)
        assert cp.cuda.runtime.getDevice() == 1
    assert array.device.id == 1
    with pytest.raises(ValueError, match="is different from the current device"):
        array + 1
    assert cp.asarray(array).device.id == 0
    assert (cp.asarray(array) + 1).get().tolist() == [2] * 4
    assert simulated_gpu.counters(0).peer_copies == 2
    assert simulated_gpu.counters(0).peer_copy_bytes == 64
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidDevice"):
        cp.cuda.Device(2)
