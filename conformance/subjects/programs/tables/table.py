"""Programs of lookup tables: nodes, lookups, initializers, errors."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.lookup_tables import (
    in_turn,
    mutable_table,
    of_unknown_shape,
    sorted_pairs,
    static_table,
    table_nodes,
)

__all__ = ["BEHAVIOURS"]


def _dense(
    tf,
    dtype=None,
    default=-1,
    empty=0,
    deleted=-1,
    buckets: int = 4,
):
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, dtype or tf.int64, default, empty, deleted, initial_num_buckets=buckets
    )


def _graph_of_static(tf):
    with tf.name_scope("outer"):
        table = static_table(tf)
    words = tf.placeholder(tf.string, [2, None])
    sparse = tf.SparseTensor([[0, 1]], ["a"], [2, 2])
    parts = [
        table.lookup(words),
        table[words],
        table.lookup(words, name="one"),
        table.lookup(sparse),
        table.size(),
        table.export(),
        table.default_value,
        table.initializer,
        table.name,
        table.key_dtype,
        table.value_dtype,
        table.resource_handle,
        tf.lookup.KeyValueTensorInitializer(["c"], [1], name="again").initialize(table),
    ]
    parts += [tf.tables_initializer(), tf.initialize_all_tables(), tf.tables_initializer("mine")]
    kept = tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)
    return [attempt(lambda: parts, lambda: kept), table_nodes(tf), tf.tables_initializer().type]


def _graph_of_changing(tf):
    elements = []
    tables = [
        mutable_table(tf),
        mutable_table(tf, [-1, -2]),
        mutable_table(tf, checkpoint=False, name="third"),
    ]
    for table in tables:
        keys = tf.constant(["a", "b"])
        value = [1, 2] if table is not tables[1] else [[1, 2], [3, 4]]
        elements += [
            table.insert(["a", "b"], value),
            table.lookup(keys),
            table.lookup(["a"]),
            table.lookup(["a", "b"], dynamic_default_values=value),
            table.remove(keys),
            table.size(),
            table.export(),
            table.name,
        ]
    dense = _dense(tf)
    elements += [
        dense.insert([1], [2]),
        dense.insert_or_assign([1], [2]),
        dense.lookup([1]),
        dense.remove(tf.constant([1], tf.int64)),
        dense.erase(tf.constant([1], tf.int64)),
        dense.size(),
        dense.export(),
        dense.name,
    ]
    return [
        attempt(lambda: elements),
        table_nodes(tf),
        len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)),
    ]


def _looked_up(tf):
    table = static_table(tf)
    values = table.lookup(of_unknown_shape(tf, [["a", "z"], ["b", "b"]]))
    numbers = static_table(tf, [10, 20], ["x", "y"], "none")
    raw = tf.raw_ops.LookupTableFindV2
    handle = table.resource_handle
    return in_turn(
        tf,
        values,
        table.size(),
        table.export(),
        table.initializer,
        values,
        table.size(),
        table.export(),
        table.initializer,
        tf.tables_initializer(),
        numbers.lookup(tf.constant([20, 7])),
        numbers.export(),
        raw(table_handle=handle, keys=["a", "z"], default_value=[5, 6]),
        raw(table_handle=handle, keys=["a", "z"], default_value=[5, 6, 7]),
        raw(table_handle=handle, keys=[1], default_value=5),
        raw(table_handle=handle, keys=["a"], default_value=5.0),
    )


def _initialized_twice(tf):
    table = static_table(tf)
    handle = table.resource_handle

    def other(keys, values):
        return tf.lookup.KeyValueTensorInitializer(keys, values).initialize(table)

    raw = tf.raw_ops
    return [
        in_turn(
            tf,
            table.initializer,
            table.initializer,
            other(["a", "c"], [7, 8]),
            other(["a"], [1]),
            table.export(),
            raw.InitializeTableV2(table_handle=handle, keys=["p", "q"], values=[1, 2]),
            raw.InitializeTableV2(table_handle=handle, keys=["p"], values=[1]),
            raw.LookupTableInsertV2(table_handle=handle, keys=["b"], values=[1]),
            raw.LookupTableRemoveV2(table_handle=handle, keys=["b"]),
            table.export(),
        ),
        *(
            in_turn(tf, table.initializer, table.size(), table.export())
            for table in (
                static_table(tf, ["a", "a"], [1, 1]),
                static_table(tf, ["a", "a"], [1, 2]),
            )
        ),
        in_turn(
            tf,
            raw.InitializeTableV2(
                table_handle=static_table(tf).resource_handle,
                keys=of_unknown_shape(tf, ["a"]),
                values=of_unknown_shape(tf, [1, 2]),
            ),
            raw.InitializeTableV2(
                table_handle=static_table(tf).resource_handle,
                keys=of_unknown_shape(tf, [["a"]]),
                values=of_unknown_shape(tf, [[1]]),
            ),
            raw.LookupTableImportV2(
                table_handle=static_table(tf).resource_handle,
                keys=of_unknown_shape(tf, "a"),
                values=of_unknown_shape(tf, 1),
            ),
            raw.LookupTableImportV2(
                table_handle=static_table(tf).resource_handle, keys=["a"], values=[[1]]
            ),
            raw.InitializeTableV2(
                table_handle=mutable_table(tf).resource_handle, keys=["a"], values=[1]
            ),
        ),
    ]


def _refused_when_built(tf):
    raw = tf.raw_ops
    resource = tf.placeholder(tf.resource, [2])
    known = mutable_table(tf).resource_handle
    static = static_table(tf).resource_handle
    vectors = _dense(tf, default=[1, 2, 3], empty=[0, 0], deleted=[0, 1])
    return attempt(
        lambda: static_table(tf, ["a", "b"], [1, 2, 3]),
        lambda: static_table(tf, [["a"], ["b"]], [1, 2]),
        lambda: static_table(tf, ["a"], [[1]]).initializer.type,
        lambda: static_table(tf, default="x"),
        lambda: static_table(tf, default=[1]),
        lambda: static_table(tf).lookup(tf.constant([1])),
        lambda: static_table(tf).lookup(["a"]),
        lambda: mutable_table(tf).lookup([1]),
        lambda: mutable_table(tf).insert([1], [1]),
        lambda: mutable_table(tf).insert(["a"], ["b"]),
        lambda: mutable_table(tf).remove(tf.constant([1])),
        lambda: mutable_table(tf).remove(["a"]),
        lambda: _dense(tf).remove(tf.constant(["a"])),
        lambda: mutable_table(tf).insert(["a"], [1, 2, 3]).type,
        lambda: raw.LookupTableSizeV2(table_handle=resource),
        lambda: raw.LookupTableFindV2(table_handle=known, keys=[1], default_value=1),
        lambda: raw.LookupTableFindV2(table_handle=known, keys=["a"], default_value=1.0),
        lambda: raw.LookupTableExportV2(table_handle=known, Tkeys=tf.int32, Tvalues=tf.int32),
        lambda: raw.LookupTableExportV2(table_handle=static, Tkeys=tf.int32, Tvalues=tf.int32),
        lambda: raw.LookupTableImportV2(table_handle=known, keys="a", values=[1]),
        lambda: raw.LookupTableImportV2(table_handle=known, keys=["a"], values=1),
        lambda: raw.LookupTableImportV2(table_handle=known, keys=["a"], values=[1, 2]),
        lambda: raw.LookupTableRemoveV2(table_handle=known, keys="a"),
        lambda: raw.InitializeTableV2(table_handle=static, keys=["a"], values=[1, 2]),
        lambda: raw.InitializeTableV2(table_handle=static, keys="a", values=1),
        lambda: raw.LookupTableFindV2(table_handle=static, keys=["a"], default_value=1),
        lambda: vectors.lookup([[1, 2]]),
        lambda: vectors.lookup(1),
        lambda: vectors.lookup(tf.placeholder(tf.int64, [None, None, 2])),
    )


def _changing(tf):
    table, vectors = mutable_table(tf), mutable_table(tf, [0, 0])
    keys = of_unknown_shape(tf, ["a", "q"])

    def restored(keys, values):
        handle = table.resource_handle
        return tf.raw_ops.LookupTableImportV2(table_handle=handle, keys=keys, values=values)

    def put(to, keys, values):
        return to.insert(of_unknown_shape(tf, keys), of_unknown_shape(tf, values))

    return [
        in_turn(
            tf,
            table.size(),
            table.export(),
            table.lookup(keys),
            table.insert(["a", "b"], [1, 2]),
            table.lookup(keys),
            table.size(),
            table.export(),
            table.insert(["c", "c"], [3, 4]),
            table.export(),
            table.remove(keys),
            table.export(),
            table.insert("s", 9),
            table.insert([["x", "y"]], [[5, 6]]),
            table.export(),
            table.lookup("s"),
            table.lookup(["p", "b"], dynamic_default_values=[7, 8]),
            table.lookup(["p", "b"], dynamic_default_values=of_unknown_shape(tf, [7, 8, 9])),
            restored(["k", "k"], [1, 2]),
            table.export(),
            put(table, ["a"], [1, 2]),
            put(table, ["a"], [[1, 2]]),
            put(table, "a", [1]),
            table.export(),
            restored(["k"], [[1]]),
            table.insert([], []),
            table.lookup([]),
        ),
        in_turn(
            tf,
            vectors.size(),
            vectors.export(),
            vectors.insert(["a"], [[1, 2]]),
            vectors.lookup([["a", "b"]]),
            vectors.export(),
            put(vectors, ["a"], [1]),
            put(vectors, ["a"], [[1, 2, 3]]),
            put(vectors, "z", [8, 9]),
            vectors.lookup("z"),
            vectors.lookup(["y"], dynamic_default_values=[[7, 7]]),
            vectors.lookup(["y"]),
            vectors.remove(tf.constant(["a"])),
            vectors.export(),
        ),
    ]


def _buckets(tf):
    table, words = (
        _dense(tf),
        tf.lookup.experimental.DenseHashTable(
            tf.string, tf.int32, -1, "", "$", initial_num_buckets=4
        ),
    )
    pairs = _dense(tf, empty=[0, 0], deleted=[0, 1])
    raw = tf.raw_ops
    handle = table.resource_handle

    def key(*values: int):
        return tf.constant(values, tf.int64)

    def created(**options):
        attrs = {"empty_key": 1, "deleted_key": 2, "value_dtype": tf.int32, **options}
        return raw.LookupTableSizeV2(table_handle=raw.MutableDenseHashTableV2(**attrs))

    pair = tf.lookup.KeyValueTensorInitializer
    other = tf.lookup.StaticHashTable(pair(["a"], [1]), 0)
    return [
        attempt(lambda: pair([1], [1]).initialize(other)),
        in_turn(
            tf,
            table.export(),
            table.insert([1, 5, 9, 2, 17], [1, 2, 3, 4, 5]),
            table.export(),
            table.insert_or_assign(key(2), key(8)),
            table.lookup(key(2)),
            table.remove(key(5, 100)),
            table.size(),
            table.export(),
            table.insert([5], [7]),
            table.insert([3, 4, 6, 7, 8, 10], [0] * 6),
            table.export(),
            table.lookup([1, 77]),
            table.insert([0], [1]),
            table.insert([-1], [1]),
            table.lookup([0]),
            table.lookup([-1]),
            table.remove(key(0)),
            table.lookup([[1, 2]]),
            table.lookup(1),
            raw.LookupTableImportV2(
                table_handle=handle,
                keys=of_unknown_shape(tf, [[0], [3]], tf.int64),
                values=of_unknown_shape(tf, [[0], [30]], tf.int64),
            ),
            table.export(),
            table.size(),
            raw.LookupTableImportV2(
                table_handle=handle,
                keys=of_unknown_shape(tf, [0, 3], tf.int64),
                values=of_unknown_shape(tf, [0, 30], tf.int64),
            ),
            raw.LookupTableImportV2(
                table_handle=handle,
                keys=of_unknown_shape(tf, [[0], [3]], tf.int64),
                values=of_unknown_shape(tf, [0, 30], tf.int64),
            ),
        ),
        in_turn(
            tf,
            words.insert(["a", "bb"], [1, 2]),
            words.lookup(["a", "q", "bb"]),
            words.remove(tf.constant(["a"])),
            words.size(),
            words.lookup(["a", "bb"]),
        ),
        in_turn(
            tf,
            pairs.insert([[1, 2]], [1]),
            pairs.lookup([[1, 2], [2, 1]]),
            pairs.size(),
            pairs.lookup([1, 2]),
            pairs.remove(key(1, 2)[None]),
            pairs.size(),
        ),
        in_turn(
            tf,
            created(),
            created(initial_num_buckets=3),
            created(max_load_factor=1.5),
            created(max_load_factor=0.0),
            created(deleted_key=1),
            created(deleted_key=[2]),
            created(value_shape=[None]),
            _dense(tf, tf.bool, False).export(),
        ),
    ]


def _names(tf):
    raw = tf.raw_ops

    def size(handle):
        return raw.LookupTableSizeV2(table_handle=handle)

    def created(value_dtype=None, **options):
        dtypes = {"key_dtype": tf.string, "value_dtype": value_dtype or tf.int32}
        return raw.MutableHashTableV2(**dtypes, **options)

    def shared():
        tables = [
            created(use_node_name_sharing=True, name="n"),
            created(shared_name="n"),
            created(name="m"),
            created(shared_name="m"),
            created(shared_name="n", container="box"),
            raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int32, shared_name="n"),
        ]
        puts = [
            raw.LookupTableInsertV2(table_handle=tables[index], keys=["a"], values=[1])
            for index in (0, 2)
        ]
        with tf.Session() as session:
            session.run(puts)
            return session.run([size(table) for table in tables])

    return attempt(
        shared,
        lambda: run(
            tf, [size(created(shared_name="x")), size(created(tf.float32, shared_name="x"))]
        ),
        lambda: run(tf, size(raw.FIFOQueueV2(component_types=[tf.int32]))),
        lambda: run(tf, size(raw.HashTableV2(key_dtype=tf.float32, value_dtype=tf.int32))),
        lambda: run(tf, raw.HashTableV2(key_dtype=tf.float32, value_dtype=tf.float32).op),
        lambda: run(tf, size(created(tf.string))),
        lambda: run(
            tf,
            size(
                raw.MutableHashTableOfTensorsV2(
                    key_dtype=tf.string, value_dtype=tf.int32, value_shape=[2, 2]
                )
            ),
        ),
        lambda: run(
            tf,
            size(
                raw.MutableHashTableOfTensorsV2(
                    key_dtype=tf.string, value_dtype=tf.int32, value_shape=[None]
                )
            ),
        ),
    )


def _saved(tf):
    """A table that is saved and restored by a saver."""
    table, vectors = mutable_table(tf, name="words"), mutable_table(tf, [0, 0], name="vectors")
    saver = tf.train.Saver()
    nodes = table_nodes(tf)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run([table.insert(["a", "b"], [1, 2]), vectors.insert(["c"], [[3, 4]])])
        path = saver.save(session, str(Path(folder) / "model"), write_meta_graph=False)
        session.run([table.insert(["a", "z"], [8, 9]), vectors.insert(["c"], [[5, 6]])])
        saver.restore(session, path)
        kept = [sorted_pairs(session.run(item.export())) for item in (table, vectors)]
        names = sorted(tf.train.list_variables(path))
    return [
        attempt(lambda: kept, lambda: names),
        [node for node in nodes if "save/" in node[0] and "table_restore" in node[0]],
    ]


BEHAVIOURS = {
    "graph_of_static": _graph_of_static,
    "graph_of_changing": _graph_of_changing,
    "found": _looked_up,
    "filled_again": _initialized_twice,
    "refused_when_built": _refused_when_built,
    "changing": _changing,
    "buckets": _buckets,
    "names": _names,
    "saved": _saved,
}
