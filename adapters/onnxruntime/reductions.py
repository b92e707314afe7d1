"""Reductions along axes, running totals, and the largest elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.adapters.onnxruntime.table import FLOATS, INTEGERS, WIDE, Call, translates

__all__: list[str] = []

#: The ONNX operator of each reduction.
_REDUCTIONS: Final[Mapping[str, str]] = {
    "All": "ReduceMin",
    "Any": "ReduceMax",
    "EuclideanNorm": "ReduceL2",
    "Max": "ReduceMax",
    "Mean": "ReduceMean",
    "Min": "ReduceMin",
    "Prod": "ReduceProd",
    "Sum": "ReduceSum",
}
#: The limit of a dtype that is the extreme of no elements: that of the node's own dtype is meant.
_OF_NONE: Final[Mapping[str, str]] = {"Max": "min", "Min": "max"}
_BYTES: Final = frozenset({"int8", "uint8"})


@translates("All", "Any", kernels=frozenset({"bool"}))
@translates("EuclideanNorm", kernels=FLOATS)
@translates("Max", "Min", kernels=WIDE | _BYTES)
@translates("Mean", "Prod", "Sum", kernels=WIDE)
def _reduce(call: Call) -> str:
    x, _ = call.names
    axes = call.integers(1)
    if not axes:  # the default of ONNX is all axes, that of TensorFlow none
        return call.emit("Abs" if call.op == "EuclideanNorm" else "Identity", x)
    keep = int(call.attrs["keep_dims"])
    value = call.emit(_REDUCTIONS[call.op], x, call.constant(axes), keepdims=keep)
    if call.own == call.dtype or call.own not in INTEGERS or call.op not in _OF_NONE:
        return value
    limit = getattr(np.iinfo(call.own), _OF_NONE[call.op])
    return call.emit(call.op, value, call.constant(limit, call.dtype))


@translates("L2Loss", kernels=FLOATS)
def _l2_loss(call: Call) -> str:
    (x,) = call.names
    total = call.emit("ReduceSum", call.emit("Mul", x, x), keepdims=0)
    return call.emit("Mul", total, call.constant(0.5, call.dtype))


@translates("ArgMax", "ArgMin", kernels=WIDE | _BYTES)
def _arg(call: Call) -> str:
    (axis,) = call.integers(1)
    index = call.emit(call.op, call.names[0], axis=axis, keepdims=0)
    return call.cast(index, call.attrs["output_type"])


@translates("Cumsum", kernels=WIDE)
def _cumsum(call: Call) -> str:
    return _running(call, "CumSum")


@translates("Cumprod", kernels=WIDE)
def _cumprod(call: Call) -> str:
    return _running(call, "CumProd")


def _running(call: Call, op: str) -> str:
    (axis,) = call.integers(1)
    flags = {name: int(call.attrs[name]) for name in ("exclusive", "reverse")}
    return call.emit(op, call.names[0], call.constant(axis), **flags)


@translates("TopKV2", kernels=WIDE | {"int8", "int16", "uint8"})
def _top_k(call: Call) -> list[str]:
    count = call.constant(call.integers(1))
    values, indices = call.graph.emit(
        "TopK", call.names[0], count, outputs=2, sorted=int(call.attrs["sorted"])
    )
    return [values, call.cast(indices, call.attrs["index_type"])]
