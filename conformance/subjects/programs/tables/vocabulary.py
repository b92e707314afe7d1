"""Programs of vocabulary tables: ids of words, buckets of unknown words, hashes."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]

#: Words of all lengths that the fingerprint functions treat differently.
_WORDS = [
    bytes((7 * index + size) % 256 for index in range(size))
    for size in (0, 1, 3, 4, 7, 8, 15, 16, 17, 32, 33, 63, 64, 65, 127, 128, 129, 200)
]


def _module(tf):
    package = "tensorflow" if "tensorflow" in tf.Session.__module__ else "sessrun.reference"
    return importlib.import_module(f"{package}.python.ops.lookup_ops")


@contextmanager
def _vocabulary(text: str = "brain\nsalad\nsurgery\n") -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words"
        path.write_text(text)
        yield str(path)


def _words(tf, values=(0, 1)):
    return tf.lookup.KeyValueTensorInitializer(
        tf.constant(["a", "b"]), tf.constant(list(values), tf.int64)
    )


def _numbers(tf):
    return tf.lookup.KeyValueTensorInitializer(
        tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)
    )


def _nodes(tf) -> list[Plain]:
    """The nodes without values and without the shared names of tables, which are random."""
    return [
        [
            n.name,
            n.op,
            sorted(n.input),
            *(
                f"{key} {value}"
                for key, value in sorted(n.attr.items())
                if key not in {"value", "shared_name"}
            ),
        ]
        for n in tf.get_default_graph().as_graph_def().node
    ]


def _hashes(tf):
    words = tf.constant(_WORDS)
    most = 2**63 - 1
    return [
        run(
            tf,
            [
                tf.string_to_hash_bucket(words, buckets),
                tf.strings.to_hash_bucket_fast(words, buckets),
                tf.strings.to_hash_bucket_strong(words, buckets, [1, 2]),
                tf.strings.to_hash_bucket_strong(words, buckets, [most, -most]),
            ],
        )
        for buckets in (1, 7, 1000, most)
    ] + attempt(
        lambda: tf.strings.to_hash_bucket_fast(["a"], 0),
        lambda: tf.strings.to_hash_bucket(["a"], 5).op.type,
        lambda: tf.strings.to_hash_bucket([["a"]], 5, name="x"),
        lambda: tf.string_to_hash_bucket("a", 5, None, "b"),
        lambda: run(tf, tf.string_to_hash_bucket(input=["a"], num_buckets=5)),
        lambda: run(tf, tf.strings.to_hash_bucket_strong(["a"], 5, [1])),
        lambda: run(tf, tf.strings.to_hash_bucket_strong(["a"], 5, [])),
        lambda: tf.strings.to_hash_bucket_strong(["a"], 5, [2**63, 1]),
        lambda: tf.strings.to_hash_bucket_fast([1], 5),
    )


def _facts_of(table):
    return [
        table.name,
        table.key_dtype.name,
        table.value_dtype.name,
        table.initializer.name,
        getattr(table.resource_handle, "name", None),
    ]


def _graph_of_vocabulary(tf):
    ops = _module(tf)
    tables = [
        tf.lookup.StaticVocabularyTable(_words(tf), 2),
        tf.lookup.StaticVocabularyTable(_numbers(tf), 2, lookup_key_dtype=tf.int32, name="a/b/"),
        tf.lookup.StaticVocabularyTable(None, 3),
        ops.IdTableWithHashBuckets(None, 3),
        ops.IdTableWithHashBuckets(
            tf.lookup.StaticHashTable(_words(tf), -1),
            2,
            hasher_spec=ops.StrongHashSpec([1, 2]),
            name="hello",
        ),
        ops.IdTableWithHashBuckets(tf.lookup.StaticHashTable(_words(tf), -1), 0),
        tf.lookup.StaticVocabularyTable(_words(tf), 2, experimental_is_anonymous=True),
    ]
    keys = [["a", "z"], [5, 9], ["z"], ["z"], ["a"], ["a"], ["a"]]
    dtypes = [None, tf.int32, None, None, None, None, None]
    results = [
        table.lookup(tf.constant(key, dtype))
        for table, key, dtype in zip(tables, keys, dtypes, strict=True)
    ]
    results += [table.size() for table in tables]
    bare = ops.LookupInterface(tf.string, tf.int64), ops.TableInitializerBase(tf.string, tf.int64)
    results += [tables[3].init.name, [bare[0].key_dtype, bare[0].value_dtype, bare[1].key_dtype]]
    results += attempt(lambda: bare[0].lookup("a"), lambda: bare[1].initialize(tables[0]))
    return [results, [_facts_of(table) for table in tables], _nodes(tf)]


def _graph_of_index_tables(tf):
    ops = _module(tf)
    with _vocabulary() as path:
        tables = [
            ops.index_table_from_file(path),
            ops.index_table_from_file(path, num_oov_buckets=2),
            ops.index_table_from_file(path, 2, key_dtype=tf.int64, name="mine"),
            ops.index_table_from_tensor(["a", "b"], name="x"),
            ops.index_table_from_tensor(
                tf.constant(["a", "b"]), 1, hasher_spec=ops.StrongHashSpec([1, 2])
            ),
            ops.index_table_from_tensor([5, 6], dtype=tf.int64, num_oov_buckets=1),
            ops.index_to_string_table_from_file(path, vocab_size=3),
            ops.index_to_string_table_from_tensor(["a", "b"]),
        ]
        return [
            [_facts_of(table) for table in tables],
            _nodes(tf),
            [op.name for op in tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)],
        ]


def _looked_up(tf):
    ops = _module(tf)
    words = tf.constant(["brain", "salad", "tank", ""])
    numbers, longs = (tf.constant([42, 1, -1000, 7], dtype) for dtype in (tf.int32, tf.int64))
    sparse = tf.SparseTensor([[0, 0], [1, 2]], ["a", "q"], [2, 3])
    with _vocabulary() as path, _vocabulary("42\n1\n-1000\n") as ints:
        tables = [
            (ops.index_table_from_file(path), words),
            (ops.index_table_from_file(path, num_oov_buckets=3), words),
            (ops.index_table_from_file(path, vocab_size=1, num_oov_buckets=1000), words),
            (ops.index_table_from_file(path, vocab_size=4, num_oov_buckets=1000), words),
            (ops.index_table_from_file(path, default_value=-9), words),
            (ops.index_table_from_file(ints, 3, key_dtype=tf.int64), longs),
            (ops.index_table_from_file(ints, 3, key_dtype=tf.int32), numbers),
            (ops.index_table_from_tensor(["brain", "x"], 5), words),
            (ops.index_table_from_tensor([42, 7], 5, dtype=tf.int32), numbers),
            (ops.index_table_from_tensor(["a", "a"]), words),
            (ops.index_to_string_table_from_file(path), tf.constant([[0, 2, 9]], tf.int64)),
            (
                ops.index_to_string_table_from_tensor(["p", "q"], default_value="?"),
                tf.constant([1, 2], tf.int64),
            ),
            (tf.lookup.StaticVocabularyTable(_words(tf), 4), words),
            (tf.lookup.StaticVocabularyTable(_words(tf), 4), sparse),
            (tf.lookup.StaticVocabularyTable(_words(tf, [7, 9]), 1000), sparse),
            (tf.lookup.StaticVocabularyTable(_numbers(tf), 4, lookup_key_dtype=tf.int32), numbers),
            (tf.lookup.StaticVocabularyTable(None, 4), words),
            (
                ops.IdTableWithHashBuckets(
                    None, 1000, hasher_spec=ops.StrongHashSpec([3, 5]), key_dtype=tf.int32
                ),
                numbers,
            ),
        ]
        with tf.Session() as session:
            return [
                attempt(
                    lambda table=table: session.run(table.initializer),
                    lambda table=table, keys=keys: session.run(table.lookup(keys)),
                    lambda table=table: session.run(table.size()),
                )
                for table, keys in tables
            ]


def _refused(tf):
    ops = _module(tf)
    table, lookup = tf.lookup.StaticVocabularyTable, tf.lookup
    ints = tf.constant([1], tf.int64)
    with _vocabulary() as path:
        return attempt(
            lambda: ops.index_table_from_file(None),
            lambda: ops.index_table_from_file(""),
            lambda: ops.index_table_from_file(path, vocab_size=0),
            lambda: ops.index_table_from_file(path, num_oov_buckets=-1),
            lambda: ops.index_table_from_file(path, key_dtype=tf.float32),
            lambda: ops.index_table_from_tensor(None),
            lambda: ops.index_table_from_tensor([]),
            lambda: ops.index_table_from_tensor([1.0], dtype=tf.float32),
            lambda: ops.index_table_from_tensor(["a"], dtype=tf.int64),
            lambda: ops.index_table_from_tensor([1]),
            lambda: ops.index_table_from_tensor(["a"], num_oov_buckets=-1),
            lambda: ops.index_to_string_table_from_file(None),
            lambda: ops.index_to_string_table_from_file(path, vocab_size=0),
            lambda: ops.index_to_string_table_from_tensor(None),
            lambda: ops.index_to_string_table_from_tensor([1]),
            lambda: table(lookup.KeyValueTensorInitializer(["a"], ["x"]), 2),
            lambda: table(lookup.KeyValueTensorInitializer(["a"], [1]), 2),
            lambda: table(lookup.KeyValueTensorInitializer([1.0], ints), 2),
            lambda: table(lookup.KeyValueTensorInitializer(ints, ints), 2, tf.string),
            lambda: table(_words(tf), 1, tf.int64),
            lambda: table(_words(tf), 0),
            lambda: table(_words(tf), 1).lookup(tf.constant([1])),
            lambda: table(_words(tf), 1).lookup(["a"]),
            lambda: table(None, 0),
            lambda: ops.IdTableWithHashBuckets(None, 0),
            lambda: ops.IdTableWithHashBuckets(None, 2, key_dtype=tf.float32),
            lambda: ops.IdTableWithHashBuckets(None, 2, hasher_spec="x"),
            lambda: ops.IdTableWithHashBuckets(
                None, 2, hasher_spec=ops.HasherSpec("x", None)
            ).lookup(tf.constant(["a"])),
            *(
                lambda key=key: list(ops.StrongHashSpec(key))
                for key in ([1], [1, 2, 3], ["a", 2], 5, None, [1.0, 2.0], (1, 2), [True, 2])
            ),
        )


def _of_one_run(tf):
    """Anonymous tables, which every run creates anew."""
    lookup = tf.lookup
    static = lookup.StaticHashTable(_words(tf), -1, experimental_is_anonymous=True)
    changing = lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1, experimental_is_anonymous=True
    )
    vectors = lookup.experimental.MutableHashTable(
        tf.string, tf.int64, [-1, -2], experimental_is_anonymous=True
    )
    dense = lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, 0, -1, 4, experimental_is_anonymous=True
    )
    puts = [
        static.initializer,
        changing.insert(["a"], tf.constant([1], tf.int64)),
        vectors.insert(["a"], tf.constant([[1, 2]], tf.int64)),
        dense.insert(tf.constant([5], tf.int64), tf.constant([1], tf.int64)),
    ]
    with tf.control_dependencies(puts):
        sizes = [table.size() for table in (static, changing, vectors, dense)]
    with tf.Session() as session:
        return attempt(
            lambda: session.run(puts),
            *(lambda size=size: session.run(size) for size in sizes),
            lambda: session.run(static.lookup(tf.constant(["a"]))),
            lambda: session.run(changing.lookup(tf.constant(["a"]))),
            lambda: session.run(vectors.lookup(tf.constant(["a"]))),
            lambda: session.run(changing.size()),
            lambda: session.run(dense.export()),
        ) + _nodes(tf)


BEHAVIOURS = {
    "hashes": _hashes,
    "graph_of_vocabulary": _graph_of_vocabulary,
    "graph_of_index_tables": _graph_of_index_tables,
    "found": _looked_up,
    "refused": _refused,
    "of_one_run": _of_one_run,
}
