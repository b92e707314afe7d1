"""Lookup tables as a session keeps them: filled once, or changing; from keys to rows.

A key is a Python scalar, or a tuple of them where keys are no scalars; a row is a Python scalar, or
an array of the shape that the table's values have.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    KernelError,
    Unimplemented,
)

__all__ = ["LookupTable", "MutableTable", "Pair", "StaticTable", "shown"]

Pair = tuple[Any, Any]


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
    #: Whether one default serves every key, however many are given.
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
        self._rows: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def outer_shape(self, keys: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor of keys without that of a single key."""
        return tuple(keys)

    def find(self, keys: Iterable[Any], defaults: Iterable[Any]) -> list[Any]:
        """The row of each key, or its default where there is none."""
        with self.lock:
            return list(map(self._rows.get, keys, defaults))

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Put rows in, over those that their keys have."""
        with self.lock:
            self._rows.update(pairs)

    def remove(self, keys: Iterable[Any]) -> None:
        """Take keys out, those that are in."""
        with self.lock:
            for key in keys:
                self._rows.pop(key, None)

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Put these rows in place of all others."""
        with self.lock:
            self._rows = dict(pairs)

    def imported_outer(self, keys: Sequence[int]) -> tuple[int, ...]:
        """As `outer_shape`, of keys that `restore` shall take."""
        return self.outer_shape(keys)

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Any]]:
        """The shape of the tensor of keys, the keys, and their rows."""
        with self.lock:
            return (len(self._rows),), list(self._rows), list(self._rows.values())


class MutableTable(LookupTable):
    """A table that changes."""


class StaticTable(LookupTable):
    """A table that is filled once.

    Attributes:
      is_filled: whether it was.

    """

    takes_one_default = True

    def __init__(self, kind: str, key_dtype: str, value_dtype: str) -> None:
        super().__init__(kind, key_dtype, value_dtype)
        self.is_filled = False

    def __len__(self) -> int:
        return len(self._rows) if self.is_filled else 0

    def fill(self, pairs: Iterable[Pair], count: int | None) -> None:
        """Put in what it shall hold; what came before an error stays, but it is not filled.

        Args:
          pairs: keys and rows.
          count: how many there are, if that is known before; a table that is filled takes as many
            again, whatever they are, and keeps what it has.

        Raises:
          InvalidArgument: there are no keys.
          FailedPrecondition: it is filled with another number of them, or a key comes twice with
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
                        f"{_told(key)} has {_told(self._rows[key])} and trying to add value "
                        f"{_told(row)}"
                    )
            self.is_filled = True

    def find(self, keys: Iterable[Any], defaults: Iterable[Any]) -> list[Any]:
        """The row of each key; FailedPrecondition before it is filled."""
        if not self.is_filled:
            raise FailedPrecondition("Table not initialized.")
        return super().find(keys, defaults)

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Refuse: Unimplemented."""
        del pairs
        raise self._unsupported("Insert")

    def remove(self, keys: Iterable[Any]) -> None:
        """Refuse: Unimplemented."""
        del keys
        raise self._unsupported("Remove")

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Fill it."""
        self.fill(pairs, len(pairs))

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Any]]:
        """What it holds; Aborted before it is filled."""
        if not self.is_filled:
            raise Aborted("HashTable is not initialized.")
        return super().exported()

    def _unsupported(self, what: str) -> KernelError:
        return Unimplemented(f"{what} not supported by InitializableLookupTable implementations")


def _told(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
