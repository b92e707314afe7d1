"""Graphs of lookup tables for the vectors of TABLES, and the runs on them.

Keys that a table lacks are looked up with the default 0 wherever the clause is not about defaults,
no value is 0, and what a fault of another clause would change is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

__all__ = ["Items", "Table", "array", "dense", "mutable", "nodes", "static"]


#: What becomes an array: elements, or rows of them.
Items: TypeAlias = "str | bytes | float | np.ndarray | np.generic | Sequence[Items]"


def array(values: Items, dtype: str) -> np.ndarray:
    """The array of these values in a dtype; strings become bytes."""
    if dtype != "string":
        return np.array(values, dtype)
    raw = np.array(values, object)
    flat = [item.encode() if isinstance(item, str) else item for item in raw.reshape(-1)]
    held = np.empty(len(flat), object)
    held[:] = flat
    return held.reshape(raw.shape)


def nodes(
    tf: Namespace, handle: Tensor, name: str, key: str, value: str, *, row: Sequence[int] = ()
) -> None:
    """Build all operations on a table under its name, with placeholders as their inputs."""
    raw = tf.raw_ops

    def fed(word: str, dtype: str, shape: Sequence[int] | None = None) -> Tensor:
        return tf.placeholder(tf.as_dtype(dtype), shape, name=f"{name}/{word}")

    keys, values = fed("keys", key), fed("values", value)
    default = fed("default", value, row)
    pair = {"table_handle": handle, "keys": keys, "values": values}
    raw.LookupTableImportV2(**pair, name=f"{name}/restore")
    raw.LookupTableFindV2(
        table_handle=handle, keys=keys, default_value=default, name=f"{name}/find"
    )
    raw.LookupTableSizeV2(table_handle=handle, name=f"{name}/size")
    raw.LookupTableExportV2(
        table_handle=handle, Tkeys=tf.as_dtype(key), Tvalues=tf.as_dtype(value), name=f"{name}/all"
    )
    raw.LookupTableInsertV2(**pair, name=f"{name}/insert")
    raw.LookupTableRemoveV2(table_handle=handle, keys=keys, name=f"{name}/remove")


def static(tf: Namespace, name: str, key: str, value: str, **options: Argument) -> Tensor:
    """Build a table that is filled once; it is filled by `NAME/fill` or `NAME/restore`."""
    handle = tf.raw_ops.HashTableV2(
        key_dtype=tf.as_dtype(key),
        value_dtype=tf.as_dtype(value),
        **{"shared_name": name, "name": name, **options},
    )
    nodes(tf, handle, name, key, value)
    graph = tf.get_default_graph()
    keys, values = (graph.get_tensor_by_name(f"{name}/{word}:0") for word in ("keys", "values"))
    tf.raw_ops.InitializeTableV2(table_handle=handle, keys=keys, values=values, name=f"{name}/fill")
    return handle


def mutable(
    tf: Namespace, name: str, key: str, value: str, row: Sequence[int] = (), **options: Argument
) -> Tensor:
    """Build a table that changes, of scalars or of rows."""
    raw, more = tf.raw_ops, {"shared_name": name, "name": name, **options}
    make = raw.MutableHashTableV2
    if row:
        make, more["value_shape"] = raw.MutableHashTableOfTensorsV2, list(row)
    handle = make(key_dtype=tf.as_dtype(key), value_dtype=tf.as_dtype(value), **more)
    nodes(tf, handle, name, key, value, row=tuple(row))
    return handle


def dense(
    tf: Namespace, name: str, key: str, value: str, *reserved: Items, **options: Argument
) -> Tensor:
    """Build a table of buckets; the two reserved keys are those of empty and of freed buckets."""
    empty, freed = (tf.constant(array(one, key)) for one in reserved)
    handle = tf.raw_ops.MutableDenseHashTableV2(
        empty_key=empty,
        deleted_key=freed,
        value_dtype=tf.as_dtype(value),
        **{"shared_name": name, "name": name, "initial_num_buckets": 4, **options},
    )
    nodes(tf, handle, name, key, value)
    return handle


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a session, with a method for each run on it.

    Attributes:
      s: the session.
      name: the name its nodes begin with.
      key: the dtype of its keys.
      value: the dtype of its values.

    """

    s: SessionAuthor
    name: str
    key: str
    value: str

    @classmethod
    def only(
        cls,
        c: EngineAuthor,
        build: Callable[..., Tensor],
        key: str,
        value: str,
        *args: Argument,
        **more: Argument,
    ) -> Table:
        """The table of a graph that has no other, in a new session."""
        with c.graph() as tf:
            build(tf, "t", key, value, *args, **more)
        return cls(c.open(), "t", key, value)

    def put(
        self,
        keys: Items,
        values: Items,
        *,
        op: str = "insert",
        error: Sequence[int] | None = None,
    ) -> None:
        """Run `insert`, `fill` or `restore`."""
        self._run([op], keys, {"values": array(values, self.value)}, [None], error)

    def fill(self, keys: Items, values: Items, *, error: Sequence[int] | None = None) -> None:
        """Run `fill`."""
        self.put(keys, values, op="fill", error=error)

    def remove(self, keys: Items, *, error: Sequence[int] | None = None) -> None:
        """Run `remove`."""
        self._run(["remove"], keys, {}, [None], error)

    def find(
        self,
        keys: Items,
        want: Items = (),
        default: Items | None = None,
        *,
        error: Sequence[int] | None = None,
    ) -> None:
        """Run `find`, which must give the values in their shape, or fail with one of the codes."""
        if default is None:
            default = "" if self.value == "string" else 0
        values = None if error else [array(want, self.value)]
        self._run(["find:0"], keys, {"default": array(default, self.value)}, values, error)

    def size(self, want: int) -> None:
        """Run `size`."""
        self.s.run([f"{self.name}/size:0"], values=[np.int64(want)])

    def export(self, keys: Items, values: Items) -> None:
        """Run `all`, of a table with one key."""
        want = [array(keys, self.key), array(values, self.value)]
        self.s.run([f"{self.name}/all:0", f"{self.name}/all:1"], values=want)

    def _run(
        self,
        fetches: Sequence[str],
        keys: Items,
        feeds: Mapping[str, np.ndarray],
        values: Sequence[np.ndarray | None] | None,
        error: Sequence[int] | None,
    ) -> None:
        fed = {"keys": array(keys, self.key), **feeds}
        named = {f"{self.name}/{word}:0": value for word, value in fed.items()}
        asked = [f"{self.name}/{fetch}" for fetch in fetches]
        self.s.run(asked, named, values=None if error else values, error=error)
