"""Graphs for operations on resources that last: tables, accumulators, barriers, staging areas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sessrun.reference as tf
from sessrun.reference.api.queues.barriers import Barrier
from sessrun.reference.api.queues.staging import MapStagingArea, StagingArea

TABLES = (
    "HashTableV2 InitializeTableV2 InitializeTableFromTextFileV2 MutableHashTableV2 "
    "MutableHashTableOfTensorsV2 MutableDenseHashTableV2 LookupTableFindV2 LookupTableInsertV2 "
    "LookupTableRemoveV2 LookupTableSizeV2 LookupTableExportV2 LookupTableImportV2 "
    "AnonymousHashTable AnonymousMutableHashTable AnonymousMutableHashTableOfTensors "
    "AnonymousMutableDenseHashTable"
)
ACCUMULATORS = (
    "ConditionalAccumulator AccumulatorApplyGradient AccumulatorTakeGradient "
    "AccumulatorSetGlobalStep AccumulatorNumAccumulated ResourceConditionalAccumulator "
    "ResourceAccumulatorApplyGradient ResourceAccumulatorTakeGradient "
    "ResourceAccumulatorSetGlobalStep ResourceAccumulatorNumAccumulated "
    "SparseConditionalAccumulator SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient"
)
STAGING = "Stage Unstage StagePeek StageSize StageClear " + " ".join(
    kind + word
    for kind in ("Map", "OrderedMap")
    for word in ("Stage", "Unstage", "UnstageNoKey", "Peek", "Size", "IncompleteSize", "Clear")
)
BARRIERS = (
    "Barrier BarrierInsertMany BarrierTakeMany BarrierClose BarrierReadySize BarrierIncompleteSize"
)


def barriers() -> None:
    """Elements whose components come one by one, counted and taken; the barrier closed."""
    held = Barrier((tf.float32, tf.int32), shapes=((), (2,)))
    tf.group(held.insert_many(0, ["a", "b"], [1.0, 2.0]), name="first_components")
    tf.group(held.insert_many(1, ["b"], [[3, 4]]), name="second_component")
    tf.identity(held.ready_size(), name="complete")
    tf.identity(held.incomplete_size(), name="incomplete")
    taken = held.take_many(1)
    tf.identity(taken.keys, name="taken_keys")
    tf.identity(taken.values[1], name="taken_values")
    tf.group(held.close(), name="barrier_closed")


def staging() -> None:
    """Elements put into areas of each kind, looked at, counted, taken, and cleared away."""
    line = StagingArea([tf.float32])
    tf.group(line.put([tf.constant(1.0)]), name="staged")
    tf.identity(line.peek(0)[0], name="staged_first")
    tf.identity(line.get()[0], name="staged_taken")
    tf.identity(line.size(), name="staged_count")
    tf.group(line.clear(), name="staged_cleared")
    for word, ordered in (("map", False), ("ordered", True)):
        keyed = MapStagingArea([tf.float32], ordered=ordered)
        key = tf.constant(3, tf.int64)
        tf.group(keyed.put(key, [tf.constant(2.0)], [0]), name=f"{word}_put")
        tf.identity(keyed.peek(key)[0], name=f"{word}_seen")
        tf.identity(keyed.get(key)[1][0], name=f"{word}_taken")
        tf.identity(keyed.get()[0], name=f"{word}_key")
        tf.identity(keyed.size() + keyed.incomplete_size(), name=f"{word}_count")
        tf.group(keyed.clear(), name=f"{word}_cleared")


def accumulators() -> None:
    """Gradients gathered and taken: dense ones, by both kinds of handle, and sparse ones."""
    raw = tf.raw_ops
    dense = tf.ConditionalAccumulator(tf.float32, shape=[2])
    older = raw.ConditionalAccumulator(dtype=tf.float32, shape=[2], reduction_type="SUM")
    sparse = tf.SparseConditionalAccumulator(tf.float32)
    tf.group(
        dense.apply_grad([1.0, 2.0]),
        raw.AccumulatorApplyGradient(handle=older, local_step=0, gradient=[3.0, 4.0]),
        sparse.apply_grad([0, 2], [[5.0], [6.0]]),
        name="gathered",
    )
    tf.identity(dense.num_accumulated(), name="count")
    tf.identity(raw.AccumulatorNumAccumulated(handle=older), name="older_count")
    tf.identity(dense.take_grad(2), name="mean")
    tf.identity(
        raw.AccumulatorTakeGradient(handle=older, num_required=2, dtype=tf.float32), name="sum"
    )
    tf.identity(sparse.take_grad(2).values, name="slices")
    tf.group(
        dense.set_global_step(9),
        sparse.set_global_step(9),
        raw.AccumulatorSetGlobalStep(handle=older, new_global_step=9),
        name="later",
    )


def tables() -> None:
    """Tables of each kind: filled, from a file too, changed, looked up, exported."""
    keys = tf.constant(["a", "b"])
    static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, [1, 2]), -1)
    tf.group(static.initializer, name="filled")
    tf.identity(static.lookup(tf.constant(["b", "c"])), name="found")
    raw = tf.raw_ops
    other = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int32, shared_name="other")
    tf.group(raw.InitializeTableV2(table_handle=other, keys=["k"], values=[5]), name="filled_too")
    tf.identity(
        raw.LookupTableExportV2(table_handle=other, Tkeys=tf.string, Tvalues=tf.int32).values,
        name="all",
    )
    lines = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="lines")
    tf.group(
        raw.InitializeTableFromTextFileV2(
            table_handle=lines,
            filename=str(Path(__file__)),
            key_index=-2,
            value_index=-1,
            vocab_size=1,
        ),
        name="filled_from_file",
    )
    tf.identity(raw.LookupTableSizeV2(table_handle=lines), name="lines")
    changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, -1)
    vectors = tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, [0, 0])
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int32, -1, 0, -1, 4)
    tf.group(
        changing.insert(keys, [1, 2]),
        vectors.insert(keys, [[1, 2], [3, 4]]),
        dense.insert([1, 5], [6, 7]),
        name="put",
    )
    tf.group(changing.remove(tf.constant(["a"])), name="removed")
    for name, table in (("one", changing), ("two", vectors)):
        tf.identity(table.lookup(keys), name=f"found_{name}")
    tf.identity(dense.export()[1], name="buckets")
    tf.group(
        raw.LookupTableImportV2(table_handle=changing.resource_handle, keys=["z"], values=[9]),
        name="restored",
    )
    tf.identity(changing.export()[0], name="restored_keys")
    of_one_run = tuple(
        make(key_dtype=tf.string, value_dtype=tf.int32, **more)
        for make, more in (
            (raw.AnonymousHashTable, {}),
            (raw.AnonymousMutableHashTable, {}),
            (raw.AnonymousMutableHashTableOfTensors, {"value_shape": [2]}),
        )
    )
    empty = raw.AnonymousMutableDenseHashTable(
        empty_key="", deleted_key="$", value_dtype=tf.int32, initial_num_buckets=4
    )
    for number, handle in enumerate((*of_one_run, empty)):
        tf.identity(raw.LookupTableSizeV2(table_handle=handle), name=f"empty_{number}")


_BY_KEY = ("put", "seen:0", "taken:0", "put", "key:0", "count:0", "put", "cleared", "count:0")

RESOURCES: tuple[tuple[str, Callable[[], None], tuple[tuple[str, ...], ...]], ...] = (
    (
        TABLES,
        tables,
        (
            ("filled",),
            ("found:0",),
            ("filled_too",),
            ("all:0",),
            ("filled_from_file",),
            ("lines:0",),
            ("put",),
            ("removed",),
            ("found_one:0", "found_two:0", "buckets:0"),
            ("restored",),
            ("restored_keys:0",),
            tuple(f"empty_{number}:0" for number in range(4)),
        ),
    ),
    (
        ACCUMULATORS,
        accumulators,
        (
            ("gathered",),
            ("gathered",),
            ("count:0", "older_count:0"),
            ("mean:0", "sum:0", "slices:0"),
            ("later",),
            ("gathered",),
            ("count:0",),
        ),
    ),
    (
        BARRIERS,
        barriers,
        (
            ("first_components",),
            ("second_component",),
            ("complete:0", "incomplete:0"),
            ("taken_keys:0", "taken_values:0"),
            ("barrier_closed",),
        ),
    ),
    (
        STAGING,
        staging,
        (
            ("staged",),
            ("staged_first:0",),
            ("staged_taken:0",),
            ("staged",),
            ("staged_cleared",),
            ("staged_count:0",),
            *((f"{word}_{step}",) for word in ("map", "ordered") for step in _BY_KEY),
        ),
    ),
)
