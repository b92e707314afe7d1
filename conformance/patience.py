"""How much a backend may lose to timeouts and crashes before it is given up: the breaker.

After `cases` losses in a row, or once losses and the restarts after them have cost `seconds`, one
probe decides. A backend that answers it may lose `again` seconds more before the next probe, but
never more than `limit` in all. Of a loss that follows an answer, `cheap` seconds are not counted: a
backend that dies now and then, and answers in between, has every case judged. One that loses
nothing, but drags every answer to its deadline, is given up once the run has taken `whole`: that
alone bounds a run, whatever the backend does.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from sessrun.spec.cases.model import Case

__all__ = ["PROBE", "Losses", "Patience"]

#: The smallest question there is; a backend that cannot answer it is unresponsive.
PROBE: Final = Case(
    id="probe/constant",
    title="A run that fetches nothing from an empty graph answers.",
    surface="engine",
    clauses=("RUN-001",),
    steps=(
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": []},
    ),
    graphs={"g": {"versions": {"producer": 1882}}},
    deadline_s=10.0,
)


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits, in cases and seconds.

    Attributes:
      cases: timeouts, crashes and broken answers in a row before the probe.
      seconds: what they and the restarts after them may cost in all before the probe.
      again: what a backend that answered the probe may lose before the next one.
      limit: what may be lost in all, whatever the probes say.
      cheap: what a loss may cost without being counted, if a case was answered since the last one.
      retries: how many cases of one result are tried a second time on a fresh worker.
      retry_seconds: what the restarts for these may cost in all.
      whole: what the run may take by the clock, from the making of its runner.

    """

    cases: int = 20
    seconds: float = 300.0
    again: float = 90.0
    limit: float = 450.0
    cheap: float = 3.0
    retries: int = 20
    retry_seconds: float = 60.0
    whole: float = math.inf


class Losses:
    """What timeouts, crashes and second tries have cost so far, held against a patience.

    Several workers of one backend may share it.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._consecutive = 0
        self._allowed = patience.seconds
        self._retries: Counter[str] = Counter()
        self._retry_seconds: defaultdict[str, float] = defaultdict(float)
        self.until = time.monotonic() + patience.whole
        self.seconds = 0.0
        self.given_up = ""
        self.why_missing = ""

    def answered(self) -> None:
        """A case was answered, rightly or wrongly."""
        self._consecutive = 0

    def lost(self, seconds: float) -> None:
        """A case was lost, with the restart after it."""
        with self._lock:
            free = 0.0 if self._consecutive else self._patience.cheap
            self._consecutive += 1
            self.seconds += max(0.0, seconds - free)

    def cost(self, seconds: float) -> None:
        """So many seconds more are lost."""
        with self._lock:
            self.seconds += seconds

    def grant_retry(self, result: str) -> bool:
        """Whether one more case of this result may be tried a second time; it then counts."""
        patience = self._patience
        with self._lock:
            granted = (
                self._retries[result] < patience.retries
                and self._retry_seconds[result] < patience.retry_seconds
            )
            self._retries[result] += granted
        return granted

    def retry_took(self, result: str, seconds: float) -> None:
        """The worker of a second try took so long to start."""
        with self._lock:
            self._retry_seconds[result] += seconds

    def count_retry(self, result: str) -> None:
        """A case of this result was tried a second time before."""
        with self._lock:
            self._retries[result] += 1

    @property
    def probe_is_due(self) -> bool:
        """Whether the probe must decide now."""
        return self._consecutive >= self._patience.cases or self.seconds >= self._allowed

    def deadline(self, seconds: float) -> float:
        """A deadline cut to what may still be lost, but for the few seconds that any call has."""
        return min(seconds, max(PROBE.deadline_s, self._patience.limit - self.seconds))

    @property
    def late(self) -> bool:
        """Whether the run has taken all the time that it may."""
        return time.monotonic() >= self.until

    @property
    def spent(self) -> bool:
        """Whether all that may be lost is lost."""
        return self.seconds >= self._patience.limit

    def answered_probe(self) -> None:
        """The probe was answered: it may go on, for a while."""
        self._consecutive = 0
        self._allowed = max(self._allowed, self.seconds + self._patience.again)

    def give_up(self, reason: str, why_missing: str) -> None:
        """Ask this backend nothing more.

        Args:
          reason: what has happened, for the record's events.
          why_missing: what the record says of each case that is not asked any more.

        """
        with self._lock:
            if not self.given_up:
                self.given_up, self.why_missing = reason, why_missing
