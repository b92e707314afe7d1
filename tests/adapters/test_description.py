"""The form of what a backend declares to compute."""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.adapters.backend import Description


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        (["AddV2"], "this is a list"),
        ({"AddV2": "float32"}, "'AddV2' has 'float32'"),
        ({5: ["float32"]}, "5 has"),
        ({"AddV2": ["float31"]}, "AddV2 has 'float31', which is no dtype's name"),
    ],
)
def test_operations_that_are_no_mapping_to_dtypes_are_refused(operations: Any, reason: str) -> None:
    with pytest.raises(
        (TypeError, ValueError), match=f"map op types to lists of dtypes; .*{reason}"
    ):
        Description("engine", "1", frozenset(), operations=operations)


def test_operations_are_told_sorted_and_only_where_declared() -> None:
    declared = Description("engine", "1", frozenset(), operations={"B": {"int32", "bool"}, "A": ()})
    assert declared.to_json()["operations"] == {"A": [], "B": ["bool", "int32"]}
    assert "operations" not in Description("engine", "1", frozenset()).to_json()
    assert declared.unlike(Description("engine", "1", frozenset())) == "operations"
