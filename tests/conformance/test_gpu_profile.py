"""The profile `gpu`: what it needs, its oracle, and what a backend without a GPU hears."""

from __future__ import annotations

import pytest

from sessrun.adapters.registry import load
from sessrun.cli.main import main
from sessrun.conformance.faulty.framework import load_all
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.properties import generate
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.facts import OF_GPUS, facts_of
from sessrun.spec.cases.judge import judge
from sessrun.spec.loader import load_clauses, load_vector
from sessrun.spec.records import DISTURBED

CLAUSES = {id_: clause for id_, clause in load_clauses().items() if clause.profile == "gpu"}


def test_every_clause_needs_a_gpu_and_says_what_it_rests_on() -> None:
    for clause in CLAUSES.values():
        assert clause.condition in OF_GPUS, clause.id
        assert "not seen on a GPU" in clause.sources[-1], clause.id


def test_every_clause_has_a_fault() -> None:
    assert set(CLAUSES) == {fault.clause for fault in load_all().values()} & set(CLAUSES)


@pytest.mark.parametrize(
    ("gpus", "wanted"),
    [([], {"no-gpu"}), (["one"], {"gpu"}), (["one", "two"], {"gpu", "two-gpus"})],
)
def test_facts_of_gpus(gpus: list[str], wanted: set[str]) -> None:
    assert facts_of({"gpus": gpus}) == wanted


def test_the_oracle_of_a_case_that_needs_gpus_has_them() -> None:
    case = generate("gpu-operations", 1, 0)
    with Oracle() as oracle:
        observed = oracle(case)
    assert judge(case, observed, observed).result == "pass"
    assert all(observation["outcome"] != "failure" for observation in observed)


def test_a_backend_without_a_gpu_hears_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "reference", "--profile", "gpu"]) == 2
    assert "a new session of 'reference' lists none: nothing was asked" in capsys.readouterr().err


def test_a_case_that_configures_gpus_has_a_process_of_its_own() -> None:
    restarts: list[str] = []
    runner = Runner(
        "reference#simulated-gpu", on_event=lambda _event, detail, _seconds: restarts.append(detail)
    )
    try:
        for id_ in ("gpu/gpus-are-listed", "gpu-memory/virtual-gpus-are-listed"):
            assert runner.run(load_vector(id_))["result"] == "pass"
    finally:
        runner.shutdown()
    assert restarts == [DISTURBED] * 2  # before it, and after


def test_a_namespace_with_gpus_is_described_as_a_session_lists_them() -> None:
    backend = load("reference")
    listed = [f"/job:localhost/replica:0/task:0/device:{name}" for name in ("CPU:0", "GPU:0")]

    class Device:
        def __init__(self, device_type: str) -> None:
            self.device_type = device_type

    class Namespace:
        Session = None  # which must not be opened

        class config:  # noqa: N801 - TensorFlow's name
            @staticmethod
            def list_physical_devices() -> list[Device]:
                return [Device("CPU"), Device("GPU")]

    described = type(backend)(Namespace, "with GPUs", "1").describe()
    assert list(described.devices) == listed
