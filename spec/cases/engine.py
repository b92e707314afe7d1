"""The interpreter of engine-surface cases: steps become calls of the Backend contract.

Runs in the host, against any backend: in this process, or behind the process protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.cases.checks import check_of
from sessrun.spec.cases.files import CaseFiles
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.outcomes import (
    Done,
    Failure,
    Fetched,
    Opened,
    Outcome,
    Unsupported,
    failure_of,
)
from sessrun.spec.cases.values import describe
from sessrun.spec.forms import Json, JsonObject

__all__ = [
    "CAPABILITIES",
    "MESSAGE",
    "Engine",
    "expects_failure",
    "interpret",
    "lost_at",
    "observation",
    "step_of",
]

#: What a backend may declare. Declared: tested. Not declared: probed that it is refused.
CAPABILITIES: Final = frozenset(
    {
        "api",  # it has the Python namespace
        "callables",  # callable(), call()
        "concurrent",  # calls may overlap; answers may come out of order
        "control_inputs",  # profile inference: what a control input waits for is executed
        "devices",  # devices()
        "extend",  # extend()
        "fed_structure",  # profile inference: axes, shapes and the like may be fed
        "partial_runs",  # setup(), partial()
        "reset",  # reset()
        "state",  # variables keep their values between runs of a session
    }
)

#: How much of an error's message is observed: it is for people, and TensorFlow's hold a stack.
MESSAGE: Final = 2000
#: How numpy holds what has no bytes to show.
_OPAQUE: Final = (("resource",), ("variant",))
#: The attribute of an error that tells the step of a case at which it was raised.
_AT_STEP: Final = "sessrun_step"


class Engine(Protocol):
    """The engine surface of a backend: the part of the Backend contract that cases drive.

    Graphs, configurations and options travel as JSON mappings of their protobufs; a tensor is
    named `op:index`, an operation by its name alone; values are ndarrays (object arrays of
    bytes for strings). No method raises for what the backend did: it returns an outcome.
    """

    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Load the graph and open a session on it: Opened, Failure or Unsupported."""

    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Add the nodes of another GraphDef to the session's graph: Done, …."""

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """One step of the session: Fetched in the order of `fetches`, Failure, Unsupported."""

    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Set up a partial run: Opened with its handle, …."""

    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """Continue a partial run: Fetched, …."""

    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Make a callable for this signature: Opened with its handle, …."""

    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Call it with values in the order of its feeds: Fetched, …."""

    def devices(self, session: str) -> Outcome:
        """Done with `devices`: a list of full device names, …."""

    def reset(self, containers: Sequence[str]) -> Outcome:
        """Clear resource containers (all if empty): Done, …."""

    def close(self, session: str) -> Outcome:
        """Close the session: Done, …."""


def interpret(case: Case, engine: Engine) -> list[Observation]:
    """What the engine was seen to do, step by step, until a step fails that should not.

    Sessions left open are closed at the end, unobserved. An engine that lives in a process of its
    own may say by `files_folder` where the case's folder is made: where its host removes it, too.

    Raises:
      TimeoutError: a call in another thread has not ended within the case's deadline.
      SpecError: what the case says of its files is ill-formed.

    Of what is raised `step_of` tells at which step.

    """
    with CaseFiles(case, getattr(engine, "files_folder", None)) as files:
        return files.seen(_Interpreter(case, engine, files).observe())


def step_of(error: BaseException) -> str:
    """The step of a case at which an error was raised; empty if it is unknown."""
    return str(getattr(error, _AT_STEP, ""))


def lost_at(error: BaseException, step: str) -> None:
    """Note the step of a case at which an error was raised."""
    setattr(error, _AT_STEP, step)


def observation(step: str, outcome: Outcome | _Noted) -> Observation:
    """The JSON form of an outcome at a step."""
    match outcome:
        case _Noted(value):
            return {"step": step, "outcome": "value", "value": value}
        case Fetched(values):
            return {"step": step, "outcome": "values", "values": [_array(v) for v in values]}
        case Opened():
            return {"step": step, "outcome": "opened"}
        case Done(facts):
            return {"step": step, "outcome": "done", "facts": dict(facts)}
        case Unsupported(capability, message):
            return {
                "step": step,
                "outcome": "unsupported",
                "capability": capability,
                "message": message,
            }
        case Failure(call, code, classes, node, message):
            return {
                "step": step,
                "outcome": "failure",
                "call": call,
                "code": code,
                "classes": list(classes),
                "node": node,
                "message": _in_brief(message),
            }


def _in_brief(message: str) -> str:
    """The first lines of a message: half a path would not be known for one."""
    if len(message) <= MESSAGE:
        return message
    head = message[:MESSAGE]
    return head.rpartition("\n")[0] or head


def expects_failure(step: Step) -> bool:
    """Whether the case goes on after this step fails."""
    expect = step.get("expect", {})
    return (
        "error" in expect
        or "oracle" in expect
        or any("error" in option for option in expect.get("any_of", ()))
    )


def _array(value: np.ndarray | None) -> Json:
    # The engine surface knows arrays only: a numpy scalar is a 0-d array there. A large one is
    # held as it is: whoever judges it looks at dtype and shape first.
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.names in _OPAQUE:
        return {"$object": array.dtype.names[0]}
    if array.dtype.names is not None:
        # TensorFlow's client gives quantized elements as the integers they are stored as, its
        # engine tells that they are quantized: both are admitted.
        array = array[array.dtype.names[0]]
    try:
        form = tensors.observed(array)
    except (tensors.TensorError, TypeError):
        return describe(array)
    return {"$array": form}


@dataclass(frozen=True, slots=True)
class _Noted:
    """What a step of the case itself found, as JSON."""

    value: Json


class _NothingOpenedError(Exception):
    """The engine has not opened what a step is about, and the case went on without it."""


#: A call in another thread: what it has answered, or what it has raised.
_Blocked = tuple[threading.Thread, list[Outcome | _Noted], list[BaseException]]


class _Interpreter:
    """One interpretation: the handles that the case's names stand for."""

    def __init__(self, case: Case, engine: Engine, files: CaseFiles) -> None:
        self.case = case
        self.engine = engine
        self.files = files
        self.handles: dict[str, str | None] = {}
        self.open_sessions: dict[str, None] = {}
        self.blocked: dict[str, _Blocked] = {}

    def observe(self) -> list[Observation]:
        seen: list[Observation] = []
        try:
            for index, step in enumerate(self.case.steps):
                try:
                    outcome = self._do(step)
                except Exception as error:
                    lost_at(error, str(index))
                    raise
                if outcome is None:
                    continue
                seen.append(observation(str(index), outcome))
                stopped = isinstance(outcome, Failure) and not expects_failure(step)
                if stopped or isinstance(outcome, Unsupported):
                    break
        except _NothingOpenedError:  # the judge misses the steps that are left
            pass
        finally:
            for session in self.open_sessions:
                self.engine.close(session)
        return seen

    def _do(self, step: Step) -> Outcome | _Noted | None:
        if step["do"] == "start":
            self._start(step)
            return None
        if step["do"] == "join":
            thread, answers, faults = self.blocked.pop(step["thread"])
            thread.join(self.case.deadline_s)
            if faults:  # a dead or hung worker is the runner's business, never an answer
                raise faults[0]
            if not answers:  # never an outcome: a case that expects a failure must not pass by it
                raise TimeoutError(f"the call of {step['thread']!r} is still blocked")
            return answers[0]
        outcome: Outcome | _Noted = getattr(self, "_" + step["do"])(step)
        return outcome

    def _start(self, step: Step) -> None:
        answers: list[Outcome | _Noted] = []
        faults: list[BaseException] = []

        def work() -> None:
            try:
                outcome = self._do(step["step"])
            except BaseException as error:  # noqa: BLE001 - raised again by `join`
                faults.append(error)
            else:
                if outcome is not None:
                    answers.append(outcome)

        thread = threading.Thread(target=work, daemon=True)
        self.blocked[step["thread"]] = (thread, answers, faults)
        thread.start()
        thread.join(step.get("grace_s", 0.0))

    def _open(self, step: Step) -> Outcome:
        outcome = self.engine.open(self._graph(step), step.get("config", {}))
        if isinstance(outcome, Opened):
            self.open_sessions[outcome.handle] = None
        return self._keep(step["session"], outcome)

    def _graph(self, step: Step) -> JsonObject:
        graph = self.files.given(self.case.graphs[step["graph"]])
        assert isinstance(graph, dict)
        return graph

    def _feeds(self, step: Step) -> dict[str, np.ndarray]:
        given = step.get("feeds", {}).items()
        return {name: tensors.decode(self.files.given(form)) for name, form in given}

    def _file(self, step: Step) -> _Noted | Failure:
        try:
            return _Noted(self.files.do(step))
        except OSError as error:
            return failure_of(error, "file")

    def _session(self, step: Step) -> str:
        return self._handle(step["session"])

    def _extend(self, step: Step) -> Outcome:
        return self.engine.extend(self._session(step), self._graph(step))

    def _run(self, step: Step) -> Outcome:
        return self.engine.run(
            self._session(step), step["fetches"], self._feeds(step), step.get("options", {})
        )

    def _setup(self, step: Step) -> Outcome:
        outcome = self.engine.setup(self._session(step), step["fetches"], step.get("names", []))
        return self._keep(step["handle"], outcome)

    def _callable(self, step: Step) -> Outcome:
        outcome = self.engine.callable(self._session(step), step["fetches"], step.get("names", []))
        return self._keep(step["handle"], outcome)

    def _keep(self, name: str, outcome: Outcome) -> Outcome:
        self.handles[name] = outcome.handle if isinstance(outcome, Opened) else None
        return outcome

    def _handle(self, name: str) -> str:
        handle = self.handles[name]  # a KeyError is the case's own fault: it opens no such thing
        if handle is None:
            raise _NothingOpenedError
        return handle

    def _partial(self, step: Step) -> Outcome:
        handle = self._handle(step["handle"])
        return self.engine.partial(self._session(step), handle, step["fetches"], self._feeds(step))

    def _call(self, step: Step) -> Outcome:
        values = [tensors.decode(self.files.given(form)) for form in step.get("values", [])]
        return self.engine.call(self._session(step), self._handle(step["handle"]), values)

    def _devices(self, step: Step) -> Outcome:
        return self.engine.devices(self._session(step))

    def _check(self, step: Step) -> Outcome:
        outcome: Outcome = check_of(step["name"])(self.engine, **step.get("args", {}))
        return outcome

    def _reset(self, step: Step) -> Outcome:
        return self.engine.reset(step.get("containers", []))

    def _close(self, step: Step) -> Outcome:
        self.open_sessions.pop(self._session(step), None)
        return self.engine.close(self._session(step))
