"""The messages of the process protocol, version 1, and how lines become messages.

A request is `{"id": n, "do": call, …}`, an answer `{"id": n, "outcome": kind, …}`, each one line
of JSON that follows `protocol.schema.json`; `docs/protocol.md` explains them. Both sides check
every line they read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from sessrun.adapters.backend import Description
from sessrun.adapters.process.errors import ProtocolError
from sessrun.adapters.process.exchange import Exchange
from sessrun.adapters.process.forms import AnswerForm
from sessrun.adapters.process.payloads import (
    LINE_BYTES,
    Packer,
    loads,
    unpack_graph,
    unpack_json,
    unpack_tensor,
)
from sessrun.spec.cases.model import Observation
from sessrun.spec.cases.outcomes import Call, Done, Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.errors import BY_CODE
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.schema import first_error, has_kind

if TYPE_CHECKING:  # slow to import, and not in a worker's archive
    from jsonschema import ValidationError

    from sessrun.spec.proto import GraphDef

__all__ = [
    "LISTS",
    "TEXT",
    "VERSIONS",
    "Answer",
    "Hello",
    "Observed",
    "Request",
    "Trouble",
    "pack_answer",
    "pack_request",
    "read_answer",
    "read_line",
    "read_request",
    "unpack_answer",
    "unpack_request",
]

#: The protocol versions this package speaks.
VERSIONS: Final = (1,)

#: The longest message of a failure that our own worker sends; it cuts what is longer.
TEXT: Final = 16384

#: The longest lists of an answer: each item is looked at.
LISTS: Final[Mapping[str, int]] = {
    "values": 16384,
    "observations": 16384,
    "devices": 4096,
    "classes": 256,
}

#: How much of an ill-formed line an error quotes.
_BRIEF: Final = 160
#: How much of something too long an error quotes.
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `do` names a method of the Backend contract, or hello, case, shutdown.

    `args` are the method's arguments by name; tensors are ndarrays, graphs GraphDef JSON.
    """

    id: int
    do: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hello:
    """The answer to hello: the version that the worker chose, and who the backend is."""

    protocol: int
    description: Description


@dataclass(frozen=True, slots=True)
class Observed:
    """What was observed of a case in the worker since its last answer.

    Attributes:
      observations: the observations, in order.
      paused: whether the last one is of a step that failed, and the case waits for `proceed`.

    """

    observations: list[Observation]
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """The worker could not answer.

    Attributes:
      kind: `request` (the line is none), `protocol` (no common version), `case` (the case is
        ill-formed), `backend` (it broke its contract, or cannot be loaded).
      message: what happened.

    """

    kind: str
    message: str


Answer = Outcome | Hello | Observed | Trouble


def pack_request(request: Request, packer: Packer) -> bytes:
    """The line of a request.

    Raises:
      ProtocolError: an argument has no form on the wire.

    """
    message = {"id": request.id, "do": request.do, **request.args}
    if "graph" in message:
        packer.graph(message)
    if "case" in message:
        packer.json(message, "case")
    if isinstance(message.get("feeds"), Mapping):
        message["feeds"] = {name: packer.tensor(v) for name, v in message["feeds"].items()}
    if "values" in message:
        message["values"] = [packer.tensor(value) for value in message["values"]]
    return packer.line(message)


def pack_answer(identity: int | None, answer: Answer, packer: Packer) -> bytes:
    """The line of an answer.

    Raises:
      ProtocolError: it holds something that has no form on the wire.

    """
    message = {"id": identity, **_answer_form(answer, packer)}
    if isinstance(answer, Observed):
        packer.json(message, "observations")
    return packer.line(message)


def _answer_form(answer: Answer, packer: Packer) -> dict[str, Any]:
    match answer:
        case Fetched(values):
            forms = [None if value is None else packer.tensor(value) for value in values]
            return {"outcome": "values", "values": forms}
        case Opened(handle):
            return {"outcome": "opened", "handle": handle}
        case Done(facts):
            return {"outcome": "done", "facts": dict(facts)}
        case Unsupported(capability, message):
            text = message[:TEXT]
            return {"outcome": "unsupported", "capability": capability, "message": text}
        case Failure(call, code, classes, node, message):
            return {
                "outcome": "failure",
                "call": call,
                "code": code,
                "classes": list(classes),
                "node": node,
                "message": message[:TEXT],
            }
        case Observed(observations, paused):
            return {"outcome": "observations", "observations": observations, "paused": paused}
        case Hello(protocol, description):
            return {"outcome": "hello", "protocol": protocol, **description.to_json()}
        case Trouble(kind, message):
            return {"outcome": "error", "kind": kind, "message": message[:TEXT]}


def read_request(line: bytes) -> dict[str, Any]:
    """The JSON object of a request's line, with or without the newline.

    Raises:
      ProtocolError: it is too long, no JSON object, or breaks the schema.

    """
    return {**read_line(line, "request")}


def read_answer(line: bytes) -> AnswerForm:
    """The JSON object of an answer's line, with or without the newline.

    Raises:
      ProtocolError: it is too long, no JSON object, or breaks the schema.

    """
    return cast("AnswerForm", read_line(line, "answer"))  # the schema says so


def read_line(line: bytes, side: str) -> JsonObject:
    """The JSON object of a line, checked against the schema.

    Args:
      line: the bytes, with or without the newline.
      side: `request` or `answer`: which of the two the line must be.

    Raises:
      ProtocolError: it is too long, no JSON object, or breaks the schema.

    """
    if len(line) > LINE_BYTES + 1:
        raise ProtocolError(f"a line of {len(line)} bytes; the limit is {LINE_BYTES}")
    try:
        form = loads(line)
    except ProtocolError as error:
        raise ProtocolError(f"{error}: {_brief(line)}") from error
    kind = form.get("do" if side == "request" else "outcome") if isinstance(form, dict) else None
    name = f"{kind}_{side}"
    if not isinstance(form, dict) or not isinstance(kind, str) or not has_kind("protocol", name):
        raise ProtocolError(f"no {side} of this protocol: {_brief(line)}")
    reason = _too_many(form) or _wrong(form, name)
    if reason is not None:
        raise ProtocolError(f"{reason}: {_brief(line)}")
    return form


def _too_many(form: JsonObject) -> str | None:
    """Which list of a message is too long, before anything in it is looked at."""
    for name, limit in LISTS.items():
        items = form.get(name)
        if isinstance(items, list) and len(items) > limit:
            return f"at {name}: {len(items):,} items; the limit is {limit:,}"
    return None


def unpack_request(
    form: Mapping[str, Any], exchange: Exchange, graph_def: Callable[[], GraphDef]
) -> Request:
    """The request of a checked form.

    Args:
      form: the form.
      exchange: where files are.
      graph_def: makes an empty GraphDef, which a graph in a file is read into.

    Raises:
      ProtocolError: a tensor or a file is not as said.

    """
    args = {key: value for key, value in form.items() if key not in {"id", "do"}}
    if "graph" in args:
        args["graph"] = unpack_graph(args["graph"], exchange, graph_def)
    if "case" in args:
        args["case"] = unpack_json(args["case"], exchange)
    if isinstance(args.get("feeds"), dict):
        args["feeds"] = {name: unpack_tensor(v, exchange) for name, v in args["feeds"].items()}
    if "values" in args:
        args["values"] = [unpack_tensor(value, exchange) for value in args["values"]]
    return Request(form["id"], form["do"], args)


def unpack_answer(form: AnswerForm, do: str, exchange: Exchange) -> Answer:
    """The answer of a checked form to a request `do`.

    Raises:
      ProtocolError: a tensor or a file is not as said.

    """
    match form["outcome"]:
        case "values":
            values = (v if v is None else unpack_tensor(v, exchange) for v in form["values"])
            return Fetched(tuple(values))
        case "opened":
            return Opened(form["handle"])
        case "done":
            return Done(form.get("facts", {}))
        case "unsupported":
            return Unsupported(form["capability"], form.get("message", ""))
        case "failure":
            return _failure(form, form.get("call", cast("Call", do)))
        case "observations":
            seen = _observations(unpack_json(form["observations"], exchange))
            return Observed(seen, form.get("paused", False))
        case "hello":
            try:
                return _hello(form)
            except (TypeError, ValueError) as error:
                raise ProtocolError(str(error)) from error
        case _:
            return Trouble(form["kind"], form["message"])


def _failure(form: AnswerForm, call: Call) -> Failure:
    code = form["code"]
    classes = tuple(form.get("classes") or [BY_CODE[code].cls])
    return Failure(call, code, classes, form.get("node"), form.get("message", ""))


def _hello(form: AnswerForm) -> Hello:
    description = Description(
        form["name"],
        form["version"],
        frozenset(form["capabilities"]),
        tuple(form.get("devices", ())),
        form.get("details", {}),
        form.get("operations"),
    )
    return Hello(form["protocol"], description)


def _observations(value: Json) -> list[Observation]:
    # A list inside the line is checked with it; one from a file is not.
    form: dict[str, Json] = {"id": 1, "outcome": "observations", "observations": value}
    reason = _too_many(form) or _wrong(form, "observations_answer")
    if reason is not None or not isinstance(value, list):
        raise ProtocolError(f"these are no observations: {reason}")
    return cast("list[Observation]", value)


def _wrong(form: Json, kind: str) -> str | None:
    """The fault of a form as a message of this kind; None if there is none."""
    error = first_error(form, "protocol", kind)
    if error is None:
        return None
    path = ".".join(textwrap.shorten(str(p), _BRIEF) for p in error.absolute_path)
    message = _limit_passed(error) or textwrap.shorten(error.message, _BRIEF)
    return f"at {path}: {message}" if path else message


def _limit_passed(error: ValidationError) -> str | None:
    """The part that is too long, its length and its limit; None if that is not the fault."""
    unit = {"maxLength": "characters", "maxItems": "items"}.get(str(error.validator))
    if unit is None:
        return None
    instance: Any = error.instance
    limit: Any = error.validator_value
    start = repr(instance[:_SHOWN])
    return f"{start}... has {len(instance):,} {unit}; the limit is {limit:,}"


def _brief(line: bytes) -> str:
    text = repr(line[:_BRIEF])[1:]
    return text if len(line) <= _BRIEF else f"{text}..."
