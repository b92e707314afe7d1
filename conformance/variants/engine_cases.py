"""Variants of engine cases: other names and order of nodes, other fetch order, other values."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from sessrun.conformance.variants.contracts import computes_exactly, contract_of, is_open
from sessrun.conformance.variants.flow import Flow
from sessrun.conformance.variants.naming import NAME_PATH, Names
from sessrun.conformance.variants.numbers import Numbers, kind_of, row_of_proto
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.graph_forms import AttrForm, GraphForm, NodeForm
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import JsonObject

__all__ = ["vary_graphs"]

#: The string attributes that hold a name that the graph's author gave.
_NAMED_BY: Final = frozenset(
    {
        "shared_name",
        "container",
        "frame_name",
        "stack_name",
        "tensor_array_name",
        "debug_name",
        "var_name",
    }
)
#: The kinds of dtype that always vary; integers and strings do where they are data.
_FREE: Final = frozenset({"float", "complex"})
_BOUND: Final = frozenset({"int", "uint", "string"})


def vary_graphs(
    case: Case, draw: random.Random, kept: frozenset[str]
) -> tuple[dict[str, GraphForm], list[Step]]:
    """The graphs and steps of a variant of an engine case.

    Args:
      case: the vector.
      draw: the source of chance.
      kept: which of `values`, `names`, `order` stay as they are.

    """
    graphs, steps = dict(case.graphs), list(case.steps)
    if "values" not in kept:
        graphs, steps = _with_other_values(graphs, steps, Numbers(draw))
    if "names" not in kept:
        graphs, steps = _with_other_names(graphs, steps, draw)
    if "order" not in kept:
        graphs = {name: _reordered(graph, draw) for name, graph in graphs.items()}
        if not any(is_open(step.get("expect", {})) for step in case.steps):
            steps = [_with_fetches_reordered(step, draw) for step in steps]
    return graphs, steps


# --- values


@dataclass(slots=True)
class _Sources:
    """The tensors of a case that vary, and the nodes that depend on them.

    Attributes:
      constants: names of Const nodes.
      fed: names of tensors that are fed.
      affected: nodes whose values may differ.

    """

    constants: set[str] = field(default_factory=set)
    fed: set[str] = field(default_factory=set)
    affected: set[str] = field(default_factory=set)


def _with_other_values(
    graphs: dict[str, GraphForm], steps: list[Step], numbers: Numbers
) -> tuple[dict[str, GraphForm], list[Step]]:
    """The case with other constants and feeds; values that depend on them become the oracle's."""
    if any(step["do"] == "check" or "read" in step for step in steps):
        return graphs, steps
    flow = Flow(graphs.values())
    sources = _sources(flow, steps)
    if not _can_vary(steps, sources):
        return graphs, steps
    exact = all(computes_exactly(node["op"]) for node in flow.nodes.values())
    new_graphs = {name: _with_constants(graph, sources, numbers) for name, graph in graphs.items()}
    earlier: dict[str, Step] = {}
    new_steps: list[Step] = []
    for step in steps:
        new = _with_feeds(step, sources, numbers, earlier)
        if _is_affected(step, sources, earlier):
            new = _against_the_oracle(new, exact)
        new_steps.append(new)
    return new_graphs, new_steps


def _sources(flow: Flow, steps: Sequence[Step]) -> _Sources:
    sources = _Sources()
    for name, node in flow.nodes.items():
        form = node.get("attr", {}).get("value", {}).get("tensor")
        if node["op"] != "Const" or form is None or _has_path(form):
            continue
        row = row_of_proto(form)
        reached, as_data = flow.reached(name)
        if row is not None and _varies(row.kind, as_data):
            sources.constants.add(name)
            sources.affected |= {name, *reached}
    kinds: dict[str, set[str]] = {}
    for name, fed in _fed(steps):
        kinds.setdefault(name, set()).add("path" if _has_path(fed) else kind_of(str(fed["dtype"])))
    for name, types in kinds.items():
        node_name, _, output = name.partition(":")
        reached, as_data = flow.reached(node_name, output=int(output or 0))
        if all(_varies(kind, as_data) for kind in types):
            sources.fed.add(name)
            sources.affected |= {node_name, *reached}
    return sources


def _varies(kind: str, as_data: bool) -> bool:
    return kind in _FREE or (as_data and kind in _BOUND)


def _has_path(form: object) -> bool:
    if isinstance(form, Mapping):
        return "$path" in form or any(map(_has_path, form.values()))
    return isinstance(form, list) and any(map(_has_path, form))


def _fed(steps: Sequence[Step]) -> Iterator[tuple[str, JsonObject]]:
    """Each fed tensor's name with each value it is fed."""
    callables: dict[str, Step] = {}
    for step in steps:
        inner = step.get("step", step)
        yield from inner.get("feeds", {}).items()
        if inner["do"] == "callable":
            callables[inner["handle"]] = inner
        elif inner["do"] == "call":
            names = callables[inner["handle"]].get("names", ())
            yield from zip(names, inner.get("values", ()), strict=False)


def _can_vary(steps: Sequence[Step], sources: _Sources) -> bool:
    """Whether every step that is affected expects plain values, or an error, or nothing."""
    earlier: dict[str, Step] = {}
    for step in steps:
        expect = step.get("expect", {})
        if not _is_affected(step, sources, earlier):
            continue
        if "any_of" in expect or "facts" in expect or is_open(expect):
            return False
    return bool(sources.constants or sources.fed)


def _is_affected(step: Step, sources: _Sources, earlier: dict[str, Step]) -> bool:
    """Whether a step gives a changed value; `earlier` keeps the steps of threads and callables."""
    inner = step.get("step", step)
    if step["do"] == "start":
        earlier[f"thread {step['thread']}"] = inner
        return False
    if inner["do"] == "callable":
        earlier[f"handle {inner['handle']}"] = inner
        return False
    if step["do"] == "join":
        inner = earlier[f"thread {step['thread']}"]
    if inner["do"] == "call":
        inner = earlier[f"handle {inner['handle']}"]
    names = (name.partition(":")[0] for name in inner.get("fetches", ()))
    return any(name in sources.affected for name in names)


def _with_constants(graph: GraphForm, sources: _Sources, numbers: Numbers) -> GraphForm:
    def varied(node: NodeForm) -> NodeForm:
        if node["name"] not in sources.constants or node["op"] != "Const":
            return node
        attrs = node["attr"]
        value: AttrForm = {**attrs["value"], "tensor": numbers.constant(attrs["value"]["tensor"])}
        return {**node, "attr": {**attrs, "value": value}}

    return {**graph, "node": [varied(node) for node in graph.get("node", ())]}


def _with_feeds(step: Step, sources: _Sources, numbers: Numbers, earlier: dict[str, Step]) -> Step:
    new = step.copy()
    if "step" in step:
        new["step"] = _with_feeds(step["step"], sources, numbers, earlier)
    if "feeds" in step:
        new["feeds"] = {
            name: numbers.tensor(form) if name in sources.fed else form
            for name, form in step["feeds"].items()
        }
    if step["do"] == "call":
        names = earlier[f"handle {step['handle']}"].get("names", ())
        values = step.get("values", ())
        if len(names) == len(values):
            new["values"] = [
                numbers.tensor(form) if name in sources.fed else form
                for name, form in zip(names, values, strict=True)
            ]
    return new


def _against_the_oracle(step: Step, exact: bool) -> Step:
    matchers = step.get("expect", {}).get("values")
    if matchers is None:
        return step
    contracts = [contract_of(matcher, exact=exact) for matcher in matchers]
    alike = len(set(contracts)) == 1
    return {**step, "expect": {"oracle": {"contract": contracts[0] if alike else contracts}}}


# --- names


def _with_other_names(
    graphs: dict[str, GraphForm], steps: list[Step], draw: random.Random
) -> tuple[dict[str, GraphForm], list[Step]]:
    functions = {
        function["signature"]["name"]
        for graph in graphs.values()
        for function in graph.get("library", {}).get("function", ())
    }
    components: set[str] = set()
    for graph in graphs.values():
        for node in graph.get("node", ()):
            for text in (node["name"], *_given_names(node)):
                if NAME_PATH.fullmatch(text):
                    components.update(text.split("/"))
    names = Names(draw, components - {""} - functions)
    renamed = {name: _renamed(graph, names) for name, graph in graphs.items()}
    return renamed, [_renamed_step(step, names) for step in steps]


def _given_names(node: NodeForm) -> Iterator[str]:
    for key, attr in node.get("attr", {}).items():
        if key in _NAMED_BY and isinstance(attr.get("s"), str):
            yield base64.b64decode(attr["s"]).decode("utf-8", "replace")


def _renamed(graph: GraphForm, names: Names) -> GraphForm:
    return {**graph, "node": [_renamed_node(node, names) for node in graph.get("node", ())]}


def _renamed_node(node: NodeForm, names: Names) -> NodeForm:
    new: NodeForm = {**node, "name": names.path(node["name"])}
    if "input" in node:
        new["input"] = [names.path(text) for text in node["input"]]
    if "attr" in node:
        new["attr"] = {key: _renamed_attr(key, attr, names) for key, attr in node["attr"].items()}
    return new


def _renamed_attr(key: str, attr: AttrForm, names: Names) -> AttrForm:
    if key in _NAMED_BY and isinstance(attr.get("s"), str):
        return {**attr, "s": _in_base64(attr["s"], names)}
    if key == "_class" and "list" in attr:
        texts = [_in_base64(text, names, "loc:@") for text in attr["list"].get("s", ())]
        return {**attr, "list": {**attr["list"], "s": texts}}
    return attr


def _in_base64(text: str, names: Names, prefix: str = "") -> str:
    plain = base64.b64decode(text).decode("utf-8", "surrogateescape")
    if not plain.startswith(prefix):
        return text
    renamed = prefix + names.path(plain[len(prefix) :])
    return base64.b64encode(renamed.encode("utf-8", "surrogateescape")).decode()


def _renamed_step(step: Step, names: Names) -> Step:
    new = step.copy()
    keys: tuple[Literal["fetches", "names", "containers"], ...] = ("fetches", "names", "containers")
    for key in keys:
        if key in step:
            new[key] = [names.path(text) for text in step[key]]
    if "feeds" in step:
        new["feeds"] = {names.path(name): form for name, form in step["feeds"].items()}
    if "step" in step:
        new["step"] = _renamed_step(step["step"], names)
    if "args" in step:
        new["args"] = {names.path(key): names.anywhere(part) for key, part in step["args"].items()}
    if "expect" in step:
        new["expect"] = _renamed_expect(step["expect"], names)
    return new


def _renamed_expect(expect: Expect, names: Names) -> Expect:
    new = expect.copy()
    if "any_of" in expect:
        new["any_of"] = [_renamed_expect(option, names) for option in expect["any_of"]]
    if "nodes" in expect.get("error", {}):
        nodes = [names.path(text) for text in expect["error"]["nodes"]]
        new["error"] = {**expect["error"], "nodes": nodes}
    if "facts" in expect:
        new["facts"] = {key: names.anywhere(fact) for key, fact in expect["facts"].items()}
    return new


# --- order


def _reordered(graph: GraphForm, draw: random.Random) -> GraphForm:
    nodes = list(graph.get("node", ()))
    draw.shuffle(nodes)
    return {**graph, "node": nodes}


def _with_fetches_reordered(step: Step, draw: random.Random) -> Step:
    """The fetches of a run, its feeds and what is expected, in another order."""
    new = step.copy()
    if "feeds" in step:
        feeds = list(step["feeds"].items())
        draw.shuffle(feeds)
        new["feeds"] = dict(feeds)
    if step["do"] not in {"run", "partial"} or len(step.get("fetches", ())) < 2:
        return new
    places = list(range(len(step["fetches"])))
    draw.shuffle(places)
    new["fetches"] = [step["fetches"][position] for position in places]
    if "expect" in step:
        new["expect"] = _expected_in_order(step["expect"], places)
    return new


def _expected_in_order(expect: Expect, places: Sequence[int]) -> Expect:
    new = expect.copy()
    if "any_of" in expect:
        new["any_of"] = [_expected_in_order(option, places) for option in expect["any_of"]]
    if "values" in expect:
        new["values"] = [expect["values"][position] for position in places]
    if isinstance(expect.get("oracle", {}).get("contract"), list):
        contracts = expect["oracle"]["contract"]
        new["oracle"] = {
            **expect["oracle"],
            "contract": [contracts[position] for position in places],
        }
    return new
