"""ONNX Runtime: declared cells against the reference, what is declined, where it differs."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.registry import load
from sessrun.conformance.generators.single import SingleGraph
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.conformance.subjects.inference.graphs import Program, cell_graph
from sessrun.spec import tensors
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.inference import Cell, cells
from sessrun.spec.rules.numeric import difference
from sessrun.spec.tables.ops import OPERATIONS

HERE = all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def needs_it(test: Any) -> Any:
    skipped = pytest.mark.skipif(not HERE, reason="ONNX Runtime is not installed")
    return pytest.mark.onnxruntime(skipped(test))


#: How many cases of each cell are drawn.
CASES = int(os.environ.get("SESSRUN_CELLS", "1"))

NAN = float("nan")
FLOATS = ("float32", "float64", "float16", "bfloat16")


@dataclass(frozen=True)
class Divergence:
    """Where ONNX Runtime itself gives another value: docs/findings/onnxruntime.md has each."""

    op: str
    dtypes: Sequence[str]
    value: Any
    reason: str
    other: Any = None


DIVERGENCES = (
    Divergence("All", ("bool",), [], "no minimum of no bools"),
    Divergence("Any", ("bool",), [], "no maximum of no bools"),
    Divergence("Max", FLOATS, [1, NAN, 2], "a NaN is lost unless it is first"),
    Divergence("Min", FLOATS, [1, NAN, 2], "a NaN is lost unless it is first"),
    Divergence("Sum", ("int32",), [2**31 - 1, 1], "integers are added as doubles, and saturate"),
    Divergence("Sum", ("int64",), [2**53, 1], "integers are added as doubles"),
    Divergence("Mean", ("int64",), [2**53 + 1] * 2, "integers are added as doubles"),
    Divergence("Prod", ("int32",), [65537, 65537], "integers are multiplied as doubles"),
    Divergence("Prod", ("int8", "uint8"), [100] * 5, "integers are multiplied as doubles"),
    Divergence("Prod", ("int64",), [2**53 + 1, 3], "integers are multiplied as doubles"),
    Divergence("Pow", ("int64",), [3], "integers are raised as doubles", 39),
    Divergence("Pow", ("int32", "int8"), [3], "integers are raised as doubles", 33),
    Divergence("Sigmoid", ("float32", "float64"), [-17.4], "inexact far from 0"),
    Divergence("Sin", ("float64",), [6.2832] * 4, "inexact near multiples of pi"),
    Divergence("Cos", ("float64",), [1.5708] * 4, "inexact near multiples of pi"),
)
DIVERGING = {(row.op, dtype) for row in DIVERGENCES for dtype in row.dtypes}


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sessrun.adapters.onnxruntime.engine", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(AdapterError, match=r"pip install 'sessrun\[onnxruntime\]'"):
        load("onnxruntime")


@pytest.fixture(scope="module")
def backend() -> Backend:
    return load("onnxruntime")


@pytest.fixture(scope="module")
def oracle() -> Backend:
    return load("reference")


def outcome(
    backend: Backend, graph: Any, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
) -> Outcome:
    opened = backend.open(graph=graph, config={})
    if not isinstance(opened, Opened):
        return opened
    result = backend.run(session=opened.handle, fetches=fetches, feeds=feeds, options={})
    backend.close(session=opened.handle)
    return result


def unlike(want: Outcome, got: Outcome, contract: str | list[str]) -> str | None:
    """Why an outcome is not the reference's, or None."""
    if isinstance(want, Failure):
        return None if isinstance(got, Failure) else f"{want.message}, but got {got}"
    if not isinstance(want, Fetched) or not isinstance(got, Fetched):
        return f"want {want}, got {got}"
    contracts = [contract] * len(want.values) if isinstance(contract, str) else contract
    for value, other, rule in zip(want.values, got.values, contracts, strict=True):
        if (value.dtype, value.shape) != (other.dtype, other.shape):
            return f"want {value.dtype}{value.shape}, got {other.dtype}{other.shape}"
        if reason := difference(rule, np.asarray(value), np.asarray(other)):
            return reason
    return None


def drawn(cell: Cell, number: int) -> SingleGraph:
    seed = f"{cell.row.operation.name} {cell.dtypes} {number}"
    return cell_graph(cell, random.Random(seed))


def ops() -> list[str]:
    return sorted({cell.row.operation.name for cell in cells()})


@needs_it
@pytest.mark.parametrize("op", ops())
def test_what_is_declared_is_right(backend: Backend, oracle: Backend, op: str) -> None:
    declared = (backend.describe().operations or {}).get(op, ())
    rows = [cell for cell in cells() if cell.row.operation.name == op]
    offered = [cell for cell in rows if set(cell.dtypes) <= set(declared)]
    if not offered:
        pytest.skip("not declared")
    wrong = []
    for cell in offered:
        for number in range(CASES):
            single = drawn(cell, number)
            feeds = {name: tensors.decode(row) for name, row in single.feeds.items()}
            answers = [outcome(b, single.graph, single.fetches, feeds) for b in (oracle, backend)]
            reason = unlike(answers[0], answers[1], single.contract)
            if reason and (op, cell.dtypes[0]) not in DIVERGING:
                wrong.append(f"{cell.dtypes} {number}: {reason}")
    assert not wrong, "\n".join(wrong)


@needs_it
def test_most_of_the_profile_is_declared(backend: Backend) -> None:
    declared = backend.describe().operations or {}
    assert len(set(ops()) & set(declared)) > 140


@needs_it
@pytest.mark.parametrize(
    ("row", "dtype"),
    [
        pytest.param(
            row,
            dtype,
            id=f"{row.op}-{dtype}",
            marks=pytest.mark.xfail(strict=True, reason=row.reason),
        )
        for row in DIVERGENCES
        for dtype in row.dtypes
    ],
)
def test_where_it_differs(backend: Backend, oracle: Backend, row: Divergence, dtype: str) -> None:
    program = Program(dtype)
    x = program.placeholder((None,))
    others = [] if row.other is None else [program.constant(row.other)]
    if "reduction_indices" in {arg.name for arg in OPERATIONS[row.op].inputs}:
        others = [program.index([0])]
    fetches = [f"{program.apply(row.op, x, *others)}:0"]
    feeds = {f"{x}:0": np.array(row.value).astype(BY_NAME[dtype].numpy)}
    graph = program.writer.graph()
    answers = [outcome(b, graph, fetches, feeds) for b in (oracle, backend)]
    assert unlike(answers[0], answers[1], OPERATIONS[row.op].contract(dtype)) is None


@needs_it
class TestGraphs:
    """What a graph has besides single operations."""

    def program(self, dtype: str = "float32") -> tuple[Program, str]:
        program = Program(dtype)
        return program, program.placeholder((None, 3))

    def values(
        self, backend: Backend, program: Program, fetch: str, feeds: Mapping[str, Any]
    ) -> np.ndarray:
        got = outcome(backend, program.writer.graph(), [f"{fetch}:0"], feeds)
        assert isinstance(got, Fetched), got
        return got.values[0]

    def test_a_shape_may_be_computed_from_the_shapes_of_feeds(self, backend: Backend) -> None:
        program, x = self.program()
        shape = program.apply("Shape", x, T="float32")
        rows = program.apply(
            "StridedSlice",
            shape,
            *(program.index([n]) for n in (0, 1, 1)),
            T="int32",
            shrink_axis_mask=1,
        )
        sizes = program.apply("Pack", rows, program.index(1), program.index(-1), T="int32", N=3)
        y = program.apply("Reshape", x, sizes)
        for count in (2, 4):
            fed = np.ones((count, 3), np.float32)
            assert self.values(backend, program, y, {f"{x}:0": fed}).shape == (count, 1, 3)

    @pytest.mark.parametrize("op", ["Reshape", "Slice"])
    def test_a_shape_that_is_fed_is_declined(self, backend: Backend, op: str) -> None:
        """ONNX's Reshape could take it, most others could not: it is not declared."""
        program, x = self.program()
        sizes = program.placeholder((2,), "int32")
        begin = [program.index([0, 0])] if op == "Slice" else []
        y = program.apply(op, x, *begin, sizes)
        feeds = {f"{x}:0": np.ones((2, 3), np.float32), f"{sizes}:0": np.array([3, 2], np.int32)}
        declined = outcome(backend, program.writer.graph(), [f"{y}:0"], feeds)
        assert declined == Unsupported("fed_structure", y)

    def test_an_index_before_the_first_element_fails_as_one_beyond_the_last(
        self, backend: Backend
    ) -> None:
        program, x = self.program()
        indices = program.placeholder((None,), "int32")
        y = program.apply("GatherV2", x, indices, program.index(0), Tparams="float32")
        for index, is_there in ((1, True), (2, False), (-1, False)):
            feeds = {
                f"{x}:0": np.ones((2, 3), np.float32),
                f"{indices}:0": np.array([index], np.int32),
            }
            got = outcome(backend, program.writer.graph(), [f"{y}:0"], feeds)
            assert isinstance(got, Fetched if is_there else Failure), got

    def test_what_is_waited_for_is_executed_and_its_failure_is_the_runs(
        self, backend: Backend
    ) -> None:
        program, x = self.program("int32")
        quotient = program.apply("FloorDiv", program.constant(6), x)
        y = program.apply("Neg", x)
        program.writer.wait(y, quotient)
        for value, is_fine in ((2, True), (0, False)):
            feeds = {f"{x}:0": np.full((1, 3), value, np.int32)}
            got = outcome(backend, program.writer.graph(), [f"{y}:0"], feeds)
            assert isinstance(got, Fetched if is_fine else Failure), got

    def test_checked_numbers_fail_where_they_are_not_finite(self, backend: Backend) -> None:
        program, x = self.program()
        checked = program.apply("CheckNumerics", x, message="strange")
        y = program.apply("Neg", x)
        program.writer.wait(y, checked)
        for value, is_fine in ((2, True), (NAN, False), (-np.inf, False)):
            feeds = {f"{x}:0": np.array([[1, value, -0.0]], np.float32)}
            for fetch in (checked, y):
                got = outcome(backend, program.writer.graph(), [f"{fetch}:0"], feeds)
                assert isinstance(got, Fetched if is_fine else Failure), got

    def test_a_run_of_nothing_but_what_is_fed_has_no_model(self, backend: Backend) -> None:
        program, x = self.program()
        program.writer.node("NoOp", [f"^{x}"], name="after")
        feeds = {f"{x}:0": np.ones((1, 3), np.float32)}
        assert outcome(backend, program.writer.graph(), ["after"], feeds) == Fetched((None,))

    def test_bfloat16_goes_in_and_comes_out(self, backend: Backend) -> None:
        program, x = self.program("bfloat16")
        y = program.apply("AddV2", x, program.constant(1.0))
        fed = np.array([[1, 2.5, 300]], BY_NAME["bfloat16"].numpy)
        got = self.values(backend, program, y, {f"{x}:0": fed})
        assert got.dtype == fed.dtype
        assert got.tolist() == [[2, 3.5, 300]]  # 301 is rounded

    @pytest.mark.parametrize(
        ("op", "attrs", "declined"),
        [
            ("Cholesky", {}, Unsupported("op", "Cholesky")),
            ("Softplus", {"T": "float64"}, Unsupported("dtype", "Softplus of float64")),
        ],
    )
    def test_what_it_lacks_is_declined(
        self, backend: Backend, op: str, attrs: dict[str, str], declined: Unsupported
    ) -> None:
        program = Program(attrs.get("T", "float32"))
        x = program.placeholder((3, 3))
        y = program.apply(op, x)
        feeds = {f"{x}:0": np.ones((3, 3), BY_NAME[program.dtype].numpy)}
        assert outcome(backend, program.writer.graph(), [f"{y}:0"], feeds) == declined

    def test_a_string_is_declined(self, backend: Backend) -> None:
        program = Program("string")
        x = program.placeholder(())
        y = program.writer.node("Identity", [x], {"T": {"type": BY_NAME["string"].enum}})
        feeds = {f"{x}:0": np.array(b"text", object)}
        got = outcome(backend, program.writer.graph(), [f"{y}:0"], feeds)
        assert got == Unsupported("dtype", "string")

    def test_a_configuration_that_it_does_not_follow_is_declined(self, backend: Backend) -> None:
        declined = backend.open(graph={}, config={"deviceCount": {"CPU": 2}})
        assert declined == Unsupported("config", "device_count")

    @pytest.mark.parametrize("case", ["feed-keys/a-constant-can-be-fed", "inference-networks:1:1"])
    def test_cases_pass(self, case: str) -> None:
        runner = Runner("onnxruntime")
        try:
            line = runner.run(case_of(case))
        finally:
            runner.shutdown()
        assert line["result"] == "pass", line
