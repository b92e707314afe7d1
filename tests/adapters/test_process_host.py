"""The host against programs that break the protocol: each ends in the one error that names it."""

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from adapter_graphs import ADD

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.errors import (
    WorkerContractError,
    WorkerCrash,
    WorkerError,
    WorkerTimeout,
)
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.spec.cases.outcomes import Failure, Fetched, Outcome

WORKER = Path(__file__).with_name("scripted_worker.py")
Script = Callable[..., ProcessBackend]


@pytest.fixture
def script() -> Iterator[Script]:
    started: list[ProcessBackend] = []

    def start(*manner: str) -> ProcessBackend:
        command = shlex.join([sys.executable, str(WORKER), *manner])
        started.append(spawn(f"exec:{command}"))
        started[-1].deadline_s = 5.0
        return started[-1]

    yield start
    for backend in started:
        backend.shutdown()


def run(backend: ProcessBackend) -> Outcome:
    return backend.run("s", ["x:0"], {}, {})


@pytest.mark.parametrize(
    ("manner", "reason"),
    [
        ("never-asked", "which was never made"),
        ("babble", "not JSON"),
        ("wrong-outcome", "run was answered with done"),
        ("bad-code", "99 is greater than the maximum"),
        ("extra-field", "'note' was unexpected"),
        ("nan", "NaN is no number"),
        ("infinity", "1e999 is no number"),
        ("nested", "not JSON"),
        ("bad-data", "takes 28 bytes, data has 4"),
        ("bad-rank", "dim"),
        ("float-shape", "list of integers"),
        ("long-line", "a line of"),
        ("flood", "not JSON"),
        ("endless-line", "a line of"),
        ("close-output", "closed its output and lived on"),
        ("not-understood", "could not read a request: what"),
        ("broken-backend", "KeyError"),
        ("escape", "does not match"),
        ("absolute", "does not match"),
        ("link", "exchange folder"),
        ("pipe", "no plain file"),
        ("no-file", "No such file"),
        ("short-file", "no plain file of 4 bytes"),
        ("directory", "no plain file of 4 bytes"),
        ("huge-file", "more than 67,108,864 bytes in files"),
        ("many-faults", "is a required property"),
        ("many-values", "at values: 300,001 items; the limit is 16,384"),
        ("many-strings", "more than 1,048,576 strings in files: it has 8,388,608"),
        ("ragged-strings", "does not hold 1 strings"),
        ("long-class", "has 201 characters; the limit is 200"),
        ("long-dtype", "has 33 characters; the limit is 32"),
        ("long-shape", "has 255 items; the limit is 254"),
        ("case", r"reports \(case\): the case is ill-formed"),
    ],
)
def test_a_broken_contract_is_named_and_costs_one_restart(
    script: Script, manner: str, reason: str
) -> None:
    backend = script(manner)
    started = time.monotonic()
    with pytest.raises(WorkerContractError, match=reason):
        run(backend)
    assert time.monotonic() - started < 4.5
    backend.restart()
    assert backend.open(ADD, {}) is not None


@pytest.mark.parametrize(("manner", "status"), [("exit-0", 0), ("exit-3", 3)])
def test_an_exit_is_a_crash_with_its_status(script: Script, manner: str, status: int) -> None:
    with pytest.raises(WorkerCrash, match=f"exited with status {status} during run") as caught:
        run(script(manner))
    assert (caught.value.exit_code, caught.value.signal) == (status, None)
    assert caught.value.log == ("goodbye, cruel world\n" if status else "")


def test_a_second_answer_to_the_same_request_is_dropped(script: Script) -> None:
    backend = script("twice")
    for _ in range(3):
        assert isinstance(run(backend), Fetched)


def test_an_answer_to_an_earlier_worker_is_dropped(script: Script, tmp_path: Path) -> None:
    backend = script("ghost", str(tmp_path / "id"))
    with pytest.raises(WorkerCrash, match="SIGABRT"):
        run(backend)
    backend.restart()
    assert isinstance(run(backend), Fetched)


def test_answers_may_come_out_of_order(script: Script) -> None:
    backend = script("crossed")
    backend.open(ADD, {})
    answers: dict[str, Outcome] = {}

    def ask(name: str) -> None:
        answers[name] = backend.run("s", [name], {}, {})

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("one:0", "two:0")]
    threads[0].start()
    while not backend.pending:  # its answer waits for the second question
        time.sleep(0.001)
    threads[1].start()
    for thread in threads:
        thread.join()
    found = {
        name: answer.values[0] for name, answer in answers.items() if isinstance(answer, Fetched)
    }
    assert found == {"one:0": np.float32(1), "two:0": np.float32(2)}


def test_a_worker_that_is_not_concurrent_is_asked_one_thing_at_a_time(script: Script) -> None:
    backend = script("plain")
    answers: list[Outcome] = []
    threads = [threading.Thread(target=lambda: answers.append(run(backend))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(isinstance(answer, Fetched) for answer in answers)


def test_a_worker_that_does_not_read_times_out(script: Script) -> None:
    backend = script("stuffed")
    backend.deadline_s = 0.5
    started = time.monotonic()
    with pytest.raises(WorkerTimeout, match="no answer to run"):
        backend.run("s", ["n" * 60000] * 10, {}, {})  # more than a pipe holds
    assert time.monotonic() - started < 3


BIG = {"x:0": np.ones([40, 1000], np.float32)}  # more than travels in a line


@pytest.mark.parametrize(
    ("manner", "reason"), [("squatter", "File exists"), ("remover", "No such file")]
)
def test_an_exchange_folder_that_the_worker_spoilt_is_the_worker_s_fault(
    script: Script, manner: str, reason: str
) -> None:
    backend = script(manner)
    run(backend)
    with pytest.raises(WorkerContractError, match=f"exchange folder: {reason}"):
        backend.run("s", ["x:0"], BIG, {})
    with pytest.raises(WorkerContractError):
        run(backend)
    backend.restart()
    assert isinstance(backend.run("s", ["x:0"], BIG, {}), Fetched)


def test_nothing_is_touched_behind_a_link_in_place_of_the_exchange_folder(
    script: Script, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"abcd")
    backend = script("swapper", str(tmp_path))
    with pytest.raises(WorkerContractError, match="No such file"):
        run(backend)
    backend.shutdown()
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert secret.read_bytes() == b"abcd"


def test_a_worker_that_comes_back_as_somebody_else_does_not_start(
    script: Script, tmp_path: Path
) -> None:
    backend = script("renamed", str(tmp_path / "started"))
    with pytest.raises(WorkerContractError, match="introduced itself with another version"):
        backend.restart()


def test_no_request_outlives_the_end_of_the_run(script: Script) -> None:
    backend = script("family")
    backend.until = time.monotonic() + 0.3
    run(backend)
    with pytest.raises(WorkerTimeout):
        run(backend)
    assert time.monotonic() < backend.until + 4
    with pytest.raises(WorkerTimeout, match="no answer to hello within 0 s"):
        backend.restart()


def test_a_worker_that_answers_without_end_is_ended(script: Script) -> None:
    backend = script("parrot")
    assert isinstance(run(backend), Fetched)
    until = time.monotonic() + 10
    while backend.alive and time.monotonic() < until:
        time.sleep(0.01)
    with pytest.raises(WorkerContractError, match="more than 1,000 answers that nobody waits for"):
        run(backend)


def test_a_worker_that_kills_its_keeper_ends_with_it(script: Script) -> None:
    backend = script("patricide")
    started = time.monotonic()
    with pytest.raises(WorkerCrash, match="died of SIGKILL") as caught:
        run(backend)
    assert time.monotonic() - started < 4
    assert _gone(int(caught.value.log))


def test_a_worker_that_stops_its_keeper_ends_at_its_deadline(script: Script) -> None:
    backend = script("captor")
    backend.deadline_s = 0.5
    with pytest.raises(WorkerTimeout) as caught:
        run(backend)
    assert _gone(int(caught.value.log))
    backend.restart()


def test_what_a_worker_leaves_behind_is_ended_and_does_not_hide_its_end(script: Script) -> None:
    backend = script("runaway")
    started = time.monotonic()
    with pytest.raises(WorkerCrash, match="exited with status 3") as caught:
        run(backend)
    assert time.monotonic() - started < 4, "the child that it left held its output open"
    assert _gone(int(caught.value.log))


def test_nothing_of_a_worker_outlives_a_killed_host(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(WORKER), "family"])
    program = f"""
import sys, time
from sessrun.adapters.process.host import spawn
backend = spawn({f"exec:{command}"!r})
print(backend.run("s", ["x:0"], {{}}, {{}}).message, backend._channel._folder.name, flush=True)
time.sleep(60)
"""
    host = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid, folder = host.stdout.readline().split()
    worker = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    host.kill()
    host.communicate()
    assert _gone(int(pid))
    assert _gone(worker)
    until = time.monotonic() + 5
    while Path(folder).exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path(folder).exists()


def test_a_timeout_ends_the_whole_process_group(script: Script) -> None:
    backend = script("family")
    answer = run(backend)
    assert isinstance(answer, Failure)
    pid = int(answer.message)
    os.kill(pid, 0)
    backend.deadline_s = 0.2
    with pytest.raises(WorkerTimeout):
        run(backend)
    assert _gone(pid)


def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("manner", "reason"),
    [("bad-start", "exited with status 1 during hello"), ("version-7", "chose protocol 7")],
)
def test_a_worker_that_does_not_introduce_itself_does_not_start(
    script: Script, manner: str, reason: str
) -> None:
    with pytest.raises(AdapterError, match=reason) as caught:
        script(manner)
    assert manner != "bad-start" or "no licence" in str(caught.value)


def test_a_worker_that_never_says_hello_is_given_up() -> None:
    backend = ProcessBackend([sys.executable, str(WORKER), "deaf"])
    backend.start_deadline_s = 0.5
    with pytest.raises(WorkerTimeout, match="no answer to hello"):
        backend.restart()
    backend.shutdown()


@pytest.mark.parametrize("spec", ["exec:", "exec:'open", "exec:/no/such/program"])
def test_a_command_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(AdapterError):
        spawn(spec)


def test_a_backend_that_was_shut_down_says_so(script: Script) -> None:
    backend = script("plain")
    backend.shutdown()
    with pytest.raises(WorkerError, match="has not been started"):
        run(backend)
