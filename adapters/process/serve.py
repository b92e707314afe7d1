"""The worker's side of the process protocol: serves any Backend over two file descriptors.

For a `concurrent` backend every thread in turn reads one request and answers it itself, so a
request is never handed from thread to thread; one more thread is started whenever none is left
to read.
"""

from __future__ import annotations

import contextlib
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.errors import ProtocolError
from sessrun.adapters.process.exchange import Exchange
from sessrun.adapters.process.interpretation import Interpretation
from sessrun.adapters.process.payloads import LINE_BYTES, Packer
from sessrun.adapters.process.printed import flush_output
from sessrun.adapters.process.protocol import (
    VERSIONS,
    Answer,
    Hello,
    Observed,
    Request,
    Trouble,
    pack_answer,
    read_request,
    unpack_request,
)
from sessrun.adapters.registry import load
from sessrun.spec.cases.expressions import ExpressionError
from sessrun.spec.cases.model import AskedCase
from sessrun.spec.cases.outcomes import Done
from sessrun.spec.cases.values import ValueFormError
from sessrun.spec.forms import Json
from sessrun.spec.schema import SpecError

if TYPE_CHECKING:  # not in an archive
    from sessrun.spec.proto import GraphDef

__all__ = ["serve"]

#: What the interpreter of API cases raises where the case itself is ill-formed.
_ILL_FORMED: Final = (ExpressionError, ValueFormError, SpecError)
#: The id of an answer to a line whose own id could not be read.
_NO_ID: Final = None


def serve(spec: str, requests: BinaryIO, answers: BinaryIO) -> int:
    """Answer requests until the host says shutdown or goes away: the exit status.

    Args:
      spec: the backend, as `sessrun.adapters.registry.load` takes it.
      requests: where requests are read from, line by line.
      answers: where answers are written to.

    """
    return _Server(spec, requests, answers).serve()


class _Server:
    """One session of the protocol."""

    def __init__(self, spec: str, requests: BinaryIO, answers: BinaryIO) -> None:
        self.spec = spec
        self.requests = requests
        self.answers = answers
        self.exchange = Exchange(Path(), "worker-")
        self.backend: Backend | None = None
        self.interpretation: Interpretation | None = None
        self.concurrent = False
        self.reading = threading.Lock()
        self.writing = threading.Lock()
        self.counting = threading.Lock()
        self.idle = 0
        self.ended = threading.Event()

    def serve(self) -> int:
        line = self._next_line()
        if line is None or not self._introduce(line):
            return 1
        if self.concurrent:
            self._start_reading()
            self.ended.wait()  # not reading itself, so that a shutdown need not wait for a line
        else:
            self._work()  # in the main thread: some native libraries want that
        return 0

    def _introduce(self, line: bytes) -> bool:
        """Answer hello: whether the backend is there."""
        identity = _NO_ID
        try:
            form = read_request(line)
            identity = form["id"]
            hello = self._hello(unpack_request(form, self.exchange, self._graph_def))
        except ProtocolError as error:
            hello = Trouble("request", str(error))
        self._write(identity, hello)
        return isinstance(hello, Hello)

    def _hello(self, request: Request) -> Answer:
        if request.do != "hello":
            return Trouble("request", f"the first request must be hello, not {request.do}")
        common = set(request.args["protocol"]) & set(VERSIONS)
        if not common:
            return Trouble("protocol", f"this worker speaks versions {list(VERSIONS)}")
        self.exchange = Exchange(Path(request.args["exchange"]), "worker-")
        try:
            self.backend = load(self.spec)
            description = self.backend.describe()
        except AdapterError as error:
            return Trouble("backend", str(error))
        except BaseException as error:  # noqa: BLE001 - reported, and the worker ends
            return Trouble("backend", _error_text(error))
        self.concurrent = "concurrent" in description.capabilities
        return Hello(max(common), description)

    def _work(self) -> None:
        while True:
            with self.reading:
                line = None if self.ended.is_set() else self._next_line()
                if line is None:
                    self.ended.set()
                    return
                if self.concurrent:
                    self._keep_one_reading()
            self._answer(line)
            if self.concurrent:
                with self.counting:
                    self.idle += 1

    def _keep_one_reading(self) -> None:
        """See to it that a thread reads on while this one answers."""
        with self.counting:
            if self.idle:
                self.idle -= 1
                return
        self._start_reading()

    def _start_reading(self) -> None:
        threading.Thread(target=self._work, daemon=True, name="requests").start()

    def _next_line(self) -> bytes | None:
        line = self.requests.readline(LINE_BYTES + 2)
        return line if line.endswith(b"\n") else None

    def _answer(self, line: bytes) -> None:
        identity = _NO_ID
        try:
            form = read_request(line)
            identity = form["id"]
            request = unpack_request(form, self.exchange, self._graph_def)
        except ProtocolError as error:
            self._write(identity, Trouble("request", str(error)))
            return
        self._write(identity, self._outcome(request))
        if request.do == "shutdown":
            self.ended.set()

    def _graph_def(self) -> GraphDef:
        """An empty GraphDef: the namespace's, since an archive has none of ours."""
        namespace = getattr(self.backend, "namespace", None)
        if namespace is not None:
            graph: GraphDef = namespace.GraphDef()
            return graph
        from sessrun.spec.proto import GraphDef  # noqa: PLC0415 - as above

        return GraphDef()

    def _outcome(self, request: Request) -> Answer:
        try:
            return self._call(request)
        except BaseException as error:  # noqa: BLE001 - the contract allows none: it is reported
            if request.do == "case" and isinstance(error, _ILL_FORMED):
                return Trouble("case", _error_text(error))
            with contextlib.suppress(BaseException):  # a backend may have closed stderr
                traceback.print_exc()  # to the log: whoever writes the adapter wants to know where
            return Trouble("backend", _error_text(error))

    def _call(self, request: Request) -> Answer:
        assert self.backend is not None
        match request.do:
            case "hello":
                return Trouble("request", "hello comes once")
            case "shutdown":
                self.backend.shutdown()
                return Done()
            case "case":
                return self._begin(request.args["case"])
            case "proceed":
                if self.interpretation is None:
                    return Trouble("request", "no case is paused")
                return self._observed(self.interpretation.proceed(request.args["on"]))
        method: Any = getattr(self.backend, request.do)
        answer: Answer = method(**request.args)
        return answer

    def _begin(self, form: Json) -> Answer:
        if self.interpretation is not None:
            return Trouble("request", "a case is paused, which waits for proceed")
        assert self.backend is not None
        case = AskedCase.from_json(form, "the case sent")
        self.interpretation = Interpretation(self.backend.interpret_api)
        return self._observed(self.interpretation.begin(case))

    def _observed(self, outcome: Observed | BaseException) -> Observed:
        if isinstance(outcome, Observed) and outcome.paused:
            return outcome
        self.interpretation = None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _write(self, identity: int | None, answer: Answer) -> None:
        try:
            line = pack_answer(identity, answer, Packer(self.exchange))
        except BaseException as error:  # noqa: BLE001 - whatever the backend put into its answer
            why = "cannot be written" if isinstance(error, OSError) else "has no form on the wire"
            trouble = Trouble("backend", f"its answer {why}: {_error_text(error)}")
            line = pack_answer(identity, trouble, Packer(self.exchange))
        flush_output()  # what a backend printed is to be seen before its answer
        with self.writing:
            try:
                self.answers.write(line)
                self.answers.flush()
            except OSError:
                self.ended.set()  # the host has gone


def _error_text(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - an exception of a backend may be unable to say what it is
        return type(error).__name__
