"""Gradients of differentiable operations and functions, against the oracle and differences."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import form
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.gradients.calls import Call, arguments_of, contract_of
from sessrun.conformance.subjects.gradients.functions import FUNCTIONS
from sessrun.conformance.subjects.gradients.limits import has_differences, is_drawn_twice
from sessrun.conformance.subjects.gradients.requests import drawn_request
from sessrun.conformance.subjects.gradients.rows import drawn_row, row_call, rows
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json
from sessrun.spec.operations import Operation

#: The clause of the static types of gradients.
_STATIC: Final = "GRADIENTS-026"
_CHECKS: Final = "sessrun.conformance.checks.gradients"
#: By operation or function the clause of its gradient at ties, zeros and bounds.
_AT_CORNERS: Final = {
    name: clause
    for clause, names in {
        "GRADIENTS-027": ("Maximum", "Minimum", "maximum", "minimum"),
        "GRADIENTS-028": (
            "Max",
            "Min",
            "SegmentMax",
            "SegmentMin",
            "UnsortedSegmentMax",
            "UnsortedSegmentMin",
            "reduce_max",
            "reduce_min",
            "segment_max of rows",
            "segment_min of rows",
            "unsorted_segment_max of rows",
            "unsorted_segment_min of rows",
        ),
        "GRADIENTS-029": ("Abs", "Relu", "Relu6", "abs", "nn.relu", "nn.relu6", "nn.crelu"),
        "GRADIENTS-030": ("Prod", "reduce_prod"),
        "GRADIENTS-031": ("MaxPool", "MaxPoolV2", "MaxPoolWithArgmax", "nn.max_pool"),
        "GRADIENTS-032": ("ClipByValue",),
        "GRADIENTS-033": ("LeakyRelu", "Selu", "nn.leaky_relu", "nn.selu"),
    }.items()
    for name in names
}
#: From a source of chance, and the dtypes of floating point to be drawn (all if None), to a call.
Caller = Callable[[random.Random, tuple[str, ...] | None], Call]


def _case(
    id_: str,
    title: str,
    clauses: tuple[str, ...],
    check: str,
    args: Mapping[str, Json],
    expect: Expect,
) -> Case:
    step: Step = {"do": "check", "name": f"{_CHECKS}.{check}", "args": args, "expect": expect}
    return Case(id_, title, "api", clauses, (step,))


def _first_order(call: Call, id_: str) -> Case:
    clauses = ["GRADIENTS-022"] * len(call.points)
    if call.has_corners:
        clauses[-1] = _AT_CORNERS.get(call.name, "GRADIENTS-022")
    clauses.append(_STATIC)
    expect: Expect = {"oracle": {"contract": contract_of(call.dtypes), "clauses": clauses}}
    title = f"The gradient of {call.name} is its derivative."
    tested = tuple(sorted(set(clauses)))
    return _case(id_, title, tested, "gradients_at", arguments_of(call), expect)


def _second_order(call: Call, id_: str) -> Case:
    clauses = ("GRADIENTS-011", _STATIC)
    expect: Expect = {
        "oracle": {"contract": contract_of(call.dtypes, order=2), "clauses": list(clauses)}
    }
    title = f"The gradient of the gradient of {call.name}."
    arguments = arguments_of(call, call.points[:1])
    return _case(id_, title, clauses, "second_gradients_at", arguments, expect)


def _by_differences(call: Call, id_: str) -> Case:
    expect: Expect = {"value": {"near": form(np.float64(0)), "contract": "close(0, 1e-5)"}}
    title = f"The gradient of {call.name} is what a small step changes."
    arguments = arguments_of(call, call.points[:1])
    return _case(id_, title, ("GRADIENTS-022",), "error_of_differences", arguments, expect)


def _of_row(operation: Operation) -> Caller:
    def call(draw: random.Random, dtypes: tuple[str, ...] | None) -> Call:
        given = drawn_row(operation, draw) if dtypes is None else drawn_row(operation, draw, dtypes)
        return row_call(operation, given, draw)

    return call


@functools.cache
def _callers() -> dict[str, Caller]:
    """What is differentiated, by name: rows of the table of operations, then functions."""
    return {operation.name: _of_row(operation) for operation in rows()} | dict(FUNCTIONS)


@functools.cache
def _order(seed: str) -> list[str]:
    """The names of what is differentiated, in an order drawn by the seed."""
    names = sorted(_callers())
    random.Random(f"gradients:{seed}").shuffle(names)
    return names


@prop(
    "gradients",
    "GRADIENTS-011",
    "GRADIENTS-022",
    *sorted(set(_AT_CORNERS.values())),
    _STATIC,
    weight=8,
)
def derivatives(draw: random.Random, id_: str) -> Case:
    """The gradient of a differentiable operation or function is its derivative."""
    _, seed, index = id_.rsplit(":", 2)
    names = _order(seed)
    name = names[int(index) % len(names)] if seed.isdecimal() else draw.choice(names)
    chance, caller = draw.random(), _callers()[name]
    if chance < _DIFFERENCES and has_differences(name):
        call = caller(draw, _DOUBLES)
        if call.dtypes <= set(_DOUBLES):
            return _by_differences(call, id_)
    else:
        call = caller(draw, None)
    is_second = chance > 1 - _SECOND and is_drawn_twice(call)
    return _second_order(call, id_) if is_second else _first_order(call, id_)


#: What small steps are taken in.
_DOUBLES: Final = ("float64",)
#: How often gradients are compared with differences, and gradients of gradients are taken.
_DIFFERENCES: Final = 0.1
_SECOND: Final = 0.25


@prop(
    "gradient-requests",
    "GRADIENTS-001",
    "GRADIENTS-003",
    "GRADIENTS-004",
    "GRADIENTS-005",
    "GRADIENTS-006",
    "GRADIENTS-020",
)
def requests(draw: random.Random, id_: str) -> Case:
    """What `gradients` is asked for among the tensors of a graph is what it gives."""
    request = drawn_request(draw)
    expect: Expect = {"oracle": {"contract": contract_of(frozenset({"float32"}))}}
    title = "Gradients of drawn targets by drawn sources."
    return _case(id_, title, (request.clause,), "gradients_among", request.arguments, expect)
