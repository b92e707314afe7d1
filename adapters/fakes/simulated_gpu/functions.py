"""Functions of arrays: numpy's underneath, with cupy's signatures, refusals and launches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import devices
from sessrun.adapters.fakes.simulated_gpu.description import parameters
from sessrun.adapters.fakes.simulated_gpu.device_values import converted
from sessrun.adapters.fakes.simulated_gpu.host_values import HostFunction, HostValue
from sessrun.adapters.fakes.simulated_gpu.launches import alike, compute, lowered_in
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Value

__all__ = ["function", "linear_algebra"]

#: Parameters that are numbers of the host, alone or in lists and arrays.
_OF_THE_HOST: Final = frozenset(
    {
        "shape",
        "newshape",
        "axis",
        "axes",
        "axis1",
        "axis2",
        "reps",
        "pad_width",
        "repeats",
        "kth",
        "indices_or_sections",
        "shift",
        "k",
        "n",
        "s",
        "source",
        "destination",
        "start",
        "stop",
        "num",
        "weights_shape",
        "offset",
        "decimals",
        "q",
        "bins",
        "range",
        "size",
        "dims",
    }
)
#: Parameters that are device arrays, alone or in lists: of a scalar of numpy's cupy would ask for
#: numpy's own method, or refuse it.
_OF_THE_DEVICE: Final = frozenset({"a", "arr", "array", "m", "tup", "x"})
#: Functions that wait on their own: the size of their result, or what they do, is in the data.
_WAITING: Final = frozenset(
    {
        "nonzero",
        "flatnonzero",
        "argwhere",
        "unique",
        "extract",
        "compress",
        "bincount",
        "repeat",
        "union1d",
        "intersect1d",
        "setdiff1d",
        "delete",
        "histogram",
        "array_equal",
        "in1d",
    }
)
#: Kernels of a function that is more than one; of what is not here there is one.
_LAUNCHES: Final[Mapping[str, int]] = {
    "argsort": 3, "sort": 2, "lexsort": 3, "unique": 6, "nonzero": 3, "flatnonzero": 3,
    "argwhere": 4, "var": 3, "std": 4, "einsum": 3, "pad": 2, "linspace": 2, "isin": 4,
    "bincount": 3, "roll": 2, "partition": 2, "take_along_axis": 2, "logaddexp": 1,
    "searchsorted": 1, "count_nonzero": 1,
}  # fmt: skip


def function(
    module: str, name: str, signature: str, numpy_function: HostFunction
) -> Callable[..., Value]:
    """A function of the simulated module: checked arguments, then numpy's function.

    Args:
      module: the module it is in.
      name: its name there.
      signature: cupy's own, as the description has it.
      numpy_function: what computes, by the same parameters.

    """
    known = parameters(signature)
    full = f"{module}.{name}"
    is_linear = module == "cupy.linalg"

    @functools.wraps(numpy_function)
    def call(*args: Value, **kwargs: Value) -> Value:
        known.check(name, args, kwargs)
        _refuse_host(full, known.positional, args, kwargs)
        if name in _WAITING:
            devices.wait(machine().stream, hidden=True, name=full)
        out = kwargs.pop("out", None)
        kwargs = {key: value for key, value in kwargs.items() if key != "blocking"}
        if name == "repeat" and not _is_number(args, kwargs):
            raise ValueError("repeats must be a host number or list of them")
        counted = _counted(name, args)
        run = linear_algebra(numpy_function) if is_linear else _of_arrays(name, numpy_function)
        if out is None:
            return compute(full, run, args, kwargs, launches=counted)
        if not isinstance(out, DeviceArray):
            raise TypeError(f"Argument 'out' has incorrect type, got {type(out).__name__}")

        def write(into: np.ndarray, *low: HostValue, **named: HostValue) -> np.ndarray:
            into[...] = converted(np.asarray(run(*low, **named)), into.dtype)
            return into

        return compute(full, write, (out, *args), kwargs, writes=[out], launches=counted)

    call.__name__ = name
    return call


def _is_number(args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    repeats = args[1] if len(args) > 1 else kwargs.get("repeats")
    return not isinstance(repeats, np.ndarray)


def _refuse_host(
    name: str, positional: tuple[str, ...], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    """Refuse arrays of the host; a list of numbers is none where numbers of the host belong.

    Raises:
      TypeError: there is one, or a device array is where the host needs a number.

    """
    for index, value in enumerate(args):
        parameter = positional[min(index, len(positional) - 1)] if positional else ""
        _refuse_argument(name, parameter, value)
    for key, value in kwargs.items():
        _refuse_argument(name, key, value)


def _refuse_argument(name: str, parameter: str, value: Value) -> None:
    if parameter in _OF_THE_HOST:
        if isinstance(value, DeviceArray) and parameter not in {"start", "stop", "q", "bins"}:
            raise TypeError(f"{name}: {parameter!r} is a number of the host, not a device array")
        return
    refused = (np.ndarray, np.generic) if parameter in _OF_THE_DEVICE else np.ndarray
    if isinstance(value, refused):
        raise TypeError(f"Unsupported type {type(value)} (argument {parameter!r} of {name})")
    if isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, refused):
                raise TypeError(f"Unsupported type {type(item)} (in {parameter!r} of {name})")


def _counted(name: str, args: Sequence[Value]) -> int:
    if name in {"concatenate", "stack", "hstack", "vstack", "dstack"}:
        return max(1, len(lowered_in(args[:1], {})))
    return _LAUNCHES.get(name, 1)


@functools.cache
def _of_arrays(name: str, numpy_function: HostFunction) -> HostFunction:
    """Numpy's function where its results are not to be told from cupy's by dtype."""
    if name in {"argmax", "argmin", "argsort", "searchsorted", "nonzero", "count_nonzero"}:
        return lambda *args, **kwargs: _arrayed(numpy_function(*args, **kwargs))
    if name == "partition":  # cupy sorts all of it
        return lambda a, kth, axis=-1: np.sort(a, axis)
    return numpy_function


def _arrayed(result: HostValue) -> HostValue:
    return np.asarray(result) if isinstance(result, int | np.generic) else result


def linear_algebra(numpy_function: HostFunction) -> HostFunction:
    """A function of linear algebra that does not raise of numbers: its results are NaN then.

    cupy looks at what the solver says only within `cupyx.errstate(linalg="raise")`.
    """

    def call(*low: HostValue, **named: HostValue) -> HostValue:
        for matrix in low:
            if isinstance(matrix, np.ndarray) and matrix.dtype.name in {"float16", "bfloat16"}:
                raise TypeError(f"{matrix.dtype.name} is unsupported in linalg")
        if numpy_function is np.linalg.solve:
            _check_solved(*map(np.asarray, low))
        raises = machine().local.linalg == "raise"
        if raises:
            devices.wait(machine().stream, hidden=True, name="a look at the solver's status")
        try:
            return numpy_function(*low, **named)
        except np.linalg.LinAlgError:
            first = np.asarray(low[0])
            if raises or first.ndim < 2 or first.shape[-1] != first.shape[-2]:
                raise
            regular = np.broadcast_to(np.eye(first.shape[-1], dtype=first.dtype), first.shape)
            return _unknown(numpy_function(regular, *low[1:], **named))

    return call


def _check_solved(a: np.ndarray, b: np.ndarray) -> None:
    """Refuse shapes that numpy would broadcast and cupy does not."""
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            "a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b"
        )


def _unknown(result: HostValue) -> HostValue:
    if isinstance(result, tuple):
        items = [_unknown(item) for item in result]
        return alike(result, items)
    array = np.asarray(result)
    return np.full(array.shape, np.nan, array.dtype) if array.dtype.kind in "fc" else array
