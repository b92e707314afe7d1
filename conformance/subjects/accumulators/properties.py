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
from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json

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
        self._dtype = draw.choice(_DTYPES)
        self._kind = draw.choice(("Resource", "", "Sparse"))
        self._mean = draw.random() < 0.6
        #: The shape of a gradient, or of a slice of one; None while any shape is accepted.
        self._shape: tuple[int, ...] | None = None
        self._declared = draw.random() < 0.4
        if self._declared:
            self._shape = draw.choice(_SHAPES)
        self._step = 0
        #: Whether the last change of the accumulator's step came from taking a gradient.
        self._stepped = False
        #: Whether a gradient was taken without a declared shape: any shape is accepted then.
        self._reshaped = False
        self._count = 0
        self._sums: dict[int, tuple[np.ndarray, int]] = {}

    def graph(self) -> dict[str, Json]:
        """The GraphDef of the accumulator and its operations."""
        writer = GraphWriter()
        kind, sparse = {"dtype": dtype_attr(self._dtype)}, self._kind == "Sparse"
        first = (_SLICES,) if sparse else ()
        declared = (*first, *(self._shape or ())) if self._declared else None
        accumulator = writer.node(
            f"{self._kind}ConditionalAccumulator",
            (),
            {
                **kind,
                "shape": shape_attr(declared),
                "shared_name": text_attr("a"),
                "reduction_type": text_attr("MEAN" if self._mean else "SUM"),
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
        inputs.append(writer.placeholder(self._dtype, None, "values"))
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
        elif chance < 0.75 and self._count:
            self._take()
        elif chance < 0.8:
            feeds = {"wanted:0": np.array(self._draw.choice([0, -1, -9]), np.int32)}
            self.history.run(["take:0"], feeds, error=[3], clause="ACCUMULATORS-011")
        elif chance < 0.88:
            self._step, self._stepped = self._step + self._draw.randint(0, 3), False
            feeds = {"step:0": np.array(self._step, np.int64)}
            self.history.run(["set"], feeds, clause="ACCUMULATORS-008")
        else:
            self._see_count("ACCUMULATORS-003")

    def _see_count(self, clause: str) -> None:
        """Read the number of gradients, which shows the effect of the step before."""
        self.history.run(["count:0"], values=[np.array(self._count, np.int32)], clause=clause)

    def _numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        count = int(np.prod(shape, dtype=np.int64))
        drawn = [self._draw.randint(-20, 20) for _ in range(count)]
        return np.array(drawn, self._dtype).reshape(shape)

    def _apply(self) -> None:
        draw = self._draw
        step = self._step + draw.choice([-2, -1, 0, 0, 0, 1, 5])
        odd = self._odd_shapes()
        is_odd = bool(odd) and draw.random() < 0.15
        shape = draw.choice(_SHAPES) if self._shape is None else self._shape
        if is_odd:
            shape = draw.choice(odd)
        feeds = {"step:0": np.array(step, np.int64)}
        indices = [0]
        if self._kind == "Sparse":
            indices = sorted(draw.sample(range(_SLICES), draw.randint(1, 4)))
            feeds["indices:0"] = np.array(indices, np.int64)
            slices = len(indices)
            if draw.random() < 0.1:
                slices, is_odd = slices + draw.choice([-1, 1]), True
            values = self._numbers((slices, *shape))
            rows = list(values)
        else:
            values = self._numbers(shape)
            rows = [values]
        feeds["values:0"] = values
        if step < self._step:
            clause = self._clause_of_stale(step)
            self.history.run(["apply"], feeds, clause=clause)
        elif is_odd:
            clause = self._clause_of_odd(len(indices), values)
            self.history.run(["apply"], feeds, error=[3], clause=clause)
        else:
            clause = "ACCUMULATORS-006" if step == self._step else "ACCUMULATORS-009"
            if self._reshaped and self._count == 0:
                clause = "ACCUMULATORS-014"
            self._gather(shape, indices, rows)
            self.history.run(["apply"], feeds, clause=clause)
        if draw.random() < 0.5:
            self._see_count(clause)

    def _clause_of_stale(self, step: int) -> str:
        if self._stepped and step == self._step - 1:
            return "ACCUMULATORS-007"
        return "ACCUMULATORS-005"

    def _clause_of_odd(self, indices: int, values: np.ndarray) -> str:
        if self._kind == "Sparse" and len(values) != indices:
            return "ACCUMULATORS-023"
        if self._declared:
            return "ACCUMULATORS-012"
        return "ACCUMULATORS-024" if self._kind == "Sparse" else "ACCUMULATORS-013"

    def _odd_shapes(self) -> list[tuple[int, ...]]:
        """Shapes that must be refused; slices of a sparse accumulator may have more dimensions."""
        shape = self._shape
        if shape is None:
            return []
        may_extend = self._kind == "Sparse"
        return [
            other
            for other in _SHAPES
            if other != shape and not (may_extend and other[: len(shape)] == shape)
        ]

    def _gather(self, shape: tuple[int, ...], indices: list[int], rows: list[np.ndarray]) -> None:
        self._shape = shape
        self._count += 1
        for index, row in zip(indices, rows, strict=True):
            total, count = self._sums.get(index, (np.zeros_like(row), 0))
            self._sums[index] = (total + row, count + 1)

    def _take(self) -> None:
        required = self._draw.randint(1, self._count)
        feeds = {"wanted:0": np.array(required, np.int32)}
        kind = np.dtype(self._dtype).type
        rows = [
            np.asarray(total / kind(count) if self._mean else total, self._dtype)
            for _, (total, count) in sorted(self._sums.items())
        ]
        if self._kind == "Sparse":
            first = _SLICES if self._declared else -1
            values = [
                np.array(sorted(self._sums), np.int64),
                np.stack(rows),
                np.array([first, *rows[0].shape], np.int64),
            ]
            merged = "ACCUMULATORS-019" if self._mean else "ACCUMULATORS-026"
            clauses = ["ACCUMULATORS-020", merged, "ACCUMULATORS-021"]
            self.history.run(["take:0", "take:1", "take:2"], feeds, values=values, clauses=clauses)
        else:
            clause = "ACCUMULATORS-001" if self._mean else "ACCUMULATORS-002"
            self.history.run(["take:0"], feeds, values=rows, clause=clause)
        took_more = required < self._count
        self._sums, self._count = {}, 0
        self._step, self._stepped = self._step + 1, True
        if not self._declared:
            self._shape, self._reshaped = None, True
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
