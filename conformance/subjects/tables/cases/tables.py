"""Vectors of TABLES: tables that are filled once: what they find, and how they are filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case
from sessrun.conformance.subjects.tables.graphs import Items, Table, array, static

_Kind = tuple[str, str, tuple[Items, Items], tuple[Items, Items], Items]
#: Of each dtype of keys, one of values, and two keys with their values and a third key.
_KINDS: Final[tuple[_Kind, ...]] = (
    ("string", "int64", ("a", "bb"), (7, -8), "c"),
    ("int64", "string", (5, -6), ("five", "six"), 7),
    ("int64", "float32", (2**40, 1), (0.5, 1.5), 0),
    ("int32", "float64", (3, 4), (0.25, 1e300), 5),
    ("string", "int32", ("", "x\0y"), (1, 2), "z"),
    ("string", "float32", ("p", "q"), (1.0, -1.0), "r"),
)


def _tables(c: EngineAuthor, kinds: Sequence[_Kind] = _KINDS) -> list[Table]:
    """A table of each kind, filled with its two keys."""
    with c.graph() as tf:
        for number, (key, value, *_) in enumerate(kinds):
            static(tf, f"t{number}", key, value)
    s = c.open()
    tables = [Table(s, f"t{n}", kind[0], kind[1]) for n, kind in enumerate(kinds)]
    for table, kind in zip(tables, kinds, strict=True):
        table.fill(kind[2], kind[3])
    return tables


# --- what is found ------------------------------------------------------------------------


@engine_case("TABLES-001", title="A matrix of keys gives a matrix of values.")
def a_matrix_of_keys(c: EngineAuthor) -> None:
    for table, (_, _, (one, two), (left, right), _) in zip(_tables(c), _KINDS, strict=True):
        table.find([[one, two], [two, two]], [[left, right], [right, right]])


@engine_case("TABLES-001", title="A scalar key gives a scalar.")
def a_scalar_key(c: EngineAuthor) -> None:
    for table, (_, _, (one, two), (left, right), _) in zip(_tables(c), _KINDS, strict=True):
        table.find(two, right)
        table.find([[[one]]], [[[left]]])


@engine_case("TABLES-002", title="A key that is not in gives the default, be it like no value.")
def the_default_of_a_key(c: EngineAuthor) -> None:
    for table, (_, value, (one, _), (left, _), other) in zip(_tables(c), _KINDS, strict=True):
        default = "none" if value == "string" else -1
        table.find([other, one, other], [default, left, default], default)
        table.find([other], [left], left)


@engine_case("TABLES-003", title="A table that nothing has filled is asked.")
def a_table_that_nothing_filled(c: EngineAuthor) -> None:
    with c.graph() as tf:
        static(tf, "t", "string", "int64")
        static(tf, "u", "int64", "float32")
    s = c.open()
    Table(s, "t", "string", "int64").find(["a"], error=[9])
    other = Table(s, "u", "int64", "float32")
    other.find([1, 2], error=[9])
    other.fill([1], [2.5])
    other.find([1], [2.5])
    Table(s, "t", "string", "int64").find(["a"], error=[9])


@engine_case("TABLES-004", title="Filled again with the same, a table has what it had.")
def filled_again(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "int64")
    for op in ("fill", "restore", "fill"):
        table.put(["a", "b"], [1, 2], op=op)
        table.find(["b"], [2])


@engine_case("TABLES-004", title="Filled again with as many other keys, a table has what it had.")
def filled_again_with_others(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "int64")
    table.fill([1, 2], [10, 20])
    for op in ("fill", "restore"):
        table.put([1, 5], [30, 50], op=op)
        table.size(2)
        table.find([1, 2, 5], [10, 20, 0])


@engine_case("TABLES-005", title="Filled again with another number of keys.")
def filled_again_with_more(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "float32")
    table.fill([1, 2], [1.5, 2.5])
    table.fill([1], [1.5], error=[9])
    table.put([1, 2, 3], [1.5, 2.5, 3.5], op="restore", error=[9])
    table.find([3], [0.0])
    table.find([2], [2.5])


@engine_case("TABLES-006", title="A key comes twice with two values.")
def a_key_with_two_values(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "int64")
    table.fill(["a", "b", "a"], [1, 2, 3], error=[9])


@engine_case("TABLES-006", title="A number comes twice with two texts.")
def a_number_with_two_texts(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "string")
    table.put([4, 4], ["x", "y"], op="restore", error=[9])


@engine_case("TABLES-007", title="A key that comes twice with one value is one key.")
def a_key_twice_with_one_value(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "float32")
    table.fill(["a", "b", "a"], [1.5, 2.5, 1.5])
    table.size(2)
    table.find(["a"], [1.5])


@engine_case("TABLES-008", title="A table of three keys has the size 3, before it is filled 0.")
def the_size_of_a_table(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "int64")
    table.size(0)
    table.fill([3, 1, 2], [6, 7, 8])
    table.size(3)


@engine_case("TABLES-008", title="A table of seven texts has the size 7.")
def the_size_of_a_table_of_texts(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "string")
    table.fill(list("abcdefg"), list("hijklmn"))
    table.size(7)


@engine_case("TABLES-009", title="All keys and values of tables of one key.")
def all_of_a_table(c: EngineAuthor) -> None:
    with c.graph() as tf:
        static(tf, "t", "string", "int64")
        static(tf, "u", "int64", "float32")
    s = c.open()
    for name, key, value, keys, values in (
        ("t", "string", "int64", ["a"], [5]),
        ("u", "int64", "float32", [7], [2.5]),
    ):
        table = Table(s, name, key, value)
        table.fill(keys, values)
        table.export(keys, values)


@engine_case("TABLES-010", title="A vector of two keys and three values fills nothing.")
def fewer_keys_than_values(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "int64")
    table.fill(["a", "b"], [1, 2, 3], error=[3])
    table.fill(["a", "b"], [1], error=[3])


@engine_case("TABLES-010", title="Three keys and two values restore nothing.")
def more_keys_than_values(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "string")
    table.put([1, 2, 3], ["a", "b"], op="restore", error=[3])


@engine_case("TABLES-044", title="A table that is filled once refuses an insertion.")
def an_insertion_into_a_static_table(c: EngineAuthor) -> None:
    for table, (*_, other) in zip(_tables(c, _KINDS[:2]), _KINDS[:2], strict=True):
        table.put([other], ["x" if table.value == "string" else 9], error=[12])
        table.find([other], ["" if table.value == "string" else 0])


@engine_case("TABLES-045", title="A table that is filled once refuses a removal.")
def a_removal_from_a_static_table(c: EngineAuthor) -> None:
    kinds = _KINDS[:2]
    for table, (_, _, (one, _), (left, _), _) in zip(_tables(c, kinds), kinds, strict=True):
        table.remove([one], error=[12])
        table.find([one], [left])


# --- nothing ------------------------------------------------------------------------------


@engine_case("TABLES-012", title="No keys give no values.")
def no_keys(c: EngineAuthor) -> None:
    for table in _tables(c, _KINDS[:3]):
        table.find([], [])


@engine_case("TABLES-013", title="A table is filled with nothing.")
def filled_with_nothing(c: EngineAuthor) -> None:
    table = Table.only(c, static, "string", "int64")
    table.fill([], [], error=[3])


@engine_case("TABLES-013", title="A table is restored with nothing.")
def restored_with_nothing(c: EngineAuthor) -> None:
    table = Table.only(c, static, "int64", "float32")
    table.put([], [], op="restore", error=[3])
    table.find([1, 2], error=[9])


# --- the API ------------------------------------------------------------------------------


def _pairs(c: ApiAuthor, keys: list[object], values: list[object]) -> object:
    return c.tf.lookup.KeyValueTensorInitializer(c.tf.constant(keys), c.tf.constant(values))


@api_case("TABLES-040", title="One operation fills the tables of a graph, whatever they hold.")
def one_operation_fills_all(c: ApiAuthor) -> None:
    tf = c.tf
    first = tf.lookup.StaticHashTable(_pairs(c, ["a"], [1]), 0)
    second = tf.lookup.StaticHashTable(_pairs(c, ["p", "q"], ["r", "s"]), "")
    values = [first.lookup(tf.constant(["a", "b"])), second.lookup(tf.constant(["q"]))]
    init = tf.tables_initializer()
    sess = tf.Session()
    sess.run(init)
    c.check(sess.run(values), [array([1, 0], "int32"), array(["s"], "string")])


@api_case("TABLES-041", title="A key of another dtype is refused when the lookup is built.")
def a_key_of_another_dtype(c: ApiAuthor) -> None:
    tf = c.tf
    table = tf.lookup.StaticHashTable(_pairs(c, ["a"], [1]), 0)
    number = tf.constant([1])
    c.raises("TypeError", lambda: table.lookup(number))
    words = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 1
    )
    c.raises("TypeError", lambda: words.lookup(number))


def _words(c: ApiAuthor, buckets: int) -> object:
    tf = c.tf
    keys, values = tf.constant(["a", "b", "c"]), tf.constant([0, 1, 2], tf.int64)
    return tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(keys, values), buckets
    )


@api_case("TABLES-042", title="Words that are in the vocabulary have their numbers.")
def words_of_a_vocabulary(c: ApiAuthor) -> None:
    tf = c.tf
    table = _words(c, 5)
    sess = tf.Session()
    sess.run(table.initializer)  # type: ignore[attr-defined]
    ids = table.lookup(tf.constant([["c", "a"], ["b", "b"]]))  # type: ignore[attr-defined]
    c.check(sess.run(ids), array([[2, 0], [1, 1]], "int64"))


@api_case("TABLES-043", title="Words that are in no vocabulary fall into the buckets after it.")
def words_of_no_vocabulary(c: ApiAuthor) -> None:
    tf = c.tf
    table = _words(c, 1000)
    sess = tf.Session()
    sess.run(table.initializer)  # type: ignore[attr-defined]
    asked = tf.constant(["brain", "", "salad surgery", "x" * 100])
    numbers = [3 + farm % 1000 for farm in _FARM]
    c.check(sess.run(table.lookup(asked)), array(numbers, "int64"))  # type: ignore[attr-defined]
    c.check(sess.run(table.size()), array(1003, "int64")[()])  # type: ignore[attr-defined]


#: FarmHash's fingerprints of the words above, as TensorFlow gives them.
_FARM = (
    10652584073254542888,
    11160318154034397263,
    3193817026365165309,
    6590480085648050719,
)
