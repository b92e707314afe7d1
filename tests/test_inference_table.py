"""The table of the profile `inference`, and what a case needs of a backend."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.cases.model import Case
from sessrun.spec.inference import Demand, Offer, cells, demand_of, is_audited, table
from sessrun.spec.loader import load_inference
from sessrun.spec.rules.domains import arguments


def case_of(writer: GraphWriter, clause: str = "INFERENCE-001", **more: Any) -> Case:
    graph = writer.graph() | more
    return Case("inference-cells:0:0", "A case.", "engine", (clause,), (), {"g": graph})


def demanded(writer: GraphWriter, **more: Any) -> Demand:
    demand = demand_of(case_of(writer, **more))
    assert demand is not None
    return demand


def test_the_table_names_inputs_dtypes_and_operations_that_there_are() -> None:
    form = load_inference()
    for row in table().values():
        assert row.constants <= {arg.name for arg in row.operation.inputs}, row.operation.name
        assert row.dtypes, row.operation.name
    assert form["without"].keys() <= table().keys()
    for name, dtypes in form["without"].items():
        allowed = {d for a in table()[name].value_attrs for d in _allowed(name, a)}
        assert set(dtypes) <= allowed, name


def _allowed(operation: str, attr: str) -> tuple[str, ...]:
    declared = table()[operation].operation.attr(attr)
    assert declared is not None
    return declared.allowed or tuple(load_inference()["dtypes"])


@pytest.mark.parametrize("operation", table())
def test_arguments_of_a_cell_have_its_dtypes(operation: str) -> None:
    row = table()[operation]
    for cell in (cell for cell in cells() if cell.row is row):
        given = arguments(cell.operation(), random.Random(1))
        assert tuple(given.attrs[name] for name in row.value_attrs) in {cell.dtypes, ()}
        for name in row.constants:
            assert np.asarray(given.inputs[name]).dtype.kind in "iuf"


def test_a_case_needs_its_operations_with_the_dtypes_of_their_values() -> None:
    writer = GraphWriter()
    x = writer.placeholder("float32", (2, 3))
    axes = writer.constant(np.array([0], np.int32))
    types = {"T": dtype_attr("float32"), "Tidx": dtype_attr("int32")}
    total = writer.node("Sum", [x, axes], types)
    writer.node("Cast", [total], {"SrcT": dtype_attr("float32"), "DstT": dtype_attr("int32")})
    writer.node("Identity", [total], {"T": dtype_attr("float32")})
    assert demanded(writer) == Demand({"Cast": ("float32", "int32"), "Sum": ("float32",)})


def test_a_structural_input_that_is_fed_needs_a_capability() -> None:
    writer = GraphWriter()
    x = writer.placeholder("float32", (2, 3))
    axis = writer.placeholder("int32", ())
    types = {"T": dtype_attr("float32"), "Tidx": dtype_attr("int32"), "N": {"i": "2"}}
    writer.node("ConcatV2", [x, x, axis], types)
    assert demanded(writer) == Demand({"ConcatV2": ("float32",)}, ("fed_structure",))


def test_operations_of_functions_are_needed_too() -> None:
    body = {"nodeDef": [{"name": "n", "op": "Neg", "attr": {"T": dtype_attr("int32")}}]}
    writer = GraphWriter()
    writer.placeholder("int32", ())
    assert demanded(writer, library={"function": [body]}) == Demand({"Neg": ("int32",)})


def test_cases_of_other_profiles_need_nothing() -> None:
    assert demand_of(case_of(GraphWriter(), "FEED-001")) is None


def test_an_offer_says_what_it_lacks() -> None:
    offer = Offer({"reset"}, {"Neg": ["float32"], "Cast": ["float32", "int32"]})
    assert offer.lacks(None) == ""
    assert offer.lacks(Demand({"Neg": ("float32",)})) == ""
    assert offer.lacks(Demand({"Cast": ("float32", "int32")})) == ""
    assert offer.lacks(Demand({"Cast": ("bool", "int32")})) == "operation Cast of bool"
    assert offer.lacks(Demand({"Abs": ("float32",)})) == "operation Abs"
    fed = Demand({"Neg": ("float32",)}, ("fed_structure",))
    assert offer.lacks(fed) == "capability fed_structure"
    assert Offer(set()).lacks(fed) == ""


def test_a_tenth_of_what_is_not_declared_is_asked() -> None:
    hashes = [f"{random.Random(number).getrandbits(256):064x}" for number in range(2000)]
    assert 150 < sum(map(is_audited, hashes)) < 250
