"""Tensors as people read them are the same tensors, bit for bit, or left as they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sessrun.spec import tensors
from sessrun.spec.cases.readable import exact, exact_tensor, readable
from sessrun.spec.dtypes import BY_NAME

FLOATS = ("bfloat16", "float8_e5m2", "float8_e4m3fn")
NUMBERS = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
)


def through_a_file(value: Any) -> Any:
    return exact(json.loads(json.dumps(readable(value))))


@given(st.data())
def test_every_tensor_comes_back(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    shape = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    array = data.draw(arrays.arrays(dtype, shape))
    form = {"feeds": [{"x:0": tensors.encode(array)}]}
    assert through_a_file(form) == form


@pytest.mark.parametrize("name", FLOATS)
def test_every_number_of_a_narrow_float_comes_back(name: str) -> None:
    kind = BY_NAME[name].numpy
    width = np.dtype(kind).itemsize
    patterns = np.arange(2 ** (8 * width), dtype=f"uint{8 * width}").view(kind)
    shown = 0
    for part in np.split(patterns, len(patterns) // 2):
        form = tensors.encode(part)
        assert through_a_file(form) == form
        shown += readable(form) != form
    assert shown > len(patterns) // 8


@given(st.lists(st.binary(max_size=8) | st.text("abc é\n", max_size=8).map(str.encode)))
def test_every_string_comes_back(items: list[bytes]) -> None:
    array = np.empty(len(items), object)
    array[:] = items
    form = tensors.encode(array)
    assert through_a_file(form) == form


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (np.float32(0.1), {"$float32": 0.1}),
        (np.array([[1.5, -0.0]], np.float32), {"$float32": [[1.5, -0.0]]}),
        (np.array([2**63 - 1]), {"$int64": [2**63 - 1]}),
        (np.array([True, False]), {"$bool": [True, False]}),
        (np.array([b"a b", b""], object), {"$string": ["a b", ""]}),
    ],
)
def test_it_is_read_at_a_glance(array: Any, shown: dict[str, Any]) -> None:
    assert json.dumps(readable(tensors.encode(array))) == json.dumps(shown)
    assert exact_tensor(shown) == tensors.encode(array)


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.nan, 1], np.float32),
        np.array([np.inf]),
        np.zeros((0, 3), np.int32),
        np.array([1j], np.complex64),
        np.array([b"\xff"], object),
        np.random.default_rng(1).random(9),  # seventeen digits each
    ],
)
def test_others_are_left_as_they_are(array: Any) -> None:
    form = tensors.encode(array)
    assert readable(form) == form


@pytest.mark.parametrize(
    "form",
    [
        {"$float32": "one"},
        {"$int8": [300]},
        {"$int32": [[1], [2, 3]]},
        {"$string": [1]},
        {"$complex64": [1.0]},
        {"$float32": [1.0], "and": 1},
        {"$": "tf.float32"},
    ],
)
def test_what_is_no_tensor_is_left_to_the_schema(form: dict[str, Any]) -> None:
    assert exact_tensor(dict(form)) == form


def test_nothing_is_nested_too_deep() -> None:
    form: Any = []
    for _ in range(100_000):
        form = [form]
    assert exact(form) is form
