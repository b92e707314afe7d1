"""A stand-in for a GPU's array module: numpy underneath, but as strict as cupy.

Its arrays refuse numpy's functions and every implicit conversion, arithmetic with host arrays and
being read element by element; ufuncs have only the methods that cupy's have.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from sessrun.reference.kernels.scientific import MODULES

__all__ = ["StandIn", "StandInArray", "host", "stood_in", "uploaded"]

MODULES["stand_in"] = "stand_in_special"

#: What cupy's ufuncs have: `at` of these, `reduce` and `accumulate` of add and multiply.
_AT = {"add", "subtract", "maximum", "minimum"}
_FOLDS = {"add", "multiply"}
#: Functions that make device arrays of host data: the one explicit way up.
_UPLOADS = {"asarray", "array", "frombuffer"}


def _down(value: Any, upload: bool = False) -> Any:
    if isinstance(value, StandInArray):
        return value.data
    if isinstance(value, np.ndarray) and not upload:
        raise TypeError("a host array is mixed with device arrays")
    if isinstance(value, list | tuple):
        return type(value)(_down(item, upload) for item in value)
    if isinstance(value, dict):
        return {key: _down(item, upload) for key, item in value.items()}
    return value


def uploaded(value: Any) -> Any:
    """The device's form of what numpy computed."""
    if isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.dtype):
        return StandInArray(np.asarray(value))
    if isinstance(value, list | tuple):
        # A result of linear algebra is a named tuple, which a plain one stands for.
        return (list if isinstance(value, list) else tuple)(uploaded(item) for item in value)
    return value


def host(value: Any) -> Any:
    """A copy in host memory, the one explicit way down."""
    return value.data.copy() if isinstance(value, StandInArray) else value


class StandInArray:
    """An array of the stand-in module."""

    __array_ufunc__ = None

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    T = property(lambda self: StandInArray(self.data.T))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to a numpy array")

    def __array_function__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a numpy function on a device array")

    def __bool__(self) -> bool:
        return bool(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Any:
        raise TypeError("iteration over a device array")

    def __getitem__(self, key: Any) -> Any:
        return uploaded(self.data[_down(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[_down(key)] = _down(value)


def _method(name: str) -> Any:
    def call(self: StandInArray, *args: Any, **kwargs: Any) -> Any:
        return uploaded(getattr(self.data, name)(*_down(args), **_down(kwargs)))

    return call


def _operator(function: Any, reflected: bool) -> Any:
    def call(self: StandInArray, *others: Any) -> Any:
        operands = (self.data, *map(_down, others))
        return uploaded(function(*(operands[::-1] if reflected else operands)))

    return call


for _name in ("astype", "copy", "reshape", "transpose", "view"):
    setattr(StandInArray, _name, _method(_name))
for _name in ("add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift",
              "sub", "truediv", "xor"):  # fmt: skip
    _function = getattr(operator, f"__{_name}__")
    setattr(StandInArray, f"__{_name}__", _operator(_function, reflected=False))
    setattr(StandInArray, f"__r{_name}__", _operator(_function, reflected=True))
def _in_place(function: Any) -> Any:
    def call(self: StandInArray, other: Any) -> Any:
        function(self.data, _down(other))  # numpy changes the array itself, as cupy does
        return self

    return call


for _name in ("iadd", "imul", "isub", "itruediv"):
    setattr(StandInArray, f"__{_name}__", _in_place(getattr(operator, f"__{_name}__")))
for _name in ("eq", "ge", "gt", "invert", "le", "lt", "ne", "neg"):
    setattr(StandInArray, f"__{_name}__", _operator(getattr(operator, f"__{_name}__"), False))
StandInArray.__hash__ = None  # type: ignore[assignment]  # as arrays have it


class _Function:
    """A function of the module: its arguments taken down, its results put up."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self._name = function, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        upload = self._name in _UPLOADS
        result = self._function(*_down(args, upload), **_down(kwargs, upload))
        return result if self._name in {"iinfo", "finfo"} else uploaded(result)

    def __getattr__(self, method: str) -> Any:
        if (method == "at" and self._name in _AT) or (
            method in {"reduce", "accumulate"} and self._name in _FOLDS
        ):
            return _Function(getattr(self._function, method), f"{self._name}.{method}")
        raise AttributeError(f"cupy.{self._name} has no method {method}")


def stood_in(function: Any, name: str) -> Any:
    """A function of arrays, for the stand-in's arrays."""
    return _Function(function, name)


class _Generator:
    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        return _Function(getattr(self._generator, name), name)


class _Random:
    default_rng = _Generator


class _Part:
    """A module within the module: its functions."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return _Function(getattr(self._part, name), name)


class StandIn:
    """The module."""

    __name__ = "stand_in"
    fft = _Part(np.fft)
    inf = np.inf
    linalg = _Part(np.linalg)
    random = _Random

    def __getattr__(self, name: str) -> Any:
        return _Function(getattr(np, name), name)
