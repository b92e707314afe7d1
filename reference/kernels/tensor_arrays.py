"""Kernels of TensorArrays: a handle is the array itself, which lives as long as the run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import (
    HOST,
    dtype_of,
    frozen,
    host_array,
    in_memory_of,
    ints,
    kept,
    stacked,
)
from sessrun.reference.kernels.input_shapes import one_number, require_rank, require_rank_at_least
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.state.tensor_array_resource import ElementArray, Shape, fits
from sessrun.spec.dtypes import BY_NAME

#: Numbers that distinguish arrays of one name in messages.
_NUMBERS: Final = itertools.count()


def _check_dtype(array: ElementArray, dtype: str, wish: str = "requested") -> None:
    if array.dtype != dtype:
        has, wanted = BY_NAME[array.dtype].opdef, BY_NAME[dtype].opdef
        raise InvalidArgument(
            f"TensorArray dtype is {has} but Op {wish} dtype {wanted}. The array is {array.name}"
        )


def _check_written(array: ElementArray, dtype: str) -> None:
    _check_dtype(array, dtype, "is trying to write")


def _zeros(bind: Bind, dtype: str) -> Callable[[Sequence[int]], Array]:
    def zeros(shape: Sequence[int]) -> Array:
        if dtype == "string" and 0 not in shape:
            raise InvalidArgument(
                "TensorArray type not supported: an array of strings has "
                "no zeros for elements that were not written"
            )
        return frozen(bind.xp.zeros(shape, dtype_of(dtype)))

    return zeros


def _static(shape: Shape) -> tuple[int, ...] | None:
    """The shape if all dimensions are known, else None."""
    if shape is None:
        return None
    sizes = tuple(size for size in shape if size is not None)
    return sizes if len(sizes) == len(shape) else None


def _nothing(bind: Bind, dtype: str, shape: Shape, what: str, doing: str) -> Array:
    """A value without rows, whose rows have this shape."""
    sizes = _static(shape)
    if sizes is None:
        raise Unimplemented(
            f"TensorArray has size zero, but {what} {bracketed(shape)} is not fully defined. "
            f"Currently only static shapes are supported when {doing} zero-size TensorArrays.",
        )
    return bind.xp.empty((0, *sizes), dtype_of(dtype))


@binder("TensorArrayV3", host_inputs=("size",), host_outputs=("handle",))
def tensor_array(bind: Bind) -> KernelFunction:
    """A new array in every run, and its flow."""
    attrs = bind.attrs
    name = attribute_text(attrs["tensor_array_name"]) or bind.node.name
    flow = bind.xp.zeros((), dtype_of("float32"))[()]

    def compute(size: Array) -> tuple[ElementArray, Array]:
        count = one_number(size, "size")
        if count < 0:
            raise InvalidArgument(f"Size should be >= 0, and not {count}")
        array = ElementArray(
            f"{name}_{next(_NUMBERS)}",
            attrs["dtype"],
            count,
            attrs["element_shape"],
            grows=attrs["dynamic_size"],
            clears=attrs["clear_after_read"],
            identical=attrs["identical_element_shapes"],
        )
        return array, flow

    return compute


@binder("TensorArrayGradV3", host_inputs=("handle",), host_outputs=("grad_handle",))
def gradient(bind: Bind) -> KernelFunction:
    """The array of the gradients of an array for a source, and the flow."""
    source = attribute_text(bind.attrs["source"])
    return lambda array, flow: (array.gradient(source), flow)


@binder(
    "TensorArrayGradWithShape",
    host_inputs=("handle", "shape_to_prepend"),
    host_outputs=("grad_handle",),
)
def gradient_with_shape(bind: Bind) -> KernelFunction:
    """As `TensorArrayGradV3`, with additional leading dimensions of the elements."""
    source = attribute_text(bind.attrs["source"])

    def compute(array: ElementArray, flow: Array, outer: Array) -> tuple[ElementArray, Array]:
        sizes = tuple(ints(outer)) if outer.ndim == 1 else None
        if sizes is None or min(sizes, default=0) < 0:
            raise InvalidArgument(f"shape_to_prepend is no shape: {outer!r}")
        return array.gradient(source, sizes), flow

    return compute


@binder("TensorArrayWriteV3", host_inputs=("handle", "index"))
def write(bind: Bind) -> KernelFunction:
    """Writes one element."""
    xp, dtype, add = bind.xp, bind.attrs["T"], _adder(bind)

    def compute(array: ElementArray, index: Array, value: Array, flow: Array) -> Array:
        position = one_number(index, "index")
        _check_written(array, dtype)
        array.write(((position, kept(xp, value)),), add)
        return flow

    return compute


def _adder(bind: Bind) -> Callable[[Array, Array], Array]:
    dtype = bind.attrs["T"]
    if dtype not in {"string", "bool"}:
        return lambda old, new: bind.xp.add(in_memory_of(bind.xp, old), new)

    def refuse(old: Array, new: Array) -> Array:
        del old, new
        raise InvalidArgument(f"elements of {dtype} can not be added up")

    return refuse


def _elements(
    xp: ArrayModule,
    array: ElementArray,
    positions: Sequence[int],
    zeros: Callable[[Sequence[int]], Array],
) -> list[Array]:
    """Elements in the array module's memory; another device may have written them."""
    return [in_memory_of(xp, element) for element in array.read(positions, zeros)]


def _kept_rows(xp: ArrayModule, value: Array) -> list[Array]:
    rows = kept(xp, value)
    is_list = rows.ndim > 1 or (xp is HOST and rows.dtype != object)  # of numbers, if not of arrays
    return list(rows) if is_list else [rows[row, ...] for row in range(len(rows))]


@binder("TensorArrayReadV3", host_inputs=("handle", "index"))
def read(bind: Bind) -> KernelFunction:
    """Reads one element."""
    xp, dtype = bind.xp, bind.attrs["dtype"]
    zeros = _zeros(bind, dtype)

    def compute(array: ElementArray, index: Array, flow: Array) -> Array:
        del flow
        position = one_number(index, "index")
        _check_dtype(array, dtype)
        return _elements(xp, array, (position,), zeros)[0]

    return compute


@binder("TensorArrayGatherV3", host_inputs=("handle", "indices"))
def gather(bind: Bind) -> KernelFunction:
    """Reads elements, stacked along a new first axis."""
    xp, dtype, declared = bind.xp, bind.attrs["dtype"], bind.attrs["element_shape"]
    zeros = _zeros(bind, dtype)

    def compute(array: ElementArray, indices: Array, flow: Array) -> Array:
        del flow
        _check_dtype(array, dtype)
        array.settle_shape(declared)
        require_rank(1, indices=indices)
        if not indices.size:
            array.size()
            return _nothing(bind, dtype, declared, "element shape", "packing")
        values = _elements(bind.xp, array, ints(indices), zeros)
        if not values[0].size:
            values = values[:1] * len(values)  # of empty elements only the first is checked
        _check_alike([value.shape for value in values], array.element_shape, "element_shape", "")
        return stacked(xp, values)

    return compute


@binder("TensorArrayScatterV3", host_inputs=("handle", "indices"))
def scatter(bind: Bind) -> KernelFunction:
    """Writes the rows of a tensor to elements."""
    xp, dtype, add = bind.xp, bind.attrs["T"], _adder(bind)

    def compute(array: ElementArray, indices: Array, value: Array, flow: Array) -> Array:
        _check_written(array, dtype)
        require_rank(1, indices=indices)
        require_rank_at_least(1, value=value)
        if indices.size != value.shape[0]:
            raise InvalidArgument(
                f"Expected len(indices) == values.shape[0], but saw: "
                f"{indices.size} vs. {value.shape[0]}"
            )
        positions = ints(indices)
        count = array.size()
        if not array.grows and max(positions, default=-1) >= count:
            raise InvalidArgument(
                f"Max scatter index must be < array size ({max(positions)} vs. {count})"
            )
        rows = _kept_rows(xp, value)
        array.write(list(zip(positions, rows, strict=True)), add)
        return flow

    return compute


def _check_alike(
    shapes: Sequence[tuple[int, ...]], wanted: Shape, declared: str, what: str
) -> None:
    """Check that all shapes are equal, and fit the wanted one."""
    if len(set(shapes)) == 1 and fits(shapes[0], wanted):
        return
    for index, shape in enumerate(shapes):
        if not fits(shape, wanted):
            raise InvalidArgument(
                f"TensorArray was passed {declared} {bracketed(wanted)}, "
                f"but index {index} has{what} shape: {bracketed(shape)}, which does "
                "not match"
            )
        if shape != shapes[0]:
            raise InvalidArgument(
                f"TensorArray has inconsistent shapes: Index 0 has{what} "
                f"shape: {bracketed(shapes[0])} but index {index} has{what} shape: "
                f"{bracketed(shape)}"
            )


@binder("TensorArrayConcatV3", host_inputs=("handle",), host_outputs=("lengths",))
def concat(bind: Bind) -> KernelFunction:
    """Reads all elements, concatenated, and their lengths."""
    xp, dtype, declared = bind.xp, bind.attrs["dtype"], bind.attrs["element_shape_except0"]
    zeros = _zeros(bind, dtype)

    def compute(array: ElementArray, flow: Array) -> tuple[Array, Array]:
        del flow
        _check_dtype(array, dtype)
        count = array.joined_size()
        if count == 0:
            empty = _nothing(bind, dtype, declared, "element_shape_except0", "concatenating")
            return empty, host_array([], "int64")
        values = _elements(bind.xp, array, range(count), zeros)
        scalar = next((index for index, value in enumerate(values) if value.ndim < 1), None)
        if scalar is not None:
            raise InvalidArgument(
                f"Concat saw a scalar shape at index {scalar} but requires "
                "at least vectors: stack() packs scalars"
            )
        _check_alike(
            [value.shape[1:] for value in values],
            declared,
            "element_shape_except0",
            " (excepting dimension 0)",
        )
        return xp.concatenate(values), host_array([len(value) for value in values], "int64")

    return compute


@binder("TensorArraySplitV3", host_inputs=("handle", "lengths"))
def split(bind: Bind) -> KernelFunction:
    """Writes pieces of a tensor to all elements."""
    xp, dtype, add = bind.xp, bind.attrs["T"], _adder(bind)

    def compute(array: ElementArray, value: Array, lengths: Array, flow: Array) -> Array:
        _check_written(array, dtype)
        require_rank(1, lengths=lengths)
        require_rank_at_least(1, value=value)
        sizes = ints(lengths)
        if min(sizes, default=0) < 0 or sum(sizes) != value.shape[0]:
            raise InvalidArgument(
                "Expected sum of lengths to be equal to values.shape[0], "
                f"but sum of lengths is {sum(sizes)} and value's shape is: "
                f"{bracketed(value.shape)}; the lengths are {sizes}"
            )
        count = array.size()
        if count != len(sizes) and not (array.grows and count < len(sizes)):
            raise InvalidArgument(
                "TensorArray's size is not equal to the size of lengths "
                f"({count} vs. {len(sizes)}), and the TensorArray is not marked as "
                "dynamically resizeable"
            )
        ends = itertools.accumulate(sizes, initial=0)
        pieces = [kept(xp, value[begin:end]) for begin, end in itertools.pairwise(ends)]
        array.write(list(enumerate(pieces)), add)
        array.split_into(len(pieces))
        return flow

    return compute


@binder("TensorArraySizeV3", host_inputs=("handle",), host_outputs=("size",))
def size(bind: Bind) -> KernelFunction:
    """The number of elements."""
    del bind
    return lambda array, _flow: host_array([array.size()], "int32").reshape(())


@binder("TensorArrayCloseV3", host_inputs=("handle",))
def close(bind: Bind) -> KernelFunction:
    """Closes the array."""
    del bind
    return lambda array: array.close()
