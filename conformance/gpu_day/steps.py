"""Steps with a time limit each, whose outcomes are written as they come, and which resume.

`steps.jsonl` in the folder has a line for each step that ended, the last one of a step counts:

  {"step", "part", "state", "seconds", "started", "log", "says"}

`state` is `done` (status 0), `answered no` (status 1, with its result written: what it tells is
bad, but told), `failed`, `out of time`, or `absent` (a program that it needs is not here). A step
that is done or answered no is not run again; any other is.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["ENDED", "Step", "ended", "run_steps"]

#: The states of a step that is not run again.
ENDED: Final = ("done", "answered no")
#: A step that has less left than this is not begun: it would be cut before it did anything.
_LEAST_S: Final = 5.0
#: How long a step may take to end after it was terminated.
_GRACE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a part.

    Attributes:
      name: what it is called in the folder, unique.
      part: the part it belongs to.
      command: what is run, with the folder as `{folder}`.
      seconds: how long it may take at most.
      result: the file in the folder that is there if it came to its end.
      tool: a program that it needs, or empty.
      absent: why it does not apply here at all; empty if it does.

    """

    name: str
    part: str
    command: tuple[str, ...]
    seconds: float
    result: str = ""
    tool: str = ""
    absent: str = ""


def ended(folder: Path) -> dict[str, str]:
    """Step to the state that its last line has."""
    states = {}
    with contextlib.suppress(FileNotFoundError):
        for line in (folder / "steps.jsonl").read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # cut by a kill
                form = json.loads(line)
                states[form["step"]] = form["state"]
    return states


def run_steps(steps: Sequence[Step], folder: Path, seconds: float) -> int:
    """Run what has not ended yet, one after the other, going on after a failure.

    Args:
      steps: the steps of one part.
      folder: where everything is written.
      seconds: how long all of them may take together.

    Returns:
      How many have not ended.

    """
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    states = ended(folder)
    for step in steps:
        if states.get(step.name) in ENDED:
            print(f"{step.name}: {states[step.name]} before", flush=True)
            continue
        limit = min(step.seconds, until - time.monotonic())
        if limit < _LEAST_S:
            print(f"{step.name}: no time is left in this part", flush=True)
            continue
        line = _run(step, folder, limit)
        states[step.name] = line["state"]
        with (folder / "steps.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{step.name}: {line['state']}, {line['seconds']} s; {line['says']}", flush=True)
    left = [s.name for s in steps if states.get(s.name) not in (*ENDED, "absent")]
    if left:
        print(f"run again for: {', '.join(left)}", flush=True)
    return len(left)


def _run(step: Step, folder: Path, limit: float) -> dict[str, Any]:
    """Run a step; its line."""
    log = folder / "logs" / f"{step.name}.txt"
    line = {
        "step": step.name,
        "part": step.part,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "log": f"logs/{step.name}.txt",
    }
    why = step.absent
    if step.tool and shutil.which(step.tool) is None:
        why = why or f"{step.tool} is not installed here"
    if why:
        log.write_text(why + "\n", encoding="utf-8")
        return line | {"state": "absent", "seconds": 0.0, "says": why}
    print(f"{step.name}: at most {limit:.0f} s", flush=True)
    (folder / step.result).parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with log.open("wb") as file:
        status = _status([part.format(folder=folder) for part in step.command], file, limit)
    return line | {
        "seconds": round(time.monotonic() - began, 1),
        "state": _state(step, folder, status),
        "says": _last_line(log).replace(f"{folder}/", ""),
    }


def _status(command: Sequence[str], log: Any, limit: float) -> int | None:
    """The exit status; None if it did not end in time and was ended, its children with it."""
    process = subprocess.Popen(  # noqa: S603 - our own commands
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(_GRACE_S)


def _state(step: Step, folder: Path, status: int | None) -> str:
    if status is None:
        return "out of time"
    written = not step.result or (folder / step.result).exists()
    if status == 0 and written:
        return "done"
    return "answered no" if status == 1 and step.result and written else "failed"


def _last_line(log: Path) -> str:
    """The last line of a log, cut to what a table has room for."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip()[:300] if lines else "it printed nothing"
