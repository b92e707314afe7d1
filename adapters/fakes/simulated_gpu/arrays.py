"""The class of device arrays, with the attributes and methods that cupy's has and no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Never

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import devices, indexing, memory, transfers
from sessrun.adapters.fakes.simulated_gpu.description import description, parameters
from sessrun.adapters.fakes.simulated_gpu.device_values import check_dtype, converted, poisoned
from sessrun.adapters.fakes.simulated_gpu.host_values import (
    Axis,
    Casting,
    DTypeLike,
    HostValue,
    Number,
    OnStream,
    Order,
    ShapeLike,
)
from sessrun.adapters.fakes.simulated_gpu.launches import compute, compute_array, new_block
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.values import (
    ARRAY_CLASS,
    DeviceArray,
    Index,
    Indices,
    Value,
)

__all__ = ["FUNCTIONS", "Flags", "empty", "host_shape", "ndarray"]

#: The functions of the module by name, which operators and methods call; filled by `modules`.
FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {}


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


def empty(shape: ShapeLike, dtype: DTypeLike = float, order: str = "C") -> DeviceArray:
    """A new array of poison: what uninitialised memory may hold."""
    view = poisoned(host_shape(shape), check_dtype(dtype), "F" if order == "F" else "C")
    return DeviceArray.over(*new_block(view))


def host_shape(shape: ShapeLike) -> tuple[int, ...]:
    """A shape that is given by numbers of the host.

    Raises:
      TypeError: it is given by a device array.

    """
    if isinstance(shape, DeviceArray):
        raise TypeError("only host numbers make a shape, not a device array")
    if isinstance(shape, Sequence | np.ndarray):
        return tuple(item.__index__() for item in shape)
    return (shape.__index__(),)


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
        shape: ShapeLike,
        dtype: DTypeLike = float,
        memptr: memory.MemoryPointer | None = None,
        strides: tuple[int, ...] | None = None,
        order: str = "C",
    ) -> Any:
        """An array over new memory, or over that of a pointer."""
        if memptr is None:
            return empty(shape, dtype, order)
        dtype = check_dtype(dtype)
        if strides is None and order == "F":
            strides = np.empty(host_shape(shape), dtype, "F").strides
        return cls.over(memptr.view(host_shape(shape), dtype, strides), memptr.mem)

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
    def base(self) -> DeviceArray | None:
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
    def __cuda_array_interface__(self) -> dict[str, object]:
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

    def _part(self, name: str) -> DeviceArray:
        if name == "imag" and self.host.dtype.kind != "c":
            zeros = FUNCTIONS["zeros_like"](self)
            assert isinstance(zeros, DeviceArray)
            return zeros
        return self.over(getattr(self.host, name), self.block)

    def _set_part(self, name: str, value: Value) -> None:
        indexing.set_item(self._part(name), Ellipsis, value)

    def __array__(self, dtype: DTypeLike | None = None, **_: object) -> Never:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Value, **kwargs: Value) -> Any:
        function = FUNCTIONS.get(ufunc.__name__)
        if method != "__call__" or function is None:
            return NotImplemented
        outs = kwargs.get("out")
        if isinstance(outs, tuple):
            (kwargs["out"],) = outs
        return function(*inputs, **kwargs)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Sequence[type],
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
    ) -> Any:
        dispatched = FUNCTIONS.get(function.__name__)
        if dispatched is None or not all(issubclass(it, DeviceArray) for it in types):
            return NotImplemented
        return dispatched(*args, **kwargs)

    def _single(self, name: str) -> np.ndarray:
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

    def __iter__(self) -> Iterator[DeviceArray]:
        if not self.host.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self.host)))

    def __repr__(self) -> str:
        return repr(self._single("repr"))

    def __str__(self) -> str:
        return str(self._single("str"))

    def __format__(self, text: str) -> str:
        return format(self._single("format"), text)

    def item(self) -> Number:
        """The one element as a Python number; waits."""
        if self.host.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        number: Number = self._single("item").item()
        return number

    def tolist(self) -> HostValue:
        """Python numbers; waits."""
        numbers: HostValue = self._single("tolist").tolist()
        return numbers

    def tobytes(self, order: Order = "C") -> bytes:
        """The bytes; waits."""
        return bytes(self._single("tobytes").tobytes(order))

    def get(
        self,
        stream: OnStream | None = None,
        order: Order = "C",
        out: np.ndarray | None = None,
        blocking: bool = True,
    ) -> np.ndarray:
        """A copy in host memory."""
        return transfers.download(self, stream, order, out, blocking)

    def set(self, arr: np.ndarray, stream: OnStream | None = None) -> None:
        """Copy a host array into it."""
        transfers.set_array(self, arr, stream)

    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: Casting | None = None,
        subok: bool | None = None,
        copy: bool = True,
    ) -> DeviceArray:
        """A copy with another dtype, converted as a GPU does; itself if nothing is to do."""
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        dtype = check_dtype(dtype)
        if not copy and dtype == self.host.dtype and order in {"K", "A"}:
            return self
        return compute_array("astype", lambda low: converted(low, dtype, order), (self,))

    def copy(self, order: Order = "C") -> DeviceArray:
        """A copy on the current device."""
        if self.block.device is not machine().device:
            return transfers.peer_copy(self, order)
        return compute_array("copy", lambda low: np.array(low, order=order), (self,))

    def __copy__(self) -> DeviceArray:
        return self.copy()

    def __deepcopy__(self, memo: object) -> DeviceArray:
        with self.device:
            return self.copy()

    def fill(self, value: Value) -> None:
        """Fill it with one value of the host or the device."""
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        plain = value.item() if isinstance(value, np.ndarray) else value
        indexing.set_item(self, Ellipsis, plain)

    def view(self, dtype: DTypeLike | None = None, type: type | None = None) -> DeviceArray:  # noqa: A002 - numpy's name
        """The same bytes, as another dtype if one is given."""
        if dtype is None:
            return self.over(self.host, self.block)
        return self.over(self.host.view(check_dtype(dtype)), self.block)

    def reshape(self, *shape: Any, order: Order = "C", copy: bool | None = None) -> DeviceArray:
        """The same elements in another shape: a view where the layout allows it."""
        sizes = (
            host_shape(shape[0]) if len(shape) == 1 else tuple(size.__index__() for size in shape)
        )
        if order not in {"C", "F", "A"}:
            raise ValueError("order not understood")
        if -1 not in sizes and math.prod(sizes) != self.host.size:
            raise ValueError(f"cannot reshape array of size {self.host.size} into shape {sizes}")
        return compute_array("reshape", lambda low: low.reshape(sizes, order=order), (self,))

    def nonzero(self) -> Value:
        """The indices of elements that are not 0; waits for their number."""
        return FUNCTIONS["nonzero"](self)

    def take(
        self, indices: Indices, axis: int | None = None, out: DeviceArray | None = None
    ) -> DeviceArray:
        """Elements by indices, which wrap around."""
        return indexing.take(self, indices, axis, out)

    def put(self, indices: Indices, values: Value, mode: str = "wrap") -> None:
        """Write elements by indices of the flat array."""
        indexing.put(self, indices, values, mode)

    def scatter_add(self, slices: Index, value: Value) -> None:
        """Add at indices, duplicates too."""
        FUNCTIONS["add"].at(self, slices, value)  # type: ignore[attr-defined]

    def scatter_max(self, slices: Index, value: Value) -> None:
        """The larger ones at indices."""
        FUNCTIONS["maximum"].at(self, slices, value)  # type: ignore[attr-defined]

    def scatter_min(self, slices: Index, value: Value) -> None:
        """The smaller ones at indices."""
        FUNCTIONS["minimum"].at(self, slices, value)  # type: ignore[attr-defined]

    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Sort in place."""
        compute("sort", lambda low: low.sort(axis), (self,), {}, writes=[self], returns=False)

    def partition(self, kth: int | tuple[int, ...], axis: int = -1) -> None:
        """Partition in place; cupy sorts."""
        compute("partition", lambda low: low.sort(axis), (self,), {}, writes=[self], returns=False)

    __getitem__ = indexing.get_item
    __setitem__ = indexing.set_item


ARRAY_CLASS[0] = ndarray


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Value]:
    def call(self: ndarray, *others: Value) -> Value:
        if others and not isinstance(others[0], DeviceArray | int | float | complex | np.generic):
            _refuse(others[0], name)
        return FUNCTIONS[name](*((*others, self) if reflected else (self, *others)))

    return call


def _refuse(other: Value, name: str) -> None:
    if name == "matmul":
        raise TypeError(f"Argument 'b' has incorrect type (expected cupy.ndarray, got {other!r})")
    raise TypeError(f"Unsupported type {type(other)}")


def _compared(name: str) -> Callable[[ndarray, Value], Value]:
    def call(self: ndarray, other: Value) -> Value:
        # cupy itself takes host arrays without dimensions here.
        if isinstance(other, np.ndarray) and not other.ndim:
            other = other.item()
        return FUNCTIONS[name](self, other)

    return call


def _in_place_operator(name: str) -> Callable[[ndarray, Value], Value]:
    def call(self: ndarray, other: Value) -> Value:
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


def _method(name: str, signature: str) -> Callable[..., Value]:
    known = parameters(signature)

    def call(self: ndarray, *args: Value, **kwargs: Value) -> Value:
        known.check(name, args, kwargs)
        return FUNCTIONS[name](self, *args, **kwargs)

    return call


def _transposed(self: ndarray, *axes: Axis) -> Value:
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return FUNCTIONS["transpose"](self, order)


def _not_simulated(name: str) -> Callable[..., Never]:
    def call(self: ndarray, *_: object, **__: object) -> Never:
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
