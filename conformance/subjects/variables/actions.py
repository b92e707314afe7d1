"""The operations of a history: each writes its node and computes the model's result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import CPU, dtype_attr
from sessrun.conformance.subjects.variables.arrays import (
    COMPLEX,
    COUNTED,
    NUMBERS,
    ROW_KINDS,
    drawn,
    drawn_divisors,
)
from sessrun.conformance.subjects.variables.histories import Done, Held, History
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.model.variables import combined, rows_updated, vectors_updated

__all__ = [
    "able",
    "assign",
    "count",
    "destroy",
    "gather",
    "gather_vectors",
    "read",
    "read_node",
    "row_update",
    "slice_update",
    "sum_of",
    "vector_update",
]

#: `action(history, variable)` writes the node and changes what the history holds.
Action = Callable[[History, Held], Done]
#: A part of an axis: for numpy, then begin, end, stride and which masks.
_Part = tuple[int | slice, int, int, int, dict[str, bool]]
#: The dtypes whose reference variables have scatter_min and scatter_max.
_ORDERED: Final = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


def _write(history: History, held: Held, op: str, inputs: list[str], attrs: JsonObject) -> str:
    """The node of an update: `op` of a reference variable, or its twin of a resource variable."""
    if not held.resource:
        attrs = {**attrs, "use_locking": {"b": history.draw.random() < 0.5}}
    return history.node(op, [held.name, *inputs], attrs)


def _kept(history: History, held: Held, node: str, value: np.ndarray) -> Done:
    """Note that the variable holds this value after the update."""
    history.held[held] = value
    if held.resource:
        return Done(node, changes=held)
    return Done(node, value, shows=held, changes=held)


# --- whole variables -----------------------------------------------------------------------


def assign(history: History, held: Held, source: str) -> str:
    """Write the assignment of a tensor, whose shape must be that of the value held; its node."""
    if held.resource:
        attrs: dict[str, Json] = {"dtype": dtype_attr(held.dtype), "validate_shape": {"b": True}}
        return history.node("AssignVariableOp", [held.name, source], attrs)
    return _write(history, held, "Assign", [source], {"T": dtype_attr(held.dtype)})


def _set(history: History, held: Held) -> Done:
    value = drawn(history.draw, held.dtype, held.shape)
    return _kept(history, held, assign(history, held, history.given(value)), value)


def read_node(history: History, held: Held) -> str:
    """Write a read; its node."""
    kind = dtype_attr(held.dtype)
    if held.resource:
        return history.node("ReadVariableOp", [held.name], {"dtype": kind})
    return history.node("Identity", [held.name], {"T": kind})


def read(history: History, held: Held) -> Done:
    """The value."""
    shows = None if held.resource else held
    return Done(read_node(history, held), history.held[held], shows)


def _copy(history: History, held: Held) -> Done:
    """Assign the value of a variable of the same dtype and shape, which may be the same one.

    The value of a reference variable is not assigned to a resource variable, which in TensorFlow
    would share its memory.
    """
    alike = [
        one
        for one in history.variables
        if one in history.held
        and (one.dtype, one.shape) == (held.dtype, held.shape)
        and (one.resource or not held.resource)
    ]
    source = history.draw.choice(alike)
    node = assign(history, held, read_node(history, source))
    return _kept(history, held, node, history.held[source])


def _dense(history: History, held: Held) -> Done:
    kind = history.draw.choice(("Add", "Sub"))
    update = drawn(history.draw, held.dtype, held.shape)
    value = combined(kind, history.held[held], update)
    return _kept(history, held, sum_of(history, held, history.given(update), kind), value)


def sum_of(history: History, held: Held, source: str, kind: str = "Add") -> str:
    """Write the addition, or subtraction, of a tensor; its node."""
    if held.resource:
        attrs = {"dtype": dtype_attr(held.dtype)}
        return history.node(f"Assign{kind}VariableOp", [held.name, source], attrs)
    return _write(history, held, f"Assign{kind}", [source], {"T": dtype_attr(held.dtype)})


def _counted(history: History, held: Held) -> Done:
    old = history.held[held]
    node = count(history, held, int(old) + history.draw.randint(1, 3))
    history.held[held] = combined("Add", old, np.ones_like(old))
    return Done(node, old, changes=held)


def count(history: History, held: Held, limit: int) -> str:
    """Write the counting up to a limit; its node."""
    attrs: dict[str, Json] = {"T": dtype_attr(held.dtype), "limit": {"i": str(limit)}}
    return history.node("ResourceCountUpTo" if held.resource else "CountUpTo", [held.name], attrs)


def _known(history: History, held: Held) -> Done:
    answer = np.array(held in history.held)
    if held.resource:
        return Done(history.node("VarIsInitializedOp", [held.name], {}), answer)
    kind = {"dtype": dtype_attr(held.dtype)}
    return Done(history.node("IsVariableInitialized", [held.name], kind), answer)


def _shaped(history: History, held: Held) -> Done:
    dtype = history.draw.choice(("int32", "int64"))
    node = history.node("VariableShape", [held.name], {"out_type": dtype_attr(dtype)})
    return Done(node, np.array(held.shape, dtype))


def _destroyed(history: History, held: Held) -> Done:
    del history.held[held]
    node = destroy(history, held, ignore=history.draw.random() < 0.5)
    return Done(node, changes=held)


def destroy(history: History, held: Held, *, ignore: bool) -> str:
    """Write the destruction of a resource variable; its node."""
    attrs = {"ignore_lookup_error": {"b": ignore}}
    return history.node("DestroyResourceOp", [held.name], attrs)


# --- rows and index vectors ----------------------------------------------------------------


def _row_kinds(held: Held) -> list[str]:
    if held.dtype not in NUMBERS:
        return ["Update"]
    barred = {"Min", "Max", "Div"} if held.dtype in COMPLEX else set()
    if not held.resource and held.dtype not in _ORDERED:
        barred |= {"Min", "Max"}
    return [kind for kind in ROW_KINDS if kind not in barred]


def _indices(history: History, rows: int, kind: str) -> np.ndarray:
    """Indices of rank 0 to 2; an index comes twice only if the order of updates does not matter."""
    draw = history.draw
    shape = draw.choice(((), (0,), (1,), (2,), (3,), (1, 2), (2, 2)))
    count = int(np.prod(shape, dtype=np.int64))
    if kind == "Update" and count > rows:
        shape, count = (rows,), rows
    choose = draw.sample if kind == "Update" else draw.choices
    chosen = choose(range(rows), k=count)
    return np.array(chosen, draw.choice(("int32", "int64"))).reshape(shape)


def row_update(
    history: History, held: Held, kind: str, indices: np.ndarray, updates: np.ndarray
) -> str:
    """Write a scatter operation; its node."""
    inputs = [history.given(indices), history.given(updates)]
    attrs = {"Tindices": dtype_attr(indices.dtype.name)}
    if held.resource:
        attrs["dtype"] = dtype_attr(held.dtype)
        return history.node(f"ResourceScatter{kind}", [held.name, *inputs], attrs)
    attrs["T"] = dtype_attr(held.dtype)
    return _write(history, held, f"Scatter{kind}", inputs, attrs)


def _rows(history: History, held: Held) -> Done:
    draw = history.draw
    kind = draw.choice(_row_kinds(held))
    indices = _indices(history, held.shape[0], kind)
    shape = () if draw.random() < 0.2 else indices.shape + held.shape[1:]
    if kind == "Div":
        updates = drawn_divisors(draw, held.dtype, shape)
    else:
        updates = drawn(draw, held.dtype, shape, small=kind == "Mul")
    value = rows_updated(kind, history.held[held], indices, updates)
    return _kept(history, held, row_update(history, held, kind, indices, updates), value)


def vector_update(
    history: History, held: Held, kind: str, indices: np.ndarray, updates: np.ndarray
) -> str:
    """Write a scatter_nd operation; its node."""
    inputs = [history.given(indices), history.given(updates)]
    attrs = {"T": dtype_attr(held.dtype), "Tindices": dtype_attr(indices.dtype.name)}
    prefix = "Resource" if held.resource else ""
    return _write(history, held, f"{prefix}ScatterNd{kind}", inputs, attrs)


def _index_vectors(history: History, held: Held, *, unique: bool) -> np.ndarray:
    draw = history.draw
    depth = draw.randint(1, len(held.shape))
    places = list(np.ndindex(*held.shape[:depth]))
    count = min(draw.choice((0, 1, 2, 3)), len(places))
    chosen = draw.sample(places, count) if unique else draw.choices(places, k=count)
    return np.array(chosen, draw.choice(("int32", "int64"))).reshape(count, depth)


def _vectors(history: History, held: Held) -> Done:
    draw = history.draw
    kinds = ["Update"]
    if held.dtype in NUMBERS:
        kinds += ["Add", "Sub"] if held.dtype in COMPLEX else ["Add", "Sub", "Min", "Max"]
    kind = draw.choice(kinds)
    indices = _index_vectors(history, held, unique=kind == "Update")
    count, depth = indices.shape
    updates = drawn(draw, held.dtype, (count, *held.shape[depth:]))
    value = vectors_updated(kind, history.held[held], indices, updates)
    return _kept(history, held, vector_update(history, held, kind, indices, updates), value)


def _gathered(history: History, held: Held) -> Done:
    rows = held.shape[0]
    if held.resource and history.draw.random() < 0.3:
        vectors = _index_vectors(history, held, unique=False)
        rows_read = history.held[held][tuple(vectors.T)]
        return Done(gather_vectors(history, held, vectors), rows_read)
    indices = _indices(history, rows, "Gather") if rows else np.zeros([0], np.int32)
    return Done(gather(history, held, indices), history.held[held][indices])


def gather(history: History, held: Held, indices: np.ndarray) -> str:
    """Write the gathering of rows; its node."""
    kind, rows = dtype_attr(held.dtype), dtype_attr(indices.dtype.name)
    source = history.given(indices)
    if held.resource:
        attrs = {"dtype": kind, "Tindices": rows}
        return history.node("ResourceGather", [held.name, source], attrs)
    axis = history.writer.constant(np.array(0, np.int32))
    value = history.node("Identity", [held.name], {"T": kind})
    attrs = {"Tparams": kind, "Tindices": rows, "Taxis": dtype_attr("int32")}
    gathered = history.node("GatherV2", [value, source, axis], attrs)
    if held.on_cpu:  # it may stand on another device than the variable
        history.writer.put_on(gathered, CPU)
    return gathered


def gather_vectors(history: History, held: Held, vectors: np.ndarray) -> str:
    """Write the gathering of slices of a resource variable by index vectors; its node."""
    attrs = {"dtype": dtype_attr(held.dtype), "Tindices": dtype_attr(vectors.dtype.name)}
    return history.node("ResourceGatherNd", [held.name, history.given(vectors)], attrs)


# --- slices --------------------------------------------------------------------------------


def _sliced(history: History, held: Held) -> Done:
    draw = history.draw
    parts = [_part(history, size) for size in held.shape[: draw.randint(1, len(held.shape))]]
    value = history.held[held].copy()
    indices = tuple(part for part, *_ in parts)
    shape = np.shape(value[indices])
    filled = draw.random() < 0.3 and 0 not in shape
    update = drawn(draw, held.dtype, () if filled else shape)
    value[indices] = update if update.ndim else update[()]
    return _kept(history, held, slice_update(history, held, parts, update), value)


def _part(history: History, size: int) -> _Part:
    """An index or a slice of an axis: for numpy, then begin, end, stride and which masks."""
    draw = history.draw
    if draw.random() < 0.3:
        index = draw.randint(-size, size - 1)
        return index, index, index + 1 or size, 1, {"shrink_axis_mask": True}
    begin, end = draw.randint(-size, size), draw.randint(-size, size)
    stride = draw.choice((1, 1, 1, 2, -1, -2))
    masks = {"begin_mask": draw.random() < 0.3, "end_mask": draw.random() < 0.3}
    part = slice(None if masks["begin_mask"] else begin, None if masks["end_mask"] else end, stride)
    return part, begin, end, stride, masks


def slice_update(
    history: History,
    held: Held,
    parts: Sequence[_Part],
    update: np.ndarray,
    *,
    open_shape: bool = False,
) -> str:
    """Write the assignment to a slice; its node."""
    dtype = history.draw.choice(("int32", "int64"))
    bounds = [
        history.given(np.array([part[bound] for part in parts], dtype)) for bound in (1, 2, 3)
    ]
    source = history.given(update, open_shape=open_shape)
    attrs: dict[str, Json] = {"T": dtype_attr(held.dtype), "Index": dtype_attr(dtype)}
    for mask in ("begin_mask", "end_mask", "shrink_axis_mask"):
        bits = sum(1 << axis for axis, part in enumerate(parts) if part[4].get(mask))
        attrs[mask] = {"i": str(bits)}
    op = "ResourceStridedSliceAssign" if held.resource else "StridedSliceAssign"
    return history.node(op, [held.name, *bounds, source], attrs)


# --- what can be done ----------------------------------------------------------------------

_ACTIONS: Final[tuple[Action, ...]] = (
    read,
    _gathered,
    _known,
    _shaped,
    _set,
    _copy,
    _dense,
    _rows,
    _vectors,
    _sliced,
    _counted,
    _destroyed,
)


def able(history: History, held: Held) -> list[Action]:
    """The actions that are possible on the variable in its current state."""
    if held not in history.held:
        return [_set, _set, _known]
    barred: set[Action] = set()
    if held.dtype not in NUMBERS:
        barred.add(_dense)
    if not held.shape or 0 in held.shape:
        barred |= {_rows, _vectors, _sliced}
    if not held.shape:
        barred.add(_gathered)
    if held.shape or held.dtype not in COUNTED or int(history.held[held]) > 2**31 - 10:
        barred.add(_counted)
    if not held.resource:
        barred |= {_shaped, _destroyed}
    elif history.draw.random() < 0.7:
        barred.add(_destroyed)  # it says little, and what comes next must set the variable
    return [action for action in _ACTIONS if action not in barred]
