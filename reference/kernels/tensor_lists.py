"""Kernels of lists of tensors: the handle is the list itself, a value."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import (
    HOST,
    dtype_of,
    frozen,
    full,
    in_memory_of,
    ints,
    scalar_int,
    stacked,
)
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.kernels.tensor_list import Shape, TensorList, merged, shape_of

__all__: list[str] = []

_HANDLE: Final = ("input_handle",)


def _list(value: Any, dtype: str = "") -> TensorList:
    """The list behind a handle; InvalidArgument for one of another dtype, if a dtype is given."""
    if not isinstance(value, TensorList):
        raise InvalidArgument("Input handle is not a list.")
    if dtype:
        value.check(dtype, "op elements")
    return value


def _shape(value: Any) -> Shape:
    """A shape given as an array: a scalar -1 for none, -1 for sizes that are not known."""
    if not value.ndim:
        if int(value) != -1:
            raise InvalidArgument(
                "The only valid scalar shape tensor is the fully unknown shape specified as -1."
            )
        return None
    return tuple(None if size < 0 else size for size in ints(value))


def _check_vector(value: Any) -> None:
    if not shape_of(value):
        raise InvalidArgument("Tensor must be at least a vector, but saw shape: []")


def _sized(shape: Shape, what: str) -> tuple[int, ...]:
    """A shape whose sizes are all known."""
    if shape is None or None in shape:
        raise InvalidArgument(f"{what}: {bracketed(shape)}")
    return tuple(size for size in shape if size is not None)


@binder(
    "EmptyTensorList", host_inputs=("element_shape", "max_num_elements"), host_outputs=("handle",)
)
def empty(bind: Bind) -> Callable[..., Any]:
    """No elements."""
    dtype = bind.attrs["element_dtype"]
    return lambda shape, limit: TensorList(dtype, _shape(shape), (), scalar_int(limit))


@binder(
    "TensorListReserve", host_inputs=("element_shape", "num_elements"), host_outputs=("handle",)
)
def reserve(bind: Bind) -> Callable[..., Any]:
    """Elements that are not there yet."""
    dtype = bind.attrs["element_dtype"]

    def compute(shape: Any, count: Any) -> TensorList:
        if count.ndim:
            raise InvalidArgument(
                f"The num_elements to reserve must be a tensor size 1, but got {count.size}"
            )
        number = scalar_int(count)
        if number < 0:
            raise InvalidArgument(
                f"The num_elements to reserve must be a non negative number, but got {number}"
            )
        return TensorList(dtype, _shape(shape), (None,) * number)

    return compute


@binder("TensorListFromTensor", host_inputs=("element_shape",), host_outputs=("output_handle",))
def from_tensor(bind: Bind) -> Callable[..., Any]:
    """The rows of a tensor."""
    dtype = bind.attrs["element_dtype"]

    def compute(value: Any, shape: Any) -> TensorList:
        _check_vector(value)
        found = TensorList(dtype, _shape(shape))
        found.fitting(value.shape[1:], "create")
        return found.with_elements(list(frozen(value[...])))

    return compute


@binder("TensorListPushBack", host_inputs=_HANDLE, host_outputs=("output_handle",))
def push(bind: Bind) -> Callable[..., Any]:
    """One more element."""
    dtype = bind.attrs["element_dtype"]

    def compute(handle: Any, value: Any) -> TensorList:
        source = _list(handle, dtype)
        source.fitting(shape_of(value), "append")
        if 0 <= source.limit <= len(source.elements):
            raise InvalidArgument(
                f"Tried to push item into a full list list size: {len(source.elements)} "
                f"max_num_elements: {source.limit}"
            )
        return source.with_elements((*source.elements, value))

    return compute


def _zeros(bind: Bind, source: TensorList, known: Shape, *, guess: bool) -> Any:
    """Zeros where an element is not there; `guess`: in the shape of the elements that are."""
    if guess and (known is None or None in known):
        known = _agreeing(known, source.elements)
    sizes = _sized(
        known, "Trying to read an uninitialized tensor but element_shape is not fully defined"
    )
    return frozen(_filled(bind, sizes, source.dtype))


def _filled(bind: Bind, sizes: Sequence[int], dtype: str) -> Any:
    if dtype == "string":
        return full(bind.xp, sizes, b"", dtype_of(dtype))
    return bind.xp.zeros(sizes, dtype_of(dtype))


def _agreeing(shape: Shape, elements: Sequence[Any]) -> Shape:
    """What a shape and all elements that are there say together."""
    for found in dict.fromkeys(shape_of(each) for each in elements if each is not None):
        shape = merged(shape, found)
    return shape


@binder(
    "TensorListPopBack",
    host_inputs=("input_handle", "element_shape"),
    host_outputs=("output_handle",),
)
def pop(bind: Bind) -> Callable[..., Any]:
    """The last element, and the rest."""
    dtype = bind.attrs["element_dtype"]

    def compute(handle: Any, shape: Any) -> Any:
        source = _list(handle, dtype)
        if not source.elements:
            raise InvalidArgument("Trying to pop from an empty list.")
        value = source.elements[-1]
        if value is None:
            value = _zeros(bind, source, merged(source.shape, _shape(shape)), guess=False)
        return source.with_elements(source.elements[:-1]), in_memory_of(bind.xp, value)

    return compute


@binder("TensorListLength", host_inputs=_HANDLE, host_outputs=("length",))
def length(bind: Bind) -> Callable[..., Any]:
    """How many elements."""
    del bind
    return lambda handle: HOST.int32(len(_list(handle).elements))


@binder("TensorListElementShape", host_inputs=_HANDLE, host_outputs=("element_shape",))
def element_shape(bind: Bind) -> Callable[..., Any]:
    """The shape of the elements."""
    dtype = dtype_of(bind.attrs["shape_type"])

    def compute(handle: Any) -> Any:
        shape = _list(handle).shape
        sizes = -1 if shape is None else [-1 if size is None else size for size in shape]
        return HOST.asarray(sizes, dtype=dtype)

    return compute


@binder("TensorListGetItem", host_inputs=("input_handle", "index", "element_shape"))
def get(bind: Bind) -> Callable[..., Any]:
    """One element."""
    dtype = bind.attrs["element_dtype"]

    def compute(handle: Any, index: Any, shape: Any) -> Any:
        source = _list(handle, dtype)
        found = source.elements[source.place(scalar_int(index))]
        if found is None:
            return _zeros(bind, source, merged(source.shape, _shape(shape)), guess=True)
        return in_memory_of(bind.xp, found)

    return compute


@binder("TensorListSetItem", host_inputs=("input_handle", "index"), host_outputs=("output_handle",))
def put(bind: Bind) -> Callable[..., Any]:
    """Another element at a place."""
    dtype, grows = bind.attrs["element_dtype"], bind.attrs["resize_if_index_out_of_bounds"]

    def compute(handle: Any, index: Any, value: Any) -> TensorList:
        source, number = _list(handle), scalar_int(index)
        source.check(dtype, "op elements")
        elements = list(source.elements)
        if number < 0:
            raise InvalidArgument(
                f"Trying to modify element {number} in a list, but the index must be non-negative."
            )
        if grows:
            elements += [None] * (number + 1 - len(elements))
        source.with_elements(elements).place(number, "modify")
        source.fitting(shape_of(value), "set")
        elements[number] = value
        return source.with_elements(elements)

    return compute


@binder("TensorListResize", host_inputs=("input_handle", "size"), host_outputs=("output_handle",))
def resize(_: Bind) -> Callable[..., Any]:
    """Fewer elements, or more that are not there."""

    def compute(handle: Any, size: Any) -> TensorList:
        source, count = _list(handle), scalar_int(size)
        if count < 0:
            raise InvalidArgument(f"TensorListSlice expects size to be non-negative. Got: {count}")
        more = (None,) * (count - len(source.elements))
        return source.with_elements((*source.elements[:count], *more))

    return compute


def _packed(bind: Bind, source: TensorList, places: Sequence[int], shape: Shape, doing: str) -> Any:
    """Elements along a new first axis."""
    known = merged(source.shape, shape)
    vague = "with non-fully-defined element_shape"
    if not places:
        sizes = _sized(known, f"Tried to {doing} elements of an empty list {vague}")
        return bind.xp.empty((0, *sizes), dtype_of(source.dtype))
    picked = [source.elements[place] for place in places]
    sizes = _sized(
        _agreeing(known, picked), f"Tried to {doing} uninitialized tensors from a list {vague}"
    )
    if any(each is None for each in picked):
        zeros = _filled(bind, sizes, source.dtype)
        picked = [zeros if each is None else each for each in picked]
    picked = [in_memory_of(bind.xp, element) for element in picked]
    if source.dtype == "variant":
        return bind.xp.stack(picked)
    if source.dtype == "string" and not sizes:  # bytes, or arrays of them
        row = bind.xp.empty(len(picked), dtype_of("string"))
        for place, each in enumerate(picked):
            row[place] = each if isinstance(each, bytes) else each[()]
        return row
    return stacked(bind.xp, picked)


@binder("TensorListStack", host_inputs=("input_handle", "element_shape"))
def stack(bind: Bind) -> Callable[..., Any]:
    """All elements."""
    dtype, count = bind.attrs["element_dtype"], int(bind.attrs["num_elements"])

    def compute(handle: Any, shape: Any) -> Any:
        source = _list(handle, dtype)
        found = len(source.elements)
        if count not in {-1, found}:
            raise InvalidArgument(
                f"Operation expected a list with {count} elements but got a list with "
                f"{found} elements."
            )
        return _packed(bind, source, range(found), _shape(shape), "stack")

    return compute


@binder("TensorListGather", host_inputs=("input_handle", "indices", "element_shape"))
def gather(bind: Bind) -> Callable[..., Any]:
    """The elements at some places."""
    dtype = bind.attrs["element_dtype"]

    def compute(handle: Any, indices: Any, shape: Any) -> Any:
        source = _list(handle, dtype)
        places = [source.place(each, "gather") for each in ints(indices)]
        return _packed(bind, source, places, _shape(shape), "gather")

    return compute


@binder(
    "TensorListScatter",
    "TensorListScatterV2",
    host_inputs=("indices", "element_shape", "num_elements"),
    host_outputs=("output_handle",),
)
def scatter(bind: Bind) -> Callable[..., Any]:
    """The rows of a tensor at some places."""
    dtype = bind.attrs["element_dtype"]

    def compute(value: Any, indices: Any, shape: Any, count: Any = None) -> TensorList:
        found, places = TensorList(dtype, _shape(shape)), ints(indices)
        most = -1 if count is None else scalar_int(count)
        if most < -1:
            raise InvalidArgument(f"TensorListScatter expects num_elements >= -1, found: {most}")
        _check_places(places, value)
        found.fitting(value.shape[1:], "scatter")
        longest = max(places, default=-1) + 1
        if -1 < most < longest:
            raise InvalidArgument(
                f"TensorListScatter: Trying to scatter at index {longest - 1} in list "
                f"with size {most}"
            )
        elements: list[Any] = [None] * max(most, longest)
        for place, row in zip(places, value, strict=True):
            elements[place] = frozen(row)
        return found.with_elements(elements)

    return compute


def _check_places(places: Sequence[int], value: Any) -> None:
    _check_vector(value)
    if len(places) != len(value):
        raise InvalidArgument(
            f"Invalid number of rows in input tensor. Expected: {len(places)} Actual: {len(value)}"
        )
    if min(places, default=0) < 0:
        raise InvalidArgument("Indices in TensorListScatter must all be non-negative.")


@binder(
    "TensorListScatterIntoExistingList",
    host_inputs=("input_handle", "indices"),
    host_outputs=("output_handle",),
)
def scatter_into(bind: Bind) -> Callable[..., Any]:
    """The rows of a tensor at some places of a list."""
    dtype = bind.attrs["element_dtype"]

    def compute(handle: Any, value: Any, indices: Any) -> TensorList:
        source, places = _list(handle), ints(indices)
        source.check(dtype, "op elements")
        _check_places(places, value)
        source.fitting(value.shape[1:], "scatter")
        elements = [*source.elements]
        elements += [None] * (max((place + 1 for place in places), default=0) - len(elements))
        for place, row in zip(places, value, strict=True):
            elements[place] = frozen(row)
        return source.with_elements(elements)

    return compute


@binder(
    "TensorListConcat",
    "TensorListConcatV2",
    host_inputs=("input_handle", "element_shape", "leading_dims"),
    host_outputs=("lengths",),
)
def concat(bind: Bind) -> Callable[..., Any]:
    """The elements behind one another, and their sizes."""
    xp, dtype, declared = bind.xp, bind.attrs["element_dtype"], bind.attrs.get("element_shape")

    def compute(handle: Any, shape: Any = None, leading: Any = None) -> Any:
        source = _list(handle, dtype)
        # The older form does not ask the list for the shape of its elements.
        known = declared if shape is None else merged(source.shape, _shape(shape))
        if known == ():
            raise InvalidArgument(
                "Concat requires elements to be at least vectors, found scalars instead."
            )
        first, sizes = _joinable(source, known)
        asked = [] if leading is None else ints(leading)
        parts = []
        for place, element in enumerate(source.elements):
            part = element
            if part is None:
                count = asked[place] if place < len(asked) else first
                if count is None:
                    raise InvalidArgument(
                        f"List contains uninitialized tensor at index "
                        f"{place} whose length nothing tells"
                    )
                part = _filled(bind, (count, *sizes), dtype)
            parts.append(in_memory_of(xp, part))
        lengths = HOST.asarray([len(part) for part in parts], "int64")
        return xp.concatenate(parts) if parts else xp.empty((0, *sizes), dtype_of(dtype)), lengths

    return compute


def _joinable(source: TensorList, known: Shape) -> tuple[int | None, tuple[int, ...]]:
    """The length of an element that is not there, if anything tells it, and the other sizes."""
    first, rest = (None, None) if known is None else (known[0], known[1:])
    if not source.elements:
        return first, _sized(
            rest,
            "All except the first dimension must be fully defined when "
            "concating an empty tensor list",
        )
    there = dict.fromkeys(shape_of(each) for each in source.elements if each is not None)
    if source.shape is None or None in source.shape:
        for place, shape in enumerate(there):
            if not shape:
                raise InvalidArgument(
                    f"Concat saw a scalar shape at index {place} but requires at least vectors."
                )
            merged((first,), shape[:1])
            rest = merged(rest, shape[1:])
        lengths = {shape[0] for shape in there}
        if first is None and len(lengths) == 1:
            (first,) = lengths
    return first, _sized(
        rest,
        "Trying to concat list with only uninitialized tensors but "
        "element_shape_except_first_dim is not fully defined",
    )


@binder("TensorListConcatLists", host_inputs=("input_a", "input_b"), host_outputs=("output",))
def concat_lists(bind: Bind) -> Callable[..., Any]:
    """The elements of both."""
    dtype = bind.attrs["element_dtype"]

    def compute(one: Any, other: Any) -> TensorList:
        first, second = _list(one), _list(other)
        first.check(dtype, "op elements")
        second.check(dtype, "op elements")
        if first.shape != second.shape:
            raise InvalidArgument(
                "input_a and input_b TensorList element shapes are not identical at "
                f"index 0. Saw {bracketed(first.shape)} vs. {bracketed(second.shape)}"
            )
        return first.with_elements((*first.elements, *second.elements))

    return compute


@binder(
    "TensorListSplit", host_inputs=("element_shape", "lengths"), host_outputs=("output_handle",)
)
def split(bind: Bind) -> Callable[..., Any]:
    """Pieces of a tensor."""
    dtype = bind.attrs["element_dtype"]

    def compute(value: Any, shape: Any, lengths: Any) -> TensorList:
        found, sizes = TensorList(dtype, _shape(shape)), ints(lengths)
        _check_vector(value)
        if found.shape is not None:
            if not found.shape:
                raise InvalidArgument(
                    "TensorListSplit requires element_shape to be at least of rank 1, but saw: []"
                )
            merged(found.shape[1:], tuple(value.shape[1:]))
        if min(sizes, default=0) < 0 or sum(sizes) != len(value):
            raise InvalidArgument(
                "The values of lengths must be non-negative and sum up to the first "
                f"dimension of the tensor: {sizes}, {len(value)}"
            )
        kept, ends = frozen(value[...]), itertools.accumulate(sizes, initial=0)
        return found.with_elements([kept[begin:end] for begin, end in itertools.pairwise(ends)])

    return compute
