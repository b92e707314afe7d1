"""Programs of lookup tables: their graphs, what they find, what fills them, what they refuse."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

_LINE, _NUMBER = -2, -1


def _static(tf, keys=("a", "b"), values=(1, 2), default=-1):
    initializer = tf.lookup.KeyValueTensorInitializer(list(keys), list(values))
    return tf.lookup.StaticHashTable(initializer, default)


def _mutable(tf, default=-1, **options):
    return tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, default, **options)


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


def _unknown(tf, value, dtype=None):
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def _nodes(tf) -> list[Any]:
    """Every node but for the shared names of tables, which are drawn."""
    return [
        [
            n.name,
            n.op,
            sorted(n.input),
            n.device,
            list(n.attr["_class"].list.s),
            *(
                f"{key} {value}"
                for key, value in sorted(n.attr.items())
                if key not in {"_class", "value", "shared_name"}
            ),
        ]
        for n in tf.get_default_graph().as_graph_def().node
    ]


def _in_turn(tf, *fetches) -> list[Any]:
    """What one session gives for each of the fetches; pairs of keys and values in order."""
    with tf.Session() as session:
        return attempt(*(lambda fetch=fetch: _sorted(session.run(fetch)) for fetch in fetches))


def _sorted(value):
    if isinstance(value, tuple) and len(value) == 2 and value[0].ndim == 1:
        return sorted(zip(value[0].tolist(), value[1].tolist(), strict=True)), value[1].dtype.name
    return value


def _graph_of_static(tf):
    with tf.name_scope("outer"):
        table = _static(tf)
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
    return [attempt(lambda: parts, lambda: kept), _nodes(tf), tf.tables_initializer().type]


def _graph_of_changing(tf):
    elements: list[Any] = []
    tables = [_mutable(tf), _mutable(tf, [-1, -2]), _mutable(tf, checkpoint=False, name="third")]
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
        _nodes(tf),
        len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)),
    ]


def _looked_up(tf):
    table = _static(tf)
    values = table.lookup(_unknown(tf, [["a", "z"], ["b", "b"]]))
    numbers = _static(tf, [10, 20], ["x", "y"], "none")
    raw = tf.raw_ops.LookupTableFindV2
    handle = table.resource_handle
    return _in_turn(
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


def _filled_again(tf):
    table = _static(tf)
    handle = table.resource_handle

    def other(keys, values):
        return tf.lookup.KeyValueTensorInitializer(keys, values).initialize(table)

    raw = tf.raw_ops
    return [
        _in_turn(
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
            _in_turn(tf, table.initializer, table.size(), table.export())
            for table in (_static(tf, ["a", "a"], [1, 1]), _static(tf, ["a", "a"], [1, 2]))
        ),
        _in_turn(
            tf,
            raw.InitializeTableV2(
                table_handle=_static(tf).resource_handle,
                keys=_unknown(tf, ["a"]),
                values=_unknown(tf, [1, 2]),
            ),
            raw.InitializeTableV2(
                table_handle=_static(tf).resource_handle,
                keys=_unknown(tf, [["a"]]),
                values=_unknown(tf, [[1]]),
            ),
            raw.LookupTableImportV2(
                table_handle=_static(tf).resource_handle,
                keys=_unknown(tf, "a"),
                values=_unknown(tf, 1),
            ),
            raw.LookupTableImportV2(
                table_handle=_static(tf).resource_handle, keys=["a"], values=[[1]]
            ),
            raw.InitializeTableV2(
                table_handle=_mutable(tf).resource_handle, keys=["a"], values=[1]
            ),
        ),
    ]


def _refused_when_built(tf):
    raw = tf.raw_ops
    resource = tf.placeholder(tf.resource, [2])
    known = _mutable(tf).resource_handle
    static = _static(tf).resource_handle
    vectors = _dense(tf, default=[1, 2, 3], empty=[0, 0], deleted=[0, 1])
    return attempt(
        lambda: _static(tf, ["a", "b"], [1, 2, 3]),
        lambda: _static(tf, [["a"], ["b"]], [1, 2]),
        lambda: _static(tf, ["a"], [[1]]).initializer.type,
        lambda: _static(tf, default="x"),
        lambda: _static(tf, default=[1]),
        lambda: _static(tf).lookup(tf.constant([1])),
        lambda: _static(tf).lookup(["a"]),
        lambda: _mutable(tf).lookup([1]),
        lambda: _mutable(tf).insert([1], [1]),
        lambda: _mutable(tf).insert(["a"], ["b"]),
        lambda: _mutable(tf).remove(tf.constant([1])),
        lambda: _mutable(tf).remove(["a"]),
        lambda: _dense(tf).remove(tf.constant(["a"])),
        lambda: _mutable(tf).insert(["a"], [1, 2, 3]).type,
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
    table, vectors = _mutable(tf), _mutable(tf, [0, 0])
    keys = _unknown(tf, ["a", "q"])

    def restored(keys, values):
        handle = table.resource_handle
        return tf.raw_ops.LookupTableImportV2(table_handle=handle, keys=keys, values=values)

    def put(to, keys, values):
        return to.insert(_unknown(tf, keys), _unknown(tf, values))

    return [
        _in_turn(
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
            table.lookup(["p", "b"], dynamic_default_values=_unknown(tf, [7, 8, 9])),
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
        _in_turn(
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
        _in_turn(
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
                keys=_unknown(tf, [[0], [3]], tf.int64),
                values=_unknown(tf, [[0], [30]], tf.int64),
            ),
            table.export(),
            table.size(),
            raw.LookupTableImportV2(
                table_handle=handle,
                keys=_unknown(tf, [0, 3], tf.int64),
                values=_unknown(tf, [0, 30], tf.int64),
            ),
            raw.LookupTableImportV2(
                table_handle=handle,
                keys=_unknown(tf, [[0], [3]], tf.int64),
                values=_unknown(tf, [0, 30], tf.int64),
            ),
        ),
        _in_turn(
            tf,
            words.insert(["a", "bb"], [1, 2]),
            words.lookup(["a", "q", "bb"]),
            words.remove(tf.constant(["a"])),
            words.size(),
            words.lookup(["a", "bb"]),
        ),
        _in_turn(
            tf,
            pairs.insert([[1, 2]], [1]),
            pairs.lookup([[1, 2], [2, 1]]),
            pairs.size(),
            pairs.lookup([1, 2]),
            pairs.remove(key(1, 2)[None]),
            pairs.size(),
        ),
        _in_turn(
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
    """A table is saved with the variables, and put back."""
    table, vectors = _mutable(tf, name="words"), _mutable(tf, [0, 0], name="vectors")
    saver = tf.train.Saver()
    nodes = _nodes(tf)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run([table.insert(["a", "b"], [1, 2]), vectors.insert(["c"], [[3, 4]])])
        path = saver.save(session, str(Path(folder) / "model"), write_meta_graph=False)
        session.run([table.insert(["a", "z"], [8, 9]), vectors.insert(["c"], [[5, 6]])])
        saver.restore(session, path)
        kept = [_sorted(session.run(item.export())) for item in (table, vectors)]
        names = sorted(tf.train.list_variables(path))
    return [
        attempt(lambda: kept, lambda: names),
        [node for node in nodes if "save/" in node[0] and "table_restore" in node[0]],
    ]


@contextlib.contextmanager
def _files() -> Iterator[Callable[[str], str]]:
    """Files by name, in a folder that ends with the block."""
    texts = {
        "lines": "emerson\nlake\npalmer\n",
        "columns": "emerson\t10\nlake\t20\npalmer\t30\n",
        "gap": "a\nb\n\nc\n",
        "twice": "a\nb\na\n",
        "words": "a\tx\nb\t2\n",
        "short": "a\t1\nb\n",
        "returns": "a\r\nb\r\n",
        "spaces": "a 1\nb 2",
        "nothing": "",
        "floats": "1.5\t3\n2.5\t4\n",
        "padded": " 1 \n2\t\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_bytes(text.encode())
        yield lambda name: str(Path(folder) / name)


def _from_files(tf):
    word, number = tf.string, tf.int64

    def read(file: str, *columns, **options):
        initializer = tf.lookup.TextFileInitializer(path(file), *columns, **options)
        default = "?" if initializer.value_dtype == word else -1
        table = tf.lookup.StaticHashTable(initializer, default)
        again = table.initializer
        return _in_turn(tf, again, table.size(), table.export(), again)

    with _files() as path:
        return [
            *(
                read(name, word, _LINE, number, _NUMBER)
                for name in ("lines", "gap", "twice", "returns", "nothing", "absent")
            ),
            read("lines", number, _NUMBER, word, _LINE),
            read("columns", word, 0, number, 1),
            read("columns", word, 0, tf.int32, 1),
            read("columns", word, 0, tf.float32, 1),
            read("columns", word, 0, word, 1),
            read("columns", word, 2, word, 1),
            read("words", word, 0, number, 1),
            read("short", word, 0, number, 1),
            read("spaces", word, 0, number, 1, delimiter=" "),
            read("columns", word, 0, number, 1, delimiter="ab"),
            read("gap", word, _LINE, number, _NUMBER, vocab_size=2),
            read("lines", word, _LINE, number, _NUMBER, vocab_size=9),
            read("lines", word, _LINE, number, _NUMBER, value_index_offset=5),
            read("lines", number, _NUMBER, word, _LINE, value_index_offset=5),
            read("columns", word, 0, number, 1, value_index_offset=5),
            read("floats", number, 1, tf.float64, 0),
            read("floats", tf.int32, 1, tf.float32, 0),
            read("padded", number, _LINE, number, _NUMBER),
            read("lines", number, _LINE, number, _NUMBER),
        ]


def _files_refused(tf):
    word, number = tf.string, tf.int64
    initializer = tf.lookup.TextFileInitializer

    def fill(table, filename, **columns: int):
        columns = {"key_index": _LINE, "value_index": _NUMBER, **columns}
        raw = tf.raw_ops.InitializeTableFromTextFileV2
        return raw(table_handle=table.resource_handle, filename=filename, **columns)

    with _files() as path:
        lines = path("lines")
        return attempt(
            *(
                lambda columns=columns: initializer(lines, *columns)
                for columns in (
                    (word, _NUMBER, number, _NUMBER),
                    (tf.float32, _LINE, number, _NUMBER),
                    (word, -3, number, _NUMBER),
                    (word, _LINE, number, -3),
                    (word, _LINE, tf.int32, _NUMBER),
                    (word, _LINE, tf.float32, _LINE),
                )
            ),
            lambda: initializer(lines, word, _LINE, number, _NUMBER, vocab_size=0),
            lambda: initializer("", word, _LINE, number, _NUMBER),
            lambda: initializer(lines, word, _LINE, number, _NUMBER).initialize(_static(tf)),
            lambda: fill(_static(tf), ["a"]),
            lambda: run(tf, fill(_static(tf), _unknown(tf, ["a", "b"]))),
            lambda: run(tf, fill(_static(tf), lines)),
            lambda: run(tf, fill(_static(tf, [1], ["a"], ""), lines)),
            lambda: run(tf, fill(_mutable(tf), lines)),
        )


def _graph_of_files(tf):
    initializer = tf.lookup.TextFileInitializer
    columns = (tf.string, _LINE, tf.int64, _NUMBER)
    tables = [
        tf.lookup.StaticHashTable(initializer("some/file", *columns, **options), -1)
        for options in (
            {},
            {"vocab_size": 3, "value_index_offset": 2, "name": "named"},
            {"value_index_offset": 1},
        )
    ]
    shared = [table.resource_handle.op.node_def.attr["shared_name"].s for table in tables]
    parts = [
        tf.get_collection(key)
        for key in (tf.GraphKeys.TABLE_INITIALIZERS, tf.GraphKeys.ASSET_FILEPATHS)
    ]
    return [shared, attempt(lambda: parts), _nodes(tf)]


BEHAVIOURS: dict[str, Callable[[Any], Any]] = {
    "graph_of_static": _graph_of_static,
    "graph_of_changing": _graph_of_changing,
    "found": _looked_up,
    "filled_again": _filled_again,
    "refused_when_built": _refused_when_built,
    "changing": _changing,
    "buckets": _buckets,
    "names": _names,
    "saved": _saved,
    "from_files": _from_files,
    "files_refused": _files_refused,
    "graph_of_files": _graph_of_files,
}
