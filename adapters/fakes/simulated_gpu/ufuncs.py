"""Universal functions with the loops that cupy has, and only the methods that its ones have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import ml_dtypes
import numpy as np

from sessrun.adapters.fakes.simulated_gpu import indexing
from sessrun.adapters.fakes.simulated_gpu.description import UfuncEntry
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, converted
from sessrun.adapters.fakes.simulated_gpu.host_values import (
    Axis,
    Casting,
    DType,
    DTypeLike,
    HostFunction,
    HostValue,
)
from sessrun.adapters.fakes.simulated_gpu.launches import compute, compute_array
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Index, Value

__all__ = ["Ufunc"]

#: The key by which a loop is chosen: a dtype, or the type of a Python number.
LoopKey: TypeAlias = DType | type[int | float | complex]

_ZEROS: Final[Mapping[type, complex]] = {int: 0, float: 0.0, complex: 0j}


@functools.cache
def _dtype_of(char: str) -> DType:
    return np.dtype(ml_dtypes.bfloat16 if char == "E" else char)


@functools.cache
def _loops(text: str) -> tuple[tuple[tuple[DType, ...], tuple[DType, ...]], ...]:
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

    def __init__(self, name: str, function: HostFunction, entry: UfuncEntry) -> None:
        self.__name__ = self.name = name
        self.nin: int = entry["nin"]
        self.nout: int = entry["nout"]
        self.nargs = self.nin + self.nout
        self.types: list[str] = entry["loops"].split()
        self._function = function
        self._loops = _loops(entry["loops"])
        self._methods: Sequence[str] = entry["methods"]
        self._at: Sequence[str] = entry.get("at", ())
        self._chosen: dict[tuple[LoopKey | None, ...], tuple[DType, ...]] = {}

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.name}'>"

    def __call__(
        self,
        *args: Value,
        out: Value = None,
        dtype: DTypeLike | None = None,
        casting: Casting = "same_kind",
        where: DeviceArray | Literal[True] | None = None,
        **others: Value,
    ) -> Value:
        """Compute for each element."""
        if others or where is True:
            raise TypeError(f"Wrong arguments {others or {'where': where}}")
        if len(args) not in {self.nin, self.nargs}:
            raise TypeError(
                f"Wrong number of arguments for {self!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        outs = args[self.nin :] or _outputs(out)
        ins = args[: self.nin]
        loop = self._loop(ins, None if dtype is None else check_dtype(dtype))
        run = functools.partial(self._run, loop, casts=dtype is not None)
        if not outs and where is None:
            return compute(self.name, lambda *low: _unpacked(run(*low)), ins, {})
        return self._into(ins, self._checked(outs, loop, casting), where, run)

    def _run(self, loop: Sequence[DType], *low: HostValue, casts: bool) -> tuple[np.ndarray, ...]:
        """The results in the dtypes of a loop, to which the inputs are cast first if wanted."""
        if casts:
            low = tuple(np.asarray(it).astype(loop[i], copy=False) for i, it in enumerate(low))
        result = self._function(*low)
        results = result if isinstance(result, tuple) else (result,)
        return tuple(_cast(it, to) for it, to in zip(results, loop[self.nin :], strict=True))

    def _checked(
        self, outs: Sequence[Value], loop: Sequence[DType], casting: Casting
    ) -> list[DeviceArray]:
        """The outputs, if they are device arrays to which the results of the loop can be cast."""
        arrays = []
        for out, dtype in zip(outs, loop[self.nin :], strict=False):
            if not isinstance(out, DeviceArray):
                raise TypeError("Output arguments type must be cupy.ndarray")
            if not np.can_cast(dtype, out.host.dtype, casting):
                raise TypeError(
                    f"output (typecode '{dtype.char}') could not be coerced to provided "
                    f"output parameter (typecode '{out.host.dtype.char}') according to the "
                    f'casting rule "{casting}"'
                )
            arrays.append(out)
        return arrays

    def _into(
        self,
        ins: Sequence[Value],
        outs: Sequence[DeviceArray],
        mask: DeviceArray | None,
        run: Callable[..., tuple[np.ndarray, ...]],
    ) -> Value:

        def write(
            low_outs: list[np.ndarray], low_mask: np.ndarray | None, *low: HostValue
        ) -> HostValue:
            results = run(*low)
            if not low_outs:  # the elements that are masked out are of any value
                low_outs = [np.empty(it.shape, it.dtype) for it in results]
            for out, result in zip(low_outs, results, strict=False):
                if np.broadcast_shapes(out.shape, result.shape) != out.shape:
                    raise ValueError("Out shape is mismatched")
                value = converted(result, out.dtype)
                np.copyto(out, value, where=True if low_mask is None else low_mask)
            return _unpacked(tuple(low_outs))

        return compute(self.name, write, ([*outs], mask, *ins), {}, writes=outs)

    def _loop(self, ins: Sequence[Value], dtype: DType | None) -> tuple[DType, ...]:
        """Dtypes of inputs and outputs of the first loop that takes these arguments.

        Raises:
          TypeError: an argument is neither a device array nor a number, or there is no such loop.

        """
        key = (*map(_key, ins), dtype)
        loop = self._chosen.get(key)
        if loop is None:
            loop = self._chosen[key] = self._choose(ins, dtype)
        return loop

    def _choose(self, ins: Sequence[Value], dtype: DType | None) -> tuple[DType, ...]:
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

    def at(self, array: DeviceArray, indices: Index, value: Value = None) -> None:
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
        combine = getattr(self._function, "at")  # noqa: B009 - of a ufunc, by its type a function
        indexing.scattered(array, indices, value, combine, f"{self.name}.at")

    def reduce(
        self,
        array: DeviceArray,
        axis: Axis = 0,
        dtype: DTypeLike | None = None,
        out: DeviceArray | None = None,
        keepdims: bool = False,
    ) -> DeviceArray:
        """Reduce along axes: cupy has it of `add` and `multiply`."""
        self._check_method("reduce")
        reduced = getattr(self._function, "reduce")  # noqa: B009 - as above
        return _folded(f"{self.name}.reduce", reduced, array, axis, dtype, out, keepdims=keepdims)

    def accumulate(
        self,
        array: DeviceArray,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Accumulate along an axis: cupy has it of `add` and `multiply`."""
        self._check_method("accumulate")
        accumulated = getattr(self._function, "accumulate")  # noqa: B009 - as above
        return _folded(f"{self.name}.accumulate", accumulated, array, axis, dtype, out)

    def reduceat(
        self,
        array: DeviceArray,
        indices: DeviceArray,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Reduce slices: cupy has it of `add`."""
        self._check_method("reduceat")
        reduced = getattr(self._function, "reduceat")  # noqa: B009 - as above
        return compute_array(
            f"{self.name}.reduceat", lambda a, i: reduced(a, i, axis, dtype), (array, indices)
        )

    def outer(self, first: DeviceArray, second: DeviceArray, **kwargs: Any) -> Value:
        """All pairs."""
        shape = (*first.shape, *(1,) * second.ndim)
        column = compute_array("reshape", lambda low: low.reshape(shape), (first,))
        return self(column, second, **kwargs)

    def _check_method(self, method: str) -> None:
        if method not in self._methods:
            raise NotImplementedError(f"`cupy_{self.name}.{method}` is not supported yet")


def _folded(
    name: str,
    function: Callable[..., np.ndarray],
    array: Value,
    axis: Axis,
    dtype: DTypeLike | None,
    out: DeviceArray | None,
    **more: bool,
) -> DeviceArray:
    if not isinstance(array, DeviceArray):
        raise TypeError(f"Unsupported type {type(array)}")

    def run(low: np.ndarray) -> np.ndarray:
        return function(low, axis=axis, dtype=dtype, **more)

    if out is None:
        return compute_array(name, run, (array,))

    def write(into: np.ndarray, low: np.ndarray) -> np.ndarray:
        into[...] = run(low)
        return into

    return compute_array(name, write, (out, array), writes=[out])


def _unpacked(results: tuple[np.ndarray, ...]) -> np.ndarray | tuple[np.ndarray, ...]:
    return results[0] if len(results) == 1 else results


def _outputs(out: Value) -> tuple[Value, ...]:
    if out is None:
        return ()
    return out if isinstance(out, tuple) else (out,)


def _key(value: Value) -> LoopKey:
    """The key by which a loop is chosen: a dtype, or the type of a Python number, which adapts.

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


def _strong(ins: Sequence[Value]) -> list[DType]:
    """The dtypes of arguments, Python's numbers adapted to the arrays'."""
    keys = [_key(value) for value in ins]
    strong = [key for key in keys if isinstance(key, np.dtype)]
    if not strong:
        return [np.result_type(_ZEROS[key]) for key in keys if not isinstance(key, np.dtype)]
    common = np.result_type(*strong)
    return [
        key if isinstance(key, np.dtype) else np.result_type(common, _ZEROS[key]) for key in keys
    ]


def _cast(value: HostValue, dtype: DType) -> np.ndarray:
    array = np.asarray(value)
    return array if array.dtype == dtype else array.astype(dtype)
