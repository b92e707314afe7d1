"""Files of a case: a folder each time, its paths, its steps, what is seen, and its end."""

from __future__ import annotations

import ast
import base64
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from sessrun.adapters.process.host import ProcessBackend, WorkerCrash, spawn
from sessrun.adapters.registry import load
from sessrun.conformance.authoring.engine_author import EngineAuthor
from sessrun.conformance.authoring.record import ApiAuthor
from sessrun.conformance.observe import observe
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.plain import python_lines
from sessrun.conformance.replay import read_replay, write_replay
from sessrun.conformance.shrink import Shrinker, shrinkable
from sessrun.spec import loader
from sessrun.spec.bundle import write_graphs
from sessrun.spec.cases.engine import interpret
from sessrun.spec.cases.files import STAND_IN, CaseFiles, with_stand_in
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.proto import GraphDef
from sessrun.spec.schema import SpecError


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def reference() -> Any:
    return load("reference")


@pytest.fixture(scope="module")
def worker() -> Any:
    backend = spawn("reference")
    yield backend
    backend.shutdown()


def engine_case(namespace: Any) -> Case:
    """Reads a constant path, a fed one, a missing one; writes one; lists them."""
    c = EngineAuthor(namespace)
    path = c.file("a.txt", b"hello\n")
    c.file("sub/b.bin", b"\0\1")
    with c.graph() as tf:
        tf.read_file(tf.constant(path), name="constant")
        fed = tf.placeholder(tf.string, [], name="path")
        tf.read_file(fed, name="fed")
        tf.write_file(fed, tf.constant("written"), name="write")
        tf.identity(fed, name="shown")
        tf.matching_files(tf.constant(c.path("*.txt")), name="matching")
    s = c.open()
    s.run(["constant:0"], values=[b"hello\n"])
    s.run(
        ["fed:0", "shown:0"],
        {"path:0": c.path("sub/b.bin")},
        values=[b"\0\1", c.path("sub/b.bin").encode()],
    )
    s.run(["fed:0"], {"path:0": c.path("none")}, error=[5])
    s.run(["write"], {"path:0": c.path("new/made.txt")}, values=[None])
    c.content("new/made.txt", b"written")
    c.names(["a.txt", "new/made.txt", "sub/b.bin"])
    c.change("a.txt", append=b"more")
    s.run(["constant:0"], values=[b"hello\nmore"])
    s.run(["matching:0"], values=[[c.path("a.txt").encode()]])
    form = {
        "id": "files/made-here",
        "title": "Files.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "steps": c.steps,
        "graphs": c.graphs,
        "files": c.files,
    }
    return Case.from_json(form, "here")


def api_case() -> Case:
    c = ApiAuthor()
    path = c.file("a.txt", b"hello\n")
    session = c.tf.Session()
    c.check(session.run(c.tf.read_file(path)), b"hello\n")
    c.check(c.tf.gfile.Glob(c.path("*")), [c.seen("a.txt")])
    c.change("a.txt", truncate=-2)
    with c.thread():
        c.content("a.txt", b"hell")
    c.check(c.tf.gfile.Exists(c.path("a.txt")), want=True)
    c.change("a.txt", remove=True)
    c.content("a.txt", None)
    c.raises("NotFoundError", lambda: session.run(c.tf.read_file(path)))
    made = c.case("files/made-there", "Files.", ["RUN-001"])
    return Case.from_json(made.to_json(), "here")


@pytest.fixture(params=["engine", "api"])
def case(request: pytest.FixtureRequest, reference: Any) -> Case:
    return engine_case(reference.namespace) if request.param == "engine" else api_case()


@pytest.mark.parametrize("through", ["reference", "worker"])
def test_a_case_with_files_passes(
    through: str, case: Case, request: pytest.FixtureRequest, monkeypatch: Any, tmp_path: Path
) -> None:
    backend = request.getfixturevalue(through)
    if through == "reference":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = observe(backend, case, 30.0)
    judgement = judge(case, first)
    assert judgement.result == "pass", judgement.finding
    assert observe(backend, case, 30.0) == first, "the folder's name is nowhere in what is seen"
    assert list(tmp_path.iterdir()) == []
    folder = getattr(backend, "files_folder", None)
    assert not folder or list(Path(folder).glob("sessrun-case-*")) == []


def test_a_case_with_files_is_its_json(case: Case) -> None:
    again = Case.from_json(case.to_json(), "here")
    assert again == case
    other = dataclasses.replace(case, files={**case.files, "a.txt": text(b"x")})
    assert other.hash != case.hash
    for graph in case.graphs.values():
        message = json_format.ParseDict(with_stand_in(graph), GraphDef())
        assert f"{STAND_IN}/a.txt".encode() in message.SerializeToString()


def test_the_graphs_of_vectors_are_written(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "load_vectors", lambda: {case.id: case})
    assert write_graphs(tmp_path) == len(case.graphs)
    for file in tmp_path.iterdir():
        assert f"{STAND_IN}/a.txt".encode() in file.read_bytes()


def test_a_replay_keeps_the_files_and_shows_them(case: Case, tmp_path: Path, worker: Any) -> None:
    write_replay(tmp_path / "r.json", case, {"result": "fail"}, "reference")
    again = read_replay(tmp_path / "r.json")
    assert judge(again, observe(worker, again, 30.0)).result == "pass"
    lines = "\n".join(python_lines(case))
    ast.parse(lines)
    for part in ("tempfile.mkdtemp()", "write_bytes(b'hello\\n')", "os.path.join(folder, 'a.txt')"):
        assert part in lines


def test_the_plain_code_of_a_case_runs(case: Case, tmp_path: Path) -> None:
    """Against the reference in place of TensorFlow, up to the step that must fail."""
    failing = ("# must fail", "# must raise")
    lines = [line for line in python_lines(case) if not any(text in line for text in failing)]
    lines = [line.replace("tensorflow.compat.v1", "sessrun.reference") for line in lines]
    end = next((i for i, line in enumerate(lines) if "none" in line), len(lines))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines[:end])],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "hello" in done.stdout or case.surface == "api"


STEPS = {
    "write": ({"write": text(b"new")}, b"new"),
    "append": ({"append": text(b"!")}, b"abcdef!"),
    "truncate": ({"truncate": 2}, b"ab"),
    "truncate from the end": ({"truncate": -2}, b"abcd"),
    "flip": ({"flip": [0, 1]}, b"`bcdef"),
    "flip from the end": ({"flip": [-1, 0x80]}, b"abcde\xe6"),
    "rename": ({"rename": "other"}, None),
    "remove": ({"remove": True}, None),
    "mode": ({"mode": 0o600}, b"abcdef"),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_a_step_does_to_a_file(step: str, reference: Any) -> None:
    change, after = STEPS[step]
    steps = [
        {"do": "file", "name": "f", **change},
        {
            "do": "file",
            "name": "f",
            "read": "bytes",
            "expect": {"value": None if after is None else {"$bytes": text(after)}},
        },
    ]
    files = {"f": text(b"abcdef")}
    for surface in ("engine", "api"):
        form = {
            "id": "a/b",
            "title": "T.",
            "surface": surface,
            "clauses": ["RUN-001"],
            "graphs": {},
            "steps": steps,
            "files": files,
        }
        made = Case.from_json(form, "here")
        judgement = judge(made, observe(reference, made, 30.0))
        assert judgement.result == "pass", judgement.finding


def test_a_change_that_the_system_refuses_fails_the_case(reference: Any) -> None:
    for surface in ("engine", "api"):
        form = {
            "id": "a/b",
            "title": "T.",
            "surface": surface,
            "clauses": ["RUN-001"],
            "graphs": {},
            "files": {},
            "steps": [{"do": "file", "name": "none", "truncate": 1}],
        }
        made = Case.from_json(form, "here")
        judgement = judge(made, observe(reference, made, 30.0))
        assert judgement.result == "fail"
        assert judgement.finding
        assert "FileNotFoundError" in judgement.finding.reason


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "./x", "a\0b"])
def test_no_name_leaves_the_folder(name: str) -> None:
    form = {
        "id": "a/b",
        "title": "T.",
        "surface": "api",
        "clauses": ["RUN-001"],
        "files": {},
        "steps": [{"do": "file", "name": name, "write": ""}],
    }
    with pytest.raises(SpecError):
        Case.from_json(form, "here")
    with pytest.raises(SpecError):
        Case.from_json({**form, "files": {name: ""}, "steps": []}, "here")
    case = Case("a/b", "T.", "api", ("RUN-001",), (), files={})
    with CaseFiles(case) as files:
        with pytest.raises(SpecError):
            files.path(name)
        with pytest.raises(SpecError):
            files.do({"name": name, "write": ""})


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    with CaseFiles(Case("a/b", "T.", "api", ("RUN-001",), (), files={})) as files:
        Path(files.path("link")).symlink_to(tmp_path)
        for step in ({"read": "bytes"}, {"remove": True}, {"write": ""}):
            with pytest.raises(SpecError):
                files.do({"name": "link/secret", **step})
    assert (tmp_path / "secret").read_bytes() == b"secret"


def test_a_path_needs_files(reference: Any) -> None:
    form = {
        "id": "a/b",
        "title": "T.",
        "surface": "api",
        "clauses": ["RUN-001"],
        "steps": [{"do": "eval", "expr": {"$path": "a"}}],
    }
    with pytest.raises(SpecError):
        observe(reference, Case.from_json(form, "here"), 30.0)
    tensor = {"dtype": "DT_STRING", "tensorShape": {}, "stringVal": [{"$path": "a"}]}
    attr = {"dtype": {"type": "DT_STRING"}, "value": {"tensor": tensor}}
    graph = {"node": [{"name": "a", "op": "Const", "attr": attr}]}
    form = {
        "id": "a/b",
        "title": "T.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "graphs": {"g": graph},
        "steps": [{"do": "open", "session": "s", "graph": "g"}],
    }
    seen = interpret(Case.from_json(form, "here"), reference)
    assert seen[0]["outcome"] == "failure", "nothing is replaced in a case that declares no files"


def test_a_worker_that_dies_leaves_no_folder() -> None:
    backend = spawn("reference")
    made = Path(backend.files_folder or "")
    killer = _kill_once_there(backend, made)
    with pytest.raises(WorkerCrash):
        observe(backend, _waiting(), 20.0)
    killer.join(10)
    backend.shutdown()
    assert not made.exists()
    backend = spawn("reference")
    assert observe(backend, api_case(), 30.0), "and the next case has one again"
    backend.shutdown()


def _waiting() -> Case:
    """A case with files that waits for ever, on an empty queue."""
    c = ApiAuthor()
    c.file("a.txt", b"")
    queue = c.tf.FIFOQueue(1, [c.tf.float32], [[]])
    c.tf.Session().run(queue.dequeue())
    return Case.from_json(c.case("files/waiting", "T.", ["RUN-001"]).to_json(), "here")


def _kill_once_there(backend: ProcessBackend, folder: Path) -> threading.Thread:
    """Kill the worker as soon as the case's folder is there."""

    def work() -> None:
        until = time.monotonic() + 10
        while not list(folder.glob("sessrun-case-*")) and time.monotonic() < until:
            time.sleep(0.01)
        channel = backend._channel
        os.kill(channel._connection._child._process.pid, signal.SIGTERM)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_shrinking_takes_away_files(reference: Any) -> None:
    c = EngineAuthor(reference.namespace)
    c.file("used", b"x" * 64)
    c.file("unused", b"y")
    with c.graph() as tf:
        whole = tf.read_file(tf.constant(c.path("used")), name="read")
        tf.identity(tf.strings.substr(whole, 0, 1), name="out")
    s = c.open()
    c.change("unused", append=b"z")
    s.run(["out:0", "read:0"])
    c.steps[-1]["expect"] = {"oracle": {}}
    form = {
        "id": "files:1:1",
        "title": "T.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "graphs": c.graphs,
        "files": c.files,
        "steps": c.steps,
    }
    case = Case.from_json(form, "here")
    assert shrinkable(case)

    def fails(candidate: Case) -> bool:
        seen = interpret(candidate, reference)
        return seen[-1]["outcome"] == "values"

    with Oracle() as oracle:
        small = Shrinker(fails, oracle).shrink(case)
    assert set(small.files or {}) <= {"used"}
    assert [step["do"] for step in small.steps] == ["open", "run"]
    assert len(base64.b64decode((small.files or {}).get("used") or "")) < 64
    assert Case.from_json(small.to_json(), "shrunk") == small
