"""Lookup tables from keys to rows: filled once, or changed at any time.

A key is a Python scalar, or a tuple of them if keys are no scalars; a row is a Python scalar, or an
array of the shape of the table's values.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    KernelError,
    Unimplemented,
)

__all__ = ["Default", "Key", "LookupTable", "MutableTable", "Pair", "Row", "StaticTable", "shown"]

Default = TypeVar("Default")

#: A key: a scalar, or a tuple of them.
Key = Hashable
#: A row: a scalar, or an array of the shape of the table's values.
Row: TypeAlias = "complex | bytes | Array"
#: A key and its row.
Pair = tuple[Key, Row]


def shown(shape: Sequence[int]) -> str:
    """A shape in a message."""
    return "[" + ",".join(map(str, shape)) + "]"


class LookupTable:
    """A table of any kind; safe for threads.

    Args:
      kind: the op type that made it, for messages.
      key_dtype: the spec name of its keys' dtype.
      value_dtype: the spec name of its values' dtype.
      value_shape: the shape of a value.
      key_shape: the shape of a key.

    """

    #: A handle is a scalar, to operations that stack or choose among handles.
    shape: Final = ()
    ndim: Final = 0
    #: Whether all keys have the same default, however many are given.
    takes_one_default = False

    def __init__(
        self,
        kind: str,
        key_dtype: str,
        value_dtype: str,
        value_shape: tuple[int, ...] = (),
        key_shape: tuple[int, ...] = (),
    ) -> None:
        self.kind = kind
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.value_shape = value_shape
        self.key_shape = key_shape
        self.lock = threading.RLock()
        self._rows: dict[Key, Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def outer_shape(self, keys_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor of keys without that of a single key."""
        return tuple(keys_shape)

    def find(self, keys: Iterable[Key], defaults: Iterable[Default]) -> list[Row | Default]:
        """The row of each key, or its default if the table does not have the key."""
        with self.lock:
            return list(map(self._rows.get, keys, defaults))

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Insert rows, which replace the present rows of their keys."""
        with self.lock:
            self._rows.update(pairs)

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove the keys that are in the table."""
        with self.lock:
            for key in keys:
                self._rows.pop(key, None)

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Replace all rows by these."""
        with self.lock:
            self._rows = dict(pairs)

    def imported_outer_shape(self, keys_shape: Sequence[int]) -> tuple[int, ...]:
        """As `outer_shape`, for the keys of an import."""
        return self.outer_shape(keys_shape)

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Row]]:
        """The shape of the tensor of keys, the keys, and their rows."""
        with self.lock:
            return (len(self._rows),), list(self._rows), list(self._rows.values())


class MutableTable(LookupTable):
    """A table that changes."""


class StaticTable(LookupTable):
    """A table that is filled once.

    Attributes:
      is_filled: whether it is filled.

    """

    takes_one_default = True

    def __init__(self, kind: str, key_dtype: str, value_dtype: str) -> None:
        super().__init__(kind, key_dtype, value_dtype)
        self.is_filled = False

    def __len__(self) -> int:
        return len(self._rows) if self.is_filled else 0

    def fill(self, pairs: Iterable[Pair], count: int | None) -> None:
        """Fill the table; pairs before an error stay in it, but it does not count as filled.

        Args:
          pairs: keys and rows.
          count: how many there are, if that is known before. A filled table accepts the same number
            of pairs again, with any keys and values, and keeps its own.

        Raises:
          InvalidArgument: there are no keys.
          FailedPrecondition: the table has another number of pairs, or a key occurs with two
            different rows.

        """
        if count == 0:
            raise InvalidArgument("keys and values cannot be empty tensors.")
        with self.lock:
            if self.is_filled:
                if len(self._rows) != (len(list(pairs)) if count is None else count):
                    raise FailedPrecondition(
                        "Table was already initialized with different data.",
                    )
                return
            for key, row in pairs:
                if self._rows.setdefault(key, row) != row:
                    raise FailedPrecondition(
                        "HashTable has different value for same key. Key "
                        f"{_text(key)} has {_text(self._rows[key])} and trying to add value "
                        f"{_text(row)}"
                    )
            self.is_filled = True

    def find(self, keys: Iterable[Key], defaults: Iterable[Default]) -> list[Row | Default]:
        """The row of each key; FailedPrecondition before it is filled."""
        if not self.is_filled:
            raise FailedPrecondition("Table not initialized.")
        return super().find(keys, defaults)

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Refuse: Unimplemented."""
        del pairs
        raise self._unsupported("Insert")

    def remove(self, keys: Iterable[Key]) -> None:
        """Refuse: Unimplemented."""
        del keys
        raise self._unsupported("Remove")

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Fill it."""
        self.fill(pairs, len(pairs))

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Row]]:
        """The keys and rows, as for any table; Aborted before it is filled."""
        if not self.is_filled:
            raise Aborted("HashTable is not initialized.")
        return super().exported()

    def _unsupported(self, what: str) -> KernelError:
        return Unimplemented(f"{what} not supported by InitializableLookupTable implementations")


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
