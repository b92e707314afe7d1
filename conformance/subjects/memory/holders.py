"""Everything that keeps a value from run to run, with the operations that store and read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import Symbol
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

__all__ = ["HOLDERS", "Holder", "Nodes"]

#: Where what is kept is a value of any kind.
_ANY: Final = ("float32", "int64", "bool", "string", "float64", "uint8", "complex64", "float16")
_NUMBERS: Final = ("float32", "float64", "float16")
_TABLED: Final = ("float32", "int64", "string", "float64")
_KEYS: Final = np.array([5, -7], np.int64)


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a holder in a graph.

    Attributes:
      put: the operation that takes the fed tensor in.
      get: the tensor that gives what is kept.
      prepare: the operation that runs before all others, or None.

    """

    put: Symbol
    get: Symbol
    prepare: Symbol | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A resource that keeps a value from run to run: a queue, a table, a variable and so on.

    Attributes:
      name: what it is, in words.
      build: from (namespace, fed tensor, dtype, shape of the fed tensor) to its nodes.
      dtypes: the dtypes that it can keep.
      whole: whether it keeps the fed tensor as it is; if not, rows of it or what it computes.
      lasting: whether the value is still there after `get`.
      several: whether it keeps several elements and gives them in the order of their insertion.

    """

    name: str
    build: Callable[[Namespace, Symbol, str, tuple[int, ...]], Nodes]
    dtypes: tuple[str, ...] = _ANY
    whole: bool = True
    lasting: bool = False
    several: bool = False


def _queue(cls: str, *before: int, many: bool = False) -> Callable[..., Nodes]:
    """A queue of one component; `before` are arguments between its capacity and its dtypes."""

    def build(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
        kept = shape[1:] if many else shape
        queue = getattr(tf, cls)(8, *before, tf.as_dtype(dtype), shapes=[list(kept)])
        if many:
            return Nodes(queue.enqueue_many(fed), queue.dequeue_many(shape[0]))
        return Nodes(queue.enqueue(fed), queue.dequeue())

    return build


def _priority_queue(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
    queue = tf.PriorityQueue(8, tf.as_dtype(dtype), shapes=[list(shape)])
    return Nodes(queue.enqueue((np.int64(1), fed)), queue.dequeue()[1])


def _stage(op: str) -> Callable[..., Nodes]:
    """A staging area, of which elements are taken (`Unstage`) or looked at (`StagePeek`)."""

    def build(tf: Namespace, fed: Symbol, dtype: str, _: tuple[int, ...]) -> Nodes:
        attrs = {"dtypes": [tf.as_dtype(dtype)], "shared_name": "area"}
        more = {} if op == "Unstage" else {"index": np.int32(0)}
        put = tf.raw_ops.Stage(values=[fed], shared_name="area")
        return Nodes(put, getattr(tf.raw_ops, op)(**more, **attrs)[0])

    return build


def _map_stage(order: str, op: str) -> Callable[..., Nodes]:
    def build(tf: Namespace, fed: Symbol, dtype: str, _: tuple[int, ...]) -> Nodes:
        attrs = {"dtypes": [tf.as_dtype(dtype)], "shared_name": "map"}
        position: dict[str, np.int64 | np.ndarray] = {
            "key": np.int64(3),
            "indices": np.array([0], np.int32),
        }
        put = getattr(tf.raw_ops, f"{order}Stage")(values=[fed], **position, **attrs)
        return Nodes(put, getattr(tf.raw_ops, f"{order}{op}")(**position, **attrs)[0])

    return build


def _barrier(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
    raw = tf.raw_ops
    types: dict[str, Json] = {"component_types": [tf.as_dtype(dtype)]}
    barrier = raw.Barrier(shapes=[list(shape[1:])], **types)
    keys = [f"k{number}" for number in range(shape[0])]
    put = raw.BarrierInsertMany(handle=barrier, keys=keys, values=fed, component_index=0)
    take = raw.BarrierTakeMany(handle=barrier, num_elements=shape[0], **types)
    return Nodes(put, take.values[0])


def _table(kind: str) -> Callable[..., Nodes]:
    """A table of rows, which are vectors, by two keys."""

    def build(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
        raw, row = tf.raw_ops, [int(np.prod(shape[1:]))]
        attrs: dict[str, Argument] = {
            "value_dtype": tf.as_dtype(dtype),
            "value_shape": row,
            "shared_name": "table",
        }
        if kind == "MutableDenseHashTableV2":
            attrs |= {"empty_key": np.int64(-1), "deleted_key": np.int64(-2)}
        else:
            attrs["key_dtype"] = tf.int64
        table = getattr(raw, kind)(**attrs)
        default = tf.zeros(row, tf.as_dtype(dtype))
        rows = fed if len(shape) == 2 else tf.reshape(fed, [shape[0], *row])
        put = raw.LookupTableInsertV2(table_handle=table, keys=_KEYS, values=rows)
        find = raw.LookupTableFindV2(table_handle=table, keys=_KEYS, default_value=default)
        return Nodes(put, find if len(shape) == 2 else tf.reshape(find, list(shape)))

    return build


def _accumulator(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
    accumulator = tf.ConditionalAccumulator(tf.as_dtype(dtype), shape=list(shape))
    return Nodes(accumulator.apply_grad(fed, local_step=9), accumulator.take_grad(1))


def _sparse_accumulator(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
    accumulator = tf.SparseConditionalAccumulator(tf.as_dtype(dtype))
    rows = np.arange(shape[0], dtype=np.int64)
    taken = accumulator.take_grad(1)
    return Nodes(accumulator.apply_grad(rows, fed, local_step=9), taken[1])


def _variable(*, resource: bool) -> Callable[..., Nodes]:
    def build(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
        first = tf.zeros(list(shape), tf.as_dtype(dtype))
        variable = tf.Variable(first, use_resource=resource)
        return Nodes(tf.assign(variable, fed).op, tf.identity(variable), variable.initializer)

    return build


def _updated(function: str, *, resource: bool) -> Callable[..., Nodes]:
    """A variable of zeros; the fed tensor is added to it, or scattered into its rows."""

    def build(tf: Namespace, fed: Symbol, dtype: str, shape: tuple[int, ...]) -> Nodes:
        first = tf.zeros(list(shape), tf.as_dtype(dtype))
        variable = tf.Variable(first, use_resource=resource)
        if function == "assign_add":
            put = tf.assign_add(variable, fed)
        else:
            put = tf.scatter_update(variable, np.arange(shape[0], dtype=np.int32), fed)
        return Nodes(put.op, tf.identity(variable), variable.initializer)

    return build


#: Every holder by name.
HOLDERS: Final[Mapping[str, Holder]] = {
    holder.name: holder
    for holder in (
        Holder("a FIFOQueue", _queue("FIFOQueue"), several=True),
        Holder("a PaddingFIFOQueue", _queue("PaddingFIFOQueue"), several=True),
        Holder("a RandomShuffleQueue", _queue("RandomShuffleQueue", 0)),
        Holder("a PriorityQueue", _priority_queue),
        Holder("rows in a FIFOQueue", _queue("FIFOQueue", many=True), whole=False, several=True),
        Holder("a staging area", _stage("Unstage"), several=True),
        Holder("a staging area looked at", _stage("StagePeek"), lasting=True),
        Holder("a staged map", _map_stage("Map", "Unstage")),
        Holder("a staged map looked at", _map_stage("Map", "Peek"), lasting=True),
        Holder("an ordered staged map", _map_stage("OrderedMap", "Unstage")),
        Holder("a barrier", _barrier, whole=False),
        Holder("a table", _table("MutableHashTableOfTensorsV2"), _TABLED, False, True),
        Holder("a dense table", _table("MutableDenseHashTableV2"), _TABLED[:2], False, True),
        Holder("an accumulator", _accumulator, _NUMBERS[:2], whole=False),
        Holder("a sparse accumulator", _sparse_accumulator, _NUMBERS[:2], whole=False),
        Holder("a resource variable", _variable(resource=True), lasting=True),
        Holder("a reference variable", _variable(resource=False), _ANY, False, True),
        Holder(
            "an updated reference variable",
            _updated("assign_add", resource=False),
            _NUMBERS,
            False,
            True,
        ),
        Holder(
            "an updated resource variable",
            _updated("assign_add", resource=True),
            _NUMBERS,
            False,
            True,
        ),
        Holder(
            "rows of a reference variable",
            _updated("scatter_update", resource=False),
            _NUMBERS,
            False,
            True,
        ),
        Holder(
            "rows of a resource variable",
            _updated("scatter_update", resource=True),
            _NUMBERS,
            False,
            True,
        ),
    )
}
