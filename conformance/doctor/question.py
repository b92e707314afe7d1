"""A question to an adapter, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from numpy.typing import ArrayLike

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.forms import JsonObject

__all__ = [
    "CONTRACT",
    "Answer",
    "Check",
    "Question",
    "Verdict",
    "binary",
    "case_of",
    "failing",
    "giving",
    "opening",
    "running",
]

Verdict = Literal["ok", "not offered", "wrong", "not asked"]
#: Instead of the judge: what is wrong with the observations of a case, None if nothing is.
Check = Callable[[Case, Sequence[Observation]], str | None]

#: The section of the documentation that most advice refers to.
CONTRACT: Final = "docs/adapters.md, Backend: the contract"


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
      name: one word or two, for machines too.
      asks: the rule it asks for, in a sentence.
      cases: the cases of the question, by what differs between them (a dtype, say).
      advice: what to do where the answer is wrong.
      section: where the documentation says more.
      check: what judges a case; the judge by its expectations if None.
      client: whether TensorFlow's client does it: an engine below it need not.
      may_decline: whether to decline is as good as to answer.
      needed: whether the questions after it rest on it.

    """

    name: str
    asks: str
    cases: Mapping[str, Case]
    advice: str
    section: str = CONTRACT
    check: Check | None = None
    client: bool = False
    may_decline: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Attributes:
      name: the question's.
      asks: the question's.
      verdict: `not asked` where an answer before it makes that pointless.
      detail: the observation, in words.
      advice: what to do; empty where nothing is wrong.
      section: where the documentation says more; empty where nothing is wrong.
      seconds: how long it took.

    """

    name: str
    asks: str
    verdict: Verdict
    detail: str = ""
    advice: str = ""
    section: str = ""
    seconds: float = 0.0


def case_of(name: str, graphs: Mapping[str, GraphWriter], *steps: Step) -> Case:
    """The engine case of some steps on some graphs."""
    return Case(
        id=f"doctor/{name}",
        title=name,
        surface="engine",
        clauses=(),
        steps=steps,
        graphs={key: graph.graph() for key, graph in graphs.items()},
    )


def binary(
    op: str = "AddV2", dtype: str = "float32", shape: Sequence[int | None] | None = None
) -> GraphWriter:
    """The graph of placeholders `x` and `y`, and of `z`, an operation on both."""
    graph = GraphWriter()
    graph.placeholder(dtype, shape, "x")
    graph.placeholder(dtype, shape, "y")
    graph.node(op, ("x", "y"), {"T": dtype_attr(dtype)}, "z")
    return graph


def opening(session: str = "s", graph: str = "g", config: JsonObject | None = None) -> Step:
    """The step that opens a session."""
    step: Step = {"do": "open", "session": session, "graph": graph}
    if config is not None:
        step["config"] = config
    return step


def running(
    *fetches: str,
    feeds: Mapping[str, ArrayLike] | None = None,
    session: str = "s",
    options: JsonObject | None = None,
    expect: Expect | None = None,
) -> Step:
    """A step that runs; feeds are arrays by the name of a tensor."""
    fed = {name: tensors.encode(value) for name, value in (feeds or {}).items()}
    step: Step = {"do": "run", "session": session, "fetches": list(fetches), "feeds": fed}
    if options is not None:
        step["options"] = options
    if expect is not None:
        step["expect"] = expect
    return step


def giving(*values: ArrayLike | None) -> Expect:
    """Expect these arrays, or None for an operation."""
    return {"values": [None if v is None else {"$array": tensors.encode(v)} for v in values]}


def failing(*codes: int) -> Expect:
    """Expect a failure of one of these codes."""
    return {"error": {"codes": list(codes)}}
