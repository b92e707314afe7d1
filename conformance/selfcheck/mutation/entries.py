"""The program that records which functions each case enters, and what the reference answers.

`python -m ...entries PART PARTS SEED COUNT PROFILE...` runs every PARTS-th case of the profiles'
plans, each in a fork of its own: what is computed once and kept is computed anew, so that a case
enters all that it needs. The first part begins with a line for the import of the whole package,
with the id "". A line of standard output for each case: `{"id": ..., "seconds": ...,
"entered": ["kernels/products.py:41", ...] (module and first line), "answers": [observations]}`.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import pkgutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessrun.spec.cases.model import Case

__all__ = ["Entered", "main"]


class Entered:
    """Records the functions below a folder that are called, in every thread."""

    def __init__(self, folder: Path) -> None:
        self._prefix = f"{folder}{os.sep}"
        self._codes: set[CodeType] = set()

    def start(self) -> None:
        """Record from now on."""
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, _event: str, _arg: Any) -> None:
        self._codes.add(frame.f_code)

    def stop(self) -> None:
        """Record no more."""
        sys.settrace(None)
        threading.settrace(None)

    def functions(self) -> list[str]:
        """Module and first line of what was called, sorted."""
        return sorted(
            f"{os.path.realpath(code.co_filename).removeprefix(self._prefix)}:{code.co_firstlineno}"
            for code in tuple(self._codes)
            if os.path.realpath(code.co_filename).startswith(self._prefix)
        )


def main(part: int, parts: int, seed: int, count: int, profiles: list[str]) -> None:
    """Run the part's cases and write a line for each."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a case may print
    from sessrun.adapters.registry import load  # noqa: PLC0415
    from sessrun.conformance.selfcheck.covered import BACKEND, PACKAGE  # noqa: PLC0415

    cases = list(planned(seed, count, profiles))[part::parts]
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None  # noqa: PT018 - our own package
    folder = Path(spec.origin).resolve().parent
    imported = Entered(folder)
    imported.start()
    load(BACKEND)
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        importlib.import_module(module.name)
    imported.stop()
    if part == 0:
        answers.write(_form("", 0.0, imported.functions(), []))
    gc.freeze()  # or the first collection of a fork would copy all that is held here
    for case in cases:
        answers.write(_in_a_fork(case, folder))
        answers.flush()


def planned(seed: int, count: int, profiles: list[str]) -> Iterator[Case]:
    """The cases of the profiles' plans, each once."""
    from sessrun.conformance.plan import build_plan  # noqa: PLC0415

    seen: set[str] = set()
    for profile in profiles:
        for case in build_plan(profile, seed, count).cases:
            if case.id not in seen:
                seen.add(case.id)
                yield case


def _in_a_fork(case: Case, folder: Path) -> str:
    """The line of a case; one without answers if its process died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as answer:
                answer.write(_line(case, folder))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "r", encoding="utf-8") as answer:
        line = answer.read()
    os.waitpid(child, 0)
    return line or _form(case.id, 0.0, [], None)


def _line(case: Case, folder: Path) -> str:
    from sessrun.conformance.oracle import Oracle  # noqa: PLC0415
    from sessrun.conformance.selfcheck.covered import BACKEND  # noqa: PLC0415

    entered = Entered(folder)
    entered.start()
    started = time.perf_counter()
    observations = Oracle(BACKEND, in_process=True)(case)
    seconds = time.perf_counter() - started
    entered.stop()
    return _form(case.id, seconds, entered.functions(), observations)


def _form(id_: str, seconds: float, entered: list[str], answers: Any) -> str:
    form = {"id": id_, "seconds": round(seconds, 4), "entered": entered, "answers": answers}
    return json.dumps(form) + "\n"


if __name__ == "__main__":
    part, parts, seed, count, *profiles = sys.argv[1:]
    main(int(part), int(parts), int(seed), int(count), profiles)
