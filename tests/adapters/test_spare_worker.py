"""The spare worker: it takes a dead one's place at once, and is no burden to anybody."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from adapter_graphs import ADD

from sessrun.adapters.process.errors import WorkerContractError, WorkerCrash
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.spec.cases.outcomes import Fetched, Opened, Outcome

WORKER = Path(__file__).with_name("counted_worker.py")
FEEDS = {"x:0": np.float32(2), "y:0": np.float32(3)}
Start = Callable[..., ProcessBackend]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a scripted program; its second start, if not every one, has the vice."""
    started: list[ProcessBackend] = []

    def program(vice: str, **attributes: float) -> ProcessBackend:
        command = shlex.join([sys.executable, str(WORKER), vice, str(tmp_path / "starts")])
        started.append(spawn(f"exec:{command}", spare=True))
        for name, value in attributes.items():
            setattr(started[-1], name, value)
        return started[-1]

    yield program
    for backend in started:
        backend.shutdown()


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "starts").read_text().split())


def pids(tmp_path: Path) -> list[int]:
    return [int(line) for line in (tmp_path / "starts").read_text().split()]


def waited(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    return condition()


def ready(backend: ProcessBackend) -> bool:
    return backend._spare is not None and backend._spare.ready


def run(backend: ProcessBackend) -> Outcome:
    opened = backend.open(ADD, {})
    assert isinstance(opened, Opened)
    return backend.run(opened.handle, ["s:0"], FEEDS, {})


def test_a_death_costs_a_swap_once_one_has_been_seen() -> None:
    backend = spawn("sessrun.adapters.fakes.dying:backend#2", spare=True)
    backend.restart()  # the first is today's: what comes after it has a spare
    costs = []
    for _ in range(3):
        assert waited(lambda: ready(backend))
        assert isinstance(run(backend), Fetched)
        with pytest.raises(WorkerCrash, match="exited with status 3 during run"):
            run(backend)
        began = time.monotonic()
        backend.restart()
        costs.append(time.monotonic() - began)
    assert sorted(costs)[1] < 0.3, costs
    backend.shutdown()


def test_nothing_is_started_in_reserve_before_a_worker_was_needed_again(
    start: Start, tmp_path: Path
) -> None:
    backend = start("none")
    assert isinstance(run(backend), Fetched)
    time.sleep(0.3)
    assert starts(tmp_path) == 1
    backend.restart()
    assert waited(lambda: starts(tmp_path) == 3)
    time.sleep(0.3)
    assert starts(tmp_path) == 3, "there is one spare at most"


def test_a_spare_is_asked_nothing_but_hello(start: Start, tmp_path: Path) -> None:
    backend = start("none")
    backend.restart()
    assert waited(lambda: ready(backend))
    spare = pids(tmp_path)[-1]
    run(backend)
    assert (tmp_path / f"starts-{spare}").read_text() == "hello\n"
    backend.restart()
    run(backend)
    assert (tmp_path / f"starts-{spare}").read_text() == "hello\nopen\nrun\n"


def test_spares_end_with_the_host_and_leave_no_folder(start: Start, tmp_path: Path) -> None:
    backend = start("none")
    backend.restart()
    assert waited(lambda: ready(backend))
    assert backend._spare is not None
    channel = backend._spare._channel
    assert channel is not None
    folder = Path(channel.folder)
    assert folder.is_dir()
    backend.shutdown()
    assert not folder.exists()
    assert waited(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids(tmp_path)))


def test_shutdown_waits_for_no_spare_that_never_introduces_itself(start: Start) -> None:
    backend = start("deaf", start_deadline_s=60.0)
    backend._start_s = 60.0
    backend.restart()
    began = time.monotonic()
    backend.shutdown()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("vice", ["dead", "deaf", "late-death"])
def test_a_spare_that_fails_costs_nothing(start: Start, tmp_path: Path, vice: str) -> None:
    """The next restart starts a worker as if there had been none."""
    backend = start(vice, start_deadline_s=1.5 if vice == "deaf" else 10.0)
    backend.restart()
    assert waited(lambda: starts(tmp_path) == 3)
    if vice == "late-death":
        assert waited(lambda: ready(backend))
        (tmp_path / "die").touch()
        assert waited(lambda: not Path(f"/proc/{pids(tmp_path)[2]}").exists())
    backend.restart()
    assert isinstance(run(backend), Fetched)


def test_no_spare_is_started_any_more_where_none_comes_up(start: Start, tmp_path: Path) -> None:
    backend = start("dead-spares", start_deadline_s=5.0)
    for _ in range(6):
        backend.restart()
        assert isinstance(run(backend), Fetched)
        waited(lambda: backend._spare is None or ready(backend))
    workers, spares = 7, 3
    assert starts(tmp_path) == workers + spares


def test_a_spare_that_is_somebody_else_is_no_worker(start: Start) -> None:
    backend = start("renamed")
    backend.restart()
    assert waited(lambda: ready(backend))
    with pytest.raises(WorkerContractError, match="introduced itself with another version"):
        backend.restart()


def test_nothing_of_a_spare_outlives_a_killed_host(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(WORKER), "none", str(tmp_path / "starts")])
    program = f"""
import time
from sessrun.adapters.process.host import spawn
backend = spawn({f"exec:{command}"!r}, spare=True)
backend.restart()
while not backend._spare.ready:
    time.sleep(0.01)
print(backend._spare._channel.folder, flush=True)
time.sleep(60)
"""
    host = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    folder = host.stdout.readline().strip()
    host.kill()
    host.communicate()
    assert waited(lambda: not os.path.exists(folder))  # noqa: PTH110 - a plain name
    assert waited(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids(tmp_path)))
