"""Programs of lookup tables that are filled from text files."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.lookup_tables import (
    in_turn,
    mutable_table,
    of_unknown_shape,
    static_table,
    table_nodes,
)

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `table`.
TOPIC = "table"


#: What a column of a file is: the entire line, or its number (`TextFileIndex`).
_LINE, _NUMBER = -2, -1


@contextlib.contextmanager
def _files() -> Iterator[Callable[[str], str]]:
    """A folder of files; yields the function from their names to their paths."""
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
        return in_turn(tf, again, table.size(), table.export(), again)

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
            lambda: initializer(lines, word, _LINE, number, _NUMBER).initialize(static_table(tf)),
            lambda: fill(static_table(tf), ["a"]),
            lambda: run(tf, fill(static_table(tf), of_unknown_shape(tf, ["a", "b"]))),
            lambda: run(tf, fill(static_table(tf), lines)),
            lambda: run(tf, fill(static_table(tf, [1], ["a"], ""), lines)),
            lambda: run(tf, fill(mutable_table(tf), lines)),
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
    return [shared, attempt(lambda: parts), table_nodes(tf)]


BEHAVIOURS = {
    "from_files": _from_files,
    "files_refused": _files_refused,
    "graph_of_files": _graph_of_files,
}
