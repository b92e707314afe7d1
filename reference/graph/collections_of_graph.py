"""The collections of a graph: named lists of anything."""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterable
from typing import Any

__all__ = ["CollectionKey", "Collections"]

#: The name of a collection: a string, or any other value that hashes, which no MetaGraphDef holds.
CollectionKey = Hashable


class Collections:
    """Named lists, kept in the order of first use; safe for threads.

    The methods are those of `tf.Graph` of the same names.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: dict[CollectionKey, list[Any]] = {}

    @property
    def collections(self) -> list[CollectionKey]:
        """The names of all collections."""
        return list(self._lists)

    def share_collections(self, other: Collections, names: Iterable[CollectionKey]) -> None:
        """Share these collections of another graph: an item added to either is in both."""
        for name in names:
            self._lists[name] = other.get_collection_ref(name)

    def share_all_collections(self, other: Collections) -> None:
        """Share all collections of another graph, including those created later."""
        self._lists = other._lists

    def add_to_collection(self, name: CollectionKey, value: object) -> None:
        """Append a value to the collection."""
        with self._lock:
            self._lists.setdefault(name, []).append(value)

    def add_to_collections(
        self, names: CollectionKey | Iterable[CollectionKey], value: object
    ) -> None:
        """Append a value to each collection named; one name counts once."""
        several = [names] if isinstance(names, str) or not isinstance(names, Iterable) else names
        for name in dict.fromkeys(several):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: CollectionKey) -> list[Any]:
        """The collection itself: changes of the list change the collection."""
        with self._lock:
            return self._lists.setdefault(name, [])

    def get_collection(self, name: CollectionKey, scope: str | None = None) -> list[Any]:
        """A copy of the list; with `scope` the items whose name begins with that pattern."""
        with self._lock:
            items = list(self._lists.get(name, ()))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [item for item in items if pattern.match(getattr(item, "name", None) or "\0")]

    def get_all_collection_keys(self) -> list[str]:
        """The names of the collections that are named by strings."""
        with self._lock:
            return [name for name in self._lists if isinstance(name, str)]

    def clear_collection(self, name: CollectionKey) -> None:
        """Empty the collection, by forgetting it."""
        with self._lock:
            self._lists.pop(name, None)
