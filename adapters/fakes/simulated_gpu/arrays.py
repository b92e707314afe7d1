"""The class of device arrays, with the attributes and methods that cupy's has and no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import devices, indexing, memory, transfers
from sessrun.adapters.fakes.simulated_gpu.description import description, parameters
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, converted, poisoned
from sessrun.adapters.fakes.simulated_gpu.launches import (
    ARRAY_CLASS,
    DeviceArray,
    compute,
    new_block,
)
from sessrun.adapters.fakes.simulated_gpu.machine import machine

__all__ = ["FUNCTIONS", "Flags", "empty", "ndarray"]

#: The functions of the module by name, which operators and methods call; filled by `modules`.
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}


class Flags:
    """What cupy tells of an array's layout."""

    def __init__(self, array: ndarray) -> None:
        flags = array.host.flags
        self.c_contiguous = flags.c_contiguous
        self.f_contiguous = flags.f_contiguous
        self.owndata = array.host is array.block.root
        self.fnc = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name.lower()))


def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """A new array of poison: what uninitialised memory may hold."""
    view = poisoned(_shape(shape), check_dtype(dtype), order if order in {"C", "F"} else "C")
    return DeviceArray.over(*new_block(view))


def _shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, DeviceArray):
        raise TypeError("only host numbers make a shape, not a device array")
    if isinstance(shape, int | np.integer):
        return (int(shape),)
    return tuple(item.__index__() for item in shape)


class ndarray(DeviceArray):  # noqa: N801 - cupy's name
    """An array in the memory of a simulated device.

    Args:
      shape: its shape.
      dtype: its dtype.
      memptr: where its memory begins, or None for new memory of poison.
      strides: in bytes, or None for those of the order.
      order: `C` or `F`.

    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 100
    __hash__: Any = None

    def __new__(
        cls,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> Any:
        """An array over new memory, or over that of a pointer."""
        if memptr is None:
            return empty(shape, dtype, order)
        dtype = check_dtype(dtype)
        if strides is None and order == "F":
            strides = np.empty(_shape(shape), dtype, "F").strides
        return cls.over(memptr.view(_shape(shape), dtype, strides), memptr.mem)

    dtype = property(lambda self: self.host.dtype)
    shape = property(
        lambda self: self.host.shape, lambda self, shape: setattr(self.host, "shape", shape)
    )
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    itemsize = property(lambda self: self.host.itemsize)
    nbytes = property(lambda self: self.host.nbytes)
    strides = property(lambda self: self.host.strides)
    flags = property(Flags)
    flat = property(lambda self: iter(self.ravel()))
    T = property(lambda self: self.transpose())
    mT = property(lambda self: FUNCTIONS["swapaxes"](self, -1, -2))  # noqa: N815 - cupy's name
    real = property(lambda self: self._part("real"), lambda self, to: self._set_part("real", to))
    imag = property(lambda self: self._part("imag"), lambda self, to: self._set_part("imag", to))
    device = property(lambda self: devices.Device(self.block.device.index))

    @property
    def base(self) -> Any:
        """None for an array that has all of its memory, else something."""
        root = self.block.root
        return None if self.host is root else DeviceArray.over(self.block.memory(), self.block)

    @property
    def data(self) -> memory.MemoryPointer:
        """Where its memory begins."""
        return memory.MemoryPointer(self.block, self._address() - self.block.ptr)

    def _address(self) -> int:
        return int(self.host.__array_interface__["data"][0])

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Address, shape and layout, for other libraries."""
        view = self.host
        return {
            "shape": view.shape,
            "typestr": view.dtype.str,
            "descr": view.dtype.descr,
            "version": 3,
            "data": (self._address(), False),
            "stream": machine().stream.number or 1,
            "strides": None if view.flags.c_contiguous else view.strides,
        }

    def _part(self, name: str) -> Any:
        if name == "imag" and self.host.dtype.kind != "c":
            return FUNCTIONS["zeros_like"](self)
        return self.over(getattr(self.host, name), self.block)

    def _set_part(self, name: str, value: Any) -> None:
        self._part(name)[...] = value

    def __array__(self, dtype: Any = None, **_: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = FUNCTIONS.get(ufunc.__name__)
        if method != "__call__" or function is None:
            return NotImplemented
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        return function(*inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        dispatched = FUNCTIONS.get(function.__name__)
        if dispatched is None or not all(issubclass(it, DeviceArray) for it in types):
            return NotImplemented
        return dispatched(*args, **kwargs)

    def _single(self, name: str) -> Any:
        return transfers.hidden_read(self, name)

    def __bool__(self) -> bool:
        return bool(self._single("bool"))

    def __int__(self) -> int:
        return int(self._single("int"))

    def __float__(self) -> float:
        return float(self._single("float"))

    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    def __len__(self) -> int:
        if not self.host.ndim:
            raise TypeError("len() of unsized object")
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        if not self.host.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self.host)))

    def __repr__(self) -> str:
        return repr(self._single("repr"))

    def __str__(self) -> str:
        return str(self._single("str"))

    def __format__(self, text: str) -> str:
        return format(self._single("format"), text)

    def item(self) -> Any:
        """The one element as a Python number; waits."""
        if self.host.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._single("item").item()

    def tolist(self) -> Any:
        """Python numbers; waits."""
        return self._single("tolist").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes; waits."""
        return bytes(self._single("tobytes").tobytes(order))

    def get(
        self, stream: Any = None, order: Any = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """A copy in host memory."""
        return transfers.download(self, stream, order, out, blocking)

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copy a host array into it."""
        transfers.set_array(self, arr, stream)

    def astype(
        self,
        dtype: Any,
        order: Any = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> Any:
        """A copy with another dtype, converted as a GPU does; itself if nothing is to do."""
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        dtype = check_dtype(dtype)
        if not copy and dtype == self.host.dtype and order in {"K", "A"}:
            return self
        return compute("astype", lambda low: converted(low, dtype, order), (self,), {})

    def copy(self, order: Any = "C") -> Any:
        """A copy on the current device."""
        if self.block.device is not machine().device:
            return transfers.peer_copy(self, order)
        return compute("copy", lambda low: np.array(low, order=order), (self,), {})

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        with self.device:
            return self.copy()

    def fill(self, value: Any) -> None:
        """Fill it with one value of the host or the device."""
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        plain = value.item() if isinstance(value, np.ndarray) else value
        indexing.set_item(self, Ellipsis, plain)

    def view(self, dtype: Any = None, type: Any = None) -> Any:  # noqa: A002 - numpy's name
        """The same bytes, as another dtype if one is given."""
        if dtype is None:
            return self.over(self.host, self.block)
        return self.over(self.host.view(check_dtype(dtype)), self.block)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """The same elements in another shape: a view where the layout allows it."""
        wanted = shape[0] if len(shape) == 1 else shape
        if not isinstance(wanted, int | np.integer):
            wanted = tuple(item.__index__() for item in wanted)
        if order not in {"C", "F", "A"}:
            raise ValueError("order not understood")
        known = wanted if isinstance(wanted, tuple) else (int(wanted),)
        if -1 not in known and math.prod(known) != self.host.size:
            raise ValueError(f"cannot reshape array of size {self.host.size} into shape {known}")
        return compute("reshape", lambda low: low.reshape(wanted, order=order), (self,), {})

    def nonzero(self) -> Any:
        """The indices of what is not 0; waits for their number."""
        return FUNCTIONS["nonzero"](self)

    def take(self, indices: Any, axis: Any = None, out: Any = None) -> Any:
        """Elements by indices, which wrap around."""
        return indexing.take(self, indices, axis, out)

    def put(self, indices: Any, values: Any, mode: str = "wrap") -> None:
        """Write elements by indices of the flat array."""
        indexing.put(self, indices, values, mode)

    def scatter_add(self, slices: Any, value: Any) -> None:
        """Add at indices, duplicates too."""
        FUNCTIONS["add"].at(self, slices, value)  # type: ignore[attr-defined]

    def scatter_max(self, slices: Any, value: Any) -> None:
        """The larger ones at indices."""
        FUNCTIONS["maximum"].at(self, slices, value)  # type: ignore[attr-defined]

    def scatter_min(self, slices: Any, value: Any) -> None:
        """The smaller ones at indices."""
        FUNCTIONS["minimum"].at(self, slices, value)  # type: ignore[attr-defined]

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        compute("sort", lambda low: low.sort(axis), (self,), {}, writes=[self], returns=False)

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition in place; cupy sorts."""
        compute("partition", lambda low: low.sort(axis), (self,), {}, writes=[self], returns=False)

    __getitem__ = indexing.get_item
    __setitem__ = indexing.set_item


ARRAY_CLASS[0] = ndarray


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    def call(self: ndarray, *others: Any) -> Any:
        if others and not isinstance(others[0], DeviceArray | int | float | complex | np.generic):
            _refuse(others[0], name)
        return FUNCTIONS[name](*((*others, self) if reflected else (self, *others)))

    return call


def _refuse(other: Any, name: str) -> None:
    if name == "matmul":
        raise TypeError(f"Argument 'b' has incorrect type (expected cupy.ndarray, got {other!r})")
    raise TypeError(f"Unsupported type {type(other)}")


def _compared(name: str) -> Callable[..., Any]:
    def call(self: ndarray, other: Any) -> Any:
        # cupy itself takes host arrays without dimensions here.
        plain = isinstance(other, np.ndarray) and not other.ndim
        return FUNCTIONS[name](self, other.item() if plain else other)

    return call


def _in_place_operator(name: str) -> Callable[..., Any]:
    def call(self: ndarray, other: Any) -> Any:
        return FUNCTIONS[name](self, other, out=self)

    return call


#: Operators by the function that they call.
_OPERATORS: Final = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "matmul": "matmul",
    "divmod": "divmod",
}
for _short, _long in _OPERATORS.items():
    setattr(ndarray, f"__{_short}__", _operator(_long))
    setattr(ndarray, f"__r{_short}__", _operator(_long, reflected=True))
    if _short not in {"matmul", "divmod"}:
        setattr(ndarray, f"__i{_short}__", _in_place_operator(_long))
for _short, _long in {
    "neg": "negative",
    "invert": "invert",
    "abs": "absolute",
    "pos": "positive",
}.items():
    setattr(ndarray, f"__{_short}__", _operator(_long))
for _short, _long in {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}.items():
    setattr(ndarray, f"__{_short}__", _compared(_long))


def _method(name: str, signature: str) -> Callable[..., Any]:
    known = parameters(signature)

    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        known.check(name, args, kwargs)
        return FUNCTIONS[name](self, *args, **kwargs)

    return call


def _transposed(self: ndarray, *axes: Any) -> Any:
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return FUNCTIONS["transpose"](self, order)


def _not_simulated(name: str) -> Callable[..., Any]:
    def call(self: ndarray, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"the simulated GPU has no ndarray.{name}")

    return call


#: Methods that are functions of the module with the array before the other arguments.
_AS_FUNCTIONS: Final = (
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "ravel",
    "repeat",
    "round",
    "searchsorted",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "trace",
    "var",
)
_DESCRIBED: Final = description()["classes"]["cupy.ndarray"]
for _name in _AS_FUNCTIONS:
    setattr(ndarray, _name, _method(_name, _DESCRIBED[_name]))
ndarray.transpose = _transposed  # type: ignore[attr-defined]
ndarray.flatten = lambda self, order="C": self.ravel(order).copy()  # type: ignore[attr-defined]
for _name in _DESCRIBED:
    if not _name.startswith("_") and not hasattr(ndarray, _name):
        setattr(ndarray, _name, _not_simulated(_name))
