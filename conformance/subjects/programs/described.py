"""Values, tensors, operations and errors as plain data that can be compared.

Values keep their dtype and shape, tensors and operations their name, type and static shape, an
error its public classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator
from typing import Any, Final, TypeVar

import numpy as np
from google.protobuf.message import Message

from sessrun.conformance.subjects.programs.program import Action, Plain
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Session, Tensor, Value
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

Built = TypeVar("Built")

#: Names that end with a counter of the process.
_NUMBERED: Final = re.compile(r"\b(pyfunc_)\d+\b")

#: The hash of a function's body, which makes its name unique.
_RANDOM: Final = re.compile(r"_[A-Za-z0-9]{11}\b")

#: The classes of `tf.errors`.
_ERRORS: Final = {row.cls for row in BY_CODE.values()}


def raised(error: BaseException) -> Raised:
    """An error as its public classes, the most derived first, and its code."""
    classes = [kind.__name__ for kind in type(error).__mro__ if _is_public(kind)]
    code = getattr(error, "error_code", None)
    names = tuple(classes) or (type(error).__name__,)
    return Raised(names, code if isinstance(code, int) else None)


def _is_public(kind: type) -> bool:
    """Whether the class is of `tf.errors`, or a built-in subclass of `Exception`."""
    if kind in {Exception, BaseException, object}:
        return False
    return kind.__module__ == "builtins" or kind.__name__ in _ERRORS


def attempt(*functions: Action) -> list[Plain]:
    """The results of the calls in order, each as `caught` gives it."""
    return [caught(function) for function in functions]


def caught(function: Action) -> Plain:
    """What a call returns, described, or the error that it raises."""
    try:
        return described(function())
    except Exception as error:  # noqa: BLE001 - any error is a result to compare
        return raised(error)


def on_a_cpu(tf: Namespace, build: Callable[[], Built]) -> Built:
    """What `build` builds on a CPU: a GPU does not report an index out of range."""
    with tf.device("/cpu:0"):
        return build()


def without_gpus(tf: Namespace, cpus: int = 1, **options: Plain) -> Session:
    """A session that has CPUs only, for a program whose result names devices."""
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": cpus, "GPU": 0}, **options))


def run(tf: Namespace, fetches: Fetches, feed_dict: Feeds = None, **options: Message) -> Value:
    """Run in a new session of the default graph."""
    with tf.Session() as session:
        return session.run(fetches, feed_dict, **options)


def described(value: object) -> Plain:
    """A value as plain data: everything that is compared between backends."""
    if isinstance(value, str):
        return _NUMBERED.sub(r"\1N", value)
    if isinstance(value, Raised | np.ndarray | np.generic | bool | int | str | bytes | None):
        return value
    if isinstance(value, float | complex):
        return np.asarray(value)[()]  # compared with a tolerance, as the values of a run are
    if isinstance(value, Message):
        return described(" ".join(sorted(str(value).split())))
    if isinstance(value, Mapping):
        items = sorted((str(key), described(item)) for key, item in value.items())
        return [type(value).__name__, *([key, item] for key, item in items)]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(described, value)]
    return _of_the_api(value)


def tensor_described(tensor: Tensor) -> list[str]:
    """A tensor by its name, dtype and static shape."""
    return [_RANDOM.sub(r"_N", tensor.name), tensor.dtype.name, str(tensor.shape)]


def _of_the_api(value: Any) -> Plain:
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
    if isinstance(value, ContextDecorator):  # scopes: of which class is not the program's concern
        return "a context that also decorates"
    return f"a {kind.lstrip('_')}"
