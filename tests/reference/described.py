"""How what a program returns, or raises, is written down, so that two namespaces can be compared.

Values keep their dtype and shape, tensors and operations their name, type and static shape, an
error the classes that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from google.protobuf.message import Message

from sessrun.spec.errors import BY_CODE

__all__ = ["Raised", "attempt", "described", "run"]

#: The classes of `tf.errors`.
_ERRORS = {row.cls for row in BY_CODE.values()}
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Raised:
    """An error, shown by the names of the public classes that it is, with its code if any."""

    def __init__(self, error: Exception) -> None:
        self.classes = [cls.__name__ for cls in type(error).__mro__ if _is_public(cls)]
        self.code = getattr(error, "error_code", None)
        self.text = str(error)

    def __repr__(self) -> str:
        return f"{self.classes[0]}({self.text[:200]})"


def _is_public(cls: type) -> bool:
    """Whether a program can name it: a built-in, or one of `tf.errors`."""
    return cls.__module__ == "builtins" or cls.__name__ in _ERRORS


def attempt(*functions: Callable[[], Any]) -> list[Any]:
    """What each call returns or raises, in order."""
    found: list[Any] = []
    for function in functions:
        try:
            found.append(described(function()))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is compared
            found.append(Raised(error))
    return found


def run(tf: Any, fetches: Any, feed_dict: Any = None, **options: Any) -> Any:
    """Run in a new session of the default graph."""
    with tf.Session() as session:
        return session.run(fetches, feed_dict, **options)


def described(value: Any) -> Any:
    """Plain data that says all that is compared of a value."""
    if isinstance(value, Raised):
        return value
    if isinstance(value, np.ndarray):
        return ["ndarray", str(value.dtype), list(value.shape), _numbers(value)]
    if isinstance(value, np.generic):
        return ["scalar", str(value.dtype), _numbers(np.asarray(value))]
    if isinstance(value, _PLAIN):
        return value if isinstance(value, str | bytes | None) else [type(value).__name__, value]
    if isinstance(value, Message):
        return sorted(str(value).split())
    if isinstance(value, Mapping):
        return [type(value).__name__, {str(key): described(item) for key, item in value.items()}]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(described, value)]
    return _of_the_api(value)


def _of_the_api(value: Any) -> Any:
    kind = type(value).__name__
    if kind in {"Tensor", "SymbolicTensor"}:
        shape = str(value.shape)
        return ["Tensor", value.name, value.op.type, value.dtype.name, shape, value.device]
    if kind == "Operation":
        waits = sorted(op.name for op in value.control_inputs)
        inputs = [tensor.name for tensor in value.inputs]
        return ["Operation", value.name, value.type, inputs, waits, value.device]
    if kind in {"DType", "TensorShape", "Dimension", "DeviceSpec", "DeviceSpecV1"}:
        return [kind.removesuffix("V1"), str(value)]
    if kind in {"SparseTensor", "IndexedSlices"}:
        return [kind, *(described(getattr(value, part, None))
                        for part in ("values", "indices", "dense_shape"))]  # fmt: skip
    return f"a {kind}"


def _numbers(array: np.ndarray) -> Any:
    if array.dtype.kind == "f" or array.dtype.name.startswith(("bfloat", "float8")):
        return np.round(array.astype(np.float64), 5).tolist().__repr__()
    if array.dtype.kind == "c":
        return np.round(array.astype(np.complex128), 5).tolist().__repr__()
    return array.tolist()
