"""Drawn values that replace given ones: of the same dtype, shape, sign and kind.

Zeros, infinities and NaN stay, what was equal stays equal and what differed differs, a number and
its negative stay so; so ties, bounds, keys and symmetries that a vector is about are kept.
"""

from __future__ import annotations

import base64
import math
import random
import string
from typing import Any, Final, Literal

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.cases.graph_forms import TensorForm
from sessrun.spec.dtypes import BY_NAME, DTYPES, DTypeRow, row_of_numpy
from sessrun.spec.forms import JsonObject

__all__ = ["Numbers", "kind_of", "row_of_proto"]

#: A float becomes one that is smaller, by at most half, in steps of 2**-16.
_STEPS: Final = 1 << 16
#: An integer moves by less than this.
_FURTHEST: Final = 100
#: How often another integer is drawn where one has been taken.
_TRIALS: Final = 50
_ALPHABETS: Final = tuple(
    text.encode() for text in (string.ascii_lowercase, string.ascii_uppercase, string.digits)
)

#: The members of a TensorForm that hold floats, and those that hold integers.
_FLOATS: Final[tuple[Literal["floatVal", "doubleVal", "scomplexVal", "dcomplexVal"], ...]] = (
    "floatVal",
    "doubleVal",
    "scomplexVal",
    "dcomplexVal",
)
_INTEGERS: Final[tuple[Literal["intVal", "int64Val", "uint32Val", "uint64Val"], ...]] = (
    "intVal",
    "int64Val",
    "uint32Val",
    "uint64Val",
)
#: The dtypes as a GraphDef in JSON names them.
_BY_PROTO_NAME: Final = {f"DT_{row.opdef.upper()}": row for row in DTYPES} | {
    row.enum: row for row in DTYPES
}


class Numbers:
    """The replacement of each value of a case, drawn when the value first occurs."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._factors: dict[float, float] = {}
        self._moves: dict[tuple[int, int], int] = {}
        self._texts: dict[bytes, bytes] = {}

    def number(self, value: float) -> float:
        """Another float of the same sign; equal magnitudes stay equal."""
        if not math.isfinite(value) or value == 0:
            return value
        size = abs(value)
        if size not in self._factors:
            self._factors[size] = 1 - self._draw.randrange(1, _STEPS // 2) / _STEPS
        return value * self._factors[size]

    def integer(self, value: int, most: int) -> int:
        """Another integer of the same sign, at most `most` in magnitude."""
        size = abs(value)
        if size == 0 or size > most:
            return value
        if (size, most) not in self._moves:
            self._moves[size, most] = self._moved(size, most)
        return self._moves[size, most] * (1 if value > 0 else -1)

    def _moved(self, size: int, most: int) -> int:
        """A magnitude that replaces no other one; the same magnitude if hardly any is left."""
        down, up = min(_FURTHEST, size - 1), min(_FURTHEST, most - size)
        taken = {moved for (_, bound), moved in self._moves.items() if bound == most}
        moved = size
        for _ in range(_TRIALS):
            far = self._draw.randrange((down if size > most // 2 else up) + 1)
            moved = size - far if size > most // 2 else size + far
            if moved not in taken:
                break
        return moved

    def text(self, value: bytes) -> bytes:
        """Another text of the same length, with letters for letters and digits for digits."""
        if value not in self._texts:
            taken = set(self._texts.values())
            for _ in range(8):
                new = bytes(map(self._character, value))
                if new not in taken:
                    break
            else:  # too short for so many
                new = value
            self._texts[value] = new
        return self._texts[value]

    def _character(self, code: int) -> int:
        for alphabet in _ALPHABETS:
            if code in alphabet:
                return self._draw.choice(alphabet)
        return code

    def array(self, array: np.ndarray) -> np.ndarray:
        """Another array of the same dtype and shape; the array itself if its dtype never varies."""
        flat = array.reshape(-1)
        if array.dtype.kind == "O":
            new = np.empty(flat.shape, dtype=object)
            new[:] = [self.text(item) for item in flat]
        elif array.dtype.kind in "iu" and array.dtype.names is None:
            most = int(np.iinfo(array.dtype).max)
            new = np.array([self.integer(int(item), most) for item in flat], dtype=array.dtype)
        elif array.dtype.kind == "c":
            parts = [complex(self.number(float(x.real)), self.number(float(x.imag))) for x in flat]
            new = np.array(parts, dtype=array.dtype)
        elif array.dtype.kind == "f" or _is_small_float(array.dtype):
            values = [self.number(float(item)) for item in flat]
            new = np.array(values, dtype=np.float64).astype(array.dtype)
        else:
            return array
        return new.reshape(array.shape)

    def tensor(self, form: JsonObject) -> JsonObject:
        """Another tensor `{dtype, shape, data}`."""
        return tensors.encode(self.array(tensors.decode(form)))

    def constant(self, form: TensorForm) -> TensorForm:
        """Another TensorProto in JSON, with the same members as the given one."""
        row = row_of_proto(form)
        if row is None or row.numpy is None or row.kind in {"bool", "quantized"}:
            return form
        new = form.copy()
        raw = base64.b64decode(form.get("tensorContent", ""))
        if raw and len(raw) % row.itemsize == 0:  # else it is ill-formed, and stays so
            array = np.frombuffer(raw, np.dtype(row.numpy))
            new["tensorContent"] = base64.b64encode(self.array(array).tobytes()).decode()
        for key in _FLOATS:
            if key in form:
                new[key] = [self._written_float(item, row) for item in form[key]]
        for name in _INTEGERS:
            if name in form:
                most = int(np.iinfo(row.numpy).max) if row.kind in {"int", "uint"} else 0
                new[name] = [type(item)(self.integer(int(item), most)) for item in form[name]]
        if "halfVal" in form:
            bits = np.array(form["halfVal"], np.uint16).view(row.numpy)
            new["halfVal"] = self.array(bits).view(np.uint16).tolist()
        if "stringVal" in form:
            texts = (self.text(base64.b64decode(item)) for item in form["stringVal"])
            new["stringVal"] = [base64.b64encode(text).decode() for text in texts]
        return new

    def _written_float(self, item: float | str, row: DTypeRow) -> float | str:
        """A number as JSON has it: infinities and NaN are strings."""
        value = self.number(float(item))
        if not math.isfinite(value):
            return item
        return value if row.name in {"float64", "complex128"} else float(np.float32(value))


def row_of_proto(form: TensorForm) -> DTypeRow | None:
    """The dtype of a TensorProto in JSON."""
    return _BY_PROTO_NAME.get(form.get("dtype", 0))


def kind_of(dtype: str) -> str:
    """float, complex, int, uint, string, bool, … of a dtype by its name in cases."""
    row = BY_NAME.get(dtype)
    return "" if row is None else row.kind


def _is_small_float(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is one of ml_dtypes' floats."""
    row = row_of_numpy(dtype)
    return row is not None and row.kind == "float"
