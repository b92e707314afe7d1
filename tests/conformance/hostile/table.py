"""A backend without any engine: it answers from a table of what a conforming one was seen to do.

`#record=FILE` passes everything on to the reference and writes the table; `#FILE` answers from it.
A call is known by all calls of its session before it, an API case by what it asks.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessrun.adapters.backend import unsupported
from sessrun.adapters.registry import load
from sessrun.spec import tensors
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import content_hash
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Unsupported

CALLS = ("open", "extend", "run", "setup", "partial", "callable", "call", "devices", "close")
KINDS = {kind.__name__: kind for kind in (Done, Failure, Opened, Unsupported)}


def backend(argument: str) -> Any:
    recording = argument.startswith("record=")
    return Table(Path(argument.removeprefix("record=")), load("reference") if recording else None)


class Table:
    def __init__(self, path: Path, engine: Any) -> None:
        self.path, self.engine = path, engine
        self.known: dict[str, Any] = {}
        self.before: dict[str, str] = {}
        if engine is None:
            lines = path.read_text("utf-8").splitlines()
            self.known = dict(json.loads(line) for line in lines)

    def describe(self) -> Any:
        told = load("reference").describe()
        return type(told)("table", "1", told.capabilities - {"concurrent"}, told.devices)

    def interpret_api(self, case: Any, goes_on: Any) -> Any:
        key = content_hash(case.to_json())
        seen = self.told(key, lambda: self.engine.interpret_api(case, goes_on))
        return seen or [observation("0", unsupported("api", "not in the table"))]

    def called(self, do: str, *args: Any) -> Any:
        session = "" if do in {"open", "reset"} else args[0]
        given = json.loads(json.dumps(args[bool(session) :], default=tensors.encode))
        key = content_hash([self.before.get(session, ""), do, given])
        told = self.told(key, lambda: described(getattr(self.engine, do)(*args)))
        answer = outcome(told or ["Unsupported", {"capability": "op", "message": "not there"}])
        self.before[answer.handle if do == "open" and isinstance(answer, Opened) else session] = key
        self.before[""] = ""
        return answer

    def told(self, key: str, ask: Callable[[], Any]) -> Any:
        """What the table has for a question; first asked and written, while it is recorded."""
        if self.engine is not None:
            self.known[key] = ask()
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known.get(key)

    def reset(self, *args: Any) -> Any:
        return self.called("reset", *args)

    def shutdown(self) -> None:
        pass


def described(answer: Any) -> Any:
    if isinstance(answer, Fetched):
        return ["Fetched", [None if v is None else tensors.encode(v) for v in answer.values]]
    fields = {name: getattr(answer, name) for name in type(answer).__dataclass_fields__}
    return [type(answer).__name__, json.loads(json.dumps(fields, default=dict))]


def outcome(told: Any) -> Any:
    name, fields = told
    if name == "Fetched":
        return Fetched(tuple(None if v is None else tensors.decode(v) for v in fields))
    if "classes" in fields:
        fields = {**fields, "classes": tuple(fields["classes"])}
    return KINDS[name](**fields)


def _method(do: str) -> Any:
    def method(self: Table, *args: Any, **named: Any) -> Any:
        return self.called(do, *args, *named.values())

    return method


for _do in CALLS:
    setattr(Table, _do, _method(_do))
