"""One life of a worker: requests go out, answers come back by id, the first fault ends it.

After a fault every request, waiting or new, raises it: no answer can come from a worker whose
state nobody knows.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Callable
from typing import Final

from sessrun.adapters.process.child import Child
from sessrun.adapters.process.errors import (
    ProtocolError,
    WorkerContractError,
    WorkerCrash,
    WorkerError,
    WorkerTimeout,
)
from sessrun.adapters.process.forms import AnswerForm
from sessrun.adapters.process.payloads import LINE_BYTES
from sessrun.adapters.process.protocol import read_answer

__all__ = ["DROPPED", "Connection"]

#: How many answers to no waiting request one worker may give.
DROPPED: Final = 1000

#: How long a worker that closed its stdout may take to end, in seconds.
_GRACE: Final = 2.0

Waiting = queue.SimpleQueue[AnswerForm | None]


class Connection:
    """The host's end of one worker process.

    Args:
      child: the process.
      issued: tells whether an id was ever given to a request, by this or an earlier worker.

    """

    def __init__(self, child: Child, issued: Callable[[int], bool]) -> None:
        self._child = child
        self._issued = issued
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[str, Waiting]] = {}
        self._dropped = 0
        self._fault: Callable[[], WorkerError] | None = None
        self._reader = threading.Thread(target=self._read, daemon=True, name="worker answers")
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether no fault has ended it."""
        return self._fault is None

    @property
    def fault(self) -> WorkerError | None:
        """What has ended it, if anything has."""
        return None if self._fault is None else self._fault()

    @property
    def pending(self) -> int:
        """How many requests wait for their answers."""
        return len(self._waiting)

    def printed(self) -> str:
        """A sentence with the worker's printed text since the last call; empty if there is none."""
        return self._child.printed()

    def request(self, identity: int, do: str, line: bytes, deadline_s: float) -> AnswerForm:
        """Send a request and wait for its answer, schema-checked.

        Raises:
          WorkerTimeout: no answer within `deadline_s` seconds.
          WorkerCrash: the process ended.
          WorkerContractError: the worker broke the protocol.

        """
        deadline = time.monotonic() + deadline_s
        answers: Waiting = queue.SimpleQueue()
        with self._lock:
            if self._fault is not None:
                raise self._fault()
            self._waiting[identity] = (do, answers)
        if not self._child.send(line, deadline):
            raise self.timed_out(do, deadline_s)
        try:
            answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self.timed_out(do, deadline_s) from None
        if answer is None:
            assert self._fault is not None
            raise self._fault()
        return answer

    def timed_out(self, do: str, deadline_s: float) -> WorkerError:
        """End the worker because `do` was not answered: what to raise."""
        text = f"no answer to {do} within {deadline_s:g} s"
        self.fail(lambda: WorkerTimeout(text, self._child.log()))
        assert self._fault is not None
        return self._fault()

    def broken(self, reason: str) -> WorkerError:
        """End the worker because it broke the protocol: what to raise."""

        def fault() -> WorkerError:
            return WorkerContractError(reason, self._child.log())

        self.fail(fault)
        return fault()  # though the worker may have ended by itself since: this came first

    def fail(self, fault: Callable[[], WorkerError]) -> None:
        """End the worker, unless an earlier fault has; every waiting request fails."""
        with self._lock:
            if self._fault is None:
                self._fault = fault
            waiting = list(self._waiting.values())
            self._waiting.clear()
        self._child.end()
        for _, answers in waiting:
            answers.put(None)

    def close(self) -> None:
        """End the worker in peace."""
        self.fail(lambda: WorkerCrash("the worker has been shut down", self._child.log()))

    def _read(self) -> None:
        try:
            for line in self._child.lines(LINE_BYTES):
                self._hear(read_answer(line))
        except ProtocolError as error:
            self.broken(str(error))
            return
        except Exception as error:  # noqa: BLE001 - or whoever waits would wait for nobody
            self.broken(f"its answer could not be read: {type(error).__name__}: {error}")
            return
        code = self._child.wait(_GRACE)
        if code is None:
            self.broken("the worker closed its output and lived on")
        else:
            self._crash(code)

    def _hear(self, answer: AnswerForm) -> None:
        identity = answer["id"]
        if identity is None:
            raise ProtocolError(f"the worker could not read a request: {answer['message']}")
        with self._lock:
            _, answers = self._waiting.pop(identity, ("", None))
        if answers is not None:
            answers.put(answer)
        elif not self._issued(identity):
            raise ProtocolError(f"an answer to request {identity}, which was never made")
        else:  # it is late and its request has gone: ids are never used twice, so it is dropped
            self._dropped += 1
            if self._dropped > DROPPED:
                raise ProtocolError(f"more than {DROPPED:,} answers that nobody waits for")

    def _crash(self, code: int) -> None:
        with self._lock:
            asked = sorted({do for do, _ in self._waiting.values()})
        during = f"during {', '.join(asked)}" if asked else "between requests"
        name = None if code >= 0 else _signal_name(-code)
        status = None if name else code
        what = f"died of {name}" if name else f"exited with status {status}"
        text = f"the worker {what} {during}"
        self.fail(lambda: WorkerCrash(text, self._child.log(), name, status))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
