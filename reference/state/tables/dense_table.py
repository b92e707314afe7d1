"""A lookup table that is kept as buckets, which is how it is exported.

Two keys are reserved: one fills the buckets that are empty, the other those of keys that were taken
out. An integer key lands where TensorFlow puts it; where a key of another kind does is our own.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.state.tables.table_resource import LookupTable, Pair, shown

__all__ = ["DenseTable"]

#: The fewest buckets.
_FEWEST: Final = 4


class DenseTable(LookupTable):
    """A table of buckets; safe for threads.

    Args:
      key_dtype: the spec name of its keys' dtype.
      value_dtype: the spec name of its values' dtype.
      value_shape: the shape of a value.
      key_shape: the shape of a key.
      reserved: the key of empty buckets, and that of keys taken out.
      zero: the row of empty buckets.
      buckets: how many there are at first.
      max_load: which part of them may be in use.

    Raises:
      InvalidArgument: for arguments that no table can have.

    """

    def __init__(
        self,
        key_dtype: str,
        value_dtype: str,
        value_shape: tuple[int, ...],
        key_shape: tuple[int, ...],
        *,
        reserved: tuple[Any, Any],
        zero: Any,
        buckets: int,
        max_load: float,
    ) -> None:
        super().__init__("MutableDenseHashTable", key_dtype, value_dtype, value_shape, key_shape)
        if reserved[0] == reserved[1]:
            raise InvalidArgument("Empty and deleted keys cannot be equal")
        if not 0 < max_load <= 1:
            raise InvalidArgument(f"max_load_factor must be between 0 and 1, got: {max_load:g}")
        self._empty, self._deleted = reserved
        self._zero = zero
        self._max_load = max_load
        self._count = 0
        self._make(buckets)

    def __len__(self) -> int:
        return self._count

    def _make(self, buckets: int) -> None:
        if buckets < _FEWEST or buckets & (buckets - 1):
            raise InvalidArgument(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        self._keys = [self._empty] * buckets
        self._values = [self._zero] * buckets
        self._count = 0

    def outer_shape(self, keys: Sequence[int]) -> tuple[int, ...]:
        """The number of keys, which are a vector of them.

        Raises:
          InvalidArgument: it is none.

        """
        outer, inner = tuple(keys[:1]), tuple(keys[1:])
        if inner != self.key_shape and not (inner == (1,) and not self.key_shape):
            wanted = (*outer, *self.key_shape) if self.key_shape else outer
            raise InvalidArgument(f"Expected key shape {shown(wanted)} got {shown(keys)}")
        return outer

    def imported_outer(self, keys: Sequence[int]) -> tuple[int, ...]:
        """The number of buckets."""
        inner = self.key_shape or (1,)
        if len(keys) != 1 + len(inner) or tuple(keys[1:]) != inner:
            raise InvalidArgument(
                f"Expected key shape {shown((*keys[:1], *inner))} got {shown(keys)}"
            )
        return tuple(keys[:1])

    def find(self, keys: Iterable[Any], defaults: Iterable[Any]) -> list[Any]:
        """The row of each key, or its default; InvalidArgument for a reserved key."""
        with self.lock:
            return [
                default if place is None else self._values[place]
                for place, default in zip(map(self._place, keys), defaults, strict=True)
            ]

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Put rows in; with more buckets, if there are too few for all of them."""
        with self.lock:
            needed = self._count + len(pairs)
            buckets = len(self._keys)
            while needed > buckets * self._max_load:
                buckets *= 2
            if buckets != len(self._keys):
                kept = [*zip(self._keys, self._values, strict=True)]
                self._make(buckets)
                self._put([pair for pair in kept if pair[0] not in (self._empty, self._deleted)])
            self._put(pairs)

    def remove(self, keys: Iterable[Any]) -> None:
        """Take keys out, those that are in; InvalidArgument for a reserved key."""
        with self.lock:
            for key in keys:
                place = self._place(key)
                if place is not None:
                    self._keys[place] = self._deleted
                    self._count -= 1

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Take these as the buckets."""
        with self.lock:
            self._keys = [key for key, _ in pairs]
            self._values = [row for _, row in pairs]
            reserved = (self._empty, self._deleted)
            self._count = sum(key not in reserved for key in self._keys)

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Any]]:
        """All buckets."""
        with self.lock:
            shape = (len(self._keys), *(self.key_shape or (1,)))
            return shape, list(self._keys), list(self._values)

    def _put(self, pairs: Iterable[Pair]) -> None:
        for key, row in pairs:
            place = self._place(key)
            if place is None:
                place = self._free(key)
                self._count += 1
            self._keys[place], self._values[place] = key, row

    def _place(self, key: Any) -> int | None:
        """The bucket of a key, None if it has none; InvalidArgument for a reserved key."""
        keys, empty = self._keys, self._empty
        if key == empty or key == self._deleted:  # noqa: PLR1714 - quicker than a tuple of both
            name = "empty" if key == empty else "deleted"
            raise InvalidArgument(f"Using the {name}_key as a table key is not allowed")
        mask, place = len(keys) - 1, _hash(key)
        for step in range(len(keys)):
            place = (place + step) & mask
            found = keys[place]
            if found == key:
                return place
            if found == empty:
                return None
        return None

    def _free(self, key: Any) -> int:
        """The first bucket for a key that has none."""
        mask, place = len(self._keys) - 1, _hash(key)
        for step in range(len(self._keys)):
            place = (place + step) & mask
            if self._keys[place] in (self._empty, self._deleted):
                return place
        raise Internal("There is no bucket left for a key")


def _hash(key: Any) -> int:
    """A number of the key, the same in every process."""
    if isinstance(key, int):
        return key
    if isinstance(key, bytes):
        return zlib.crc32(key)
    return zlib.crc32(repr(key).encode())
