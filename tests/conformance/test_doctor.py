"""sessrun doctor: the question that asks for it tells each fake's fault, and no other question."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sessrun.adapters.backend import Description
from sessrun.adapters.process.host import spawn
from sessrun.cli.main import main
from sessrun.conformance.doctor import Answer, examine, program
from sessrun.conformance.doctor.examination import QUESTIONS, Examination
from sessrun.conformance.doctor.remedies import remedy

ROOT = Path(__file__).resolve().parents[2]
FAKES = "sessrun.adapters.fakes"


def names(examination: Examination, verdict: str) -> set[str]:
    return {answer.name for answer in examination.answers if answer.verdict == verdict}


def answer_of(examination: Examination, name: str) -> Answer:
    (answer,) = [answer for answer in examination.answers if answer.name == name]
    return answer


def test_the_reference_has_an_answer_to_everything() -> None:
    examination = examine("reference", 20)
    assert [a for a in examination.answers if a.verdict != "ok"] == []
    assert len(examination.answers) == len(QUESTIONS) + 5
    told = answer_of(examination, "dtypes").detail
    assert {"bfloat16", "string", "qint8", "float4_e2m1fn"} <= set(told.split(", "))


def test_a_small_engine_is_told_what_it_does_not_offer() -> None:
    examination = examine(f"{FAKES}.conforming:backend", 20)
    assert not examination.wrong
    declined = names(examination, "not offered")
    assert declined >= {"api", "callables", "control-input", "state", "timeout"}
    assert answer_of(examination, "unknown-operation").verdict == "ok"
    shape = answer_of(examination, "feed-shape")
    assert shape.verdict == "not offered"
    assert "Put ClientLayer over the engine" in shape.advice


@pytest.mark.parametrize(
    ("fake", "question", "said", "advised"),
    [
        ("lying:backend#zeros", "sum", r"want np.float32\(3.5\), got .*0.0", "ndarray"),
        ("lying:backend#dtype", "sum", "want dtype float32, got float64", "dtype"),
        ("lying:backend#shape", "sum", r"want shape \[2\], got \[1, 2\]", "shape"),
        ("lying:backend#count", "sum", "3 values for 2 fetches", "one value for each fetch"),
        ("babbling:backend", "printing", "computing", "standard error"),
        ("crashing:backend", "sum", "died of SIGSEGV during run", "native code"),
        ("dying:backend", "repetition", "exited with status 3", "ended by itself"),
        ("hanging:backend", "sum", "no answer to run within", "does not return"),
        ("one_error:backend", "unknown-name", "code 13, not 3 or 5", "Look every name up"),
        ("one_error:backend#always", "sum", "InternalError", "Fetched"),
        ("always_unsupported:backend", "calls", "declined: open", "Offer this first"),
    ],
)
def test_a_fault_is_named_by_the_question_that_asks_for_it(
    fake: str, question: str, said: str, advised: str
) -> None:
    examination = examine(f"{FAKES}.{fake}", 2)
    (wrong,) = [answer for answer in examination.wrong if answer.name == question]
    assert re.search(said, wrong.detail)
    assert advised in wrong.advice
    assert wrong.section.startswith("docs/")
    if question in {"calls", "sum"}:  # the other questions rest on these
        assert len(examination.wrong) == 1
        assert "shutdown" in names(examination, "not asked")


def test_a_slow_engine_is_told_what_that_costs() -> None:
    backend = spawn(f"{FAKES}.slow:backend#0.3")
    try:
        answer = program.repetition(backend)
    finally:
        backend.shutdown()
    assert answer.verdict == "wrong"
    assert re.search(r"^[345] runs, 3\d\d\.\d ms each$", answer.detail), answer
    assert "--minutes" in answer.advice


def test_a_backend_without_a_client_is_told_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorflow")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "adapters"), prepend=":")
    examination = examine("below_client:backend", 20)
    for name in ("inner-feed", "fetch-nothing", "feed-shape"):
        answer = answer_of(examination, name)
        assert answer.verdict == "not offered"
        assert answer.advice.startswith("TensorFlow's client does this.")


@pytest.mark.openvino
def test_openvino_has_nothing_wrong() -> None:
    pytest.importorskip("openvino")
    examination = examine("openvino", 20)
    assert examination.wrong == ()
    offered, _, declined = answer_of(examination, "dtypes").detail.partition("; not offered: ")
    assert {"float32", "int32", "bool"} <= set(offered.split(", "))
    assert "string" in declined.split(", ")
    assert answer_of(examination, "control-input").verdict == "not offered"


@pytest.mark.parametrize("named", ["class Tiny", "class Session(EngineSession)"])
def test_the_engines_of_the_documentation_have_nothing_wrong(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "adapters.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (engine,) = [block for block in blocks if named in block]
    (tmp_path / "documented.py").write_text(engine, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    examination = examine("documented:backend", 20)
    assert [*examination.wrong] == []
    assert answer_of(examination, "sum").verdict == "ok"


@pytest.mark.parametrize(
    ("vice", "question", "said", "advised"),
    [
        ("keywords", "sum", "unexpected keyword argument", "parameters the names of the table"),
        ("closing", "calls", "has no form on the wire", "Return an outcome"),
        ("strings", "strings", "other bits came back", "object array of bytes"),
        ("operations", "sum", "want None, got float32", "None for an operation"),
        ("strange", "description", "operation 'NoSuchOp' is not", "op types of TensorFlow"),
        ("undeclared", "callables", "without declaring the capability", "Or do not declare"),
        ("lingering", "shutdown", "no answer to shutdown", "does not return"),
    ],
)
def test_what_a_beginner_does_is_told_in_plain_words(
    vice: str, question: str, said: str, advised: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    examination = examine(f"beginners:backend#{vice}", 5)
    (wrong,) = [answer for answer in examination.wrong if answer.name == question]
    assert re.search(said, wrong.detail), wrong
    assert advised in wrong.advice


def test_every_section_that_is_named_is_there() -> None:
    said = ("no answer to run within", "died of SIGSEGV", "not JSON", "has no form on the wire")
    sections = {question.section for question in QUESTIONS} | {remedy(text)[1] for text in said}
    sections |= {program.printing("x").section}
    sections |= {program.description(Description("", "", frozenset())).section}
    for section in sections:
        page, _, title = section.partition(", ")
        text = (ROOT / page).read_text("utf-8")
        assert re.search(rf"^#+ {re.escape(title)}$", text, re.MULTILINE), section


def test_the_command_prints_a_line_for_each_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", f"{FAKES}.one_error:backend"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"^wrong +missing-feed +A placeholder", printed, re.MULTILINE)
    assert re.search(r"^ok +two-sessions ", printed, re.MULTILINE)
    last = printed.splitlines()[-1]
    assert re.fullmatch(r"36 questions in \d+\.\d s: \d+ ok, 3 wrong, \d+ not offered", last)


def test_the_answers_come_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", f"{FAKES}.conforming:backend", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wrong"] == 0
    assert told["description"]["name"] == "conforming fake"
    assert {answer["verdict"] for answer in told["answers"]} == {"ok", "not offered"}


@pytest.mark.parametrize(
    "arguments", [["nobody"], ["exec:false"], ["reference", "--deadline", "0"]]
)
def test_what_does_not_start_has_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *arguments]) == 2
    assert capsys.readouterr().err.startswith("sessrun doctor: ")
