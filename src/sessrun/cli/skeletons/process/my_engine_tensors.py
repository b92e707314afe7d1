"""Tensors of the process protocol: in the line as base64, large ones in files."""

from __future__ import annotations

import base64
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Each dtype that this engine has, with the letter that `array.array` has for it.
DTYPES = {"float32": "f", "int32": "i"}
#: Protobuf's JSON mapping writes an enumeration by name or by number.
ENUMERATION = {"DT_FLOAT": "float32", 1: "float32", "DT_INT32": "int32", 3: "int32"}
#: What is larger travels in a file.
LINE_BYTES = 65536


class Failed(Exception):  # noqa: N818 - an answer on its way out
    """A call fails with one of the sixteen codes."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Declined(Exception):  # noqa: N818 - an answer on its way out
    """The engine does not offer this."""

    def __init__(self, capability: str, message: str = "") -> None:
        super().__init__(message)
        self.capability = capability


@dataclass(frozen=True)
class Tensor:
    """A tensor: `data` holds its elements in C order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def dtype_named(enumeration: Any) -> str:
    """The dtype that a graph names."""
    if enumeration not in ENUMERATION:
        raise Declined("dtype", str(enumeration))
    return ENUMERATION[enumeration]


class Folder:
    """The exchange folder, which holds what is too large for a line."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.numbers = itertools.count(1)

    def read(self, form: dict[str, Any]) -> Tensor:
        """The tensor of a form on the wire."""
        if form["dtype"] not in DTYPES:
            raise Declined("dtype", form["dtype"])
        in_line = "data" in form
        data = (
            base64.b64decode(form["data"]) if in_line else (self.path / form["file"]).read_bytes()
        )
        shape = tuple(form["shape"])
        if len(data) != 4 * math.prod(shape):
            raise Failed(3, f"{len(data)} bytes do not fill the shape {list(shape)}")
        return Tensor(form["dtype"], shape, data)

    def write(self, tensor: Tensor) -> dict[str, Any]:
        """The form of a tensor on the wire; the file is whole before the line that names it."""
        form: dict[str, Any] = {"dtype": tensor.dtype, "shape": list(tensor.shape)}
        if len(tensor.data) <= LINE_BYTES:
            return {**form, "data": base64.b64encode(tensor.data).decode()}
        name = f"my_engine-{next(self.numbers)}"
        (self.path / name).write_bytes(tensor.data)
        return {**form, "file": name, "nbytes": len(tensor.data)}
