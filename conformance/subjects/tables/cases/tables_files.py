"""Vectors of TABLES: tables that are filled from text files."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.tables.graphs import Table, array, static

_LINE, _NUMBER = -2, -1


def _filled(
    c: EngineAuthor,
    key: str,
    value: str,
    content: bytes | None,
    *columns: int,
    error: Sequence[int] | None = None,
    **options: int | str,
) -> Table:
    """A table filled from a file of this content; None for no file."""
    path = c.path("words") if content is None else c.file("words", content)
    with c.graph() as tf:
        handle = static(tf, "t", key, value)
        name = tf.placeholder(tf.string, [], name="name")
        tf.raw_ops.InitializeTableFromTextFileV2(
            table_handle=handle,
            filename=name,
            key_index=columns[0],
            value_index=columns[1],
            name="read",
            **options,
        )
    s = c.open()
    values = None if error else [None]
    s.run(["read"], {"name:0": array(path, "string")}, values=values, error=error)
    return Table(s, "t", key, value)


@engine_case("TABLES-034", title="From the lines of a file to their numbers, from 0.")
def lines_to_their_numbers(c: EngineAuthor) -> None:
    table = _filled(c, "string", "int64", b"brain\nsalad\nsurgery\n", _LINE, _NUMBER)
    table.find(["brain", "surgery"], [0, 2])
    table.find(["salad"], [1])
    table.find(["tank"], [-1], -1)


@engine_case("TABLES-034", title="From numbers to the lines of a file without a last line's end.")
def numbers_to_lines(c: EngineAuthor) -> None:
    table = _filled(c, "int64", "string", b"brain\nsalad sur\tgery", _NUMBER, _LINE)
    table.find([1, 0], ["salad sur\tgery", "brain"])


@engine_case("TABLES-035", title="From the second column of a file to its first.")
def from_column_to_column(c: EngineAuthor) -> None:
    table = _filled(c, "string", "int64", b"7,a,x\n8,b,y\n", 1, 0, delimiter=",")
    table.find(["b", "a"], [8, 7])


@engine_case("TABLES-035", title="From numbers to decimal numbers, in columns.")
def numbers_in_columns(c: EngineAuthor) -> None:
    table = _filled(c, "int64", "float32", b"1 0.5\n-2 1e3\n", 0, 1, delimiter=" ")
    table.find([-2, 1], [1000.0, 0.5])


@engine_case("TABLES-036", title="Two lines of four are read.")
def a_part_of_the_lines(c: EngineAuthor) -> None:
    table = _filled(c, "string", "int64", b"5\ta\n6\tb\n7\tc\n", 1, 0, vocab_size=2)
    table.find(["b"], [6])
    table.find(["c"], [0])


@engine_case("TABLES-037", title="Four lines are wanted, and there are two.")
def more_lines_than_there_are(c: EngineAuthor) -> None:
    _filled(c, "string", "int64", b"5\ta\n6\tb\n", 1, 0, vocab_size=4, error=[3])


@engine_case("TABLES-038", title="A file that does not exist.")
def no_such_file(c: EngineAuthor) -> None:
    _filled(c, "string", "int64", None, _LINE, _NUMBER, error=[5])


@engine_case("TABLES-039", title="A cell that is no number, and one that is not there.")
def cells_that_are_no_numbers(c: EngineAuthor) -> None:
    _filled(c, "string", "int64", b"5\ta\nsix\tb\n", 1, 0, error=[3])


@engine_case("TABLES-039", title="A line with too few columns.")
def a_line_with_too_few_columns(c: EngineAuthor) -> None:
    _filled(c, "string", "int64", b"5\ta\n6\n", 1, 0, error=[3])
