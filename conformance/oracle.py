"""The oracle of generated cases: what definitions say, else what a conforming backend answers."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Final, Self

from sessrun.adapters.backend import Backend
from sessrun.adapters.process.errors import WorkerCrash, WorkerError
from sessrun.adapters.process.host import spawn
from sessrun.adapters.registry import load
from sessrun.conformance.definitions import defined_observations, rests_on_definitions
from sessrun.conformance.observe import observe
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.steady import steady_observations

__all__ = ["Oracle"]

#: What stands behind the oracle's name where a case needs GPUs: the machine may have none, and the
#: oracle's answer must not depend on that.
_WITH_GPUS: Final = "#simulated-gpu=2"


class Oracle:
    """The answers of the oracle, for several callers at a time; kept, so that none is asked twice.

    A case that rests on definitions is answered by these; only where they say nothing of it, as of
    arguments that a shrunk case may have, the backend is asked.

    Args:
      spec: the backend that answers, as `sessrun.adapters.registry` names it; cases that need
        GPUs are answered by one with simulated GPUs, in a worker.
      in_process: have it in this process, not in a worker: for debugging.
      kept: how many answers are kept, the latest; all if None.

    """

    def __init__(
        self, spec: str = "reference", *, in_process: bool = False, kept: int | None = None
    ) -> None:
        self._spec = spec
        self._in_process = in_process
        self._kept = kept
        self._backends: dict[str, Backend] = {}
        self._lock = threading.Lock()
        self._answers: dict[str, list[Observation]] = {}
        self._ahead: list[threading.Thread] = []
        self._ending = False

    def __call__(self, case: Case) -> list[Observation]:
        """The oracle's observations of a case, as a record keeps them.

        Raises:
          AdapterError: the oracle cannot be started.
          WorkerError: it did not answer.

        """
        with self._lock:
            answer = self._answers.get(case.hash)
            if answer is None:
                seen = defined_observations(case) if rests_on_definitions(case) else None
                answer = steady_observations(case, seen or self._observe(case))
                self._answers[case.hash] = answer
                if self._kept is not None and len(self._answers) > self._kept:
                    del self._answers[next(iter(self._answers))]
            return answer

    def ask_ahead(self, case: Case) -> None:
        """Have the case answered while the caller does something else; errors show when it asks."""
        if not self._in_process:
            thread = threading.Thread(target=self._answer_quietly, args=(case,), daemon=True)
            self._ahead = [*filter(threading.Thread.is_alive, self._ahead), thread]
            thread.start()

    def _answer_quietly(self, case: Case) -> None:
        with contextlib.suppress(Exception):
            self(case)

    def _observe(self, case: Case) -> list[Observation]:
        with_gpus = "gpu" in case.needs
        spec = self._spec + _WITH_GPUS if with_gpus else self._spec
        if spec not in self._backends:
            in_process = self._in_process and not with_gpus
            self._backends[spec] = load(spec) if in_process else spawn(spec)
        backend = self._backends[spec]
        if self._ending:  # since it was asked ahead; a backend that is gone by now raises below
            raise WorkerCrash("the oracle has been stopped")
        try:
            return observe(backend, case, case.deadline_s)
        except WorkerError:
            self._end_workers()  # the next question finds a fresh worker
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Stop the oracle, whatever it was asked ahead; a later question starts it again."""
        self._ending = True
        self._end_workers()
        for thread in self._ahead:
            thread.join()
        self._end_workers()  # one that was starting meanwhile
        self._ending = False

    def _end_workers(self) -> None:
        backends, self._backends = self._backends, {}
        for backend in backends.values():
            backend.shutdown()
