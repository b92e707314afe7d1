"""Universal functions with the loops that cupy has, and only the methods that its ones have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from sessrun.adapters.fakes.simulated_gpu import indexing
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, converted
from sessrun.adapters.fakes.simulated_gpu.launches import DeviceArray, compute

__all__ = ["Ufunc"]

_KEYWORDS = {"out", "dtype", "casting", "where"}


@functools.cache
def _dtype_of(char: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if char == "E" else char)


@functools.cache
def _loops(text: str) -> tuple[tuple[tuple[np.dtype[Any], ...], tuple[np.dtype[Any], ...]], ...]:
    """Dtypes of inputs and outputs of each loop, in cupy's order."""
    loops = []
    for loop in text.split():
        ins, _, outs = loop.partition("->")
        loops.append((tuple(map(_dtype_of, ins)), tuple(map(_dtype_of, outs))))
    return tuple(loops)


class Ufunc:
    """A universal function.

    Args:
      name: its name in cupy.
      function: numpy's or scipy's function of the same name.
      entry: what the description has of it.

    """

    def __init__(self, name: str, function: Callable[..., Any], entry: Mapping[str, Any]) -> None:
        self.__name__ = self.name = name
        self.nin: int = entry["nin"]
        self.nout: int = entry["nout"]
        self.nargs = self.nin + self.nout
        self.types: list[str] = entry["loops"].split()
        self._function = function
        self._loops = _loops(entry["loops"])
        self._methods: Sequence[str] = entry["methods"]
        self._at: Sequence[str] = entry.get("at", ())
        self._chosen: dict[Any, tuple[np.dtype[Any], ...]] = {}

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.name}'>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute for each element."""
        if not kwargs.keys() <= _KEYWORDS or kwargs.get("where") is True:
            raise TypeError(f"Wrong arguments {kwargs}")
        if len(args) not in {self.nin, self.nargs}:
            raise TypeError(
                f"Wrong number of arguments for {self!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        outs = args[self.nin :] or _outputs(kwargs.get("out"))
        ins = args[: self.nin]
        dtype, where = kwargs.get("dtype"), kwargs.get("where")
        wanted = self._loop(ins, None if dtype is None else check_dtype(dtype))
        if not outs and where is None:
            return compute(self.name, functools.partial(self._run, wanted, dtype), ins, {})
        return self._into(ins, outs, where, kwargs.get("casting", "same_kind"), wanted, dtype)

    def _run(self, wanted: Sequence[np.dtype[Any]], dtype: Any, *low: Any) -> Any:
        if dtype is not None:
            low = tuple(np.asarray(it).astype(wanted[i], copy=False) for i, it in enumerate(low))
        result = self._function(*low)
        outs = wanted[self.nin :]
        if self.nout > 1:
            return tuple(_cast(it, to) for it, to in zip(result, outs, strict=True))
        return _cast(result, outs[0])

    def _into(
        self,
        ins: Sequence[Any],
        outs: Sequence[Any],
        where: Any,
        casting: str,
        wanted: Sequence[np.dtype[Any]],
        dtype: Any,
    ) -> Any:
        for out, loop_dtype in zip(outs, wanted[self.nin :], strict=False):
            if not isinstance(out, DeviceArray):
                raise TypeError("Output arguments type must be cupy.ndarray")
            if not np.can_cast(loop_dtype, out.host.dtype, casting):  # type: ignore[arg-type]
                raise TypeError(
                    f"output (typecode '{loop_dtype.char}') could not be coerced to provided "
                    f"output parameter (typecode '{out.host.dtype.char}') according to the "
                    f'casting rule "{casting}"'
                )
        mask = where if isinstance(where, DeviceArray) else None

        def write(low_outs: list[Any], low_mask: Any, *low: Any) -> Any:
            results = self._run(wanted, dtype, *low)
            results = results if self.nout > 1 else (results,)
            if not low_outs:  # of masked ones nobody knows what the rest has
                low_outs = [np.empty(it.shape, it.dtype) for it in map(np.asarray, results)]
            for out, result in zip(low_outs, results, strict=False):
                if np.broadcast_shapes(out.shape, np.shape(result)) != out.shape:
                    raise ValueError("Out shape is mismatched")
                value = converted(np.asarray(result), out.dtype)
                np.copyto(out, value, where=True if low_mask is None else low_mask)
            return low_outs[0] if len(low_outs) == 1 else tuple(low_outs)

        return compute(self.name, write, ([*outs], mask, *ins), {}, writes=outs)

    def _loop(self, ins: Sequence[Any], dtype: Any) -> tuple[np.dtype[Any], ...]:
        """Dtypes of inputs and outputs of the first loop that takes these arguments.

        Raises:
          TypeError: an argument is neither a device array nor a number, or there is no such loop.

        """
        key = (*map(_key, ins), dtype)
        loop = self._chosen.get(key)
        if loop is None:
            loop = self._chosen[key] = self._choose(ins, dtype)
        return loop

    def _choose(self, ins: Sequence[Any], dtype: Any) -> tuple[np.dtype[Any], ...]:
        if dtype is not None:
            for loop, outs in self._loops:
                if outs[0] == dtype:
                    return (*loop, *outs)
        else:
            kinds = _strong(ins)
            for loop, outs in self._loops:
                if all(map(np.can_cast, kinds, loop)):
                    return (*loop, *outs)
        raise TypeError(
            f"Wrong type ({', '.join(map(str, map(_key, ins)))}) of arguments for cupy_{self.name}"
        )

    def at(self, array: Any, indices: Any, value: Any = None) -> None:
        """Combine values into the array at the indices.

        Raises:
          NotImplementedError: cupy has none for this function.
          TypeError: cupy has none for the array's dtype.

        """
        if not self._at:
            raise NotImplementedError(f"`cupy_{self.name}.at` is not supported yet")
        if array.dtype.name not in self._at:
            raise TypeError(f"cupy.{self.name}.at only supports {', '.join(self._at)} as data type")
        _key(value)
        indexing.scattered(array, indices, value, self._function, f"{self.name}.at")

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Reduce along axes: cupy has it of `add` and `multiply`."""
        self._check_method("reduce")
        reduced = getattr(self._function, "reduce")  # noqa: B009 - of a ufunc, by its type a function
        return _folded(f"{self.name}.reduce", reduced, array, axis, dtype, out, keepdims=keepdims)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Accumulate along an axis: cupy has it of `add` and `multiply`."""
        self._check_method("accumulate")
        accumulated = getattr(self._function, "accumulate")  # noqa: B009 - as above
        return _folded(f"{self.name}.accumulate", accumulated, array, axis, dtype, out)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Reduce slices: cupy has it of `add`."""
        self._check_method("reduceat")
        reduced: Any = self._function
        return compute(
            f"{self.name}.reduceat",
            lambda a, i: reduced.reduceat(a, i, axis, dtype),
            (array, indices),
            {},
        )

    def outer(self, first: Any, second: Any, **kwargs: Any) -> Any:
        """All pairs."""
        shape = (*first.shape, *(1,) * second.ndim)
        return self(first.reshape(shape), second, **kwargs)

    def _check_method(self, method: str) -> None:
        if method not in self._methods:
            raise NotImplementedError(f"`cupy_{self.name}.{method}` is not supported yet")


def _folded(
    name: str, function: Any, array: Any, axis: Any, dtype: Any, out: Any, **more: Any
) -> Any:
    if not isinstance(array, DeviceArray):
        raise TypeError(f"Unsupported type {type(array)}")

    def run(low: Any) -> Any:
        return function(low, axis=axis, dtype=dtype, **more)

    if out is None:
        return compute(name, run, (array,), {})

    def write(into: np.ndarray, low: Any) -> Any:
        into[...] = run(low)
        return into

    return compute(name, write, (out, array), {}, writes=[out])


def _outputs(out: Any) -> tuple[Any, ...]:
    if out is None:
        return ()
    return out if isinstance(out, tuple) else (out,)


def _key(value: Any) -> Any:
    """What a loop is chosen by: a dtype, or the type of a Python number, which adapts.

    Raises:
      TypeError: cupy takes no such argument.

    """
    if isinstance(value, DeviceArray):
        return value.host.dtype
    if isinstance(value, np.generic) and not isinstance(value, np.character | np.object_):
        return value.dtype
    if isinstance(value, bool | int | float | complex):
        return type(value) if not isinstance(value, bool) else np.dtype(bool)
    raise TypeError(f"Unsupported type {type(value)}")


def _strong(ins: Sequence[Any]) -> list[np.dtype[Any]]:
    """The dtypes of arguments, Python's numbers adapted to the arrays'."""
    keys = [_key(value) for value in ins]
    strong = [key for key in keys if isinstance(key, np.dtype)]
    plain: dict[type, Any] = {int: 0, float: 0.0, complex: 0j}
    if not strong:
        return [np.result_type(plain[key]) for key in keys]
    common = np.result_type(*strong)
    return [
        key if isinstance(key, np.dtype) else np.result_type(common, plain[key]) for key in keys
    ]


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    array = np.asarray(value)
    return array if array.dtype == dtype else array.astype(dtype)
