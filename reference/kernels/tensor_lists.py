"""Kernels of lists of tensors: a handle is the list itself, an immutable value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
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
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.tensor_list import Element, Shape, TensorList, merged, shape_of

_HANDLE: Final = ("input_handle",)


def _list(value: object, dtype: str = "") -> TensorList:
    """The list of a handle; raises InvalidArgument if it has another dtype than a given one."""
    if not isinstance(value, TensorList):
        raise InvalidArgument("Input handle is not a list.")
    if dtype:
        value.check(dtype, "op elements")
    return value


def _shape(value: Array) -> Shape:
    """A partially known shape from an array: -1 for unknown sizes, a scalar -1 for no rank."""
    if not value.ndim:
        if int(value) != -1:
            raise InvalidArgument(
                "The only valid scalar shape tensor is the fully unknown shape specified as -1."
            )
        return None
    return tuple(None if size < 0 else size for size in ints(value))


def _check_vector(value: Array) -> None:
    if not shape_of(value):
        raise InvalidArgument("The tensor of a list must be at least a vector, got shape []")


def _sized(shape: Shape, what: str) -> tuple[int, ...]:
    """The shape, which must be fully known."""
    if shape is None or None in shape:
        raise InvalidArgument(f"{what}: {bracketed(shape)}")
    return tuple(size for size in shape if size is not None)


@binder(
    "EmptyTensorList", host_inputs=("element_shape", "max_num_elements"), host_outputs=("handle",)
)
def empty(bind: Bind) -> KernelFunction:
    """An empty list."""
    dtype = bind.attrs["element_dtype"]
    return lambda shape, limit: TensorList(dtype, _shape(shape), (), scalar_int(limit))


@kernel(
    "TensorListReserve", host_inputs=("element_shape", "num_elements"), host_outputs=("handle",)
)
def reserve(_: ArrayModule, shape: Array, count: Array, *, element_dtype: str) -> TensorList:
    """A list of uninitialized elements."""
    require_rank(0, num_elements=count)
    number = scalar_int(count)
    if number < 0:
        raise InvalidArgument(f"TensorListReserve: num_elements must not be negative, got {number}")
    return TensorList(element_dtype, _shape(shape), (None,) * number)


@kernel("TensorListFromTensor", host_inputs=("element_shape",), host_outputs=("output_handle",))
def from_tensor(_: ArrayModule, value: Array, shape: Array, *, element_dtype: str) -> TensorList:
    """A list of the rows of a tensor."""
    _check_vector(value)
    result = TensorList(element_dtype, _shape(shape))
    result.fitting(value.shape[1:], "create")
    return result.with_elements(list(frozen(value[...])))


@kernel("TensorListPushBack", host_inputs=_HANDLE, host_outputs=("output_handle",))
def push(_: ArrayModule, handle: Element, value: Element, *, element_dtype: str) -> TensorList:
    """The list with another element at the end."""
    source = _list(handle, element_dtype)
    source.fitting(shape_of(value), "append")
    if 0 <= source.limit <= len(source.elements):
        raise InvalidArgument(
            f"TensorListPushBack: the list of {len(source.elements)} elements is full, "
            f"its max_num_elements is {source.limit}"
        )
    return source.with_elements((*source.elements, value))


def _zeros(bind: Bind, source: TensorList, known: Shape, *, guess: bool) -> Array:
    """Zeros for an uninitialized element; with `guess` the other elements determine the shape."""
    if guess and (known is None or None in known):
        known = _agreeing(known, source.elements)
    sizes = _sized(
        known, "Trying to read an uninitialized tensor but element_shape is not fully defined"
    )
    return frozen(_filled(bind, sizes, source.dtype))


def _filled(bind: Bind, sizes: Sequence[int], dtype: str) -> Array:
    if dtype == "string":
        return full(bind.xp, sizes, b"", dtype_of(dtype))
    return bind.xp.zeros(sizes, dtype_of(dtype))


def _agreeing(shape: Shape, elements: Sequence[Element]) -> Shape:
    """The shape merged with those of all initialized elements."""
    for known in dict.fromkeys(shape_of(element) for element in elements if element is not None):
        shape = merged(shape, known)
    return shape


@kernel(
    "TensorListPopBack",
    host_inputs=("input_handle", "element_shape"),
    host_outputs=("output_handle",),
)
def pop(
    bind: Bind, handle: Element, shape: Array, *, element_dtype: str
) -> tuple[TensorList, object]:
    """The list without its last element, and that element."""
    xp = bind.xp
    source = _list(handle, element_dtype)
    if not source.elements:
        raise InvalidArgument("Trying to pop from an empty list.")
    value = source.elements[-1]
    if value is None:
        value = _zeros(bind, source, merged(source.shape, _shape(shape)), guess=False)
    return source.with_elements(source.elements[:-1]), in_memory_of(xp, value)


@binder("TensorListLength", host_inputs=_HANDLE, host_outputs=("length",))
def length(bind: Bind) -> KernelFunction:
    """The number of elements."""
    del bind
    return lambda handle: HOST.int32(len(_list(handle).elements))


@kernel("TensorListElementShape", host_inputs=_HANDLE, host_outputs=("element_shape",))
def element_shape(_: ArrayModule, handle: Element, *, shape_type: str) -> Array:
    """The partially known shape of the elements."""
    dtype = dtype_of(shape_type)
    shape = _list(handle).shape
    sizes = -1 if shape is None else [-1 if size is None else size for size in shape]
    return HOST.asarray(sizes, dtype=dtype)


@kernel("TensorListGetItem", host_inputs=("input_handle", "index", "element_shape"))
def get(bind: Bind, handle: Element, index: Array, shape: Array, *, element_dtype: str) -> object:
    """The element at an index."""
    xp = bind.xp
    source = _list(handle, element_dtype)
    element = source.elements[source.checked_index(scalar_int(index))]
    if element is None:
        return _zeros(bind, source, merged(source.shape, _shape(shape)), guess=True)
    return in_memory_of(xp, element)


@kernel("TensorListSetItem", host_inputs=("input_handle", "index"), host_outputs=("output_handle",))
def put(
    _: ArrayModule,
    handle: Element,
    index: Array,
    value: Element,
    *,
    element_dtype: str,
    resize_if_index_out_of_bounds: bool,
) -> TensorList:
    """The list with the element at an index replaced."""
    source, number = _list(handle), scalar_int(index)
    source.check(element_dtype, "op elements")
    elements = list(source.elements)
    if number < 0:
        raise InvalidArgument(
            f"Trying to modify element {number} in a list, but the index must be non-negative."
        )
    if resize_if_index_out_of_bounds:
        elements += [None] * (number + 1 - len(elements))
    source.with_elements(elements).checked_index(number, "modify")
    source.fitting(shape_of(value), "set")
    elements[number] = value
    return source.with_elements(elements)


@kernel("TensorListResize", host_inputs=("input_handle", "size"), host_outputs=("output_handle",))
def resize(_: ArrayModule, handle: Element, size: Array) -> TensorList:
    """The list cut, or extended with uninitialized elements."""
    source, count = _list(handle), scalar_int(size)
    if count < 0:
        raise InvalidArgument(f"TensorListResize: the size must not be negative, got {count}")
    more = (None,) * (count - len(source.elements))
    return source.with_elements((*source.elements[:count], *more))


def _packed(
    bind: Bind, source: TensorList, positions: Sequence[int], shape: Shape, doing: str
) -> Array:
    """The elements at these positions stacked along a new first axis."""
    known = merged(source.shape, shape)
    vague = "with non-fully-defined element_shape"
    if not positions:
        sizes = _sized(known, f"Tried to {doing} elements of an empty list {vague}")
        return bind.xp.empty((0, *sizes), dtype_of(source.dtype))
    picked = [source.elements[position] for position in positions]
    sizes = _sized(
        _agreeing(known, picked), f"Tried to {doing} uninitialized tensors from a list {vague}"
    )
    if any(element is None for element in picked):
        zeros = _filled(bind, sizes, source.dtype)
        picked = [zeros if element is None else element for element in picked]
    held = [in_memory_of(bind.xp, element) for element in picked]
    if source.dtype == "variant":
        return bind.xp.stack(held)
    if source.dtype == "string" and not sizes:  # bytes, or arrays of them
        row = bind.xp.empty(len(held), dtype_of("string"))
        for position, element in enumerate(held):
            row[position] = element if isinstance(element, bytes) else element[()]
        return row
    return stacked(bind.xp, held)


@kernel("TensorListStack", host_inputs=("input_handle", "element_shape"))
def stack(
    bind: Bind, handle: Element, shape: Array, *, element_dtype: str, num_elements: int
) -> Array:
    """All elements, stacked."""
    count = int(num_elements)
    source = _list(handle, element_dtype)
    length_of_list = len(source.elements)
    if count not in {-1, length_of_list}:
        raise InvalidArgument(
            f"Operation expected a list with {count} elements but got a list with "
            f"{length_of_list} elements."
        )
    return _packed(bind, source, range(length_of_list), _shape(shape), "stack")


@kernel("TensorListGather", host_inputs=("input_handle", "indices", "element_shape"))
def gather(
    bind: Bind, handle: Element, indices: Array, shape: Array, *, element_dtype: str
) -> Array:
    """The elements at the indices, stacked."""
    source = _list(handle, element_dtype)
    positions = [source.checked_index(index, "gather") for index in ints(indices)]
    return _packed(bind, source, positions, _shape(shape), "gather")


@kernel(
    "TensorListScatter",
    "TensorListScatterV2",
    host_inputs=("indices", "element_shape", "num_elements"),
    host_outputs=("output_handle",),
)
def scatter(
    _: ArrayModule,
    value: Array,
    indices: Array,
    shape: Array,
    count: Array | None = None,
    *,
    element_dtype: str,
) -> TensorList:
    """A list with the rows of a tensor at the indices."""
    result, positions = TensorList(element_dtype, _shape(shape)), ints(indices)
    most = -1 if count is None else scalar_int(count)
    if most < -1:
        raise InvalidArgument(f"TensorListScatter: num_elements must be at least -1, got {most}")
    _check_positions(positions, value)
    result.fitting(value.shape[1:], "scatter")
    longest = max(positions, default=-1) + 1
    if -1 < most < longest:
        raise InvalidArgument(
            f"TensorListScatter: Trying to scatter at index {longest - 1} in list with size {most}"
        )
    elements: list[Array | None] = [None] * max(most, longest)
    for position, row in zip(positions, value, strict=True):
        elements[position] = frozen(row)
    return result.with_elements(elements)


def _check_positions(positions: Sequence[int], value: Array) -> None:
    _check_vector(value)
    if len(positions) != len(value):
        raise InvalidArgument(
            f"There are {len(positions)} indices, but the tensor has {len(value)} rows"
        )
    if min(positions, default=0) < 0:
        raise InvalidArgument("Indices in TensorListScatter must all be non-negative.")


@kernel(
    "TensorListScatterIntoExistingList",
    host_inputs=("input_handle", "indices"),
    host_outputs=("output_handle",),
)
def scatter_into(
    _: ArrayModule, handle: Element, value: Array, indices: Array, *, element_dtype: str
) -> TensorList:
    """The list with the rows of a tensor at the indices."""
    source, positions = _list(handle), ints(indices)
    source.check(element_dtype, "op elements")
    _check_positions(positions, value)
    source.fitting(value.shape[1:], "scatter")
    elements = [*source.elements]
    elements += [None] * (max((position + 1 for position in positions), default=0) - len(elements))
    for position, row in zip(positions, value, strict=True):
        elements[position] = frozen(row)
    return source.with_elements(elements)


@binder(
    "TensorListConcat",
    "TensorListConcatV2",
    host_inputs=("input_handle", "element_shape", "leading_dims"),
    host_outputs=("lengths",),
)
def concat(bind: Bind) -> KernelFunction:
    """The elements concatenated, and their lengths."""
    xp, dtype, declared = bind.xp, bind.attrs["element_dtype"], bind.attrs.get("element_shape")

    def compute(
        handle: Element, shape: Array | None = None, leading: Array | None = None
    ) -> tuple[Array, Array]:
        source = _list(handle, dtype)
        # The first version does not use the list's element shape.
        known = declared if shape is None else merged(source.shape, _shape(shape))
        if known == ():
            raise InvalidArgument(
                f"{bind.node.type} takes elements that are at least vectors, not scalars"
            )
        first, sizes = _joinable(source, known)
        asked = [] if leading is None else ints(leading)
        parts = []
        for index, element in enumerate(source.elements):
            part = element
            if part is None:
                count = asked[index] if index < len(asked) else first
                if count is None:
                    raise InvalidArgument(
                        f"{bind.node.type}: the element at index {index} is uninitialized, "
                        "and its length is unknown"
                    )
                part = _filled(bind, (count, *sizes), dtype)
            parts.append(in_memory_of(xp, part))
        lengths = HOST.asarray([len(part) for part in parts], "int64")
        return xp.concatenate(parts) if parts else xp.empty((0, *sizes), dtype_of(dtype)), lengths

    return compute


def _joinable(source: TensorList, known: Shape) -> tuple[int | None, tuple[int, ...]]:
    """The length of uninitialized elements, if it is known, and the other sizes."""
    first, rest = (None, None) if known is None else (known[0], known[1:])
    if not source.elements:
        return first, _sized(
            rest,
            "All except the first dimension must be fully defined when "
            "concating an empty tensor list",
        )
    shapes = dict.fromkeys(shape_of(element) for element in source.elements if element is not None)
    if source.shape is None or None in source.shape:
        for index, shape in enumerate(shapes):
            if not shape:
                raise InvalidArgument(
                    f"TensorListConcat takes elements of rank 1 or more: {index} is a scalar"
                )
            merged((first,), shape[:1])
            rest = merged(rest, shape[1:])
        lengths = {shape[0] for shape in shapes}
        if first is None and len(lengths) == 1:
            (first,) = lengths
    return first, _sized(
        rest,
        "Trying to concat list with only uninitialized tensors but "
        "element_shape_except_first_dim is not fully defined",
    )


@kernel("TensorListConcatLists", host_inputs=("input_a", "input_b"), host_outputs=("output",))
def concat_lists(_: ArrayModule, one: Element, other: Element, *, element_dtype: str) -> TensorList:
    """The elements of two lists in one."""
    first, second = _list(one), _list(other)
    first.check(element_dtype, "op elements")
    second.check(element_dtype, "op elements")
    if first.shape != second.shape:
        raise InvalidArgument(
            "input_a and input_b TensorList element shapes are not identical at "
            f"index 0. Saw {bracketed(first.shape)} vs. {bracketed(second.shape)}"
        )
    return first.with_elements((*first.elements, *second.elements))


@kernel(
    "TensorListSplit", host_inputs=("element_shape", "lengths"), host_outputs=("output_handle",)
)
def split(
    _: ArrayModule, value: Array, shape: Array, lengths: Array, *, element_dtype: str
) -> TensorList:
    """A list of pieces of a tensor."""
    result, sizes = TensorList(element_dtype, _shape(shape)), ints(lengths)
    _check_vector(value)
    if result.shape is not None:
        if not result.shape:
            raise InvalidArgument(
                "TensorListSplit requires element_shape to be at least of rank 1, but saw: []"
            )
        merged(result.shape[1:], tuple(value.shape[1:]))
    if min(sizes, default=0) < 0 or sum(sizes) != len(value):
        raise InvalidArgument(
            "The values of lengths must be non-negative and sum up to the first "
            f"dimension of the tensor: {sizes}, {len(value)}"
        )
    kept, ends = frozen(value[...]), itertools.accumulate(sizes, initial=0)
    return result.with_elements([kept[begin:end] for begin, end in itertools.pairwise(ends)])
