"""The process in which a backend's calls are timed by the host: it makes calls, and has no clock.

Requests are lines of JSON on what standard input was when the process began; answers are lines of
JSON on what standard output was. What the backend prints goes to standard error, and what it reads
is empty.

- The first answer, without a request, is the backend's version: `{"version": "1"}`.
- `{"prepare": job, "device": device}` is answered with the seconds of the shortest call and of the
  first: `{"seconds": 1e-6, "first": 1e-3}`.
- `{"calls": n, "job": job}` is answered with an empty line after n calls and one more. When the
  host has read its clocks it sends an empty line, and is answered with what was wrong with the
  result of the last call: `{"wrong": null}`.
- `{"repeat": n, "job": job}` is answered like a batch, without the empty line, after n calls, the
  last of which is checked; garbage is collected as in any program, and at the end.
- `{"cost": name, "size": n, "device": device}` prepares a cost of a size, calls it until it is warm
  and is answered with the seconds of the shortest call: `{"seconds": 1e-6, "wrong": null}`.
- `{"ready": n}` makes n calls of that cost ready, and is answered with `{}`; `{"go": true}` makes
  them, and is answered like a batch. `{"end": true}` frees it, and is answered with `{}`.
- `{"close": job}` is answered with `{}`.
- `{"imported": true}` is answered with the files of all modules: `{"imported": ["/tree/a.py"]}`.

Whatever a backend raises is answered with `{"error": "..."}`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from itertools import repeat
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TextIO

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.benchmarks.jobs import Prepared
from sessrun.conformance.benchmarks.measured_cost import MeasuredCost
from sessrun.conformance.benchmarks.selection import select

__all__ = ["serve"]

#: Calls before anything is timed: at least so many, and then until so many seconds are over.
_WARM_UP: Final = (4, 30, 0.5)


class _Jobs:
    """The jobs that are ready on the backend."""

    def __init__(self, spec: str, requests: TextIO, answers: TextIO) -> None:
        backend = load(spec)
        if not isinstance(backend, NamespaceBackend):
            raise AdapterError(f"{spec!r} has no Python namespace; bench times Session.run")
        self._backend = backend
        self._requests = requests
        self._answers = answers
        self._prepared: dict[str, Prepared] = {}
        self._costs = MeasuredCost(backend.namespace)

    def version(self) -> str:
        return str(self._backend.describe().version)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request says; what the host reads, without the line that ends a batch."""
        if "prepare" in request:
            return self._prepare(request["prepare"], request["device"])
        if "close" in request:
            self._prepared.pop(request["close"]).close()
            return {}
        if self._costs.takes(request):
            return self._costs.answer(request, self._end_of_batch)
        if "repeat" in request:
            return {"wrong": _repeat(self._prepared[request["job"]], request["repeat"])}
        if "imported" in request:
            files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
            return {"imported": [str(file) for file in files if file]}
        return {"wrong": self._batch(self._prepared[request["job"]], request["calls"])}

    def _prepare(self, name: str, device: str) -> dict[str, Any]:
        (job,) = select([name])
        prepared = job.prepare(self._backend.namespace, device)
        self._prepared[name] = prepared
        first = _seconds(prepared)
        best, spent = first, 0.0
        least, usual, enough = _WARM_UP
        for number in range(usual):
            seconds = _seconds(prepared)
            best, spent = min(best, seconds), spent + seconds
            if number >= least and spent > enough:
                break
        return {"seconds": best, "first": first}

    def _batch(self, prepared: Prepared, calls: int) -> str | None:
        """So many calls, and a last one whose result is checked when the host has its line.

        The last call waits for the others: a session runs its steps one after the other, and a
        job that counts fetches its count. It is in the batch of n calls as in that of 2n.
        """
        call = prepared.call
        gc.disable()
        try:
            for _ in repeat(None, calls):
                call()
            result = (prepared.checked or call)()
            if prepared.settle is not None:
                prepared.settle()
            self._end_of_batch()
        finally:
            gc.enable()
        return prepared.check(result)

    def _end_of_batch(self) -> None:
        """The empty line at which the host stops its clock; sleep until it has read another."""
        self._answers.write("\n")
        self._answers.flush()
        self._requests.readline()


def _repeat(prepared: Prepared, calls: int) -> str | None:
    """So many calls; what was wrong with the result of the last one, if anything.

    What is left over of cycles is freed: Python collects it the more seldom the more there is, so
    that memory goes up for thousands of steps and then down.
    """
    for _ in repeat(None, calls - 1):
        prepared.call()
    wrong = prepared.check((prepared.checked or prepared.call)())
    gc.collect()
    return wrong


def _seconds(prepared: Prepared) -> float:
    """What one call takes, by this process's clock: it only decides how many make a batch."""
    began = perf_counter()
    prepared.call()
    return perf_counter() - began


def serve(spec: str) -> None:
    """Answer requests until there are no more.

    Args:
      spec: the backend, as `sessrun.adapters.registry.load` takes it.

    """
    with (
        os.fdopen(os.dup(0), encoding="utf-8") as requests,
        os.fdopen(os.dup(1), "w", encoding="utf-8") as answers,
        Path(os.devnull).open("rb") as nothing,
    ):
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        try:
            jobs = _Jobs(spec, requests, answers)
            _say(answers, {"version": jobs.version()})
        except Exception as error:  # noqa: BLE001 - a factory may raise anything
            _say(answers, {"error": _in_words(error)})
            return
        while line := requests.readline():
            if line == "\n":  # after a batch that failed
                continue
            try:
                answer = jobs.answer(json.loads(line))
            except Exception as error:  # noqa: BLE001 - so may a backend
                answer = {"error": _in_words(error)}
            _say(answers, answer)


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, AdapterError) else f"{type(error).__name__}: {error}"


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
