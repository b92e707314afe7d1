"""A table that sees through names and order: it knows graphs and programs by their structure.

`#record=FILE` passes everything on to the reference and writes the table; `#FILE` answers from it.
Names become numbers of first appearance, nodes what they compute, fetches are sorted. A question is
looked up with its values first, then without them, and what was answered then is told again.
"""

import json
import re
from pathlib import Path
from typing import Any

from hostile.table import Table, described, outcome

from sessrun.adapters.backend import unsupported
from sessrun.adapters.registry import load
from sessrun.spec import tensors
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import content_hash
from sessrun.spec.cases.outcomes import Fetched, Opened

WORD = re.compile(r"[A-Za-z_]\w*")
NAMING = {"shared_name", "container", "_class", "frame_name", "stack_name", "tensor_array_name"}


def backend(argument: str) -> Any:
    recording = argument.startswith("record=")
    return Structural(
        Path(argument.removeprefix("record=")), load("reference") if recording else None
    )


class Structural(Table):
    def __init__(self, path: Path, engine: Any) -> None:
        super().__init__(path, engine)
        self.nodes: dict[str, dict[str, str]] = {}
        self.opened: dict[str, Any] = {}

    def ask(self, form: Any, ask: Any) -> Any:
        """The answer to a question, as it is or, if no such one was asked, with other values."""
        if self.engine is not None:
            answer = ask()
            for key in (content_hash(form), content_hash(without_values(form))):
                self.told(key, lambda: answer)
            return answer
        known = self.known.get(content_hash(form))
        return known or self.known.get(content_hash(without_values(form)))

    def interpret_api(self, case: Any, goes_on: Any) -> Any:
        words = Words()
        form = words.numbered(case.to_json())

        def ask() -> Any:
            return words.told(self.engine.interpret_api(case, goes_on))

        seen = words.named(self.ask(form, ask))
        return seen or [observation("0", unsupported("api", "not in the table"))]

    def called(self, do: str, *args: Any) -> Any:
        session = "" if do in {"open", "reset"} else args[0]
        given = json.loads(json.dumps(args[bool(session) :], default=tensors.encode))
        nodes = self.nodes.get(session, {})
        if do in {"open", "extend"}:
            nodes = structure(given[0])
        order = sorted(given[0], key=lambda name: at(name, nodes)) if do == "run" else []
        form = [self.before.get(session, ""), do, question(do, given, nodes)]
        told = self.ask(form, lambda: self.described(do, args, order))
        answer = outcome(told or ["Unsupported", {"capability": "op", "message": "not there"}])
        if isinstance(answer, Fetched) and order:
            answer = Fetched(tuple(answer.values[order.index(name)] for name in given[0]))
        if do == "open" and isinstance(answer, Opened):
            handle = f"session {len(self.opened)}"
            self.opened[handle] = answer.handle
            answer, session = Opened(handle), handle
        self.nodes[session] = nodes
        self.before[session] = content_hash(without_values(form))
        self.before[""] = ""
        return answer

    def described(self, do: str, args: Any, order: list[str]) -> Any:
        """What the engine answers, the values of fetches in the order of what they are."""
        real = args if do in {"open", "reset"} else (self.opened.get(args[0], args[0]), *args[1:])
        answer = getattr(self.engine, do)(*real)
        if isinstance(answer, Fetched) and order:
            by_name = dict(zip(args[1], answer.values, strict=True))
            answer = Fetched(tuple(by_name[name] for name in order))
        return described(answer)


class Words:
    """Every word of a program as the number of its first appearance, and back."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def numbered(self, form: Any) -> Any:
        def number(word: str) -> str:
            return self.numbers.setdefault(word, f"w{len(self.numbers)}w")

        return self.mapped(form, number)

    def told(self, form: Any) -> Any:
        """An answer: words that were not in the question are the engine's own."""
        return self.mapped(form, lambda word: self.numbers.get(word, word))

    def named(self, form: Any) -> Any:
        words = {number: word for word, number in self.numbers.items()}
        return self.mapped(form, lambda number: words.get(number, number))

    def mapped(self, form: Any, change: Any) -> Any:
        if isinstance(form, str):
            return WORD.sub(lambda found: change(found[0]), form)
        if isinstance(form, list):
            return [self.mapped(item, change) for item in form]
        if isinstance(form, dict):
            plain = {"$array", "$scalar", "$float", "$int", "$complex", "do", "classes", "outcome"}
            return {
                key: item if key in plain else self.mapped(item, change)
                for key, item in form.items()
            }
        return form


def structure(graph: Any) -> dict[str, str]:
    """What each node is: its operation, its attributes and what it takes, as a hash."""
    nodes = {node["name"]: node for node in graph["node"]}
    own = {name: [node["op"], attributes(node)] for name, node in nodes.items()}
    found = {name: content_hash(form) for name, form in own.items()}
    for _ in range(12):
        found = {
            name: content_hash([own[name], [at(text, found) for text in node.get("input", ())]])
            for name, node in nodes.items()
        }
    return found


def attributes(node: Any) -> Any:
    kept = {key: attr for key, attr in node.get("attr", {}).items() if key not in NAMING}
    tensor = kept.get("value", {}).get("tensor")
    if tensor is not None:  # told apart without its value, which the whole graph has
        kept["value"] = {key: tensor[key] for key in ("dtype", "tensorShape") if key in tensor}
    return kept


def at(name: str, nodes: dict[str, str]) -> str:
    """A tensor's name by what its node is."""
    node, _, output = name.removeprefix("^").partition(":")
    return f"{nodes.get(node, '?')}:{output or 0}"


def question(do: str, given: Any, nodes: dict[str, str]) -> Any:
    if do in {"open", "extend"}:
        values = {
            nodes[node["name"]]: {"$array": node["attr"]["value"]}
            for node in given[0].get("node", ())
            if node["op"] == "Const" and "value" in node.get("attr", {})
        }
        return [sorted(nodes.values()), values, given[1:]]
    if do == "run":
        feeds = {at(name, nodes): {"$array": form} for name, form in given[1].items()}
        return [sorted(at(name, nodes) for name in given[0]), feeds, given[2:]]
    return [named_by_nodes(part, nodes) for part in given]


def named_by_nodes(form: Any, nodes: dict[str, str]) -> Any:
    if isinstance(form, str):
        return at(form, nodes) if form.partition(":")[0] in nodes else form
    if isinstance(form, list):
        return [named_by_nodes(item, nodes) for item in form]
    if isinstance(form, dict):
        pairs = ((named_by_nodes(key, nodes), part) for key, part in form.items())
        return {key: named_by_nodes(part, nodes) for key, part in pairs}
    return form


def without_values(form: Any) -> Any:
    """A question without its tensors' contents and its numbers."""
    if isinstance(form, int | float) and not isinstance(form, bool):
        return "a number"
    if isinstance(form, list):
        return [without_values(item) for item in form]
    if not isinstance(form, dict):
        return form
    new = {}
    for key, part in form.items():
        if key in {"$array", "$scalar"} and isinstance(part, dict):
            new[key] = {name: part[name] for name in ("dtype", "shape") if name in part}
        else:
            new[key] = without_values(part)
    return new
