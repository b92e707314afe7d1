"""Vectors of TABLES: tables that change, what they share, and what lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.tables.graphs import (
    Items,
    Table,
    array,
    dense,
    mutable,
    nodes,
    static,
)
from sessrun.spec.cases.objects import Tensor

_Kind = tuple[str, str, tuple[Items, Items], tuple[Items, Items], Items]
#: Of each dtype of keys, one of values, two keys with their values, and a value for the first.
_KINDS: Final[tuple[_Kind, ...]] = (
    ("string", "int64", ("a", "b"), (1, 2), 3),
    ("int64", "string", (5, 6), ("five", "six"), "V"),
    ("int64", "float32", (1, -1), (0.5, 1.5), 2.5),
    ("int32", "int32", (3, 4), (7, 8), 9),
    ("string", "float64", ("p", "q"), (0.25, 0.75), 0.125),
    ("int64", "int64", (2**40, 0), (1, 2), 5),
)
_ROW = [2]


def _tables(c: EngineAuthor, build: Callable[..., Tensor] = mutable) -> list[Table]:
    """A table of each kind."""
    with c.graph() as tf:
        for number, (key, value, *_) in enumerate(_KINDS):
            build(tf, f"t{number}", key, value)
    s = c.open()
    return [Table(s, f"t{n}", kind[0], kind[1]) for n, kind in enumerate(_KINDS)]


@engine_case("TABLES-014", title="A value that is put in takes the place of the key's old one.")
def a_value_over_another(c: EngineAuthor) -> None:
    for table, (_, _, (one, _), (left, _), other) in zip(_tables(c), _KINDS, strict=True):
        table.put([one], [left])
        table.find([one], [left])
        table.put([one], [other])
        table.find([one], [other])


@engine_case("TABLES-015", title="Of a key that comes twice in one insertion the last value stays.")
def a_key_twice_in_one_insertion(c: EngineAuthor) -> None:
    for table, (_, _, (one, two), (left, right), other) in zip(_tables(c), _KINDS, strict=True):
        table.put([one, two, one], [left, right, other])
        table.find([one], [other])


@engine_case("TABLES-016", title="A key that was taken out is one that the table lacks.")
def a_key_taken_out(c: EngineAuthor) -> None:
    for table, (_, value, (one, two), pair, _) in zip(_tables(c), _KINDS, strict=True):
        table.put([one, two], pair)
        table.remove([one])
        table.find([one], ["" if value == "string" else 0])
        table.find([two], [pair[1]])


@engine_case("TABLES-017", title="A key that the table lacks is taken out of it.")
def a_key_that_is_not_in(c: EngineAuthor) -> None:
    for table, (_, _, (one, two), (left, _), _) in zip(_tables(c), _KINDS, strict=True):
        table.remove([two])
        table.put([one], [left])
        table.remove([two])
        table.find([one], [left])


@engine_case("TABLES-018", title="What is restored takes the place of all that was in.")
def restored_in_place_of_all(c: EngineAuthor) -> None:
    for table, (_, value, (one, two), (left, right), _) in zip(_tables(c), _KINDS, strict=True):
        table.put([one], [left])
        table.put([two], [right], op="restore")
        table.find([one], ["" if value == "string" else 0])
        table.find([two], [right])


@engine_case("TABLES-018", title="Rows that are restored take the place of all rows.")
def rows_restored_in_place_of_all(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "string", "int64", _ROW)
    table.put(["a"], [[1, 2]])
    table.put(["b"], [[3, 4]], op="restore")
    table.find(["a", "b"], [[0, 0], [3, 4]], [0, 0])


@engine_case("TABLES-019", title="Each key has a default of its own where defaults are a vector.")
def a_default_for_each_key(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = mutable(tf, "t", "string", "int64")
        keys, defaults = tf.placeholder(tf.string, [None]), tf.placeholder(tf.int64, [None])
        tf.raw_ops.LookupTableFindV2(
            table_handle=handle,
            keys=tf.identity(keys, name="asked"),
            default_value=tf.identity(defaults, name="defaults"),
            name="find_each",
        )
    s = c.open()
    table = Table(s, "t", "string", "int64")
    table.put(["b"], [7])
    fed = {"asked:0": array(list("abc"), "string"), "defaults:0": array([1, 2, 3], "int64")}
    s.run(["find_each:0"], fed, values=[array([1, 7, 3], "int64")])
    fed = {"asked:0": array(list("xy"), "string"), "defaults:0": array([-5, 5], "int64")}
    s.run(["find_each:0"], fed, values=[array([-5, 5], "int64")])


@engine_case("TABLES-020", title="A table of rows finds rows, and a row of defaults.")
def rows_of_a_table(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "string", "float32", [3])
    table.put(["a", "b"], [[1, 2, 3], [4, 5, 6]])
    table.find([["b"], ["z"]], [[[4, 5, 6]], [[7, 8, 9]]], [7, 8, 9])


@engine_case("TABLES-020", title="A row that is put in takes the place of the key's old one.")
def a_row_over_another(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "int64", "int64", _ROW)
    table.put([4], [[1, 2]])
    table.find([4], [[1, 2]], [0, 0])
    table.put([5, 4], [[3, 4], [5, 6]])
    table.find([4], [[5, 6]], [0, 0])


@engine_case("TABLES-021", title="Values of another shape than that of the keys are refused.")
def values_of_another_shape(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "string", "int64")
    table.put(["a", "b"], [1], error=[3])
    table.put(["a", "b"], [[1, 2]], error=[3])
    table.put(["a"], 1, error=[3])
    table.put(["a"], [1])
    table.find(["a"], [1])


@engine_case("TABLES-021", title="Rows of another size are refused.")
def rows_of_another_size(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "int64", "float32", _ROW)
    table.put([1], [[1, 2, 3]], error=[3])
    table.put([1], [1], error=[3])


@engine_case("TABLES-022", title="A lookup of another dtype of keys or values is refused.")
def a_lookup_of_other_dtypes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = mutable(tf, "t", "string", "int64")
        hidden = tf.placeholder_with_default(handle, [], name="hidden")
        nodes(tf, hidden, "u", "int64", "int64")
        nodes(tf, hidden, "v", "string", "float32")
    s = c.open()
    Table(s, "u", "int64", "int64").find([1], error=[3])
    Table(s, "v", "string", "float32").find(["a"], error=[3])
    Table(s, "u", "int64", "int64").put([1], [1], error=[3])
    Table(s, "v", "string", "float32").put(["a"], [1], error=[3])


# --- names, sessions, runs ----------------------------------------------------------------


@engine_case("TABLES-023", title="Two nodes of one shared name are one table.")
def one_shared_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name in ("t", "u"):
            mutable(tf, name, "string", "int64", shared_name="both")
        for name in ("v", "w"):
            static(tf, name, "int64", "float32", shared_name="filled")
    s = c.open()
    Table(s, "t", "string", "int64").put(["a"], [5])
    Table(s, "u", "string", "int64").find(["a"], [5])
    Table(s, "v", "int64", "float32").fill([1], [2.5])
    Table(s, "w", "int64", "float32").find([1], [2.5])


@engine_case("TABLES-024", title="One shared name in two containers is two tables.")
def two_containers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "t", "string", "int64", shared_name="one", container="left")
        mutable(tf, "u", "string", "int64", shared_name="one", container="right")
    s = c.open()
    Table(s, "t", "string", "int64").put(["a"], [5])
    Table(s, "u", "string", "int64").find(["a"], [0])
    Table(s, "u", "string", "int64").put(["a"], [6])
    Table(s, "t", "string", "int64").find(["a"], [5])


@engine_case("TABLES-025", title="A name is used again for a table of other dtypes.")
def one_name_of_two_dtypes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "t", "string", "int64", shared_name="one")
        mutable(tf, "u", "int64", "float32", shared_name="one")
    s = c.open()
    Table(s, "t", "string", "int64").put(["a"], [5])
    Table(s, "u", "int64", "float32").put([1], [0.5], error=[3])
    Table(s, "t", "string", "int64").find(["a"], [5])


@engine_case(
    "TABLES-025", title="A name is used again for other keys alone, or other values alone."
)
def one_name_of_another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "t", "string", "int64", shared_name="one")
        mutable(tf, "keys", "int64", "int64", shared_name="one")
        mutable(tf, "values", "string", "float32", shared_name="one")
        static(tf, "u", "string", "int64", shared_name="other")
        static(tf, "other_keys", "int64", "int64", shared_name="other")
        static(tf, "other_values", "string", "float32", shared_name="other")
    s = c.open()
    Table(s, "t", "string", "int64").size(0)
    Table(s, "u", "string", "int64").fill(["a"], [5])
    for name in ("keys", "values", "other_keys", "other_values"):
        s.run([f"{name}/size:0"], error=[3])
    Table(s, "u", "string", "int64").find(["a"], [5])


@engine_case("TABLES-026", title="Each session of a graph has tables of its own.")
def tables_of_two_sessions(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "t", "string", "int64")
        static(tf, "u", "int64", "float32")
    first, second = c.open(), c.open(session="second")
    Table(first, "t", "string", "int64").put(["a"], [5])
    Table(second, "t", "string", "int64").find(["a"], [0])
    Table(first, "u", "int64", "float32").fill([1], [0.5])
    Table(second, "u", "int64", "float32").find([1], error=[9])
    Table(first, "t", "string", "int64").find(["a"], [5])


@engine_case("TABLES-027", title="A table outlives runs that have nothing to do with it.")
def a_table_outlives_runs(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "t", "string", "int64")
        tf.add(tf.placeholder(tf.int32, [], name="x"), 1, name="sum")
    s = c.open()
    table = Table(s, "t", "string", "int64")
    table.put(["a"], [5])
    s.run(["sum:0"], {"x:0": np.int32(1)}, values=[np.int32(2)])
    table.find(["a"], [5])


@engine_case("TABLES-028", title="A nameless table is a new one in each run.")
def a_nameless_table(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = tf.raw_ops.AnonymousMutableHashTable(
            key_dtype=tf.string, value_dtype=tf.int64, name="t"
        )
        nodes(tf, handle, "t", "string", "int64")
        put = tf.get_default_graph().get_operation_by_name("t/insert")
        with tf.control_dependencies([put]):
            tf.raw_ops.LookupTableSizeV2(table_handle=handle, name="after")
    s = c.open()
    fed = {"t/keys:0": array(["a"], "string"), "t/values:0": array([5], "int64")}
    s.run(["after:0"], fed, values=[np.int64(1)])
    Table(s, "t", "string", "int64").find(["a"], [0])
    Table(s, "t", "string", "int64").size(0)


@engine_case("TABLES-029", title="All that a changing table has, after keys went and came.")
def all_of_a_changing_table(c: EngineAuthor) -> None:
    for table, (_, _, (one, two), (left, right), _) in zip(_tables(c), _KINDS, strict=True):
        table.put([one], [left])
        table.export([one], [left])
        table.remove([one])
        table.put([two], [right])
        table.export([two], [right])


@engine_case("TABLES-029", title="All rows of a table of rows.")
def all_rows_of_a_table(c: EngineAuthor) -> None:
    table = Table.only(c, mutable, "string", "float32", [3])
    table.put(["a"], [[1, 2, 3]])
    table.export(["a"], [[1, 2, 3]])


# --- buckets ------------------------------------------------------------------------------


def _buckets(c: EngineAuthor, key: str = "int64", value: str = "int64") -> Table:
    reserved = (0, -1) if key == "int64" else ("", "$")
    return Table.only(c, dense, key, value, *reserved)


@engine_case("TABLES-014", "TABLES-016", title="A table of buckets changes as any other does.")
def a_table_of_buckets(c: EngineAuthor) -> None:
    table = _buckets(c)
    table.put([5], [1])
    table.find([5], [1])
    table.put([5], [2])
    table.find([5], [2])
    c.blame("TABLES-014")
    table.remove([5])
    table.find([5], [0])
    c.blame("TABLES-016")


@engine_case(
    "TABLES-015",
    "TABLES-016",
    "TABLES-017",
    title="Rows, and values in buckets, come and go as those of other tables.",
)
def rows_and_buckets(c: EngineAuthor) -> None:
    with c.graph() as tf:
        mutable(tf, "rows", "int64", "float32", _ROW)
        dense(tf, "numbers", "int64", "float32", 0, -1)
        dense(tf, "texts", "string", "float32", "", "$")
    s = c.open()
    for name, key, (one, two), (left, right, other), none in (
        ("rows", "int64", (5, 6), ([1, 2], [3, 4], [5, 6]), [0, 0]),
        ("numbers", "int64", (5, 6), (1, 2, 3), 0),
        ("texts", "string", ("a", "b"), (1, 2, 3), 0),
    ):
        table = Table(s, name, key, "float32")
        table.put([one, two, one], [left, right, other])
        table.find([one], [other], none)
        c.blame("TABLES-015")
        table.remove([one])
        table.find([one], [none], none)
        c.blame("TABLES-016")
        table.remove([one])
        table.find([two], [right], none)
        c.blame("TABLES-017")


@engine_case("TABLES-030", title="The key of empty buckets is no key.")
def the_key_of_empty_buckets(c: EngineAuthor) -> None:
    table = _buckets(c)
    table.put([0], [1], error=[3])
    table.find([0], error=[3])


@engine_case("TABLES-030", title="The text of freed buckets is no key.")
def the_text_of_freed_buckets(c: EngineAuthor) -> None:
    table = _buckets(c, "string", "float32")
    table.put(["$"], [1.5], error=[3])
    table.find(["$"], error=[3])
    table.remove(["$"], error=[3])


@engine_case("TABLES-031", title="A table of four buckets holds ten keys.")
def more_keys_than_buckets(c: EngineAuthor) -> None:
    table = _buckets(c)
    table.put(range(1, 11), range(11, 21))
    table.find(range(1, 11), range(11, 21))


@engine_case("TABLES-031", title="A table of four buckets holds nine texts, one after another.")
def more_texts_than_buckets(c: EngineAuthor) -> None:
    table = _buckets(c, "string", "float32")
    for number, word in enumerate("abcdefghi"):
        table.put([word], [number + 0.5])
    for number, word in enumerate("abcdefghi"):
        table.find([word], [number + 0.5])


@engine_case("TABLES-032", title="Three buckets, two buckets, no buckets.")
def odd_numbers_of_buckets(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for count in (3, 2, 0, 6):
            dense(tf, f"t{count}", "int64", "int64", 0, -1, initial_num_buckets=count)
    s = c.open()
    for count in (3, 2, 0, 6):
        s.run([f"t{count}/size:0"], error=[3])


@engine_case("TABLES-033", title="One key for empty and for freed buckets.")
def one_key_for_empty_and_freed(c: EngineAuthor) -> None:
    with c.graph() as tf:
        dense(tf, "t", "int64", "int64", 7, 7)
        dense(tf, "u", "string", "float32", "x", "x")
    s = c.open()
    s.run(["t/size:0"], error=[3])
    s.run(["u/size:0"], error=[3])


@engine_case("TABLES-014", title="A value over another, in a table of buckets, one of them freed.")
def a_value_over_another_beside_a_freed_bucket(c: EngineAuthor) -> None:
    table = _buckets(c)
    table.put([1, 2, 3], [10, 20, 30])
    table.remove([1])
    table.put([7], [70])
    table.put([7], [71])
    table.find([7, 2, 3], [71, 20, 30])
