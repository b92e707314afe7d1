"""Question and answer with one worker process: messages on top, lines and files below."""

from __future__ import annotations

import contextlib
import math
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from sessrun.adapters.backend import Description
from sessrun.adapters.process.child import Child
from sessrun.adapters.process.connection import Connection
from sessrun.adapters.process.errors import (
    CaseRefusedError,
    ExchangeError,
    ProtocolError,
    WorkerCrash,
    WorkerError,
)
from sessrun.adapters.process.exchange import ANSWER_BYTES, Exchange
from sessrun.adapters.process.forms import AnswerForm, FileReference
from sessrun.adapters.process.payloads import OBSERVATION_BYTES, STRINGS, Packer
from sessrun.adapters.process.protocol import (
    VERSIONS,
    Answer,
    Hello,
    Observed,
    Request,
    Trouble,
    pack_request,
    unpack_answer,
)
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Unsupported

__all__ = ["Channel", "Ids"]

#: The outcomes that answer each request.
_ANY: Final = (Failure, Unsupported)
_WANTED: Final[Mapping[str, tuple[type[Answer], ...]]] = {
    "hello": (Hello,),
    "shutdown": (Done,),
    **dict.fromkeys(("case", "proceed"), (Observed, *_ANY)),
    **dict.fromkeys(("open", "setup", "callable"), (Opened, *_ANY)),
    **dict.fromkeys(("run", "partial", "call"), (Fetched, *_ANY)),
    **dict.fromkeys(("extend", "devices", "reset", "close"), (Done, *_ANY)),
}

#: How long a worker may take to say goodbye, in seconds.
_GOODBYE: Final = 2.0
#: How often it is looked at whether a process has ended, in seconds.
_GLANCE: Final = 0.01


class Ids:
    """Request ids, never used twice, shared by all the workers that one host has in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        """A new id."""
        with self._lock:
            self._last += 1
            return self._last

    def issued(self, identity: int) -> bool:
        """Whether this id was ever given out."""
        return identity <= self._last


class Channel:
    """A worker process from its start to its end, with an exchange folder of its own.

    Args:
      command: program and arguments.
      ids: where the ids of its requests come from.

    Raises:
      AdapterError: the program cannot be run.

    """

    def __init__(self, command: Sequence[str], ids: Ids) -> None:
        self._ids = ids
        self._folder = tempfile.TemporaryDirectory(prefix="sessrun-", ignore_cleanup_errors=True)
        self._exchange = Exchange(Path(self._folder.name), "host-")
        self._exchange.hold()
        self._turn = threading.Lock()
        self._concurrent = False
        try:
            child = Child(command, Path(self._folder.name))
        except BaseException:
            self._folder.cleanup()
            raise
        self._connection = Connection(child, ids.issued)

    @property
    def folder(self) -> str:
        """The exchange folder, which goes when the worker does."""
        return self._folder.name

    @property
    def alive(self) -> bool:
        """Whether no fault has ended the worker."""
        return self._connection.alive

    @property
    def fault(self) -> WorkerError | None:
        """What has ended the worker, if anything has."""
        return self._connection.fault

    @property
    def pending(self) -> int:
        """How many requests wait for their answers."""
        return self._connection.pending

    def printed(self) -> str:
        """A sentence with the worker's printed text since the last call; empty if there is none."""
        return self._connection.printed()

    def hello(self, deadline_s: float) -> Description:
        """Have the worker introduce itself.

        Raises:
          WorkerTimeout, WorkerCrash, WorkerContractError: it does not, or speaks another version.

        """
        args = {"protocol": list(VERSIONS), "exchange": self._folder.name}
        hello = self.ask("hello", args, deadline_s)
        assert isinstance(hello, Hello)
        if hello.protocol not in VERSIONS:
            raise self.broken(f"the worker chose protocol {hello.protocol}")
        self._concurrent = "concurrent" in hello.description.capabilities
        return hello.description

    def ask(self, do: str, args: Mapping[str, Any], deadline_s: float) -> Answer:
        """Send a request, wait for its answer, check that the one fits the other.

        A worker that is not `concurrent` is asked one thing at a time; the time that a request
        waits for its turn counts.

        Raises:
          WorkerTimeout, WorkerCrash, WorkerContractError: the worker failed, now or before.
          CaseRefusedError: it calls the API case that it was sent ill-formed.
          ProtocolError: an argument has no form on the wire; nothing was sent.

        """
        packer = Packer(self._exchange)
        identity = self._ids.next()
        try:
            line = pack_request(Request(identity, do, args), packer)
            form = self._exchange_lines(identity, do, line, deadline_s)
            answer = self._unpack(do, form)
        except ExchangeError as error:
            raise self.fault or self.broken(str(error)) from error
        finally:
            for name in packer.files:
                self._exchange.remove(name)
        if isinstance(answer, Trouble):
            if answer.kind == "case" and do == "case":
                raise CaseRefusedError(answer.message)
            raise self.broken(f"the worker reports ({answer.kind}): {answer.message}")
        fits: bool = isinstance(answer, _WANTED[do])
        if not fits:
            raise self.broken(f"{do} was answered with {form['outcome']}")
        return answer

    def broken(self, reason: str) -> WorkerError:
        """End the worker because it broke the contract: the error to raise."""
        return self._connection.broken(reason)

    def close(self) -> None:
        """Tell an idle worker to end, see to it that it does, remove its folder."""
        if self.alive and not self.pending:
            with contextlib.suppress(WorkerError):  # it is killed, which is what was wanted
                self.ask("shutdown", {}, _GOODBYE)
        self.kill()

    def ends_by_itself(self, seconds: float) -> str | None:
        """Ask the worker to shut down: why its process has not ended in order, None if it has.

        Raises:
          WorkerTimeout, WorkerCrash, WorkerContractError: it does not answer within `seconds`.

        """
        self.ask("shutdown", {}, seconds)
        until = time.monotonic() + seconds
        while self.alive and time.monotonic() < until:
            time.sleep(_GLANCE)
        fault = self.fault
        if fault is None:
            return f"its process lives on {seconds:g} s after it has answered"
        in_order = isinstance(fault, WorkerCrash) and fault.exit_code == 0
        return None if in_order else str(fault)

    def kill(self) -> None:
        """End the worker and whatever it started; remove its folder."""
        self._connection.close()
        self._folder.cleanup()

    def _exchange_lines(self, identity: int, do: str, line: bytes, deadline_s: float) -> AnswerForm:
        if self._concurrent:
            return self._connection.request(identity, do, line, deadline_s)
        started = time.monotonic()
        if not self._turn.acquire(timeout=deadline_s):
            raise self._connection.timed_out(do, deadline_s)
        try:
            left = max(0.0, deadline_s - (time.monotonic() - started))
            return self._connection.request(identity, do, line, left)
        finally:
            self._turn.release()

    def _unpack(self, do: str, form: AnswerForm) -> Answer:
        files = _files(form)
        try:
            _check_sizes(files)
            return unpack_answer(form, do, self._exchange)
        except ProtocolError as error:
            raise self.broken(str(error)) from error
        finally:
            for file in files:
                self._exchange.remove(file["file"])


def _check_sizes(files: Sequence[FileReference]) -> None:
    """Refuse an answer that would keep the host busy, before any of its files is read."""
    nbytes = sum(file["nbytes"] for file in files)
    if nbytes > ANSWER_BYTES:
        raise ProtocolError(
            f"an answer with more than {ANSWER_BYTES:,} bytes in files: it has {nbytes:,}"
        )
    strings = sum(math.prod(f["shape"]) for f in files if f.get("dtype") == "string")
    if strings > STRINGS:
        raise ProtocolError(
            f"an answer with more than {STRINGS:,} strings in files: it has {strings:,}"
        )
    seen = sum(file["nbytes"] for file in files if "dtype" not in file)
    if seen > OBSERVATION_BYTES:
        raise ProtocolError(
            f"observations of more than {OBSERVATION_BYTES:,} bytes: they have {seen:,}"
        )


def _files(form: AnswerForm) -> list[FileReference]:
    """The exchange files that an answer names."""
    parts = [*form.get("values", ()), form.get("observations")]
    files = [part for part in parts if isinstance(part, dict) and "file" in part]
    return cast("list[FileReference]", files)  # the schema says so
