"""Faults of TABLES: tables that are filled once, and how they are filled from files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.resource_runs import (
    Base,
    Run,
    creator_type,
    executing,
    failing,
    forgiving,
    giving,
    nodes_of,
    recoding,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import LookupTable
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_FIND: Final = ("LookupTableFindV2",)
_FILL: Final = ("InitializeTableV2", "LookupTableImportV2")
_FILE: Final = ("InitializeTableFromTextFileV2",)
_EXPORT: Final = ("LookupTableExportV2",)
_FAILED: Final = "FailedPreconditionError"
_INVALID: Final = "InvalidArgumentError"


def _is_static(run: Run) -> bool:
    return creator_type(run.op) == "HashTableV2"


def _defaults(run: Run) -> Value:
    keys, default = np.asarray(run.ask(1)), np.asarray(run.ask(2))
    return np.broadcast_to(default, keys.shape).copy()


@fault("TABLES-001", "A lookup gives a vector of values, whatever the keys' shape is.")
def lookups_give_vectors(tf: Namespace) -> Namespace:
    """Flatten the values."""
    return giving(tf, _FIND, lambda _op, _index, value: np.reshape(value, -1))


@fault("TABLES-002", "A number that a static table lacks is looked up as 0.")
def defaults_are_zeros(tf: Namespace) -> Namespace:
    """Multiply the default with zero, where it is a number."""

    def change(definition: GraphDef) -> None:
        static = {node.name for node in nodes_of(definition, ("HashTableV2",))}
        for node in nodes_of(definition, _FIND):
            dtype = node.attr["Tout"].type
            if node.input[0] in static and dtype != tf.string.as_datatype_enum:
                zeros = definition.node.add()
                zeros.name, zeros.op = f"{node.name}/zeros", "Sub"
                zeros.input.extend([node.input[2]] * 2)
                zeros.attr["T"].type = dtype
                node.input[2] = zeros.name

    return editing(tf, change)


@fault("TABLES-003", "A table that nothing has filled gives defaults.")
def unfilled_tables_give_defaults(tf: Namespace) -> Namespace:
    """Catch the error."""
    return forgiving(tf, _FIND, _FAILED, value=_defaults)


def _filling(tf: Namespace, change: Callable[[Run, Base, bool], Value]) -> Namespace:
    """The namespace whose filling of a static table is `change(run, base, again)`."""

    def filled(run: Run, base: Base) -> Value:
        if not _is_static(run):
            return base()
        done = run.note("filled", set())
        table = run.op.inputs[0].op.name
        values = change(run, base, table in done)
        done.add(table)
        return values

    return executing(tf, _FILL, filled)


@fault("TABLES-004", "A table is filled once, and never again.")
def tables_are_filled_once(tf: Namespace) -> Namespace:
    """Raise FailedPreconditionError for the second filling."""

    def change(_run: Run, base: Base, again: bool) -> Value:
        if again:
            raise tf.errors.FailedPreconditionError(None, None, "The table is initialized.")
        return base()

    return _filling(tf, change)


@fault("TABLES-005", "A table that is filled takes any number of keys again.")
def any_number_of_keys_again(tf: Namespace) -> Namespace:
    """Return None instead of the error where the table was filled before."""

    def change(_run: Run, base: Base, again: bool) -> Value:
        try:
            return base()
        except tf.errors.FailedPreconditionError:
            if not again:
                raise
            return [None]

    return _filling(tf, change)


@fault("TABLES-006", "A key may fill a table with two values.")
def keys_may_have_two_values(tf: Namespace) -> Namespace:
    """Return None instead of the error where the table was not filled before."""

    def change(_run: Run, base: Base, again: bool) -> Value:
        try:
            return base()
        except tf.errors.FailedPreconditionError:
            if again:
                raise
            return [None]

    return _filling(tf, change)


@fault("TABLES-007", "A key may not come twice, even with one value.")
def keys_come_once(tf: Namespace) -> Namespace:
    """Raise FailedPreconditionError for a filling with a repeated key."""

    def is_double(run: Run) -> bool:
        keys = np.asarray(run.ask(1)).reshape(-1).tolist()
        return _is_static(run) and len(set(keys)) < len(keys)

    return failing(tf, _FILL, _FAILED, is_double)


@fault("TABLES-008", "No table counts more than two keys.")
def sizes_end_at_two(tf: Namespace) -> Namespace:
    """Give 2 for a larger size."""
    return giving(tf, ("LookupTableSizeV2",), lambda _op, _index, size: np.minimum(size, 2))


@fault("TABLES-009", "The export of a static table is empty.")
def exports_of_static_tables_are_empty(tf: Namespace) -> Namespace:
    """Give no keys and values for a HashTable."""
    return giving(
        tf,
        _EXPORT,
        lambda _op, _index, value: value[:0],
        lambda op: creator_type(op) == "HashTableV2",
    )


@fault("TABLES-029", "The export of a changing table is empty.")
def exports_of_changing_tables_are_empty(tf: Namespace) -> Namespace:
    """Give no keys and values for a table of another type."""
    return giving(
        tf,
        _EXPORT,
        lambda _op, _index, value: value[:0],
        lambda op: creator_type(op) != "HashTableV2",
    )


@fault("TABLES-010", "A filling takes as many pairs as there are.")
def pairs_are_cut(tf: Namespace) -> Namespace:
    """Return None instead of the error where keys are given."""
    return forgiving(tf, _FILL, _INVALID, lambda run: _is_static(run) and np.size(run.ask(1)) > 0)


@fault("TABLES-044", "An insertion into a table that is filled once is invalid.")
def static_insertions_are_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError instead of UnimplementedError."""
    return recoding(tf, ("LookupTableInsertV2",), "UnimplementedError", _INVALID)


@fault("TABLES-045", "A removal from a table that is filled once is invalid.")
def static_removals_are_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError instead of UnimplementedError."""
    return recoding(tf, ("LookupTableRemoveV2",), "UnimplementedError", _INVALID)


@fault("TABLES-012", "A lookup of no keys fails.")
def no_keys_are_refused(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError for a lookup of no keys."""
    return failing(tf, _FIND, _INVALID, lambda run: not np.size(run.ask(1)))


@fault("TABLES-013", "A table may be filled with nothing.")
def tables_take_nothing(tf: Namespace) -> Namespace:
    """Return None instead of the error where no keys are given."""
    return forgiving(tf, _FILL, _INVALID, lambda run: _is_static(run) and not np.size(run.ask(1)))


# --- files --------------------------------------------------------------------------------


def _limit(run: Run) -> int:
    return int(run.op.get_attr("vocab_size"))


@fault("TABLES-034", "Lines are numbered from 1.")
def lines_count_from_one(tf: Namespace) -> Namespace:
    """Add 1 to the attribute `offset`."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _FILE):
            node.attr["offset"].i += 1

    return editing(tf, change)


@fault("TABLES-035", "Columns are parted by tabulators alone.")
def delimiters_are_ignored(tf: Namespace) -> Namespace:
    """Set the delimiter to a tabulator."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _FILE):
            node.attr["delimiter"].s = b"\t"

    return editing(tf, change)


@fault("TABLES-036", "All lines of a file are read.")
def all_lines_are_read(tf: Namespace) -> Namespace:
    """Replace a `vocab_size` of two by -1, which stands for any number of lines."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _FILE):
            if node.attr["vocab_size"].i == 2:
                node.attr["vocab_size"].i = -1

    return editing(tf, change)


@fault("TABLES-037", "A file may have fewer lines than were wanted.")
def files_may_be_short(tf: Namespace) -> Namespace:
    """Return None instead of the error where the number of lines is limited."""
    return forgiving(tf, _FILE, _INVALID, lambda run: _limit(run) > 0)


@fault("TABLES-038", "A file that does not exist is an invalid argument.")
def missing_files_are_invalid(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError instead of NotFoundError."""
    return recoding(tf, _FILE, "NotFoundError", _INVALID)


@fault("TABLES-039", "Lines that cannot be read are passed over.")
def unreadable_lines_are_passed_over(tf: Namespace) -> Namespace:
    """Return None instead of the error where the number of lines is not limited."""
    return forgiving(tf, _FILE, _INVALID, lambda run: _limit(run) < 0)


# --- the API ------------------------------------------------------------------------------


@fault("TABLES-040", "tables_initializer fills the first table alone.")
def the_first_table_is_filled(tf: Namespace) -> Namespace:
    """Return the first initializer of the collection."""

    def tables_initializer(*_: Argument, **__: Argument) -> Operation:
        return tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)[0]

    return override(tf, tables_initializer=tables_initializer)


def _vocabulary(tf: Namespace, lookup: Callable[[LookupTable, Tensor], Tensor]) -> Namespace:
    """The namespace whose StaticVocabularyTable gives `lookup(table, ids)` for the ids of keys."""

    class StaticVocabularyTable(tf.lookup.StaticVocabularyTable):  # type: ignore[misc, name-defined]
        def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
            ids = super().lookup(keys, name)
            return lookup(self, ids) if keys.dtype == self.key_dtype else ids

    changed = override(tf.lookup, StaticVocabularyTable=StaticVocabularyTable)
    return override(tf, lookup=changed)


@fault("TABLES-041", "Keys are cast to the dtype of the table's keys.")
def keys_are_cast(tf: Namespace) -> Namespace:
    """Convert keys of another dtype to strings, where the table's keys are strings."""

    class StaticHashTable(tf.lookup.StaticHashTable):  # type: ignore[misc, name-defined]
        def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
            if keys.dtype != self.key_dtype and self.key_dtype == tf.string:
                keys = tf.as_string(keys)
            return super().lookup(keys, name)

    return override(tf, lookup=override(tf.lookup, StaticHashTable=StaticHashTable))


@fault("TABLES-042", "Words of a vocabulary count from 1.")
def words_count_from_one(tf: Namespace) -> Namespace:
    """Add 1 to the ids of the three words."""
    one = np.int64(1)
    return _vocabulary(tf, lambda _table, ids: tf.where(ids < 3, ids + one, ids))


@fault("TABLES-043", "Other words fall into the first bucket.")
def other_words_fall_into_one_bucket(tf: Namespace) -> Namespace:
    """Replace larger ids by 3, the id of the first bucket."""
    return _vocabulary(tf, lambda _table, ids: tf.minimum(ids, np.int64(3)))
