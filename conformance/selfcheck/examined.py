"""Runs cases on faulty backends, each in a forked process: `python -m ...examined`.

A line of stdin names a faulty backend and the cases to run on it: `{"backend": name, "ids":
[case id, ...], "seconds": time limit, "cases": [cases not sent before]}`. The answer is a line of
stdout: `{id: {"result": result, "clauses": [clauses that it blames]}}`, or `null` for a fault that
hangs or ends its process; the host examines that fault again in a worker. Modules are imported and
cases are read once, before the forks, so that a fault costs no more than running its cases. Cases
that must be isolated, because they may spoil their process, run last.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sessrun.spec.forms import Json
from sessrun.spec.records import blamed

if TYPE_CHECKING:
    from sessrun.conformance.result_lines import ResultLine
    from sessrun.spec.cases.model import Case

__all__ = ["DEADLINE_S", "main", "summary_of"]

#: The deadline of a case on a faulty backend, here or in a worker, in seconds.
DEADLINE_S: Final = 10.0
#: Modules that no case imports.
_NOT_OF_CASES: Final = (
    "sessrun.conformance.authoring",
    "sessrun.conformance.benchmarks",
    "sessrun.conformance.plugin",
    "sessrun.conformance.selfcheck",
    "sessrun.conformance.suites",
)


def main() -> None:
    """Answer the lines of stdin until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a fault may print
    from sessrun.spec.cases.model import Case  # noqa: PLC0415

    _import_all()
    gc.freeze()  # or the first collection in a fork would copy all memory of this process
    known: dict[str, Case] = {}
    for line in sys.stdin:
        request = json.loads(line)
        for form in request["cases"]:
            known[form["id"]] = Case.from_json(form, f"the case {form['id']}")
        cases = sorted((known[id_] for id_ in request["ids"]), key=lambda case: case.isolated)
        answers.write(_in_a_fork(request["backend"], cases, request["seconds"]) + "\n")
        answers.flush()


def _import_all() -> None:
    """Import all modules that cases on the reference may need, before the first fork."""
    from sessrun import conformance  # noqa: PLC0415
    from sessrun.adapters.registry import load  # noqa: PLC0415
    from sessrun.conformance.faulty.framework import load_all  # noqa: PLC0415

    load_all()
    reference: Any = load("reference")
    for package in (conformance, reference.namespace):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(_NOT_OF_CASES):
                importlib.import_module(module.name)


def _in_a_fork(spec: str, cases: Sequence[Case], seconds: float) -> str:
    """The results as JSON; `null` if the fork ended without them or took longer."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_and_exit(spec, cases, writing)
    os.close(writing)
    try:
        results = _read_until(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)  # it may hang; it is ours until we have waited for it
        os.waitpid(child, 0)
    return results.decode() or "null"


def _run_and_exit(spec: str, cases: Sequence[Case], writing: int) -> NoReturn:
    """Run the cases on `spec` in this process, write the results, and end it."""
    status = 1
    try:
        from sessrun.conformance.runner import Runner  # noqa: PLC0415 - imported before the fork

        runner = Runner(spec, in_process=True, deadline_s=DEADLINE_S)
        results = {case.id: summary_of(runner.run_once(case)) for case in cases}
        with os.fdopen(writing, "w", encoding="utf-8") as answer:
            answer.write(json.dumps(results))
        status = 0
    finally:
        os._exit(status)  # a thread that hangs in a fault must not keep the process


def summary_of(line: ResultLine) -> dict[str, Json]:
    """The result of a result line, and the clauses that it blames."""
    return {"result": line["result"], "clauses": list(blamed(line))}


def _read_until(descriptor: int, deadline: float) -> bytes:
    """All bytes of the pipe; none if its other end is not closed before the deadline."""
    parts: list[bytes] = []
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return b""


if __name__ == "__main__":
    main()
