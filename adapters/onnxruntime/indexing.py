"""Slices, elements by their indices, and tensors in which some elements are replaced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sessrun.adapters.onnxruntime.table import ALL, FLOATS, NUMBERS, Call, translates
from sessrun.spec.rules.shapes.strided import NEW_AXIS, dense_items

__all__: list[str] = []

#: Ends of a slice that takes all there is, forwards and backwards.
_LAST: Final = 2**63 - 1
_FIRST: Final = -(2**63) + 1


@dataclass(slots=True)
class _Slices:
    """What an ONNX Slice takes: an entry of each list for each axis that is sliced."""

    axes: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def add(self, axis: int, start: int, end: int, step: int = 1) -> None:
        """Slice an axis too."""
        self.axes.append(axis)
        self.starts.append(start)
        self.ends.append(end)
        self.steps.append(step)

    def emit(self, call: Call, x: str) -> str:
        """Write the node; the tensor itself where no axis is sliced."""
        if not self.axes:
            return call.emit("Identity", x)
        lists = (self.starts, self.ends, self.axes, self.steps)
        return call.emit("Slice", x, *(call.constant(numbers) for numbers in lists))


@translates("Slice", kernels=ALL)
def _slice(call: Call) -> str:
    """A block that lies within the tensor: ONNX would cut off what does not."""
    slices = _Slices()
    rows = zip(call.shape(), call.integers(1), call.integers(2), strict=True)
    for axis, (dim, begin, size) in enumerate(rows):
        end = dim if size == -1 else begin + size
        if not 0 <= begin <= end <= dim:
            raise call.invalid(f"no block from {begin} to {end} in dimension {axis} of {dim}")
        slices.add(axis, begin, end)
    return slices.emit(call, call.names[0])


@translates("StridedSlice", kernels=ALL)
def _strided_slice(call: Call) -> str:
    begins, ends, steps = (call.integers(index) for index in (1, 2, 3))
    masks = call.attrs
    items = dense_items(len(steps), call.rank(), masks["ellipsis_mask"], masks["new_axis_mask"])
    slices, shrunk, new = _Slices(), [], []
    position = 0
    for item, axis in items:
        if axis == NEW_AXIS:
            new.append(position)
        elif item is not None and masks["shrink_axis_mask"] >> item & 1:
            begin = begins[item]
            slices.add(axis, begin, begin + 1 if begin != -1 else _LAST)
            shrunk.append(axis)
            continue
        elif item is not None:
            slices.add(axis, *_bounds(call, item, axis, (begins[item], ends[item], steps[item])))
        position += 1
    x = slices.emit(call, call.names[0])
    if shrunk:
        x = call.emit("Squeeze", x, call.constant(shrunk))
    return call.emit("Unsqueeze", x, call.constant(new)) if new else x


def _bounds(call: Call, item: int, axis: int, entry: tuple[int, int, int]) -> tuple[int, int, int]:
    """Where a slice of an axis begins and ends; a mask's bit takes the axis' own end.

    Backwards from before the first element ONNX would take that element, TensorFlow none.
    """
    begin, end, step = entry
    is_open = bool(call.attrs["begin_mask"] >> item & 1)
    if is_open:
        begin = 0 if step > 0 else _LAST
    if call.attrs["end_mask"] >> item & 1:
        end = _LAST if step > 0 else _FIRST
    if step < 0 and not is_open and begin + call.shape()[axis] < 0:
        return 0, 0, 1
    return begin, end, step


@translates("ReverseV2", kernels=ALL)
def _reverse(call: Call) -> str:
    slices = _Slices()
    for axis in call.integers(1):
        slices.add(axis, -1, _FIRST, -1)
    return slices.emit(call, call.names[0])


@translates("Gather", kernels=ALL)
def _gather(call: Call) -> str:
    return call.emit("Gather", call.names[0], _indices(call, 1), axis=0)


@translates("GatherV2", kernels=ALL)
def _gather_v2(call: Call) -> str:
    (axis,) = call.integers(2)
    params, indices = call.names[0], _indices(call, 1)
    batch: int = call.attrs["batch_dims"]
    batch += call.rank(1) if batch < 0 else 0
    if not batch:
        return call.emit("Gather", params, indices, axis=axis)
    axis %= call.rank()
    before = range(batch, axis)  # axes of the parameters that stand before the gathered one
    order = [*range(batch), axis, *before, *range(axis + 1, call.rank())]
    moved = call.emit("Transpose", params, perm=order)
    columns = call.emit("Unsqueeze", indices, call.constant([-1]))
    rows = call.emit("GatherND", moved, columns, batch_dims=batch)
    return call.emit("Transpose", rows, perm=_moved_back(call, batch, len(before)))


def _moved_back(call: Call, batch: int, before: int) -> list[int]:
    """The permutation that puts the axes of indices behind `before` axes of the parameters."""
    of_indices = call.rank(1) - batch
    rank = call.rank(0) - 1 + of_indices
    first = batch + of_indices
    return [
        *range(batch),
        *range(first, first + before),
        *range(batch, first),
        *range(first + before, rank),
    ]


@translates("GatherNd", kernels=ALL - {"bfloat16"})
def _gather_nd(call: Call) -> str:
    """An index without elements is that of the whole tensor."""
    if call.shape(1)[-1:] == (0,):
        return call.emit("Expand", call.names[0], call.constant(call.output_shape()))
    return call.emit("GatherND", call.names[0], _indices(call, 1))


def _indices(call: Call, index: int) -> str:
    return call.inside(call.names[index], call.inputs[index].dtype)


@translates("CheckNumerics", kernels=FLOATS)
def _check_numerics(call: Call) -> str:
    """What is not finite picks an element that is not there: ONNX has no other way to fail."""
    (x,) = call.names
    is_strange = call.emit("Or", call.emit("IsNaN", x), call.emit("IsInf", x))
    index = call.emit("Where", is_strange, call.constant(1), call.constant(0))
    is_fine = call.emit("Gather", call.constant([True], "bool"), index)
    return call.emit("Where", is_fine, x, call.constant(0, call.dtype))


@translates("ScatterNd", kernels=NUMBERS)
def _scatter_nd(call: Call) -> str:
    """Added to zeros: indices that come twice add up."""
    shape = call.constant(call.output_shape())
    zeros = call.emit("Expand", call.constant(0, call.dtype), shape)
    return call.emit("ScatterND", zeros, _indices(call, 0), call.names[1], reduction="add")


@translates("TensorScatterUpdate", kernels=ALL)
def _tensor_scatter_update(call: Call) -> str:
    x, _, updates = call.names
    return call.emit("ScatterND", x, _indices(call, 1), updates)


@translates("UnsortedSegmentSum", kernels=NUMBERS)
def _unsorted_segment_sum(call: Call) -> str:
    """Rows added to those of their segments; what belongs to none goes to a row that is cut off."""
    (count,) = call.integers(2)
    shape = call.shape()[call.rank(1) :]
    rows = call.emit("Reshape", call.names[0], call.constant([-1, *shape]))
    ids = call.emit("Reshape", call.names[1], call.constant([-1, 1]))
    wide = call.cast(ids, "int64")
    is_none = call.emit("Less", wide, call.constant(0))
    is_beyond = call.emit("Equal", wide, call.constant(count))
    beyond = call.emit("Where", is_beyond, call.constant(count + 1), wide)
    inside = call.emit("Where", is_none, call.constant(count), beyond)
    sizes = call.constant([count + 1, *shape])
    zeros = call.emit("Expand", call.constant(0, call.dtype), sizes)
    sums = call.emit("ScatterND", zeros, inside, rows, reduction="add")
    return call.emit("Slice", sums, *(call.constant([end]) for end in (0, count, 0)))
