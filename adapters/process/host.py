"""The host of the process protocol: a Backend whose engine lives in a worker process."""

from __future__ import annotations

import math
import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.channel import Channel, Ids
from sessrun.adapters.process.command import command_of
from sessrun.adapters.process.errors import (
    WorkerContractError,
    WorkerCrash,
    WorkerError,
    WorkerTimeout,
)
from sessrun.adapters.process.protocol import Hello, Observed, Trouble
from sessrun.adapters.process.spare import Spare
from sessrun.spec.cases.engine import lost_at, observation
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.outcomes import Failure, Fetched, Outcome, Unsupported
from sessrun.spec.cases.progress import step_in
from sessrun.spec.forms import JsonObject

__all__ = [
    "ProcessBackend",
    "WorkerContractError",
    "WorkerCrash",
    "WorkerTimeout",
    "prepare",
    "spawn",
]

#: A spare worker may take this many times as long to start as the first, and a second more.
_SPARE_TIMES: Final = 3
#: After this many spare workers have failed, no further one is started.
_SPARE_FAILURES: Final = 3


def spawn(spec: str, until: float = math.inf, *, spare: bool = False) -> ProcessBackend:
    """Start a backend in a process of its own; arguments as those of `prepare`.

    Raises:
      AdapterError: it cannot be started or does not introduce itself; the message says why.

    """
    backend = prepare(spec, until, spare=spare)
    backend.start()
    return backend


def prepare(spec: str, until: float = math.inf, *, spare: bool = False) -> ProcessBackend:
    """A backend that is to live in a process of its own, not started yet.

    Args:
      spec: the backend, see `sessrun.adapters.process.command`.
      until: see `ProcessBackend`.
      spare: whether a spare worker is kept ready, from the first restart on.

    Raises:
      AdapterError: the specification cannot be read, or names no environment.

    """
    backend = ProcessBackend(command_of(spec), spec)
    backend.until = until
    backend.keeps_spare = spare
    return backend


class ProcessBackend:
    """A Backend behind the process protocol.

    A timeout, a crash or a broken protocol ends the worker and raises; from then on every call
    raises the same, until `restart`. After `shutdown`, which another thread may call, there is no
    worker any more, and none starts.

    Args:
      command: program and arguments.
      name: the name in the error if it does not start; the command if None.

    Attributes:
      deadline_s: seconds that a request may take, an API case as a whole; may be set at any time.
      start_deadline_s: seconds until the worker must have introduced itself.
      until: when, by the monotonic clock, every deadline is over, whatever is left of it.
      keeps_spare: whether a spare worker is kept ready from the first restart on.

    """

    def __init__(self, command: Sequence[str], name: str | None = None) -> None:
        self.command: Final = tuple(command)
        self._name: Final = name or shlex.join(command)
        self._lock = threading.Lock()
        self._ended = False
        self.deadline_s = 30.0
        self.start_deadline_s = 120.0
        self.until = math.inf
        self.keeps_spare = False
        self._ids = Ids()
        self._description: Description | None = None
        self._channel: Channel | None = None
        self._spare: Spare | None = None
        self._spare_failures = 0
        self._start_s = 0.0

    @property
    def alive(self) -> bool:
        """Whether a worker is there that no fault has ended."""
        return self._channel is not None and self._channel.alive

    @property
    def fault(self) -> WorkerError | None:
        """What has ended the worker, if anything has."""
        return None if self._channel is None else self._channel.fault

    @property
    def files_folder(self) -> str | None:
        """Where the folders of cases with files are made: they end with the worker."""
        return None if self._channel is None else self._channel.folder

    @property
    def pending(self) -> int:
        """How many requests, of other threads, wait for their answers."""
        return 0 if self._channel is None else self._channel.pending

    def printed(self) -> str:
        """What the worker printed since the last time, in a sentence; empty if nothing.

        Standard output is the calling program's. A command's own is its answers, where a print
        breaks the protocol; our worker has another for what the backend prints.
        """
        return "" if self._channel is None else self._channel.printed()

    def start(self) -> None:
        """Start the first worker.

        Raises:
          AdapterError: it cannot be started or does not introduce itself; the message says why.

        """
        try:
            self.restart()
        except WorkerError as error:
            self.shutdown()
            tail = f"\n{error.log[-2000:]}" if error.log else ""
            raise AdapterError(f"{self._name!r} does not start: {error}{tail}") from error

    def restart(self) -> None:
        """Kill the worker, with everything it started; the spare one, or a new one, follows.

        Raises:
          AdapterError: the program cannot be run at all.
          WorkerTimeout, WorkerCrash, WorkerContractError: it does not introduce itself, or as
            somebody else than the first time.

        """
        last = self._channel
        if last is not None:
            last.kill()
        channel, description = self._spare_worker() or self._new_worker()
        if self._description and (part := description.unlike(self._description)):
            raise channel.broken(f"the worker introduced itself with another {part}")
        self._description = description
        if self.keeps_spare and last is not None:
            self._prepare()

    def shutdown(self) -> None:
        """Have the worker end, in peace if it is idle, and the spare one with it."""
        with self._lock:
            self._ended = True
            spare, self._spare = self._spare, None
            channel, self._channel = self._channel, None
        if spare is not None:
            spare.discard()
        if channel is not None:
            channel.close()

    def ends_by_itself(self, seconds: float) -> str | None:
        """Have the worker shut down: why its process has not ended in order, None if it has.

        Args:
          seconds: how long it may take to answer, and as long again to end.

        Raises:
          WorkerTimeout, WorkerCrash, WorkerContractError: it does not answer.

        """
        return self._live().ends_by_itself(seconds)

    def _new_worker(self) -> tuple[Channel, Description]:
        started = time.monotonic()
        channel = self._adopted(Channel(self.command, self._ids))
        description = channel.hello(self._left(self.start_deadline_s))
        self._start_s = time.monotonic() - started
        return channel, description

    def _adopted(self, channel: Channel) -> Channel:
        """The channel, from now on this backend's.

        Raises:
          WorkerCrash: the backend has been shut down meanwhile; the worker is ended.

        """
        with self._lock:
            if not self._ended:
                self._channel = channel
                return channel
        channel.kill()
        raise WorkerCrash("the backend has been shut down")

    def _spare_worker(self) -> tuple[Channel, Description] | None:
        """The spare worker, which the next one follows at once; None if there is none."""
        spare, self._spare = self._spare, None
        if spare is None:
            return None
        if not spare.ready:  # workers end faster than they start: two may start at a time
            self._prepare()
        worker = spare.take()
        self._spare_failures = 0 if worker else self._spare_failures + 1
        if worker is not None:
            self._adopted(worker[0])
        return worker

    def _prepare(self) -> None:
        """Start a spare worker, unless there is one, or none comes up, or the run is over."""
        seconds = self._left(min(self.start_deadline_s, 1.0 + _SPARE_TIMES * self._start_s))
        with self._lock:
            if self._ended or self._spare is not None or self._spare_failures >= _SPARE_FAILURES:
                return
            if seconds > 0:
                self._spare = Spare(self.command, self._ids, seconds)

    def describe(self) -> Description:
        """The worker's description of itself at its last start."""
        return self._description or Description("unknown", "unknown", frozenset())

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:
        """Have the worker interpret an API-surface case; it pauses after each step that failed.

        Raises:
          CaseRefusedError: the worker calls the case ill-formed.

        """
        end = time.monotonic() + self.deadline_s
        seen: list[Observation] = []
        do: str = "case"
        args: Mapping[str, Any] = {"case": case.to_json()}
        while True:
            try:
                answer = self._live().ask(do, args, self._left(end - time.monotonic()))
            except WorkerError as error:
                lost_at(error, step_in(self._live().folder))
                raise
            if not isinstance(answer, Observed):
                assert isinstance(answer, Failure | Unsupported)
                return [*seen, observation("0", answer)]
            seen += answer.observations
            if not answer.paused:
                return seen
            if do == "proceed" and not args["on"]:
                raise self._live().broken("a case that was ended is paused again")
            do, args = "proceed", {"on": goes_on(seen)}

    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """See `sessrun.spec.cases.engine.Engine.open`, as for the methods below."""
        return self._do("open", graph=graph, config=config)

    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Add nodes to a session's graph."""
        return self._do("extend", session=session, graph=graph)

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """One step of a session."""
        outcome = self._do(
            "run", session=session, fetches=list(fetches), feeds=feeds, options=options
        )
        return self._counted("run", outcome, len(fetches))

    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Set up a partial run."""
        return self._do("setup", session=session, fetches=list(fetches), feeds=list(feeds))

    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """Continue a partial run."""
        outcome = self._do(
            "partial", session=session, handle=handle, fetches=list(fetches), feeds=feeds
        )
        return self._counted("partial", outcome, len(fetches))

    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Make a callable."""
        return self._do("callable", session=session, fetches=list(fetches), feeds=list(feeds))

    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Call a callable."""
        return self._do("call", session=session, handle=handle, values=list(values))

    def devices(self, session: str) -> Outcome:
        """List a session's devices."""
        return self._do("devices", session=session)

    def reset(self, containers: Sequence[str]) -> Outcome:
        """Clear resource containers."""
        return self._do("reset", containers=list(containers))

    def close(self, session: str) -> Outcome:
        """Close a session."""
        return self._do("close", session=session)

    def _do(self, do: str, **args: Any) -> Outcome:
        outcome = self._live().ask(do, args, self._left(self.deadline_s))
        assert not isinstance(outcome, Hello | Observed | Trouble)
        return outcome

    def _left(self, seconds: float) -> float:
        return max(0.0, min(seconds, self.until - time.monotonic()))

    def _counted(self, do: str, outcome: Outcome, count: int) -> Outcome:
        if isinstance(outcome, Fetched) and len(outcome.values) != count:
            raise self._live().broken(f"{do}: {len(outcome.values)} values for {count} fetches")
        return outcome

    def _live(self) -> Channel:
        if self._channel is None:
            raise WorkerCrash("the worker has not been started")
        return self._channel
