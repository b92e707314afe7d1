"""SignatureCache: the planned signatures of a session, by fetches and feed keys.

A run of the same fetches and feed keys needs neither be resolved nor planned again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Final

from sessrun.reference.base.containers import is_namedtuple
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.resolve.signature import Signature

__all__ = ["SignatureCache"]

#: Fetches that are their own key: nothing equals one but itself, or an equal name.
_LEAVES: Final = frozenset({Tensor, Operation, str})


class SignatureCache:
    """The signatures of a session that have been planned; safe for threads.

    Args:
      lifetime: a session that was closed or reset has none.
      is_off: whether nothing is kept.

    Attributes:
      planned: by the key of its fetches and feed keys a signature, and its plan.

    """

    def __init__(self, lifetime: Lifetime, *, is_off: bool) -> None:
        self._lifetime = lifetime
        self._is_off = is_off
        self.planned: dict[Hashable | None, tuple[Signature, Plan | None]] = {}
        self._lock = threading.Lock()

    def find(
        self, fetches: Fetches, feed_keys: Iterable[object]
    ) -> tuple[Signature, Plan | None] | None:
        """The signature of fetches and feed keys, and its plan; None if they are not kept."""
        try:
            if type(fetches) in _LEAVES:  # the same as `_key`, without the time of a call
                return self.planned.get((fetches, *feed_keys) if feed_keys else fetches)
            if type(fetches) is list:
                planned = self.planned.get(((list, *fetches), *feed_keys))
                if planned is not None:
                    return planned
        except TypeError:  # something in the list cannot be hashed
            pass
        key = self.key_of(fetches, feed_keys)
        try:
            return None if key is None else self.planned.get(key)
        except TypeError:  # a variable of a program's own that cannot be hashed
            return None

    def key_of(self, fetches: Fetches, feed_keys: Iterable[object]) -> Hashable | None:
        """The key of fetches and feed keys; None if equal keys need not mean the same run."""
        if not all(_is_leaf(key) and type(key) is not Operation for key in feed_keys):
            return None
        try:
            return _key(fetches, feed_keys)
        except TypeError:  # they hold something that must be looked at in each run
            return None

    def add(
        self,
        fetches: Fetches,
        feed_keys: Iterable[object],
        signature: Signature,
        plan: Plan | None,
    ) -> None:
        """Keep a planned signature, if its fetches and feed keys have a key."""
        key = None if self._is_off else self.key_of(fetches, feed_keys)
        if key is None:
            return
        with self._lock:
            if not self._lifetime.is_over:
                self.planned[key] = signature, plan

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self.planned.clear()


def _key(fetches: Fetches, feed_keys: Iterable[object]) -> Hashable:
    """The key of fetches and feed keys.

    Raises:
      TypeError: the fetches are no structure of lists, tuples and dicts.

    """
    if _is_leaf(fetches):
        return (fetches, *feed_keys) if feed_keys else fetches
    return (_structure_key(fetches), *feed_keys)


def _structure_key(fetches: object) -> Hashable:
    """The key of nested fetches: types, the keys of dicts in their order, and the leaves.

    The type is part of it, of a dict's keys too: a namedtuple equals a tuple of the same elements,
    and True equals 1.
    """
    if _is_leaf(fetches):
        return fetches
    kind = type(fetches)
    if isinstance(fetches, dict) and kind in {dict, OrderedDict}:
        keys = tuple((type(key), key) for key in fetches)
        return (kind, keys, *map(_structure_key, fetches.values()))
    if isinstance(fetches, list | tuple) and (kind in {list, tuple} or is_namedtuple(fetches)):
        return (kind, *map(_structure_key, fetches))
    raise TypeError(kind)


def _is_leaf(value: object) -> bool:
    """Whether it is a tensor, an operation, a name or a variable, which are their own keys."""
    return type(value) in _LEAVES or hasattr(value, "_as_graph_element")
