"""Every declared operation is drawn by a property, or is in the list of those that are not."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sessrun.conformance.properties import PROPERTIES, generate
from sessrun.conformance.subjects.operations.properties.single_operations import drawable
from sessrun.spec.loader import SPEC_DIR
from sessrun.spec.tables.ops import OPERATIONS

#: So many cases of each property; a few more meet nothing new.
_CASES = 200
#: A property is of the API surface if so many cases have no graph.
_WITHOUT_GRAPHS = 20
#: These two draw the operations that have a domain, each of them.
_BY_DOMAIN = {"operations", "refusals", "ordering-operations", "ordering-refusals"}
_UNDRAWN = tomllib.loads(Path(__file__).with_name("undrawn.toml").read_text())
#: TensorFlow's operations for its own tests.
_FOR_TESTS = tomllib.loads((SPEC_DIR / "ops" / "testing.toml").read_text()).keys()


def operations_of(graphs: Mapping[str, Any]) -> set[str]:
    """The op types in graphs and in the functions of their libraries."""
    nodes = [node for graph in graphs.values() for node in graph.get("node", ())]
    for graph in graphs.values():
        for function in graph.get("library", {}).get("function", ()):
            nodes += function.get("nodeDef", ())
    return {node["op"] for node in nodes}


def drawn_operations() -> frozenset[str]:
    """What properties draw on the engine surface, in cases that are always the same ones."""
    drawn = {operation.name for operation in drawable()}
    for name in PROPERTIES.keys() - _BY_DOMAIN:
        graphs = 0
        for index in range(_CASES):
            drawn |= (operations := operations_of(generate(name, 0, index).graphs))
            graphs += bool(operations)
            if index >= _WITHOUT_GRAPHS and not graphs:
                break
    return frozenset(drawn)


@pytest.mark.slow
def test_every_operation_is_either_drawn_or_listed() -> None:
    listed = {name for group in _UNDRAWN.values() for name in group["operations"]}
    drawn = drawn_operations()
    missing = OPERATIONS.keys() - drawn - listed - _FOR_TESTS
    assert not missing, f"no property draws them, and undrawn.toml has no reason: {sorted(missing)}"
    assert not listed & drawn, "drawn by now: take them off undrawn.toml"


def test_the_list_of_undrawn_operations_names_each_once() -> None:
    listed = [name for group in _UNDRAWN.values() for name in group["operations"]]
    assert all(count == 1 for count in Counter(listed).values())
    assert set(listed) <= OPERATIONS.keys() - _FOR_TESTS


def test_what_draws_an_operation_with_a_domain_draws_its_refusals() -> None:
    """Whoever declares errors declares valid arguments too, from which the wrong ones are made."""
    without = [name for name, each in OPERATIONS.items() if each.errors and each.domain is None]
    assert not without
