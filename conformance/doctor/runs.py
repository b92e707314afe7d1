"""Questions about runs: names, feeds, shapes, control inputs, sessions, and what errors leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.doctor.question import (
    CONTRACT,
    Question,
    binary,
    case_of,
    failing,
    giving,
    opening,
    running,
)
from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.errors import BY_CODE

__all__ = ["RUNS"]

_CLIENT: Final = "docs/adapters.md, An engine below the client"
_COMPILES: Final = "docs/adapters.md, An engine that compiles"
_ONE: Final = np.float32(1)
_BOTH: Final = {"x:0": np.float32(2), "y:0": np.float32(3)}


def _unknown_operation() -> Case:
    graph = GraphWriter()
    graph.node("NoSuchOperation", (), {"T": dtype_attr("float32")}, "z")
    return case_of("unknown-operation", {"g": graph}, opening(), running("z:0"))


def _refused(_: Case, seen: Sequence[Observation]) -> str | None:
    """An operation type that nothing has: code 5 when the graph is opened, or when it is run."""
    last = seen[-1]
    if last["outcome"] == "failure":
        code = last["code"]
        return None if code in {3, 5} else f"code {code}: {last['message']}"
    return f"it answered with {last['outcome']}"


def _fixed_shape() -> GraphWriter:
    return binary(shape=[None, 3])


def _control_input() -> Case:
    """`z` adds 0 to `x`, after an Assert that fails."""
    graph = GraphWriter()
    graph.placeholder("float32", None, "x")
    graph.constant(np.array(0, np.float32), "zero")
    graph.constant(np.array(False), "no")
    graph.node(
        "Assert", ("no", "zero"), {"T": {"list": {"type": [dtype_attr("float32")["type"]]}}}, "stop"
    )
    graph.node("AddV2", ("x", "zero", "^stop"), {"T": dtype_attr("float32")}, "z")
    step = running("z:0", feeds={"x:0": _ONE}, expect=failing(3))
    return case_of("control-input", {"g": graph}, opening(), step)


def _two_sessions() -> Case:
    sums, products = binary(), binary("Mul")
    fed = {"x:0": np.float32(3), "y:0": np.float32(4)}
    return case_of(
        "two-sessions",
        {"g": sums, "h": products},
        opening(),
        opening("t", "h"),
        running("z:0", feeds=fed, expect=giving(np.float32(7))),
        running("z:0", feeds=fed, session="t", expect=giving(np.float32(12))),
        {"do": "close", "session": "s"},
        running("z:0", feeds=fed, session="t", expect=giving(np.float32(12))),
    )


RUNS: Final = (
    Question(
        "unknown-name",
        "A fetch that the graph does not have fails: code 3 or 5.",
        {
            "": case_of(
                "unknown-name",
                {"g": binary()},
                opening(),
                running("nope:0", feeds=_BOTH, expect=failing(3, 5)),
            )
        },
        "Look every name up before the run: Failure('run', 3, …) for what the graph does not have.",
    ),
    Question(
        "unknown-index",
        "An output beyond the last one fails: code 3, 5 or 11.",
        {
            "": case_of(
                "unknown-index",
                {"g": binary()},
                opening(),
                running("z:1", feeds=_BOTH, expect=failing(3, 5, 11)),
            )
        },
        "Compare the index with the number of outputs; do not give output 0 for it.",
    ),
    Question(
        "unknown-operation",
        "An operation type that nothing has is refused: code 5, or declined.",
        {"": _unknown_operation()},
        "Refuse the graph when it is opened (code 5), or decline with NotOfferedError('op', name).",
        check=_refused,
        may_decline=True,
    ),
    Question(
        "missing-feed",
        "A placeholder that is needed and not fed fails the run: code 3.",
        {
            "": case_of(
                "missing-feed",
                {"g": binary()},
                opening(),
                running("z:0", feeds={"x:0": _ONE}, expect=failing(3)),
            )
        },
        "Find the placeholders that the fetches need and that no feed replaces before the run: "
        "Failure('run', 3, …). Part and CompiledSession do.",
    ),
    Question(
        "inner-feed",
        "Any tensor may be fed, and what only it needs is not run.",
        {
            "": case_of(
                "inner-feed",
                {"g": binary()},
                opening(),
                running("z:0", feeds={"z:0": _ONE}, expect=giving(_ONE)),
            )
        },
        "Cut the graph at the fed tensors. ClientLayer gives back a fed fetch without a run.",
        _CLIENT,
        client=True,
    ),
    Question(
        "fetch-nothing",
        "A run that fetches nothing succeeds.",
        {"": case_of("fetch-nothing", {"g": binary()}, opening(), running(expect=giving()))},
        "Answer Fetched(()) without a run.",
        _CLIENT,
        client=True,
    ),
    Question(
        "feed-shape",
        "A fed value that does not fit its placeholder's static shape is refused: code 3.",
        {
            "": case_of(
                "feed-shape",
                {"g": _fixed_shape()},
                opening(),
                running(
                    "z:0",
                    feeds={"x:0": np.ones((2, 4), np.float32), "y:0": np.ones((1, 4), np.float32)},
                    expect=failing(3),
                ),
            )
        },
        "Compare each fed value with the static shape of its tensor (None fits any size).",
        _CLIENT,
        client=True,
    ),
    Question(
        "control-input",
        "A failing Assert fails the run of what only waits for it: code 3.",
        {"": _control_input()},
        "Run what a control input asks for (part.effects), or decline: "
        "NotOfferedError('control_inputs', name). To leave it out in silence is a wrong answer.",
        _COMPILES,
    ),
    Question(
        "other-shapes",
        "A session runs again with values of other shapes.",
        {
            "": case_of(
                "other-shapes",
                {"g": binary()},
                opening(),
                *(
                    running(
                        "z:0",
                        feeds={"x:0": np.ones(shape, np.float32), "y:0": _ONE},
                        expect=giving(np.full(shape, 2, np.float32)),
                    )
                    for shape in ((2,), (3, 1), (2,), ())
                ),
            )
        },
        "Keep one program for each set of shapes, as CompiledSession does, not the first one only.",
        _COMPILES,
    ),
    Question(
        "after-an-error",
        "A run that failed leaves the session usable.",
        {
            "": case_of(
                "after-an-error",
                {"g": binary()},
                opening(),
                running("z:0", expect=failing(*BY_CODE)),
                running("z:0", feeds=_BOTH, expect=giving(np.float32(5))),
            )
        },
        "Change nothing of the session before the run has all that it needs.",
    ),
    Question(
        "two-sessions",
        "Two sessions whose nodes have the same names are apart.",
        {"": _two_sessions()},
        "Keep graphs and programs by session handle, not by name, and no state in the module.",
    ),
    Question(
        "closed-session",
        "A session is closed twice; a run of it then fails: code 9.",
        {
            "": case_of(
                "closed-session",
                {"g": binary()},
                opening(),
                {"do": "close", "session": "s"},
                {"do": "close", "session": "s"},
                running("z:0", feeds=_BOTH, expect=failing(9)),
            )
        },
        "Remember closed sessions: Done() for closing again, Failure('run', 9, …) for a run.",
        CONTRACT,
        client=True,
    ),
)
