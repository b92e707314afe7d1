"""Each fake, driven through the host: its vice costs what it should and no more."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from adapter_graphs import ADD

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.errors import WorkerContractError, WorkerCrash, WorkerTimeout
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.spec.cases.model import AskedCase
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome, Unsupported

FEEDS = {"x:0": np.float32(2), "y:0": np.float32(3)}
Spawn = Callable[[str], ProcessBackend]


@pytest.fixture
def fake() -> Iterator[Spawn]:
    started: list[ProcessBackend] = []

    def start(name: str) -> ProcessBackend:
        module, mark, argument = name.partition("#")
        started.append(spawn(f"sessrun.adapters.fakes.{module}:backend{mark}{argument}"))
        return started[-1]

    yield start
    for backend in started:
        backend.shutdown()


def run(backend: ProcessBackend, *fetches: str) -> Outcome:
    opened = backend.open(ADD, {})
    assert isinstance(opened, Opened), opened
    return backend.run(opened.handle, fetches, FEEDS, {})


def values(outcome: Outcome) -> tuple[object, ...]:
    assert isinstance(outcome, Fetched), outcome
    return outcome.values


def test_conforming_gives_values_in_fetch_order_and_none_for_operations(fake: Spawn) -> None:
    outcome = run(fake("conforming"), "d:0", "s", "s:0")
    assert values(outcome) == (np.float32(25), None, np.float32(5))


def test_conforming_describes_itself_and_closes(fake: Spawn) -> None:
    backend = fake("conforming")
    assert backend.describe().capabilities == {"concurrent", "devices"}
    opened = backend.open(ADD, {})
    assert isinstance(opened, Opened)
    devices = backend.devices(opened.handle)
    assert isinstance(devices, Done)
    assert devices.facts["devices"] == list(backend.describe().devices)
    assert backend.close(opened.handle) == Done()
    closed = backend.run(opened.handle, ["s:0"], FEEDS, {})
    assert isinstance(closed, Failure)
    assert (closed.call, closed.code) == ("run", 9)


def test_an_undeclared_surface_is_unsupported(fake: Spawn) -> None:
    case = AskedCase(({"do": "eval", "expr": 1},))
    (seen,) = fake("conforming").interpret_api(case, lambda _: False)
    assert (seen["outcome"], seen["capability"]) == ("unsupported", "api")


def test_slow_in_time_is_right(fake: Spawn) -> None:
    assert values(run(fake("slow#0.05"), "s:0")) == (np.float32(5),)


def test_slow_past_its_deadline_times_out_and_the_next_worker_answers(fake: Spawn) -> None:
    backend = fake("slow#1")
    backend.deadline_s = 0.2
    with pytest.raises(WorkerTimeout, match=r"no answer to run within 0\.2 s"):
        run(backend, "s:0")
    assert not backend.alive
    backend.restart()
    backend.deadline_s = 10
    assert values(run(backend, "s:0")) == (np.float32(5),)


def test_after_a_fault_every_call_raises_it_until_the_restart(fake: Spawn) -> None:
    backend = fake("hanging")
    backend.deadline_s = 0.1
    with pytest.raises(WorkerTimeout):
        run(backend, "s:0")
    with pytest.raises(WorkerTimeout, match="no answer to run"):
        backend.open(ADD, {})


def test_hanging_ends_at_its_deadline(fake: Spawn) -> None:
    backend = fake("hanging")
    backend.deadline_s = 0.3
    started = time.monotonic()
    with pytest.raises(WorkerTimeout):
        run(backend, "s:0")
    assert time.monotonic() - started < 3


def test_requests_overlap_where_the_backend_is_concurrent(fake: Spawn) -> None:
    backend = fake("slow#0.4")
    opened = backend.open(ADD, {})
    assert isinstance(opened, Opened)
    seen: list[Outcome] = []

    def ask() -> None:
        seen.append(backend.run(opened.handle, ["s:0"], FEEDS, {}))

    started = time.monotonic()
    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    assert backend.close(opened.handle) == Done()
    assert time.monotonic() - started < 0.4
    for thread in threads:
        thread.join()
    assert time.monotonic() - started < 3  # one after the other would take 8
    assert len(seen) == 20


def test_a_crash_is_heard_by_every_request_that_waits(fake: Spawn) -> None:
    backend = fake("slow#30")
    opened = backend.open(ADD, {})
    assert isinstance(opened, Opened)
    heard: list[WorkerCrash] = []

    def ask() -> None:
        with pytest.raises(WorkerCrash) as caught:
            backend.run(opened.handle, ["s:0"], FEEDS, {})
        heard.append(caught.value)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    while backend.pending < 3:
        time.sleep(0.001)
    channel = backend._channel
    assert channel is not None
    os.kill(channel._connection._child._process.pid, signal.SIGTERM)
    for thread in threads:
        thread.join(5)
    assert [error.signal for error in heard] == ["SIGTERM"] * 3
    assert len({id(error) for error in heard}) == 3


def test_crashing_names_the_signal_and_can_be_restarted(fake: Spawn) -> None:
    backend = fake("crashing#2")
    assert values(run(backend, "s:0")) == (np.float32(5),)
    with pytest.raises(WorkerCrash, match=r"died of SIGSEGV during run") as caught:
        run(backend, "s:0")
    assert (caught.value.signal, caught.value.exit_code) == ("SIGSEGV", None)
    assert "Segmentation fault" in caught.value.log
    with pytest.raises(WorkerCrash, match="during run"):  # whoever closes the session afterwards
        backend.close("session-1")
    backend.restart()
    assert values(run(backend, "s:0")) == (np.float32(5),)


@pytest.mark.parametrize(
    ("lie", "seen"),
    [
        ("zeros", np.float32(0)),
        ("dtype", np.float64(5)),
        ("shape", np.array([5], np.float32)),
    ],
)
def test_lies_in_good_form_pass_through_as_values(fake: Spawn, lie: str, seen: object) -> None:
    (value,) = values(run(fake(f"lying#{lie}"), "s:0"))
    want = np.asarray(seen)
    assert isinstance(value, np.ndarray)
    assert (value.dtype, value.shape, value.tolist()) == (want.dtype, want.shape, want.tolist())


def test_a_wrong_number_of_values_breaks_the_contract(fake: Spawn) -> None:
    with pytest.raises(WorkerContractError, match="2 values for 1 fetches"):
        run(fake("lying#count"), "s:0")


def test_what_a_backend_prints_is_told_apart_from_its_answers(fake: Spawn) -> None:
    backend = fake("babbling")
    assert backend.printed() == ""
    assert values(run(backend, "s:0", "d:0")) == (np.float32(5), np.float32(25))
    assert "bytes on standard output: 'computing...\\n{" in backend.printed()
    assert backend.printed() == ""
    assert values(run(backend, "s:0")) == (np.float32(5),)
    assert "half a line" in backend.printed()


def test_always_unsupported_is_never_anything_else(fake: Spawn) -> None:
    backend = fake("always_unsupported")
    assert backend.open(ADD, {}) == Unsupported("open")
    assert backend.setup("s", [], []) == Unsupported("partial_runs")
    assert backend.callable("s", [], []) == Unsupported("callables")
    assert backend.reset([]) == Unsupported("reset")


def test_one_error_keeps_its_code(fake: Spawn) -> None:
    outcome = run(fake("one_error"), "nope:0")
    assert isinstance(outcome, Failure)
    assert (outcome.code, outcome.classes) == (13, ("InternalError",))


def test_a_fake_that_refuses_its_argument_does_not_start() -> None:
    with pytest.raises(AdapterError, match="takes no argument, got 'x'"):
        spawn("sessrun.adapters.fakes.conforming:backend#x")


def test_an_unknown_adapter_lists_the_known_names() -> None:
    with pytest.raises(AdapterError, match=r"there are jax, litert, model.*exec:COMMAND"):
        spawn("nonesuch")


def test_the_worker_leaves_no_process_and_no_folder(fake: Spawn) -> None:
    backend = fake("conforming")
    run(backend, "s:0")
    channel = backend._channel
    assert channel is not None
    folder, pid = channel._folder.name, channel._connection._child._process.pid
    assert os.path.isdir(folder)  # noqa: PTH112 - a plain name
    backend.shutdown()
    assert not os.path.exists(folder)  # noqa: PTH110 - a plain name
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
