"""Histories of steps on dense and sparse accumulators, checked against a model."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import (
    GraphWriter,
    dtype_attr,
    shape_attr,
    text_attr,
)
from sessrun.conformance.generators.model_answers import answer
from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json
from sessrun.spec.model.accumulators import Accumulator

_CLAUSES: Final = (
    "ACCUMULATORS-001",
    "ACCUMULATORS-002",
    "ACCUMULATORS-003",
    "ACCUMULATORS-004",
    "ACCUMULATORS-005",
    "ACCUMULATORS-006",
    "ACCUMULATORS-007",
    "ACCUMULATORS-008",
    "ACCUMULATORS-009",
    "ACCUMULATORS-010",
    "ACCUMULATORS-011",
    "ACCUMULATORS-012",
    "ACCUMULATORS-013",
    "ACCUMULATORS-014",
    "ACCUMULATORS-019",
    "ACCUMULATORS-020",
    "ACCUMULATORS-021",
    "ACCUMULATORS-023",
    "ACCUMULATORS-024",
    "ACCUMULATORS-026",
)
_DTYPES: Final = ("float16", "float32", "float64")
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (1,), (3,), (0,), (2, 2), (1, 3, 2))
#: The first dimension of the dense shape of sparse gradients, which may have fewer slices.
_SLICES: Final = 6


class _Life:
    """A history of steps on one accumulator, with a model of its contents.

    Attributes:
      history: the steps.

    """

    def __init__(self, draw: random.Random) -> None:
        self.history = History()
        self._draw = draw
        dtype = draw.choice(_DTYPES)
        self._kind = draw.choice(("Resource", "", "Sparse"))
        is_sparse, is_mean = self._kind == "Sparse", draw.random() < 0.6
        #: The declared shape of a gradient, or of a slice of one.
        self._declared = draw.choice(_SHAPES) if draw.random() < 0.4 else None
        first = (_SLICES,) if is_sparse else ()
        shape = None if self._declared is None else (*first, *self._declared)
        self._held = Accumulator(dtype, shape, is_sparse, is_mean)
        #: Whether the last change of the accumulator's step came from taking a gradient.
        self._stepped = False
        #: Whether a gradient was taken without a declared shape: any shape is accepted then.
        self._reshaped = False

    @property
    def _shape(self) -> tuple[int, ...] | None:
        """The shape of a gradient, or of a slice of one; None while any shape is accepted."""
        return self._held.gathered if self._declared is None else self._declared

    def graph(self) -> dict[str, Json]:
        """The GraphDef of the accumulator and its operations."""
        writer, held = GraphWriter(), self._held
        kind, sparse = {"dtype": dtype_attr(held.dtype)}, held.is_sparse
        accumulator = writer.node(
            f"{self._kind}ConditionalAccumulator",
            (),
            {
                **kind,
                "shape": shape_attr(held.shape),
                "shared_name": text_attr("a"),
                "reduction_type": text_attr("MEAN" if held.is_mean else "SUM"),
            },
            "a",
        )
        prefix = "" if sparse else self._kind
        step = writer.placeholder("int64", (), "step")
        inputs = [accumulator, step]
        more: dict[str, Json] = {}
        if sparse:
            inputs.append(writer.placeholder("int64", None, "indices"))
            more["has_known_shape"] = {"b": False}
        inputs.append(writer.placeholder(held.dtype, None, "values"))
        if sparse:
            inputs.append(writer.constant(np.array([], np.int64), "whole"))
        wanted = writer.placeholder("int32", (), "wanted")
        writer.node(f"{self._kind}AccumulatorApplyGradient", inputs, kind | more, "apply")
        writer.node(f"{self._kind}AccumulatorTakeGradient", [accumulator, wanted], kind, "take")
        writer.node(f"{prefix}AccumulatorNumAccumulated", [accumulator], {}, "count")
        writer.node(f"{prefix}AccumulatorSetGlobalStep", [accumulator, step], {}, "set")
        return writer.graph()

    def go_on(self) -> None:
        """Add a step to the history."""
        chance = self._draw.random()
        if chance < 0.55:
            self._apply()
        elif chance < 0.75 and self._held.count:
            self._take()
        elif chance < 0.8:
            required = self._draw.choice([0, -1, -9])
            feeds = {"wanted:0": np.array(required, np.int32)}
            given = answer(self._held.take, required)
            self.history.run(["take:0"], feeds, clause="ACCUMULATORS-011", **given)
        elif chance < 0.88:
            self._held.step, self._stepped = self._held.step + self._draw.randint(0, 3), False
            feeds = {"step:0": np.array(self._held.step, np.int64)}
            self.history.run(["set"], feeds, clause="ACCUMULATORS-008")
        else:
            self._see_count("ACCUMULATORS-003")

    def _see_count(self, clause: str) -> None:
        """Read the number of gradients, which shows the effect of the step before."""
        self.history.run(["count:0"], values=[np.array(self._held.count, np.int32)], clause=clause)

    def _numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        count = int(np.prod(shape, dtype=np.int64))
        drawn = [self._draw.randint(-20, 20) for _ in range(count)]
        return np.array(drawn, self._held.dtype).reshape(shape)

    def _apply(self) -> None:
        draw, held = self._draw, self._held
        step = held.step + draw.choice([-2, -1, 0, 0, 0, 1, 5])
        odd = self._odd_shapes()
        is_odd = bool(odd) and draw.random() < 0.15
        shape = draw.choice(_SHAPES) if self._shape is None else self._shape
        if is_odd:
            shape = draw.choice(odd)
        feeds = {"step:0": np.array(step, np.int64)}
        clause = self._clause_of_apply(step)
        if held.is_sparse:
            drawn = sorted(draw.sample(range(_SLICES), draw.randint(1, 4)))
            feeds["indices:0"] = indices = np.array(drawn, np.int64)
            more = draw.choice([-1, 1]) if draw.random() < 0.1 else 0
            values = self._numbers((len(drawn) + more, *shape))
            given = answer(held.apply_slices, step, indices, values)
        else:
            more = 0
            values = self._numbers(shape)
            given = answer(held.apply, step, values)
        feeds["values:0"] = values
        if "error" in given:
            clause = "ACCUMULATORS-023" if more else self._clause_of_odd()
        self.history.run(["apply"], feeds, clause=clause, **given)
        if draw.random() < 0.5:
            self._see_count(clause)

    def _clause_of_apply(self, step: int) -> str:
        """The clause of a gradient of this step that fits."""
        held = self._held
        if step < held.step:
            is_last = self._stepped and step == held.step - 1
            return "ACCUMULATORS-007" if is_last else "ACCUMULATORS-005"
        if self._reshaped and held.count == 0:
            return "ACCUMULATORS-014"
        return "ACCUMULATORS-006" if step == held.step else "ACCUMULATORS-009"

    def _clause_of_odd(self) -> str:
        """The clause that refuses a gradient of an odd shape."""
        if self._declared is not None:
            return "ACCUMULATORS-012"
        return "ACCUMULATORS-024" if self._held.is_sparse else "ACCUMULATORS-013"

    def _odd_shapes(self) -> list[tuple[int, ...]]:
        """Shapes that must be refused; slices of a sparse accumulator may have more dimensions."""
        shape = self._shape
        if shape is None:
            return []
        may_extend = self._held.is_sparse
        return [
            other
            for other in _SHAPES
            if other != shape and not (may_extend and other[: len(shape)] == shape)
        ]

    def _take(self) -> None:
        held = self._held
        required = self._draw.randint(1, held.count)
        feeds = {"wanted:0": np.array(required, np.int32)}
        took_more = required < held.count
        values = held.take(required)
        if held.is_sparse:
            merged = "ACCUMULATORS-019" if held.is_mean else "ACCUMULATORS-026"
            clauses = ["ACCUMULATORS-020", merged, "ACCUMULATORS-021"]
            self.history.run(["take:0", "take:1", "take:2"], feeds, values=values, clauses=clauses)
        else:
            clause = "ACCUMULATORS-001" if held.is_mean else "ACCUMULATORS-002"
            self.history.run(["take:0"], feeds, values=values, clause=clause)
        self._stepped = True
        self._reshaped = self._reshaped or self._declared is None
        self._see_count("ACCUMULATORS-010" if took_more else "ACCUMULATORS-004")


@prop("accumulators", *_CLAUSES, weight=2)
def accumulators(draw: random.Random, id_: str) -> Case:
    """An accumulator gives the mean or sum of what a model of it gathers."""
    life = _Life(draw)
    graph = life.graph()
    life.history.open()
    for _ in range(draw.randint(6, 18)):
        life.go_on()
    title = "An accumulator gives the mean or sum of the gradients that are not stale."
    return life.history.case(id_, title, graph)
