"""The program in which mutants live: `python -m ...server ANSWERS SEED COUNT PROFILE...`.

It holds the plans' cases and the answers of the unchanged reference (the lines of `entries.py` in
the file ANSWERS), and has imported all but the reference. A line of standard input asks about one
mutant: `{"module": its dotted name, "source": the changed source, "seconds": how long each list
may take, "cases": {profile: [case id, ...]}}`. A fork of this process imports the changed
reference and runs each list until a case does not pass. The answer is a line `{profile: {"ran":
cases that ran, "killer": id or null, "result": its result, "reason": in words, "differs": id of a
case that passed with another answer than the unchanged reference gives, or null}}`; a profile
whose list was not ended in time is missing, `null` is a mutant that died or hung at once.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from sessrun.spec.cases.model import Case

__all__ = ["main"]

#: What a case may take in a mutant, in seconds.
_DEADLINE_S: Final = 10.0
#: What a mutant may take beyond the time of its lists before it counts as hung.
_GRACE_S: Final = 15.0
#: Results that show a mutant.
_PASSED: Final = frozenset({"pass", "skipped"})


def main(answers_file: Path, seed: int, count: int, profiles: list[str]) -> None:
    """Answer the lines of standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)  # a mutant may print, and its warnings are of no interest
    from sessrun.conformance.runner import Runner  # noqa: PLC0415, F401 - imported before the forks
    from sessrun.conformance.selfcheck.mutation.entries import planned  # noqa: PLC0415

    cases = {case.id: case for case in planned(seed, count, profiles)}
    with answers_file.open(encoding="utf-8") as file:
        recorded = {form["id"]: form["answers"] for form in map(json.loads, file)}
    gc.freeze()  # or the first collection of a fork would copy all that is held here
    for line in sys.stdin:
        answers.write(_in_a_fork(json.loads(line), cases, recorded) + "\n")
        answers.flush()


def _in_a_fork(
    asked: Mapping[str, Any], cases: Mapping[str, Case], recorded: Mapping[str, Any]
) -> str:
    """The answer about one mutant, as JSON."""
    folder = Path(tempfile.mkdtemp(prefix="sessrun-mutant-"))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _live_and_exit(asked, cases, recorded, folder, writing)
    os.close(writing)
    try:
        deadline = time.monotonic() + asked["seconds"] * len(asked["cases"]) + _GRACE_S
        return _last_line_until(reading, deadline)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)


def _live_and_exit(
    asked: Mapping[str, Any],
    cases: Mapping[str, Case],
    recorded: Mapping[str, Any],
    folder: Path,
    writing: int,
) -> NoReturn:
    """Be the mutant: write what is known after each list, and end the process."""
    from sessrun.conformance.selfcheck.mutation.changed_source import (  # noqa: PLC0415
        confine,
        import_changed,
    )

    try:
        os.chdir(folder)
        tempfile.tempdir = str(folder)
        os.environ["TMPDIR"] = str(folder)
        confine(folder)
        import_changed(asked["module"], asked["source"])
        known: dict[str, Any] = {}
        for profile, ids in asked["cases"].items():
            chosen = [cases[id_] for id_ in ids]
            known[profile] = _until_killed(chosen, recorded, asked["seconds"])
            os.write(writing, json.dumps(known).encode() + b"\n")
    finally:
        os._exit(0)


def _until_killed(
    cases: Sequence[Case], recorded: Mapping[str, Any], seconds: float
) -> dict[str, Any]:
    from sessrun.adapters.errors import AdapterError  # noqa: PLC0415 - imported before the fork
    from sessrun.conformance.result_lines import result_line  # noqa: PLC0415
    from sessrun.conformance.runner import Runner  # noqa: PLC0415
    from sessrun.conformance.selfcheck.covered import BACKEND  # noqa: PLC0415

    runner = Runner(
        BACKEND,
        in_process=True,
        deadline_s=_DEADLINE_S,
        ask_oracle=lambda case: recorded[case.id],
    )
    ends = time.monotonic() + seconds
    ran, differs = 0, None
    for case in cases:
        try:
            line = runner.run_once(case)
        except AdapterError as error:  # the changed module cannot even be imported
            line = result_line(case, "error", 0.0, detail=str(error))
        ran += 1
        if line["result"] not in _PASSED:
            reason = line.get("finding", {}).get("reason") or line.get("detail", "")
            return {
                "ran": ran,
                "killer": case.id,
                "result": line["result"],
                "reason": reason[:300],
                "differs": None,
            }
        if differs is None and _answers(line.get("observations")) != _answers(recorded[case.id]):
            differs = case.id
        if time.monotonic() > ends:
            break
    return {"ran": ran, "killer": None, "result": "pass", "reason": "", "differs": differs}


def _answers(observations: Sequence[Mapping[str, Any]] | None) -> Any:
    """The observations without what is for people; nothing if they were too large to be kept."""
    return observations and [
        {key: value for key, value in entry.items() if key != "message"} for entry in observations
    ]


def _last_line_until(descriptor: int, deadline: float) -> str:
    """The last line that is written before the other end is closed, or the deadline; or null."""
    text = b""
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        text += chunk
    lines = text.rpartition(b"\n")[0].splitlines()
    return lines[-1].decode() if lines else "null"


if __name__ == "__main__":
    file, seed, count, *profiles = sys.argv[1:]
    main(Path(file), int(seed), int(count), profiles)
