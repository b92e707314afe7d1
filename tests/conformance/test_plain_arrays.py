"""The plain code of a case holds its tensors: every element, dtype and shape."""

from __future__ import annotations

import ast
import base64
import itertools
from typing import Any

import numpy as np
import pytest

from sessrun.conformance.plain import python_lines
from sessrun.conformance.plain_arrays import array_text
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import DTYPES

SHAPES = [(), (3,), (0, 3), (2, 0, 4), (2, 5), (4, 3, 5)]
NUMPY = [row for row in DTYPES if row.numpy is not None and row.kind != "string"]


class _DTypes:
    """`tf` as far as the code uses it: dtypes that numpy lacks."""

    def __getattr__(self, name: str) -> Any:
        if name in {"dtypes", "experimental"}:
            return self
        (row,) = (row for row in DTYPES if row.name == name)
        return type("dtype", (), {"as_numpy_dtype": row.numpy})


def value_of(form: dict[str, Any]) -> Any:
    return eval(array_text(form), {"np": np, "base64": base64, "tf": _DTypes()})  # noqa: S307


@pytest.mark.parametrize("row", NUMPY, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_array_comes_back_as_it_was(row: Any, shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(1)
    numbers = draw.integers(0, 2, shape) if row.itemsize == 1 else draw.integers(0, 100, shape)
    array = np.asarray(numbers.astype(row.numpy))
    back = value_of(tensors.encode(array))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("count", [1, 20])
def test_what_is_not_finite_and_signed_zeros_come_back(dtype: str, count: int) -> None:
    (row,) = (row for row in DTYPES if row.name == dtype)
    items = [np.inf, -np.inf, np.nan, -0.0, 1e-7] * count
    array = np.array(items).astype(row.numpy)
    if row.kind == "complex":
        array = np.array([complex(a, b) for a, b in itertools.pairwise(items)], row.numpy)
    back = value_of(tensors.encode(array))
    for part in ("real", "imag") if row.kind == "complex" else ("",):
        want, got = ((getattr(a, part) if part else a).astype("float64") for a in (array, back))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0]))


def test_strings_come_back() -> None:
    array = np.array([[b"a\x00", b"\xff'\n"], [b"", b"nan"]], dtype=object)
    assert value_of(tensors.encode(array)).tolist() == array.tolist()
    many = np.array([b"inf"] * 60, dtype=object)
    assert value_of(tensors.encode(many)).tolist() == many.tolist()


def case(expect: dict[str, Any], feed: np.ndarray) -> Case:
    steps = [
        {"do": "open", "session": "s", "graph": "g"},
        {
            "do": "run",
            "session": "s",
            "fetches": ["a:0"],
            "feeds": {"a:0": tensors.encode(feed)},
            "expect": expect,
        },
    ]
    form = {
        "id": "a/b",
        "title": "T.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "steps": steps,
        "graphs": {"g": {}},
    }
    return Case.from_json(form, "here")


def test_what_must_come_and_what_came_is_told() -> None:
    two = tensors.encode(np.array([1.5, np.nan], "float32"))
    text = "\n".join(python_lines(case({"values": [{"$array": two}]}, np.zeros(100))))
    ast.parse(text)
    assert "import base64" in text
    assert "# must give [np.array([1.5, np.nan], dtype='float32')]" in text
    text = "\n".join(python_lines(case({"oracle": {"contract": "close(1, 2)"}}, np.zeros(1))))
    assert "import base64" not in text
    assert "# must do as the reference does: close(1, 2)" in text


def test_a_reason_stays_in_its_comment() -> None:
    finding = {"step": "1", "reason": "values[0]: want 1, got 2\nimport os"}
    lines = python_lines(case({"error": {"codes": [3]}}, np.zeros(1)), finding)
    assert lines[0].startswith("# At step 1 a backend failed so: values[0]: want 1, got 2")
    assert not any(line.startswith("import os") for line in lines)
    assert "# must fail with code [3]" in lines[-1]
