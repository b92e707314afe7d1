"""What the readers of the spec's own files refuse, each with one sentence that says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessrun.spec.cases.model import Case
from sessrun.spec.loader import read_json, read_toml
from sessrun.spec.operations import parse_attr, parse_call, parse_operation
from sessrun.spec.schema import SpecError


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x T",
        "x: ",
        ": T",
        "1x: T",
        "x: Ref(T",
        "x: T)",
        "x: Ref T",
        "x: N * Ref(T)",
        "x: T * N",
        "x: Nope",
        "x: N * Nope",
        "x: T * T",
        "x: N",
        "x: L * T",
        "x: N * L",
        "²: T",
        "x: T y: T",
    ],
)
def test_no_argument(text: str) -> None:
    form = {
        "summary": "A.",
        "inputs": [text],
        "outputs": ["y: T"],
        "shape": "same(x)",
        "attrs": ["T: type", "N: int >= 1", "L: list(type)"],
    }
    with pytest.raises(SpecError):
        parse_operation("A", form, "ops.toml")


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a: nope",
        "a: {",
        "a: {}= float",
        "a: {float, nope}",
        "a: {'b', c}",
        "a: {'b}",
        "a: list(",
        "a: {float,, double}",
        "a: list(list(int",
        "a: int >= x",
        "a: int >= 9999999999999999999999",
        "a: float >= 1",
        "a: int = x",
        "a: int = 1.5",
        f"a: int = {'9' * 5000}",
        "a: float = nan",
        "a: float = inf",
        "a: float = 1e999",
        "a: bool = 1",
        "a: string = x",
        "a: string = '",
        "a: type = nope",
        "a: shape = [2",
        "a: shape = 2",
        "a: shape = [a]",
        "a: shape = [-2]",
        "a: list(int) = 1",
        "a: list(int) = [x]",
        "a: {float, double} = int32",
        "a: int >= 2 = 1",
        "a: {'b'} = 'c'",
        "a: list(int) >= 2 = [1]",
        "a: tensor = 1",
        "a: func = 'f'",
        "²: int",
        "a: int = ²",
    ],
)
def test_no_attribute(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_attr(text, "ops.toml")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "same",
        "same(",
        "same(x",
        "same(x))",
        "same)",
        "(x)",
        "same(x y)",
        "same(x,)",
        "same(,x)",
        "same(x,,y)",
        "same(nope)",
        "same(x) same(x)",
        "same(x);",
        "same('x)",
        "1",
        "'x'",
        "x",
        "same(99999999999999999999)",
        "a(" * 5000,
        "a(" * 20 + "x" + ")" * 20,
        "same(x(y",
        "same(1 x)",
    ],
)
def test_no_rule(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_call(text, {"x", "y"}, "ops.toml")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": ["x: T", "x: T"]},
        {"attrs": ["T: type", "T: type"]},
        {"inputs": ["T: T"]},
        {"outputs": ["y: T", "y: T"]},
    ],
)
def test_a_name_is_declared_once(change: dict[str, Any]) -> None:
    form = {
        "summary": "A.",
        "inputs": ["x: T"],
        "outputs": ["y: T"],
        "attrs": ["T: type"],
        "shape": "same(x)",
    }
    parse_operation("A", form, "ops.toml")
    with pytest.raises(SpecError, match="declared twice"):
        parse_operation("A", form | change, "ops.toml")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '[{"b": {"a": 1, "a": 1}}]',
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e999",
        "9" * 5000,
        "[" * 100_000,
        "",
        "\ufeff{}",
        "{} {}",
    ],
)
def test_no_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"f\.json: at the top: cannot be read as JSON"):
        read_json(path)


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = 1\na = 2", "a = " + "[" * 5000, "a ="])
def test_no_toml(text: str, tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"f\.toml: at the top: cannot be read as TOML"):
        read_toml(path)


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_case_has_a_canonical_form(odd: float) -> None:
    form = {
        "id": "a/b",
        "title": "A.",
        "surface": "api",
        "clauses": ["RUN-001"],
        "steps": [{"do": "eval", "expr": 1.5}],
    }
    Case.from_json(form, "case.json")
    with pytest.raises(SpecError, match="canonical"):
        Case.from_json(form | {"steps": [{"do": "eval", "expr": odd}]}, "case.json")


def test_an_error_is_one_line_however_much_it_quotes() -> None:
    error = SpecError("f.json", "a" * 10_000, "what\never " * 10_000)
    assert "\n" not in str(error)
    assert len(str(error)) < 1000
