"""Functions that put elements elsewhere: shapes, slices, joins, rows that are taken and set."""

from __future__ import annotations

import math

import numpy as np

from sessrun.conformance.subjects.gradients.functions.inputs import (
    ALL,
    REAL,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []


def _slice(x: Inputs, size: int) -> Form:
    step = x.choice(None, 1, 2, -1, -2)
    limits = [x.choice(None, x.draw.randint(-size - 1, size + 1)) for _ in range(2)]
    return {"$slice": [*limits, step]}


@function("slices of a tensor", ALL)
def _slices(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    index: list[Form] = [
        x.draw.randrange(-size, size) if x.draw.random() < 0.25 else _slice(x, size)
        for size in shape[: x.draw.randint(1, len(shape))]
    ]
    if x.flag():
        index.insert(x.draw.randint(0, len(index)), None)
    return {"$item": [x.tensor(shape), {"$tuple": index}]}


@function("strided_slice with masks", ALL)
def _masked_slice(x: Inputs) -> Form:
    shape = x.shape(2, 4, 2, 4)
    rank = len(shape)
    count = x.draw.randint(1, rank)
    begin = [x.draw.randint(-1, 1) for _ in range(count)]
    strides = [x.choice(1, 1, 2, -1) for _ in range(count)]
    end = [x.draw.randint(1, 3) for _ in range(count)]
    masks = {f"{name}_mask": x.draw.randrange(2**count) for name in ("begin", "end")}
    dots = 2 ** x.draw.randrange(count) if x.flag() else 0
    new = 2 ** x.draw.randrange(count) & ~dots if x.flag() else 0
    limits = [x.given(values, "int32") for values in (begin, end, strides)]
    return x.call(
        "strided_slice", x.tensor(shape), *limits, ellipsis_mask=dots, new_axis_mask=new, **masks
    )


@function("slice", ALL)
def _sliced(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    begin = [x.draw.randint(0, size - 1) for size in shape]
    sizes = [
        x.choice(-1, x.draw.randint(0, size - start))
        for size, start in zip(shape, begin, strict=True)
    ]
    return x.call("slice", x.tensor(shape), x.given(begin, "int32"), x.given(sizes, "int32"))


@function("reshape", ALL)
def _reshape(x: Inputs) -> Form:
    shape = x.shape(0, 4)
    return x.call("reshape", x.tensor(shape), [-1, *shape[:1]] if shape else [1, -1])


@function("transpose", ALL)
def _transpose(x: Inputs) -> Form:
    shape = x.shape(0, 4)
    order = None if x.flag() else x.draw.sample(range(len(shape)), len(shape))
    given = order if order is None else x.given(np.array(order, int), "int32")
    return x.call("transpose", x.tensor(shape), given, conjugate=x.flag())


@function("tile", ALL)
def _tile(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    times = [x.draw.randint(0, 3) if x.flag() else 2 for _ in shape]
    return x.call("tile", x.tensor(shape), x.given(np.array(times, int), "int32"))


@function("repeat", WIDE)
def _repeat(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    axis = x.axis(len(shape))
    times = x.draw.randint(0, 3) if x.flag() else [x.draw.randint(0, 2) for _ in range(shape[axis])]
    return x.call("repeat", x.tensor(shape, way="known"), times, axis)


@function("pad", ALL)
def _pad(x: Inputs) -> Form:
    shape = x.shape(1, 3, 3, 4)
    mode = x.choice("CONSTANT", "REFLECT", "SYMMETRIC")
    pads = [[x.draw.randint(0, 2) for _ in range(2)] for _ in shape]
    return x.call("pad", x.tensor(shape), x.given(pads, "int32"), mode)


@function("stack", ALL)
def _stack(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    values = [x.tensor(shape) for _ in range(x.draw.randint(1, 3))]
    return x.call("stack", [*values, values[0]], x.axis(len(shape) + 1))


@function("parallel_stack", WIDE)
def _parallel_stack(x: Inputs) -> Form:
    shape = x.shape(0, 2)
    return x.call("stack", [x.tensor(shape, way="known") for _ in range(2)], 0)


@function("unstack", ALL)
def _unstack(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    parts = x.call("unstack", x.tensor(shape, way="known"), axis=x.axis(len(shape)))
    return {"$item": [parts, x.choice(0, -1)]} if x.flag() else parts


@function("concat", ALL)
def _concat(x: Inputs) -> Form:
    shape = list(x.shape(1, 4))
    axis = x.axis(len(shape))
    values = []
    for _ in range(x.draw.choice((1, 2, 3, 17))):
        shape[axis] = x.draw.randint(0, 2)
        values.append(x.tensor(shape, way="known"))
    return x.call("concat", values, axis)


@function("split", ALL)
def _split(x: Inputs) -> Form:
    shape = list(x.shape(1, 4))
    axis = x.axis(len(shape))
    shape[axis] = 6
    sizes: tuple[int | list[int], ...] = (2, 3, [1, 2, 3], [6])
    parts = x.call("split", x.tensor(shape, way="known"), x.choice(*sizes), axis)
    return {"$item": [parts, 0]} if x.flag() else parts


@function("reverse", ALL)
def _reverse(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    axes = x.draw.sample(range(len(shape)), x.draw.randint(0, len(shape)))
    return x.call("reverse", x.tensor(shape), x.given(np.array(axes, int), "int32"))


@function("reverse_sequence", ALL)
def _reverse_sequence(x: Inputs) -> Form:
    shape = x.shape(2, 3)
    batch, seq = x.draw.sample(range(len(shape)), 2)
    lengths = x.integers((shape[batch],), 0, shape[seq] + 1)
    return x.call("reverse_sequence", x.tensor(shape), lengths, seq_axis=seq, batch_axis=batch)


@function("roll", ALL)
def _roll(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    axis = x.draw.randrange(len(shape))
    return x.call("roll", x.tensor(shape), x.draw.randint(-4, 4), axis)


@function("squeeze and expand_dims", ALL)
def _squeeze(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    return x.call("squeeze", x.call("expand_dims", x.tensor(shape), x.axis(len(shape) + 1)))


@function("meshgrid", WIDE)
def _meshgrid(x: Inputs) -> Form:
    parts = [x.tensor((x.draw.randint(1, 3),), way="known") for _ in range(x.draw.randint(1, 3))]
    return x.call("meshgrid", *parts, indexing=x.choice("xy", "ij"))


@function("broadcast_to", ALL)
def _broadcast_to(x: Inputs) -> Form:
    shape = x.shape(0, 3)
    whole = [x.draw.randint(1, 3) for _ in range(x.draw.randint(0, 1))]
    whole += [3 if size == 1 and x.flag() else size for size in shape]
    return x.call("broadcast_to", x.tensor(shape), x.given(np.array(whole, int), "int32"))


@function("boolean_mask", WIDE)
def _boolean_mask(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    axis = x.draw.randrange(len(shape))
    mask = [x.flag() for _ in range(shape[axis])]
    return x.call("boolean_mask", x.tensor(shape, way="known"), mask, axis=axis)


@function("gather", ALL)
def _gather(x: Inputs) -> Form:
    shape = x.shape(1, 4)
    axis = x.axis(len(shape))
    indices = x.integers(x.shape(0, 2), 0, shape[axis])
    return x.call("gather", x.tensor(shape, way="known"), indices, axis=axis)


@function("gather along batches", WIDE)
def _gather_batches(x: Inputs) -> Form:
    shape = x.shape(2, 4, 2, 3)
    batch = x.draw.randint(1, len(shape) - 1)
    axis = x.draw.randint(batch, len(shape) - 1)
    indices = x.integers((*shape[:batch], *x.shape(0, 2)), 0, shape[axis])
    return x.call("gather", x.tensor(shape, way="known"), indices, axis=axis, batch_dims=batch)


@function("batch_gather", WIDE)
def _batch_gather(x: Inputs) -> Form:
    shape = x.shape(2, 3, 2, 3)
    indices = x.integers((*shape[:1], 3), 0, shape[1])
    return x.call("batch_gather", x.tensor(shape, way="known"), indices)


@function("gather_nd", ALL)
def _gather_nd(x: Inputs) -> Form:
    shape = x.shape(1, 4, 2, 3)
    depth, rows = x.draw.randint(1, len(shape)), x.shape(1, 2)
    indices = _places(x, shape[:depth], rows)
    return x.call("gather_nd", x.tensor(shape, way="known"), indices)


@function("gather_nd along batches", WIDE)
def _gather_nd_batches(x: Inputs) -> Form:
    shape = x.shape(2, 4, 2, 3)
    depth = x.draw.randint(1, len(shape) - 1)
    indices = _places(x, shape[1 : depth + 1], (shape[0], 2))
    return x.call("gather_nd", x.tensor(shape, way="known"), indices, batch_dims=1)


def _places(x: Inputs, sizes: tuple[int, ...], rows: tuple[int, ...]) -> Form:
    """Indices of elements or slices, some of them several times."""
    count = math.prod(rows)
    values = [[x.draw.randrange(size) for size in sizes] for _ in range(count)]
    return x.given(np.reshape(values, (*rows, len(sizes))), "int32")


def _distinct_places(x: Inputs, sizes: tuple[int, ...], count: int) -> Form:
    cells = x.draw.sample(range(math.prod(sizes)), count)
    return x.given(np.stack(np.unravel_index(cells, sizes), -1), "int32")


@function("scatter_nd", ALL)
def _scatter_nd(x: Inputs) -> Form:
    shape = x.shape(1, 3, 2, 3)
    depth, rows = x.draw.randint(1, len(shape)), x.shape(1, 2)
    indices = _places(x, shape[:depth], rows)
    return x.call("scatter_nd", indices, x.tensor((*rows, *shape[depth:])), list(shape))


def _scattered(name: str, *, differ: bool) -> None:
    @function(name, WIDE, second=differ)
    def _(x: Inputs) -> Form:
        shape = x.shape(1, 3, 2, 3)
        depth = x.draw.randint(1, len(shape))
        indices = _distinct_places(x, shape[:depth], 2)
        return x.call(name, x.tensor(shape), indices, x.tensor((2, *shape[depth:])))


for _name in ("add", "sub", "update"):
    _scattered(f"tensor_scatter_nd_{_name}", differ=True)


@function("dynamic_partition", WIDE)
def _dynamic_partition(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    outer = shape[: x.draw.randint(1, len(shape))]
    return x.call("dynamic_partition", x.tensor(shape), x.integers(outer, 0, 3, "int32"), 3)


@function("dynamic_stitch", WIDE)
def _dynamic_stitch(x: Inputs) -> Form:
    inner = x.shape(0, 2)
    places = x.draw.sample(range(4), 4)
    indices = [x.given(places[:3], "int32"), x.given(places[3], "int32")]
    return x.call("dynamic_stitch", indices, [x.tensor((3, *inner)), x.tensor(inner)])


@function("space_to_batch", WIDE)
def _space_to_batch(x: Inputs) -> Form:
    return x.call(
        "space_to_batch",
        x.tensor((1, 4, 2, 2)),
        x.choice([[0, 0], [0, 0]], [[1, 1], [2, 0]]),
        block_size=2,
    )


@function("depth_to_space and space_to_depth", WIDE)
def _depth_to_space(x: Inputs) -> Form:
    wide = x.call("nn.depth_to_space", x.tensor((1, 2, 2, 8)), 2)
    return x.call("nn.space_to_depth", x.call("square", wide), 4)


@function("extract_image_patches", WIDE)
def _image_patches(x: Inputs) -> Form:
    return x.call(
        "image.extract_patches",
        x.tensor((2, 5, 4, 2), way="known"),
        [1, 2, 3, 1],
        [1, x.choice(1, 2), 2, 1],
        [1, x.choice(1, 2), 1, 1],
        x.choice("SAME", "VALID"),
    )


@function("sort", WIDE)
def _sort(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    return x.call(
        "sort",
        x.tensor(shape, way="known", corners=False),
        x.axis(len(shape)),
        x.choice("ASCENDING", "DESCENDING"),
    )


@function("top_k", WIDE)
def _top_k(x: Inputs) -> Form:
    shape = x.shape(1, 3)
    outputs = x.call("nn.top_k", x.tensor(shape), x.draw.randint(0, shape[-1]))
    return {"$item": [outputs, 0]}


@function("identity_n", ALL)
def _identity_n(x: Inputs) -> Form:
    values = [x.tensor(x.shape(0, 2)) for _ in range(2)]
    return x.call(
        "add_n",
        [x.call("reduce_sum", {"$item": [x.call("identity_n", values), at]}) for at in (0, 1)],
    )


@function("linspace", WIDE, second=False)
def _linspace(x: Inputs) -> Form:
    value = x.tensor(())
    return x.call("multiply", value, x.call("linspace", x.given(0.0), x.given(2.0), 3))


@function("fill", REAL)
def _fill(x: Inputs) -> Form:
    return x.call("fill", list(x.shape(0, 3)), x.tensor(()))
