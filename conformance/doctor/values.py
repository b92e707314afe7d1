"""Questions about values: dtypes there and back, strings, empty and large tensors, resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.doctor.question import (
    CONTRACT,
    Question,
    binary,
    case_of,
    giving,
    opening,
    running,
)
from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.dtypes import BY_NAME, DTYPES, DTypeRow
from sessrun.spec.forms import Json, JsonObject

__all__ = ["VALUES"]

_WIRE: Final = "docs/protocol.md, Tensors"
#: A NaN whose payload is not the usual one.
_NAN: Final = np.array([0x7FC01234], np.uint32).view(np.float32)


def _identity(dtype: str) -> GraphWriter:
    graph = GraphWriter()
    graph.placeholder(dtype, None, "x")
    graph.node("Identity", ("x",), {"T": dtype_attr(dtype)}, "z")
    return graph


def _there_and_back(name: str, dtype: str, *values: Any) -> Case:
    """A case that feeds each value and fetches it behind an Identity."""
    steps = [running("z:0", feeds={"x:0": value}, expect=giving(value)) for value in values]
    return case_of(name, {"g": _identity(dtype)}, opening(), *steps)


def _samples(row: DTypeRow) -> np.ndarray:
    """Elements whose bytes differ, the largest and the least among them."""
    if row.kind == "string":
        return np.array([b"text", b""], object)
    if row.kind == "bool":
        return np.array([True, False])
    if row.kind == "float":
        return np.array([1.5, -0.0, np.inf, -1.0], np.float32).astype(row.numpy)
    if row.kind == "complex":
        return np.array([1.5 - 2j, -1j], row.numpy)
    if row.name in {"int2", "uint2", "int4", "uint4"}:
        return np.array([1, 0], row.numpy)
    raw = np.array([0, 1, 127, 128, 255] * row.itemsize, np.uint8)
    return np.frombuffer(raw.tobytes(), np.dtype(row.numpy))


def same_bits(case: Case, seen: Sequence[Observation]) -> str | None:
    """Each run of the case must return its feed bit by bit."""
    by_step = {entry["step"]: entry for entry in seen}
    for path, step in enumerate(case.steps):
        if step["do"] != "run":
            continue
        answer = by_step.get(str(path), {"outcome": "no answer"})
        if answer["outcome"] == "failure":
            return f"code {answer['code']}: {answer['message']}"
        if answer["outcome"] != "values":
            return str(answer["outcome"])
        (fed,), (form,) = step["feeds"].values(), answer["values"]
        got = form.get("$array", form) if isinstance(form, dict) else form
        if _stored(got) != _stored(fed):
            return _difference(fed, got)
    return None


def _stored(form: Any) -> Any:
    """A tensor's form, quantized elements as the integers that they are stored as."""
    row = BY_NAME.get(str(form.get("dtype"))) if isinstance(form, dict) else None
    if row is None or row.kind != "quantized":
        return form
    return {**form, "dtype": np.dtype(row.numpy)[0].name}


def _difference(fed: JsonObject, got: Json) -> str:
    form = got if isinstance(got, dict) else {}
    for part in ("dtype", "shape"):
        if form.get(part) != fed[part]:
            return f"fed {part} {fed[part]}, got {form.get(part, got)}"
    return f"other bits came back: fed {fed['data']!r}, got {form['data']!r} (base64)"


def no_numbers(_: Case, seen: Sequence[Observation]) -> str | None:
    """A resource has no bytes to show: no run may give an array of them."""
    last = seen[-1]
    if last["outcome"] != "values":
        return None
    (form,) = last["values"]
    tensor = form.get("$array") if isinstance(form, dict) else None
    return None if tensor is None else f"it gave {tensor['dtype']}{tensor['shape']}"


def _resource() -> Case:
    graph = GraphWriter()
    attrs = {"dtype": dtype_attr("float32"), "shape": {"shape": {}}}
    graph.node("VarHandleOp", (), attrs, "v")
    return case_of("resource", {"g": graph}, opening(), running("v:0"))


def _large() -> Case:
    value = np.arange(1_000_000, dtype=np.float32).reshape(1000, 1000)
    feeds: dict[str, ArrayLike] = {"x:0": value, "y:0": np.float32(1)}
    return case_of(
        "large", {"g": binary()}, opening(), running("z:0", feeds=feeds, expect=giving(value + 1))
    )


_FLOAT: Final = np.array([1.5, -0.0], np.float32)
_TEXTS: Final = np.array([b"", b"\xff\xfe no UTF-8", b"a\0b\0", "µ".encode()], object)

VALUES: Final = (
    Question(
        "calls",
        "A session is opened and closed, by keyword arguments.",
        {"": case_of("calls", {"g": binary()}, opening(), {"do": "close", "session": "s"})},
        "open answers Opened(handle), close Done().",
        needed=True,
    ),
    Question(
        "sum",
        "A run adds two fed float32, and executes an operation.",
        {
            "": case_of(
                "sum",
                {"g": binary()},
                opening(),
                running(
                    "z:0",
                    "z",
                    feeds={"x:0": _FLOAT, "y:0": np.float32(2)},
                    expect=giving(_FLOAT + 2, None),
                ),
            )
        },
        "Return Fetched with one value for each fetch, in their order: an ndarray of the tensor's "
        "dtype and shape, and None for an operation.",
        needed=True,
    ),
    Question(
        "dtypes",
        "Every dtype comes back from an Identity, bit by bit.",
        {
            row.name: _there_and_back("dtypes", row.name, _samples(row))
            for row in DTYPES
            if row.numpy is not None
        },
        "Keep the dtype and the bytes of every value, or decline: NotOfferedError('dtype', name), "
        "Unsupported('dtype', name). Do not convert to a dtype that the engine happens to have.",
        check=same_bits,
    ),
    Question(
        "nan",
        "A NaN keeps its payload.",
        {"": _there_and_back("nan", "float32", _NAN)},
        "Hand the bytes on as they are: JSON numbers and conversions to double change a NaN.",
        _WIRE,
        check=same_bits,
    ),
    Question(
        "empty",
        "Tensors without elements keep their shape.",
        {
            "": _there_and_back(
                "empty", "float32", np.zeros((0,), np.float32), np.zeros((2, 0, 3), np.float32)
            )
        },
        "Take the shape from the tensor, never from its nested lists: an empty list has no rank.",
        _WIRE,
        check=same_bits,
    ),
    Question(
        "scalar",
        "A scalar is no vector of one element.",
        {
            "": _there_and_back(
                "scalar", "float32", np.array(2.5, np.float32), np.array([2.5], np.float32)
            )
        },
        "Answer an ndarray of shape () for a scalar; numpy.atleast_1d and squeeze change shapes.",
        check=same_bits,
    ),
    Question(
        "strings",
        "Strings are bytes: no UTF-8, empty, with zero bytes.",
        {"": _there_and_back("strings", "string", _TEXTS, np.array(b"scalar\0", object))},
        "Hold strings as an object array of bytes: numpy's own S and U dtypes drop final zero "
        "bytes, and not every string is UTF-8. Decline the dtype string if the engine has none.",
        check=same_bits,
    ),
    Question(
        "resource",
        "A resource that is fetched is no array of numbers.",
        {"": _resource()},
        "Decline: Unsupported('dtype', 'resource'); on the wire also "
        '{"dtype": "resource", "shape": [], "opaque": true}.',
        CONTRACT,
        check=no_numbers,
        may_decline=True,
    ),
    Question(
        "large",
        "A tensor of 4 MB goes through files of the exchange folder.",
        {"": _large()},
        "A tensor beyond 65,536 bytes travels as {file, nbytes}: read it from the folder that "
        "hello names, and write large answers there before the line.",
        "docs/protocol.md, Files",
    ),
)
