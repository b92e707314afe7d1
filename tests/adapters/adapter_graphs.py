"""Graphs that the tests of this folder share, as GraphDef JSON."""

from typing import Any

_FLOAT = {"type": "DT_FLOAT"}


def node(name: str, op: str, *inputs: str, **attr: Any) -> dict[str, Any]:
    form: dict[str, Any] = {"name": name, "op": op}
    if inputs:
        form["input"] = list(inputs)
    return form | ({"attr": attr} if attr else {})


def placeholder(name: str) -> dict[str, Any]:
    return node(name, "Placeholder", dtype=_FLOAT, shape={"shape": {"unknownRank": True}})


#: s = x + y on float32, and d = s * s.
ADD: dict[str, Any] = {
    "node": [
        placeholder("x"),
        placeholder("y"),
        node("s", "AddV2", "x", "y", T=_FLOAT),
        node("d", "Mul", "s", "s", T=_FLOAT),
    ],
    "versions": {"producer": 1882},
}

_ONE: dict[str, Any] = {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {}, "floatVal": [1.0]}}
#: m = 1 where x > y and 1 elsewhere, of scalars: both branches are constants.
CONDITIONAL: dict[str, Any] = {
    "node": [
        placeholder("x"),
        placeholder("y"),
        node("p", "Greater", "x", "y", T=_FLOAT),
        node("s", "Switch", "p", "p", T={"type": "DT_BOOL"}),
        node("yes", "Const", "^s", dtype=_FLOAT, value=_ONE),
        node("no", "Const", "^s", dtype=_FLOAT, value=_ONE),
        node("m", "Merge", "no", "yes", T=_FLOAT, N={"i": "2"}),
    ]
}
