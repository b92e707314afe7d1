"""Lookup tables: a dictionary from keys to values, filled once or changed.

A lookup, an insertion and a removal take a tensor of keys; the values of the keys stand in the
shape of the tensor, each followed by the shape of one value (TABLES-001, 020, 021). Keys and values
of a table are those of its dtypes (TABLES-022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from sessrun.spec.definitions.base import numpy_dtype
from sessrun.spec.model.run import kernel
from sessrun.spec.model.values import FailedError, Handle, Value, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["DENSE", "ROWS", "STATIC", "Key", "Table"]

#: A key: an integer or bytes; a tuple of them where a key has a shape.
Key = bytes | int | tuple[bytes | int, ...]

#: A table that is filled once.
STATIC: Final = "HashTable"
#: One whose values have a shape.
ROWS: Final = "MutableHashTableOfTensors"
#: One of buckets, which keeps two keys for itself.
DENSE: Final = "MutableDenseHashTable"


@dataclass(slots=True)
class Table:
    """A table.

    Attributes:
      kind: `HashTable`, `MutableHashTable`, `MutableHashTableOfTensors`, `MutableDenseHashTable`.
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.
      row: the shape of one value.
      key_row: the shape of one key, () but in a table of buckets.
      reserved: the keys that a table of buckets keeps for itself.
      pairs: its values by key.
      is_filled: whether a table that is filled once is.

    """

    kind: str
    key_dtype: str
    value_dtype: str
    row: tuple[int, ...] = ()
    key_row: tuple[int, ...] = ()
    reserved: tuple[Key, ...] = ()
    pairs: dict[Key, np.ndarray] = field(default_factory=dict)
    is_filled: bool = False

    def find(self, keys: np.ndarray, defaults: np.ndarray) -> list[np.ndarray]:
        """The values of keys (TABLES-001).

        Args:
          keys: the keys.
          defaults: the value of each key that it lacks (TABLES-002, 016); into a changing table one
            for each key may be given (TABLES-019).

        Raises:
          FailedError: it is not filled (TABLES-003); a key is reserved (TABLES-030); the defaults
            have another shape.

        """
        if self.kind == STATIC and not self.is_filled:
            raise FailedError("FAILED_PRECONDITION", "the table is not filled")
        names = self._names(keys)
        shape = (*self._outer(keys), *self.row)
        by_key = self.kind not in {STATIC, DENSE} and defaults.shape == shape
        if defaults.shape != self.row and not by_key:
            raise FailedError("INVALID_ARGUMENT", f"the defaults have shape {defaults.shape}")
        rows = np.empty((len(names), *self.row), numpy_dtype(self.value_dtype))
        for number, name in enumerate(names):
            default = defaults.reshape(-1, *self.row)[number] if by_key else defaults
            row = np.asarray(self.pairs.get(name, default), rows.dtype)
            rows[number] = row if row.ndim else row[()]
        return [rows.reshape(shape)]

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Give each key a value, in order (TABLES-014, 015).

        Raises:
          FailedError: it is filled once (TABLES-044); a key is reserved (TABLES-030); the values
            have another shape (TABLES-021).

        """
        if self.kind == STATIC:
            raise FailedError("UNIMPLEMENTED", "the table is filled once")
        self.pairs |= self._pairs(keys, values)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Have these keys and no others (TABLES-018); a table that is filled once is filled."""
        if self.kind == STATIC:
            self.fill(keys, values)
        else:
            self.pairs = self._pairs(keys, values)

    def fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fill a table that is filled once.

        A filled one stays as it is (TABLES-004).

        Raises:
          FailedError: there is another number of values than of keys (TABLES-010), or none
            (TABLES-013); it has another number of keys (TABLES-005); a key has two values (006).

        """
        pairs = self._pairs(keys, values)
        names = self._names(keys)
        if not names:
            raise FailedError("INVALID_ARGUMENT", "a table is filled with one key at least")
        if self.is_filled:
            if len(names) != len(self.pairs):
                raise FailedError("FAILED_PRECONDITION", "the table is filled with other keys")
            return
        rows = values.reshape(len(names), *self.row)
        if any((pairs[name] != row).any() for name, row in zip(names, rows, strict=True)):
            raise FailedError("FAILED_PRECONDITION", "a key has two values")
        self.pairs, self.is_filled = pairs, True

    def remove(self, keys: np.ndarray) -> None:
        """Lack these keys; those that it lacks already change nothing (TABLES-016, 017).

        Raises:
          FailedError: it is filled once (TABLES-045); a key is reserved (TABLES-030).

        """
        if self.kind == STATIC:
            raise FailedError("UNIMPLEMENTED", "the table is filled once")
        for name in self._names(keys):
            self.pairs.pop(name, None)

    def size(self) -> list[np.ndarray]:
        """The number of its keys (TABLES-008)."""
        return [np.array(len(self.pairs), np.int64)]

    def export(self) -> list[np.ndarray]:
        """Its keys, in any order, and their values (TABLES-009, 029).

        Raises:
          FailedError: it is not filled.

        """
        if self.kind == STATIC and not self.is_filled:
            raise FailedError("ABORTED", "the table is not filled")
        keys = np.empty((len(self.pairs), *self.key_row), numpy_dtype(self.key_dtype))
        values = np.empty((len(self.pairs), *self.row), numpy_dtype(self.value_dtype))
        for number, (key, value) in enumerate(self.pairs.items()):
            keys[number] = np.array(key, keys.dtype).reshape(self.key_row) if self.key_row else key
            values[number] = value if value.ndim else value[()]
        return [keys, values]

    def _outer(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of a tensor of keys without that of one key."""
        outer = keys.shape[: keys.ndim - len(self.key_row)]
        if keys.shape != (*outer, *self.key_row):
            raise FailedError("INVALID_ARGUMENT", f"keys of shape {self.key_row} are wanted")
        return outer

    def _names(self, keys: np.ndarray) -> list[Key]:
        """The keys of a tensor."""
        self._outer(keys)
        if self.key_row:
            count = int(np.prod(self.key_row))
            names: list[Key] = [tuple(row) for row in keys.reshape(-1, count).tolist()]
        else:
            names = keys.reshape(-1).tolist()
        if any(name in self.reserved for name in names):
            raise FailedError("INVALID_ARGUMENT", "a key is reserved")
        return names

    def _pairs(self, keys: np.ndarray, values: np.ndarray) -> dict[Key, np.ndarray]:
        names = self._names(keys)
        if values.shape != (*self._outer(keys), *self.row):
            raise FailedError("INVALID_ARGUMENT", f"the values have shape {values.shape}")
        rows = values.reshape(len(names), *self.row)
        return {name: np.asarray(row, rows.dtype) for name, row in zip(names, rows, strict=True)}


# --- operations ----------------------------------------------------------------------------


@kernel(*(f"{kind}{form}" for kind in (STATIC, "MutableHashTable", ROWS) for form in ("", "V2")))
def _table(activity: Activity) -> Sequence[Value]:
    kind = activity.node.type.removesuffix("V2")
    return _declared(activity, kind, activity.node.attrs.get("value_shape", ()))


@kernel("MutableDenseHashTableV2")
def _buckets(activity: Activity, empty: np.ndarray, deleted: np.ndarray) -> Sequence[Value]:
    """A table of buckets, as many as a power of 2 (TABLES-032), with two keys of its own (033)."""
    attrs = activity.node.attrs
    buckets = attrs["initial_num_buckets"]
    if buckets < 4 or buckets & (buckets - 1):
        raise FailedError("INVALID_ARGUMENT", f"{buckets} is no power of 2 from 4 on")
    keys = Table(DENSE, "", "", key_row=empty.shape)
    reserved = (*keys._names(empty), *keys._names(deleted))  # noqa: SLF001 - of its own class
    if reserved[0] == reserved[1]:
        raise FailedError("INVALID_ARGUMENT", "the two reserved keys are one")
    return _declared(activity, DENSE, attrs["value_shape"], empty.shape, reserved)


def _declared(
    activity: Activity,
    kind: str,
    row: tuple[int, ...],
    key_row: tuple[int, ...] = (),
    reserved: tuple[Key, ...] = (),
) -> Sequence[Value]:
    """A table of its own, or the one of its shared name (TABLES-023 to 025)."""
    attrs = activity.node.attrs
    dtypes = (attrs["key_dtype"], attrs["value_dtype"])
    handle = handle_of(activity.node, "table")
    table = activity.session.resource(
        handle, lambda: Table(kind, *dtypes, tuple(row), key_row, reserved)
    )
    if (table.kind, table.key_dtype, table.value_dtype) != (kind, *dtypes):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} is another kind of table")
    return [handle]


def _named(activity: Activity, handle: Handle) -> Table:
    """The table of a handle, whose dtypes are those that the operation declares (TABLES-022)."""
    table: Table | None = activity.session.resources.get(handle)
    if table is None:
        raise FailedError("NOT_FOUND", f"there is no table {handle.name}")
    attrs = activity.node.attrs
    for names, dtype in (
        (("Tin", "Tkey", "Tkeys"), table.key_dtype),
        (("Tout", "Tval", "Tvalues"), table.value_dtype),
    ):
        if any(attrs.get(name, dtype) != dtype for name in names):
            raise FailedError("INVALID_ARGUMENT", f"{handle.name} is of other dtypes")
    return table


@kernel("LookupTableFind", "LookupTableFindV2")
def _find(
    activity: Activity, handle: Handle, keys: np.ndarray, default: np.ndarray
) -> Sequence[Value]:
    return _named(activity, handle).find(keys, default)


@kernel("LookupTableInsert", "LookupTableInsertV2")
def _insert(
    activity: Activity, handle: Handle, keys: np.ndarray, values: np.ndarray
) -> Sequence[Value]:
    _named(activity, handle).insert(keys, values)
    return []


@kernel("LookupTableImport", "LookupTableImportV2")
def _import(
    activity: Activity, handle: Handle, keys: np.ndarray, values: np.ndarray
) -> Sequence[Value]:
    _named(activity, handle).replace(keys, values)
    return []


@kernel("InitializeTable", "InitializeTableV2")
def _fill(
    activity: Activity, handle: Handle, keys: np.ndarray, values: np.ndarray
) -> Sequence[Value]:
    _named(activity, handle).fill(keys, values)
    return []


@kernel("LookupTableRemoveV2")
def _remove(activity: Activity, handle: Handle, keys: np.ndarray) -> Sequence[Value]:
    _named(activity, handle).remove(keys)
    return []


@kernel("LookupTableSize", "LookupTableSizeV2")
def _size(activity: Activity, handle: Handle) -> Sequence[Value]:
    return _named(activity, handle).size()


@kernel("LookupTableExport", "LookupTableExportV2")
def _export(activity: Activity, handle: Handle) -> Sequence[Value]:
    return _named(activity, handle).export()
