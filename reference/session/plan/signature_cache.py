"""SignatureCache: the planned signatures of a session, by fetches and feed keys.

A run of the same fetches and feed keys needs neither be resolved nor planned again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.base.containers import is_namedtuple
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.feed_source import MISSED
from sessrun.reference.session.execute.generated import (
    GeneratedRun,
    QuickRun,
    can_generate,
    generate,
    runs_before,
)
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.plan.fetch_contents import LEAVES, content_of
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.resolve.signature import Signature

__all__ = ["Planned", "SignatureCache"]

_NEVER: Final = float("inf")
#: So many signatures are kept; a program that has more runs few of them again.
_MOST_PLANNED: Final = 10_000
#: In so many objects the same structure of fetches is found by the object's identity.
_MOST_OBJECTS: Final = 16
#: Of so many kinds of runs the fetches may have been at one place in memory, one after the other.
_MOST_AT_ONCE: Final = 8
#: Types of which equal objects are the same to a program.
_PLAIN_KEYS: Final = frozenset({bool, bytes, int, str, Tensor, type(None)})
#: Feed keys that are their own key.
_FEED_KEYS: Final = frozenset({Tensor, str})


@dataclass(slots=True, eq=False)
class Planned:
    """A planned signature.

    Attributes:
      signature: the signature.
      plan: its plan; None if every fetch is fed.
      hot_key: its key among the hot runs; None if it must not be one of them.
      feed_keys: the keys of its feeds, as given.
      left: how often it runs before code is generated for it.
      generated: that code; None before, and where there can be none.
      objects: in how many more objects its fetches are found by identity.

    """

    signature: Signature
    plan: Plan | None
    hot_key: Hashable
    feed_keys: tuple[object, ...]
    left: float
    generated: GeneratedRun | None = None
    objects: int = _MOST_OBJECTS


class SignatureCache:
    """The signatures of a session that have been planned; safe for threads.

    Args:
      lifetime: the session's lifetime; a session that was closed or reset has none.
      graph: the session's graph.
      is_off: whether nothing is kept.

    Attributes:
      planned: by the key of its fetches and feed keys a signature.
      hot: the generated runs that can be found by one look-up, those without feeds by the fetch,
        those of callables by their mark; none after the graph has changed.
      quick: generated runs by the identity of the fetches: those that were seen there, of which
        each looks whether it is meant.

    """

    def __init__(self, lifetime: Lifetime, graph: Graph, *, is_off: bool) -> None:
        self._lifetime = lifetime
        self._graph = graph
        self._is_off = is_off
        self._runs_before = _NEVER if is_off else runs_before()
        self.planned: dict[Hashable | None, Planned] = {}
        self.hot: dict[Hashable, Callable[..., Any]] = {}
        self.quick: dict[int, list[QuickRun]] = {}
        self._marks: dict[Hashable, object] = {}
        self._lock = threading.Lock()
        for runs in (self.hot, self.quick):
            graph.hot_runs[id(runs)] = runs

    def find(self, fetches: Fetches, feed_keys: Iterable[object]) -> Planned | None:
        """The signature of fetches and feed keys, and its plan; None if they are not kept."""
        try:
            if type(fetches) in LEAVES:  # the same as `_key`, without the time of a call
                return self.planned.get((fetches, *feed_keys) if feed_keys else fetches)
            if type(fetches) is list:
                planned = self.planned.get(((list, *fetches), *feed_keys))
                if planned is not None:
                    return planned
        except TypeError:  # an element of the list cannot be hashed
            pass
        key = self.key_of(fetches, feed_keys)
        try:
            return None if key is None else self.planned.get(key)
        except TypeError:  # a variable of a program's own that cannot be hashed
            return None

    def key_of(self, fetches: Fetches, feed_keys: Iterable[object]) -> Hashable | None:
        """The key of fetches and feed keys; None if equal keys need not mean the same run."""
        for key in feed_keys:
            if type(key) not in _FEED_KEYS and (type(key) is Operation or not _is_leaf(key)):
                return None
        try:
            key = _key(fetches, feed_keys)
            hash(key)
        except TypeError:  # they hold something that must be looked at in each run, or has no hash
            return None
        return key

    def mark(self, fetches: Fetches, feed_keys: Collection[object]) -> Hashable:
        """The key of a callable's fetches and feed keys among the hot runs; None if none has it.

        It is the same object for the same fetches and feed keys: a tuple of them would be hashed
        in every call.
        """
        key = self.key_of(fetches, feed_keys)
        if key is None or (not feed_keys and _is_leaf(fetches)):
            return key
        return self._marks.setdefault(key, object())

    def add(
        self,
        fetches: Fetches,
        feed_keys: Collection[object],
        signature: Signature,
        plan: Plan | None,
    ) -> Planned:
        """Keep a planned signature, if its fetches and feed keys have a key."""
        key = None if self._is_off else self.key_of(fetches, feed_keys)
        if len(feed_keys) != len(signature.fed):  # two keys are one tensor: the last value is fed
            key = None
        left = (
            self._runs_before if key is not None and can_generate(plan, self._lifetime) else _NEVER
        )
        is_hot = key is not None and not feed_keys and _is_leaf(fetches)
        hot_key = key if is_hot else None
        planned = Planned(signature, plan, hot_key, tuple(feed_keys), left)
        if key is not None:
            with self._lock:
                if len(self.planned) >= _MOST_PLANNED:
                    self.planned.clear()
                    self.hot.clear()
                    self.quick.clear()
                if not self._lifetime.is_over:
                    self.planned[key] = planned
        return planned

    def generated(self, planned: Planned, extent: int, fetches: Fetches) -> GeneratedRun | None:
        """The generated code of a planned signature that is run once more; None if it has none.

        Arguments: as for `heat`.
        """
        if planned.left > 0:
            planned.left -= 1
            return None
        if planned.generated is None:
            assert planned.plan is not None
            planned.generated = generate(
                planned.plan, planned.signature, self._lifetime, feed_keys=planned.feed_keys
            )
        self.heat(planned, extent, fetches)
        return planned.generated

    def heat(self, planned: Planned, extent: int, fetches: Fetches) -> None:
        """Let the next run of a signature with generated code be found by one look-up.

        Args:
          planned: the planned signature.
          extent: how many operations the graph had when it was looked at for this run: as long as
            there are no more, a run of the same signature need not look.
          fetches: the fetches of this run, as given.

        """
        if planned.generated is None:
            return
        quick = None
        if planned.objects and len(self.quick.get(id(fetches), ())) < _MOST_AT_ONCE:
            quick = self._quick_run(planned, planned.generated, fetches)
            if quick is None:
                planned.objects = 0
        if quick is None and planned.hot_key is None:
            return
        with self._graph.lock, self._lock:
            if self._lifetime.is_over or extent != self._graph.version:
                return
            if planned.hot_key is not None:
                self.hot[planned.hot_key] = planned.generated.run
            if quick is not None:  # another thread may read the list: a new one
                self.quick[id(fetches)] = [*self.quick.get(id(fetches), ()), quick]
                planned.objects -= 1

    def _quick_run(
        self, planned: Planned, generated: GeneratedRun, fetches: Fetches
    ) -> QuickRun | None:
        """The run of a signature that looks whether its fetches are meant; None if none can."""
        fed = generated.fed
        if _is_leaf(fetches):
            if not planned.feed_keys:  # which `hot` has
                return None
            if type(fetches) in {Tensor, Operation}:  # the graph keeps it: nothing else is there
                return fed
            return lambda given, feeds: fed(given, feeds) if given is fetches else MISSED
        content = content_of(fetches)
        if content is None:
            return None
        is_of = content.is_of
        return lambda given, feeds: fed(given, feeds) if is_of(given) else MISSED

    def hasten(self, fetches: Fetches, feed_keys: Collection[object]) -> Planned | None:
        """The planned signature of a callable, of which the next run is generated code.

        None if it is not planned yet, or there can be no code.
        """
        key = self.key_of(fetches, feed_keys)
        planned = None if key is None else self.planned.get(key)
        if planned is None or planned.left == _NEVER:
            return None
        planned.left = 0
        planned.hot_key = self.mark(fetches, feed_keys)
        return planned

    def generated_callable(
        self, signature: Signature, plan: Plan | None, session: object
    ) -> Callable[[], Any] | None:
        """The generated run of a callable without feeds; None if there can be none."""
        if plan is None or self._runs_before == _NEVER or not can_generate(plan, self._lifetime):
            return None
        return generate(plan, signature, self._lifetime, owner=session).run

    def clear(self) -> None:
        """Forget all of them, for ever: the session has ended."""
        with self._lock:
            self.planned.clear()
            self._marks.clear()
            for runs in (self.hot, self.quick):
                runs.clear()
                self._graph.hot_runs.pop(id(runs), None)


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
    kind = type(fetches)
    if kind in LEAVES:
        return fetches
    if isinstance(fetches, dict) and kind in {dict, OrderedDict}:
        if not all(map(_tells_keys_apart, map(type, fetches))):
            raise TypeError(kind)
        return (kind, *map(type, fetches), *fetches, *_leaves_or_keys(fetches.values()))
    if isinstance(fetches, list | tuple) and (kind in {list, tuple} or is_namedtuple(fetches)):
        return (kind, *_leaves_or_keys(fetches))
    if _is_leaf(fetches):
        return fetches
    raise TypeError(kind)


def _tells_keys_apart(kind: type) -> bool:
    """Whether equal keys of this type look the same in a result, as (1, 2) and (1, 2.0) do not."""
    equality: object = kind.__eq__
    return kind in _PLAIN_KEYS or equality is object.__eq__


def _leaves_or_keys(parts: Iterable[object]) -> list[Hashable]:
    """The key of each part of a structure; most are leaves, for which no call is needed."""
    return [part if type(part) in LEAVES else _structure_key(part) for part in parts]


def _is_leaf(value: object) -> bool:
    """Whether it is a tensor, an operation, a name or a variable, which are their own keys."""
    return type(value) in LEAVES or hasattr(value, "_as_graph_element")
