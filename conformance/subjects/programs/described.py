"""What a program returns, or raises, as plain data: values, tensors, operations, errors.

Values keep their dtype and shape, tensors and operations their name, type and static shape, an
error the public classes that it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from google.protobuf.message import Message

from sessrun.spec.cases.values import Raised
from sessrun.spec.errors import BY_CODE

__all__ = [
    "Raised",
    "attempt",
    "caught",
    "described",
    "on_a_cpu",
    "raised",
    "run",
    "tensor_described",
    "without_gpus",
]

#: Names that count what the process has made so far.
_NUMBERED: Final = re.compile(r"\b(pyfunc_)\d+\b")

#: What a function's name is given to be its own: a hash of its body.
_RANDOM: Final = re.compile(r"_[A-Za-z0-9]{11}\b")

#: The classes of `tf.errors`.
_ERRORS: Final = {row.cls for row in BY_CODE.values()}


def raised(error: BaseException) -> Raised:
    """An error by its public classes, the nearest first, and its code."""
    classes = [kind.__name__ for kind in type(error).__mro__ if _is_public(kind)]
    code = getattr(error, "error_code", None)
    names = tuple(classes) or (type(error).__name__,)
    return Raised(names, code if isinstance(code, int) else None)


def _is_public(kind: type) -> bool:
    """Whether a program names it: a built-in, the most general ones aside, or of `tf.errors`."""
    if kind in {Exception, BaseException, object}:
        return False
    return kind.__module__ == "builtins" or kind.__name__ in _ERRORS


def attempt(*functions: Callable[[], Any]) -> list[Any]:
    """What each call returns or raises, in order."""
    return [caught(function) for function in functions]


def caught(function: Callable[[], Any]) -> Any:
    """What a call returns or raises."""
    try:
        return described(function())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is compared
        return raised(error)


def on_a_cpu(tf: Any, build: Callable[[], Any]) -> Any:
    """What is built on a CPU: an index out of range is an error there, and none on a GPU."""
    with tf.device("/cpu:0"):
        return build()


def without_gpus(tf: Any, cpus: int = 1, **options: Any) -> Any:
    """A session that has CPUs only, for a program that tells of devices."""
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": cpus, "GPU": 0}, **options))


def run(tf: Any, fetches: Any, feed_dict: Any = None, **options: Any) -> Any:
    """Run in a new session of the default graph."""
    with tf.Session() as session:
        return session.run(fetches, feed_dict, **options)


def described(value: Any) -> Any:
    """Plain data that says all that is compared of a value."""
    if isinstance(value, str):
        return _NUMBERED.sub(r"\1N", value)
    if isinstance(value, Raised | np.ndarray | np.generic | bool | int | str | bytes | None):
        return value
    if isinstance(value, float | complex):
        return np.asarray(value)[()]  # compared like what a run returns, not digit by digit
    if isinstance(value, Message):
        return described(" ".join(sorted(str(value).split())))
    if isinstance(value, Mapping):
        items = sorted((str(key), described(item)) for key, item in value.items())
        return [type(value).__name__, *([key, item] for key, item in items)]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(described, value)]
    return _of_the_api(value)


def tensor_described(tensor: Any) -> list[str]:
    """A tensor by its name, dtype and static shape."""
    return [_RANDOM.sub(r"_N", tensor.name), tensor.dtype.name, str(tensor.shape)]


def _of_the_api(value: Any) -> Any:
    kind = type(value).__name__
    if kind in {"Tensor", "SymbolicTensor"}:
        return [
            "Tensor",
            value.name,
            value.op.type,
            value.dtype.name,
            str(value.shape),
            value.device,
        ]
    if kind == "Operation":
        waits = sorted(op.name for op in value.control_inputs)
        inputs = [tensor.name for tensor in value.inputs]
        return ["Operation", value.name, value.type, inputs, waits, value.device]
    if kind in {"DType", "TensorShape", "Dimension", "DeviceSpec", "DeviceSpecV1"}:
        return [kind.removesuffix("V1"), str(value)]
    if kind in {"SparseTensor", "IndexedSlices"}:
        return [
            kind,
            *(
                described(getattr(value, part, None))
                for part in ("values", "indices", "dense_shape")
            ),
        ]
    return f"a {kind.lstrip('_')}"
