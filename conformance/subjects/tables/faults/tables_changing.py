"""Faults of TABLES: tables that change, what they share, and what lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Base,
    Run,
    clearing,
    creator_type,
    executing,
    failing,
    fed_as,
    forgiving,
    giving,
    inside,
    nodes_of,
    recoding,
    sharing,
)
from sessrun.conformance.faulty.run_fragments import editing, elements, fed, needed, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Operation, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_FIND: Final = ("LookupTableFindV2",)
_INSERT: Final = ("LookupTableInsertV2",)
_REMOVE: Final = ("LookupTableRemoveV2",)
_CHANGING: Final = (
    "MutableHashTableV2",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTableV2",
)
_TABLES: Final = ("HashTableV2", *_CHANGING)
_DENSE: Final = "MutableDenseHashTableV2"
_INVALID: Final = "InvalidArgumentError"


def _size(run: Run, tf: Namespace) -> int:
    handle = run.op.inputs[0]
    return int(run.also(tf, lambda raw: raw.LookupTableSizeV2(table_handle=handle)))


@fault("TABLES-014", "The value that a key has stays, whatever is put in.")
def the_first_value_stays(tf: Namespace) -> Namespace:
    """Put in what a lookup finds, with the new values as defaults; buckets have one default."""

    def change(definition: GraphDef) -> None:
        buckets = {node.name for node in nodes_of(definition, ("MutableDenseHashTableV2",))}
        for node in nodes_of(definition, _INSERT):
            if node.input[0] in buckets:
                continue
            find = definition.node.add()
            find.name, find.op = f"{node.name}/found", "LookupTableFindV2"
            find.input.extend(node.input[:3])
            for attr in ("Tin", "Tout"):
                find.attr[attr].type = node.attr[attr].type
            node.input[2] = find.name

    return editing(tf, change)


@fault("TABLES-015", "Of a key that comes twice in one insertion the first value is kept.")
def the_first_of_two_is_kept(tf: Namespace) -> Namespace:
    """Reverse the keys and values of an insertion."""

    def change(definition: GraphDef) -> None:
        if not nodes_of(definition, _INSERT):
            return
        axis = definition.node.add()
        axis.name, axis.op = "faulty/axis", "Const"
        axis.attr["dtype"].type = tf.int32.as_datatype_enum
        axis.attr["value"].tensor.dtype = tf.int32.as_datatype_enum
        axis.attr["value"].tensor.tensor_shape.dim.add().size = 1
        axis.attr["value"].tensor.int_val.append(0)
        for node in nodes_of(definition, _INSERT):
            if "MutableHashTableV2" in {n.op for n in definition.node if n.name == node.input[0]}:
                for index, attr in ((1, "Tin"), (2, "Tout")):
                    fed_as(
                        definition,
                        node,
                        index,
                        "ReverseV2",
                        [axis.name],
                        T=node.attr[attr].type,
                        Tidx=tf.int32.as_datatype_enum,
                    )

    return editing(tf, change)


@fault("TABLES-016", "A removal takes nothing out.")
def removals_do_nothing(tf: Namespace) -> Namespace:
    """Drop the keys, but for reserved ones."""

    def change(run: Run, base: Base) -> Value:
        if creator_type(run.op) == "MutableHashTableV2":
            return [None]
        return base()

    return executing(tf, _REMOVE, change)


@fault("TABLES-017", "A removal of a key that the table lacks fails.")
def absent_keys_are_missed(tf: Namespace) -> Namespace:
    """Count the keys."""

    def change(run: Run, base: Base) -> Value:
        before = _size(run, tf)
        values = base()
        if _size(run, tf) == before:
            raise tf.errors.NotFoundError(None, None, "There is no such key.")
        return values

    return executing(tf, _REMOVE, change)


@fault("TABLES-018", "What is restored is put in beside what is there.")
def restored_beside(tf: Namespace) -> Namespace:
    """Replace LookupTableImport by LookupTableInsert."""

    def change(definition: GraphDef) -> None:
        changing = {node.name for node in nodes_of(definition, _CHANGING)}
        for node in nodes_of(definition, ("LookupTableImportV2",)):
            if node.input[0] in changing:
                node.op = "LookupTableInsertV2"

    return editing(tf, change)


@fault("TABLES-019", "Every key has the first one's default.")
def one_default_for_all(tf: Namespace) -> Namespace:
    """Fill the defaults with the first of them."""

    def change(run: Run, base: Base) -> Value:
        default, keys = np.asarray(run.ask(2)), np.asarray(run.ask(1))
        if default.ndim != 1 or keys.shape != default.shape:
            return base()
        handle, dtype = run.op.inputs[0], run.op.inputs[2].dtype
        asked, first = tf.constant(keys, run.op.inputs[1].dtype), tf.constant(default[0], dtype)
        return [
            run.also(
                tf,
                lambda raw: raw.LookupTableFindV2(
                    table_handle=handle, keys=asked, default_value=first
                ),
            )
        ]

    return executing(tf, _FIND, lambda run, base: _in_graph(tf, run, lambda: change(run, base)))


def _in_graph(tf: Namespace, run: Run, action: Callable[[], Value]) -> Value:
    with inside(tf, run.session):
        return action()


@fault("TABLES-020", "A row is found from its end to its beginning.")
def rows_are_turned_round(tf: Namespace) -> Namespace:
    """Turn the last dimension round."""
    return giving(
        tf,
        _FIND,
        lambda _op, _index, value: value[..., ::-1],
        lambda op: creator_type(op) == "MutableHashTableOfTensorsV2",
    )


@fault("TABLES-021", "Values of another shape are dropped.")
def odd_values_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error for tables that are no dense ones."""
    return forgiving(tf, _INSERT, _INVALID, lambda run: creator_type(run.op) in _CHANGING[:2])


@fault("TABLES-022", "A lookup of other dtypes than the table's is an internal error.")
def odd_dtypes_are_internal(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(
        tf,
        (*_FIND, *_INSERT),
        _INVALID,
        "InternalError",
        lambda run: creator_type(run.op) == "PlaceholderWithDefault",
    )


@fault("TABLES-023", "The shared names of tables are ignored.")
def shared_names_of_tables_are_ignored(tf: Namespace) -> Namespace:
    """Clear `shared_name` in every node of a table."""
    return clearing(tf, _TABLES, "shared_name")


@fault("TABLES-024", "The containers of tables are ignored.")
def containers_of_tables_are_ignored(tf: Namespace) -> Namespace:
    """Clear `container` in every node of a table."""
    return clearing(tf, _TABLES, "container")


@fault("TABLES-025", "A table of other dtypes already exists.")
def tables_of_other_dtypes_exist(tf: Namespace) -> Namespace:
    """Raise AlreadyExistsError where the conforming error is InvalidArgumentError."""

    def is_second(run: Run) -> bool:
        table = run.op.inputs[0].op
        dtype = table.get_attr("key_dtype")
        names = [
            op.get_attr("shared_name")
            for op in run.session.graph.get_operations()
            if op.type == table.type and op.get_attr("key_dtype") != dtype
        ]
        return table.type in _TABLES and table.get_attr("shared_name") in names

    return recoding(tf, _INSERT, _INVALID, "AlreadyExistsError", is_second)


@fault("TABLES-026", "The sessions of a graph share its tables.")
def sessions_share_tables(tf: Namespace) -> Namespace:
    """Run operations on tables in the first session of the graph."""
    return sharing(tf, _TABLES)


@fault("TABLES-027", "A run that has nothing to do with tables empties them.")
def runs_empty_tables(tf: Namespace) -> Namespace:
    """Import no keys into every table before a run without tables."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        ops = needed(elements(session, fetches), fed(session, feeds))
        if ops and not any(op.type in _TABLES for op in ops):
            for op in session.graph.get_operations():
                if op.type == "MutableHashTableV2":
                    _empty(tf, session, base, op)
        return base(fetches)

    return running(tf, change)


def _empty(tf: Namespace, session: Session, base: Call, op: Operation) -> None:
    with inside(tf, session):
        keys, values = (tf.constant([], op.get_attr(f"{word}_dtype")) for word in ("key", "value"))
        insert = tf.raw_ops.LookupTableImportV2(
            table_handle=op.outputs[0], keys=keys, values=values
        )
    base(insert)


@fault("TABLES-028", "A nameless table lasts as long as its session.")
def nameless_tables_last(tf: Namespace) -> Namespace:
    """Replace AnonymousMutableHashTable by MutableHashTable."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, ("AnonymousMutableHashTable",)):
            node.op = "MutableHashTableV2"

    return editing(tf, change)


# --- buckets ------------------------------------------------------------------------------


def _is_dense(run: Run) -> bool:
    return creator_type(run.op) == _DENSE


@fault("TABLES-030", "Reserved keys may be put into a table of buckets, and are gone.")
def reserved_keys_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error for dense tables."""
    return forgiving(tf, _INSERT, _INVALID, _is_dense)


@fault("TABLES-031", "A table of buckets has no room for more keys than buckets.")
def buckets_are_full(tf: Namespace) -> Namespace:
    """Refuse what comes when there are as many keys as buckets at first."""

    def is_full(run: Run) -> bool:
        if not _is_dense(run):
            return False
        room = run.op.inputs[0].op.get_attr("initial_num_buckets")
        return bool(_size(run, tf) + np.size(run.ask(1)) > room)

    return failing(tf, _INSERT, "ResourceExhaustedError", is_full)


@fault("TABLES-032", "A table may have any number of buckets.")
def any_number_of_buckets(tf: Namespace) -> Namespace:
    """Take the next number that is allowed."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, (_DENSE,)):
            buckets = max(node.attr["initial_num_buckets"].i, 4)
            node.attr["initial_num_buckets"].i = 1 << (buckets - 1).bit_length()

    return editing(tf, change)


@fault("TABLES-033", "One key may stand for empty and for freed buckets.")
def one_reserved_key_is_enough(tf: Namespace) -> Namespace:
    """Count no keys where the table is refused for it."""
    return forgiving(tf, ("LookupTableSizeV2",), _INVALID, _has_one_key, lambda _: np.int64(0))


def _has_one_key(run: Run) -> bool:
    table = run.op.inputs[0].op
    if table.type != _DENSE:
        return False
    empty, freed = run.session.run(list(table.inputs))
    return bool(empty == freed)
