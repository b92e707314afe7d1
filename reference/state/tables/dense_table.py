"""DenseTable: the lookup table of MutableDenseHashTable, an array of buckets with open addressing.

Two keys are reserved: one marks empty buckets, the other buckets whose key was removed. An export
contains all buckets, in order; for integer keys this order is TensorFlow's, for others it is not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.state.tables.table_resource import (
    Default,
    Key,
    LookupTable,
    Pair,
    Row,
    shown,
)

__all__ = ["DenseTable"]

#: The fewest buckets.
_MIN_BUCKETS: Final = 4


class DenseTable(LookupTable):
    """A hash table of buckets; safe for threads.

    Args:
      key_dtype: the spec name of the keys' dtype.
      value_dtype: the spec name of the values' dtype.
      value_shape: the shape of a value.
      key_shape: the shape of a key.
      reserved: the key of empty buckets, and that of removed keys.
      zero: the value in empty buckets.
      buckets: the initial number of buckets, a power of 2.
      max_load: the fraction of the buckets that may be in use, above which their number doubles.

    Raises:
      InvalidArgument: the reserved keys are equal, or `buckets` or `max_load` is out of range.

    """

    takes_one_default = True

    def __init__(
        self,
        key_dtype: str,
        value_dtype: str,
        value_shape: tuple[int, ...],
        key_shape: tuple[int, ...],
        *,
        reserved: tuple[Key, Key],
        zero: Row,
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
        self._clear(buckets)

    def __len__(self) -> int:
        return self._count

    def _clear(self, buckets: int) -> None:
        """Replace the buckets by `buckets` empty ones."""
        if buckets < _MIN_BUCKETS or buckets & (buckets - 1):
            raise InvalidArgument(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        self._keys = [self._empty] * buckets
        self._values = [self._zero] * buckets
        self._count = 0

    def outer_shape(self, keys_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor of keys without the dimensions of a single key.

        Raises:
          InvalidArgument: the tensor is not a vector of keys of the table's key shape.

        """
        outer, inner = tuple(keys_shape[:1]), tuple(keys_shape[1:])
        if inner != self.key_shape and not (inner == (1,) and not self.key_shape):
            wanted = (*outer, *self.key_shape) if self.key_shape else outer
            raise InvalidArgument(f"Expected key shape {shown(wanted)} got {shown(keys_shape)}")
        return outer

    def imported_outer_shape(self, keys_shape: Sequence[int]) -> tuple[int, ...]:
        """As `outer_shape`, for the tensor of keys of an export."""
        inner = self.key_shape or (1,)
        if len(keys_shape) != 1 + len(inner) or tuple(keys_shape[1:]) != inner:
            raise InvalidArgument(
                f"Expected key shape {shown((*keys_shape[:1], *inner))} got {shown(keys_shape)}"
            )
        return tuple(keys_shape[:1])

    def find(self, keys: Iterable[Key], defaults: Iterable[Default]) -> list[Row | Default]:
        """The value of each key, or its default; InvalidArgument for a reserved key."""
        with self.lock:
            return [
                default if bucket is None else self._values[bucket]
                for bucket, default in zip(map(self._bucket, keys), defaults, strict=True)
            ]

    def insert(self, pairs: Sequence[Pair]) -> None:
        """Insert pairs of a key and a value, after doubling the buckets if there are too few."""
        with self.lock:
            needed = self._count + len(pairs)
            buckets = len(self._keys)
            while needed > buckets * self._max_load:
                buckets *= 2
            if buckets != len(self._keys):
                kept = [*zip(self._keys, self._values, strict=True)]
                self._clear(buckets)
                self._put([pair for pair in kept if pair[0] not in (self._empty, self._deleted)])
            self._put(pairs)

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove the keys that are in the table; InvalidArgument for a reserved key."""
        with self.lock:
            for key in keys:
                bucket = self._bucket(key)
                if bucket is not None:
                    self._keys[bucket] = self._deleted
                    self._count -= 1

    def restore(self, pairs: Sequence[Pair]) -> None:
        """Replace the buckets by the pairs of an export."""
        with self.lock:
            self._keys = [key for key, _ in pairs]
            self._values = [row for _, row in pairs]
            reserved = (self._empty, self._deleted)
            self._count = sum(key not in reserved for key in self._keys)

    def exported(self) -> tuple[tuple[int, ...], list[Any], list[Row]]:
        """The shape of the tensor of keys, the keys of all buckets, and their values."""
        with self.lock:
            shape = (len(self._keys), *(self.key_shape or (1,)))
            return shape, list(self._keys), list(self._values)

    def _put(self, pairs: Iterable[Pair]) -> None:
        for key, row in pairs:
            bucket = self._bucket(key)
            if bucket is None:
                bucket = self._free_bucket(key)
                self._count += 1
            self._keys[bucket], self._values[bucket] = key, row

    def _bucket(self, key: Key) -> int | None:
        """The bucket that holds a key, or None; InvalidArgument for a reserved key."""
        keys, empty = self._keys, self._empty
        if key == empty or key == self._deleted:  # noqa: PLR1714 - quicker than a tuple of both
            name = "empty" if key == empty else "deleted"
            raise InvalidArgument(f"Using the {name}_key as a table key is not allowed")
        mask, bucket = len(keys) - 1, _hash(key)
        for step in range(len(keys)):
            bucket = (bucket + step) & mask
            occupant = keys[bucket]
            if occupant == key:
                return bucket
            if occupant == empty:
                return None
        return None

    def _free_bucket(self, key: Key) -> int:
        """The bucket to insert a key into: the first that is empty or whose key was removed."""
        mask, bucket = len(self._keys) - 1, _hash(key)
        for step in range(len(self._keys)):
            bucket = (bucket + step) & mask
            if self._keys[bucket] in (self._empty, self._deleted):
                return bucket
        raise Internal("There is no bucket left for a key")


def _hash(key: Key) -> int:
    """A hash of the key, the same in every process."""
    if isinstance(key, int):
        return key
    if isinstance(key, bytes):
        return zlib.crc32(key)
    return zlib.crc32(repr(key).encode())
