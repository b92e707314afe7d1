"""Puts the questions to a backend in a worker process, one after another."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Final

from sessrun.adapters.backend import Description
from sessrun.adapters.process.errors import AdapterError, WorkerError
from sessrun.adapters.process.host import ProcessBackend, prepare
from sessrun.conformance.doctor import program
from sessrun.conformance.doctor.offers import OFFERS
from sessrun.conformance.doctor.question import CONTRACT, Answer, Question
from sessrun.conformance.doctor.remedies import remedy
from sessrun.conformance.doctor.runs import RUNS
from sessrun.conformance.doctor.values import VALUES
from sessrun.conformance.observe import observe
from sessrun.spec.cases.audit import audit, capabilities_needed
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json
from sessrun.spec.inference import Offer

__all__ = ["QUESTIONS", "Examination", "examine"]

#: The questions that are cases, in order.
QUESTIONS: Final = (*VALUES, *RUNS, *OFFERS)
#: After this many losses in a row, or seconds that losses cost, no further question is asked.
_MOST_LOST: Final = 3
_MOST_LOST_S: Final = 8.0
#: A question of many cases runs no further case after this many seconds.
_LONG_S: Final = 4.0
_LAYER: Final = "docs/adapters.md, An engine below the client"
_BELOW: Final = (
    "TensorFlow's client does this. Put ClientLayer over the engine, or ask for core-below-client."
)


@dataclass(frozen=True, slots=True)
class Examination:
    """All answers of a backend.

    Attributes:
      backend: as it was named.
      description: the backend's description of itself.
      answers: in the order of the questions.

    """

    backend: str
    description: Description
    answers: tuple[Answer, ...]

    @property
    def wrong(self) -> tuple[Answer, ...]:
        """The answers that are wrong."""
        return tuple(answer for answer in self.answers if answer.verdict == "wrong")

    def to_json(self) -> dict[str, Json]:
        """The JSON form."""
        return {
            "backend": self.backend,
            "description": self.description.to_json(),
            "wrong": len(self.wrong),
            "answers": [asdict(answer) for answer in self.answers],
        }


def examine(
    spec: str,
    deadline_s: float = 5.0,
    on_answer: Callable[[Answer], None] | None = None,
) -> Examination:
    """Ask a backend everything.

    Args:
      spec: the backend, as `sessrun.adapters.registry` names it.
      deadline_s: seconds that a call may take.
      on_answer: called with each answer as it comes.

    Raises:
      AdapterError: it does not start.

    """
    backend = prepare(spec)
    try:
        began = time.perf_counter()
        backend.start()
        asking = _Asking(backend, deadline_s, time.perf_counter() - began)
        answers = []
        for answer in asking.answers():
            answers.append(answer)
            if on_answer is not None:
                on_answer(answer)
        return Examination(spec, asking.description, tuple(answers))
    finally:
        backend.shutdown()


class _Asking:
    """One examination under way."""

    def __init__(self, backend: ProcessBackend, deadline_s: float, start_s: float) -> None:
        self._backend = backend
        self._deadline_s = deadline_s
        self._start_s = start_s
        self._lost = 0
        self._lost_s = 0.0
        self._printed = ""
        self._label = ""
        self._pointless = ""
        self.description = backend.describe()

    def answers(self) -> Iterator[Answer]:
        """The answers, one after another."""
        yield program.start(self._start_s)
        yield program.description(self.description)
        for question in QUESTIONS:
            put = functools.partial(self._ask, question)
            answer = self._timed(question.name, question.asks, put)
            if question.needed and answer.verdict == "wrong" and not self._pointless:
                self._pointless = f"put {question.name} right first"
            yield answer
        yield self._timed(*program.REPETITION, lambda: program.repetition(self._backend))
        yield program.printing(self._printed)
        yield self._timed(*program.SHUTDOWN, lambda: program.shutdown(self._backend))

    def _timed(self, name: str, asks: str, ask: Callable[[], Answer]) -> Answer:
        """The answer, with how long it took; a worker that was lost is an answer too."""
        if self._pointless:
            return Answer(name, asks, "not asked", self._pointless)
        self._backend.deadline_s = self._deadline_s
        self._label = ""
        began = time.perf_counter()
        try:
            answer = ask()
            self._lost = 0
        except (WorkerError, TimeoutError) as error:
            answer = self._loss(name, asks, error, began)
        self._printed = self._printed or self._backend.printed()
        return replace(answer, seconds=time.perf_counter() - began)

    def _loss(self, name: str, asks: str, error: Exception, began: float) -> Answer:
        """What a crash, a hang or a broken answer says; the next question has a new worker."""
        self._printed = self._printed or self._backend.printed()
        advice, section = remedy(f"{error}\n{getattr(error, 'log', '')}")
        try:
            self._backend.restart()
        except (AdapterError, WorkerError) as again:
            self._pointless = f"it does not start again: {again}"
        self._lost += 1
        self._lost_s += time.perf_counter() - began
        if self._lost >= _MOST_LOST or self._lost_s > _MOST_LOST_S:
            self._pointless = self._pointless or "the worker was lost too often"
        detail = f"{self._label}: {error}" if self._label else str(error)
        return Answer(name, asks, "wrong", detail, advice, section or CONTRACT)

    def _ask(self, question: Question) -> Answer:
        """Put the cases of a question."""
        good: list[str] = []
        declined: dict[str, str] = {}
        until = time.perf_counter() + _LONG_S
        for label, case in question.cases.items():
            if time.perf_counter() > until:
                break
            self._label = label
            result, reason = self._put(question, case)
            if result == "unsupported":
                declined[label] = reason
            elif result == "pass":
                good.append(label)
            else:
                return self._fault(question, f"{label}: {reason}" if label else reason)
        return _verdict(question, good, declined)

    def _put(self, question: Question, case: Case) -> tuple[str, str]:
        """What comes of a case: `pass`, `unsupported` or another result, and why.

        Raises:
          WorkerError, TimeoutError: the worker was lost.

        """
        declared = self.description.capabilities
        if "concurrent" in capabilities_needed(case) and "concurrent" not in declared:
            return "unsupported", "concurrent"  # its calls must not overlap
        seen = observe(self._backend, case, self._deadline_s)
        last = seen[-1]
        if question.check is not None and last["outcome"] != "unsupported":
            fault = question.check(case, seen)
            return ("fail", fault) if fault else ("pass", "")
        judgement = audit(case, judge(case, seen), seen, Offer(declared))
        reason = judgement.finding.reason if judgement.finding else ""
        message = last.get("message", "") if last["outcome"] == "failure" else ""
        if message and message not in reason:
            reason += f" ({message})"
        return judgement.result, reason.removeprefix("unsupported: ")

    def _fault(self, question: Question, reason: str) -> Answer:
        if question.client and "api" not in self.description.capabilities:
            return Answer(question.name, question.asks, "not offered", reason, _BELOW, _LAYER)
        return Answer(
            question.name, question.asks, "wrong", reason, question.advice, question.section
        )


def _verdict(question: Question, good: list[str], declined: dict[str, str]) -> Answer:
    """The answer of cases that all passed or were declined."""
    passed = ", ".join(filter(None, good))
    why = "; ".join([*dict.fromkeys(declined.values())][:2])
    if not declined:
        return Answer(question.name, question.asks, "ok", passed)
    if question.needed:
        advice = "Offer this first: nearly every case needs it, and nearly every question here."
        return Answer(
            question.name, question.asks, "wrong", f"declined: {why}", advice, question.section
        )
    if question.may_decline:
        return Answer(question.name, question.asks, "ok", f"declined: {why}")
    if good:
        detail = f"{passed}; not offered: {', '.join(declined)}"
        return Answer(question.name, question.asks, "ok", detail)
    return Answer(question.name, question.asks, "not offered", why)
