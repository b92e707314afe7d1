"""A signature of a session: its plan, and the way in and out of it. The hot path of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.operation import Operation
from sessrun.reference.resources import Step
from sessrun.reference.session.execute import Plan
from sessrun.reference.session.feeds import Feeder, internal_value
from sessrun.reference.session.trace import Trace
from sessrun.reference.tensor import Tensor
from sessrun.spec.feeds import StringElementError

__all__ = ["Signature", "cache_key", "is_cacheable"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What one (fetches, fed tensors) of a session resolves to.

    Attributes:
      feeders: for each fed tensor, in order, the conversion and check of its value.
      dtypes: the dtype name of each fed tensor.
      plan: what is executed; None if every fetch is fed.
      sources: for each unique fetch, (True, index of the feed), (False, index of the plan's
        fetch), or None for an operation.
      build: from the values of the unique fetches to the caller's structure.

    """

    feeders: tuple[Feeder, ...]
    dtypes: tuple[str, ...]
    plan: Plan | None
    sources: tuple[tuple[bool, int] | None, ...]
    build: Callable[[Sequence[Any]], Any]

    def convert(self, values: Iterable[Any]) -> list[Any]:
        """The arrays of the fed values; raises before anything has run."""
        return [feed(value) for feed, value in zip(self.feeders, values, strict=True)]

    def execute(
        self, fed: Sequence[Any], step: Step | None = None, trace: Trace | None = None
    ) -> Any:
        """Execute on converted feeds: the caller's structure of values.

        Raises:
          OpError: an operation failed; InternalError for an element that no string tensor holds.

        """
        results: Sequence[Any] = ()
        if self.plan is not None:
            try:
                inside = list(map(internal_value, fed, self.dtypes))
            except StringElementError as error:
                raise errors.InternalError(None, None, str(error)) from error
            results = self.plan.run(inside, step, trace)
        values = [
            None if source is None else fed[source[1]] if source[0] else results[source[1]]
            for source in self.sources
        ]
        return self.build(values)


_FLAT: Final = (list, tuple)


def cache_key(fetches: Any, feed_dict: Any) -> Any:
    """The key of a run in the session's cache; looking it up raises TypeError if unhashable.

    The kind is part of it: a namedtuple equals a tuple of the same elements.
    """
    kind = type(fetches)
    if kind is list:
        fetches = tuple(fetches)
    return (kind, fetches, tuple(feed_dict)) if feed_dict else (kind, fetches)


def is_cacheable(fetches: Any, feed_dict: Any) -> bool:
    """Whether `cache_key` says all: a flat list or tuple of tensors, operations or names."""
    parts = fetches if type(fetches) in _FLAT else (fetches,)
    if not all(isinstance(part, Tensor | Operation | str) for part in parts):
        return False
    return all(isinstance(key, Tensor | str) for key in feed_dict or ())
