"""SignatureCache: the planned signatures of a session, by fetches and feed keys.

A run of the same fetches and feed keys needs neither be resolved nor planned again.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from typing import Final

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
            if isinstance(fetches, list):
                return self.planned.get((type(fetches), tuple(fetches), *feed_keys))
            return self.planned.get(_key(fetches, feed_keys))
        except TypeError:  # they cannot be hashed
            return None

    def key_of(self, fetches: Fetches, feed_keys: Iterable[object]) -> Hashable | None:
        """The key of fetches and feed keys; None if equal keys need not mean the same run."""
        return _key(fetches, feed_keys) if _has_key(fetches, feed_keys) else None

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
    """The key of fetches and feed keys, which may turn out to be unhashable.

    The type is part of it: a namedtuple equals a tuple of the same elements.
    """
    kind = type(fetches)
    if kind in _LEAVES:
        return (fetches, *feed_keys) if feed_keys else fetches
    if isinstance(fetches, list):
        fetches = tuple(fetches)
    return (kind, fetches, *feed_keys)


def _has_key(fetches: Fetches, feed_keys: Iterable[object]) -> bool:
    """Whether equal keys mean the same run: of leaves, or a flat list or tuple of them."""
    parts: Iterable[object] = (fetches,)
    if isinstance(fetches, list | tuple) and type(fetches) in {list, tuple}:
        parts = fetches
    if not all(isinstance(part, Tensor | Operation | str) or _is_variable(part) for part in parts):
        return False
    return all(isinstance(key, Tensor | str) or _is_variable(key) for key in feed_keys)


def _is_variable(value: object) -> bool:
    return hasattr(value, "_as_graph_element")
