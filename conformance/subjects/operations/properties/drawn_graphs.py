"""Random graphs of many operations, run with drawn fetches and feeds, against the oracle."""

from __future__ import annotations

import random
from typing import Final

from sessrun.conformance.generators.dags import Dag, grow
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case

#: Sums and products of a dozen operations in float32, whose order the engine may choose.
_CONTRACT: Final = "close(1e-4, 1e-4)"


def _run(dag: Dag, draw: random.Random) -> Step:
    """A run that fetches some tensors and operations, perhaps with an inner tensor fed."""
    feeds = dict(dag.feeds)
    cuttable = dag.cuttable()
    if cuttable and draw.random() < 0.4:
        node = draw.choice(cuttable)
        feeds[f"{node.name}:0"] = tensors.encode(dag.value(node.dtype, node.shape))
    count = draw.randint(1, min(5, len(dag.nodes)))
    fetches = [
        node.name if draw.random() < 0.1 else f"{node.name}:0"
        for node in draw.choices(dag.nodes[-12:], k=count)
    ]
    return {
        "do": "run",
        "session": "s",
        "fetches": fetches,
        "feeds": feeds,
        "expect": {"oracle": {"contract": _CONTRACT}},
    }


@prop("graphs", "OPERATIONS-003", weight=3)
def graphs(draw: random.Random, id_: str) -> Case:
    """A graph's value is that of its operations one after the other, whatever is fetched or fed."""
    dag = grow(draw, draw.randint(3, 25))
    steps: list[Step] = [{"do": "open", "session": "s", "graph": "g"}]
    steps += [_run(dag, draw) for _ in range(draw.randint(1, 3))]
    steps.append({"do": "close", "session": "s"})
    title = "A graph of several operations gives the value of their composition."
    graph = dag.writer.graph()
    return Case(id_, title, "engine", ("OPERATIONS-003",), tuple(steps), {"g": graph})
