"""Shrinks a failing generated case: fewer runs, fewer fetches, a smaller graph, plainer values.

Only an engine case in which every answer is held against the oracle's can be changed at will: its
expected values follow. Each change is kept if the case still fails; the search is greedy, in a
fixed order, and bounded by tries and seconds.
"""

from __future__ import annotations

import base64
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import dtype_attr
from sessrun.spec import tensors
from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.values import literal
from sessrun.spec.forms import Json

__all__ = ["Shrinker", "needed", "node_count", "shrinkable"]

Graph = Mapping[str, Any]


def shrinkable(case: Case) -> bool:
    """Whether the case may be changed: one graph, and nothing expected but the oracle's answers."""
    plain = all(
        step["do"] in {"open", "run", "close", "file"}
        and set(step.get("expect", {"oracle"})) == {"oracle"}
        for step in case.steps
    )
    return case.surface == "engine" and len(case.graphs) == 1 and plain


def node_count(case: Case) -> int:
    """How many nodes the graphs of a case have."""
    return sum(len(graph.get("node", ())) for graph in case.graphs.values())


@dataclass(slots=True)
class Shrinker:
    """Shrinks failing cases.

    Attributes:
      fails: whether a case fails as the one to be shrunk does.
      oracle: the oracle's observations of a case.
      tries: how many changed cases may be run for one case.
      seconds: what shrinking one case may take.

    """

    fails: Callable[[Case], bool]
    oracle: Callable[[Case], Sequence[Observation]]
    tries: int = 400
    seconds: float = 20.0

    def shrink(self, case: Case) -> Case:
        """The smallest case found that still fails; the case itself if nothing smaller does.

        Args:
          case: a failing case for which `shrinkable` holds.

        """
        best, tried = case, {case.hash}
        end = time.monotonic() + self.seconds
        smaller = True
        while smaller:
            smaller = False
            for change in _CHANGES:
                for candidate in change(best, self._values):
                    if candidate.hash in tried:
                        continue
                    if len(tried) > self.tries or time.monotonic() > end:
                        return _named(best, case)
                    tried.add(candidate.hash)
                    if self.fails(candidate):
                        best, smaller = candidate, True
                        break
                if smaller:
                    break
        return _named(best, case)

    def _values(self, case: Case, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The oracle's values of tensors in the case's one run; those it cannot give are left out.

        One question for all; where that fails (one of them fails to compute), one for each.
        """
        run = next(i for i, step in enumerate(case.steps) if step["do"] == "run")

        def ask(fetches: Sequence[str]) -> Sequence[Json] | None:
            step: Step = {**case.steps[run], "fetches": list(fetches)}
            seen = self.oracle(_with_step(case, run, step))
            answer = next((entry for entry in seen if entry["step"] == str(run)), None)
            return None if answer is None else answer.get("values")

        answers = ask(names)
        pairs = (
            zip(names, answers, strict=True)
            if answers is not None
            else ((name, (ask([name]) or [None])[0]) for name in names)
        )
        return {name: np.asarray(literal(form)) for name, form in pairs if isinstance(form, dict)}


Values = Callable[[Case, Sequence[str]], dict[str, np.ndarray]]


def _named(best: Case, original: Case) -> Case:
    if best is original:
        return original
    family = original.id.partition(":")[0]
    return dataclasses.replace(best, id=f"{family}/shrunk-{original.id.replace(':', '-')}")


def _with_step(case: Case, index: int, step: Step) -> Case:
    steps = (*case.steps[:index], step, *case.steps[index + 1 :])
    return dataclasses.replace(case, steps=steps)


def _with_graph(case: Case, graph: Graph) -> Case:
    (name,) = case.graphs
    return dataclasses.replace(case, graphs={name: graph})


def _runs(case: Case) -> list[int]:
    return [index for index, step in enumerate(case.steps) if step["do"] == "run"]


def _fewer_steps(case: Case, _: Values) -> Iterator[Case]:
    """Without one of the runs, without a change of a file, or without the close."""
    runs = _runs(case)
    for index in reversed(range(len(case.steps))):
        if case.steps[index]["do"] in {"close", "file"} or (index in runs and len(runs) > 1):
            steps = (*case.steps[:index], *case.steps[index + 1 :])
            yield dataclasses.replace(case, steps=steps)


def _fewer_files(case: Case, _: Values) -> Iterator[Case]:
    """The case without one of its files, or with the first half of one."""
    files = case.files or {}
    for name, data in files.items():
        rest = {other: content for other, content in files.items() if other != name}
        yield dataclasses.replace(case, files=rest)
        if data:
            raw = base64.b64decode(data)
            half = base64.b64encode(raw[: len(raw) // 2]).decode()
            yield dataclasses.replace(case, files={**files, name: half})


def _fewer_fetches(case: Case, _: Values) -> Iterator[Case]:
    """The case with one of its fetches only, or without one of them."""
    for index in _runs(case):
        step = case.steps[index]
        fetches = step["fetches"]
        if len(fetches) < 2:
            continue
        chosen = [[fetch] for fetch in dict.fromkeys(fetches)]
        chosen += [[*fetches[:i], *fetches[i + 1 :]] for i in range(len(fetches))]
        yield from (_with_step(case, index, {**step, "fetches": few}) for few in chosen)


def _earlier_fetches(case: Case, values: Values) -> Iterator[Case]:
    """With the one fetch replaced by an inner tensor, and with the nodes that this needs."""
    (graph,) = case.graphs.values()
    for index in _runs(case):
        step = case.steps[index]
        if len(step["fetches"]) != 1:
            continue
        wanted = needed(graph, step) - {_node_of(step["fetches"][0])}
        for node in graph["node"]:
            if node["name"] in wanted and node.get("input"):
                earlier: Step = {**step, "fetches": [f"{node['name']}:0"]}
                yield from _pruned(_with_step(case, index, earlier), values)


def _pruned(case: Case, _: Values) -> Iterator[Case]:
    """Without the nodes that no run needs, and without the feeds of nodes that are gone."""
    (graph,) = case.graphs.values()
    wanted: set[str] = set()
    for index in _runs(case):
        wanted |= needed(graph, case.steps[index])
    nodes = [node for node in graph["node"] if node["name"] in wanted]
    if len(nodes) == len(graph["node"]):
        return
    steps = []
    for step in case.steps:
        feeds = step.get("feeds", {})
        kept = {name: form for name, form in feeds.items() if _node_of(name) in wanted}
        steps.append({**step, "feeds": kept} if feeds else step)
    yield _with_graph(dataclasses.replace(case, steps=tuple(steps)), {**graph, "node": nodes})


def _cut(case: Case, values: Values) -> Iterator[Case]:
    """With a fed placeholder for an inner operation, the value being the oracle's."""
    runs = _runs(case)
    if len(runs) != 1:
        return
    step = case.steps[runs[0]]
    (graph,) = case.graphs.values()
    wanted = needed(graph, step)
    fetched = {_node_of(fetch) for fetch in step["fetches"]}
    inner = [
        node
        for node in reversed(graph["node"])
        if node["name"] in wanted - fetched and node.get("input") and _plain(graph, node["name"])
    ]
    if not inner:
        return
    known = values(case, [f"{node['name']}:0" for node in inner])
    for node in inner:
        value = known.get(f"{node['name']}:0")
        if value is None or _names_a_file(value):
            continue
        form = tensors.encode(value)
        placeholder = {
            "name": node["name"],
            "op": "Placeholder",
            "attr": {
                "dtype": dtype_attr(form["dtype"]),
                "shape": {"shape": {"dim": [{"size": str(size)} for size in value.shape]}},
            },
        }
        nodes = [placeholder if other is node else other for other in graph["node"]]
        feeds = {**step.get("feeds", {}), f"{node['name']}:0": form}
        fed = _with_step(case, runs[0], {**step, "feeds": feeds})
        yield _with_graph(fed, {**graph, "node": nodes})


def _names_a_file(value: np.ndarray) -> bool:
    """Whether a path of the case's folder is in it, which is another one in each run."""
    return value.dtype == object and any(STAND_IN.encode() in item for item in value.flat)


def _plainer_values(case: Case, _: Values) -> Iterator[Case]:
    """With zeros or ones in place of a fed value."""
    for index in _runs(case):
        step = case.steps[index]
        for name, form in step.get("feeds", {}).items():
            value = tensors.decode(form)
            if form["dtype"] == "string" or not value.size:
                continue
            for plain in (np.zeros_like(value), np.ones_like(value)):
                if np.array_equal(plain, value):
                    break
                feeds = {**step["feeds"], name: tensors.encode(plain)}
                yield _with_step(case, index, {**step, "feeds": feeds})


#: The changes, the ones that take most away first.
_CHANGES: Final = (
    _fewer_steps,
    _fewer_files,
    _fewer_fetches,
    _pruned,
    _earlier_fetches,
    _cut,
    _plainer_values,
)


def _node_of(name: str) -> str:
    return name.removeprefix("^").partition(":")[0]


def needed(graph: Graph, step: Step) -> set[str]:
    """The nodes that a run of these fetches and feeds reaches."""
    by_name = {node["name"]: node for node in graph["node"]}
    fed = {_node_of(name) for name in step.get("feeds", {})}
    reached: set[str] = set()
    waiting = [_node_of(fetch) for fetch in step["fetches"]]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in by_name:
            continue
        reached.add(name)
        if name not in fed:
            waiting += [_node_of(source) for source in by_name[name].get("input", ())]
    return reached


def _plain(graph: Graph, name: str) -> bool:
    """Whether only the first output of a node is used, and no control edge leaves it."""
    uses = [source for node in graph["node"] for source in node.get("input", ())]
    others = [source for source in uses if _node_of(source) == name]
    return all(source in {name, f"{name}:0"} for source in others)
