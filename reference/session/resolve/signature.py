"""A signature of a session: its plan, and the way in and out of it. The hot path of a run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.steps import STEP_REGISTER, Plan, apart, handed_out
from sessrun.reference.session.resolve.feeds import Feeder
from sessrun.reference.state.resources import Step
from sessrun.spec.feeds import StringElementError

__all__ = ["Signature", "cache_key", "is_cacheable"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What one (fetches, fed tensors) of a session resolves to.

    Attributes:
      feeders: for each fed tensor, in order, the conversion and check of its value.
      insides: for each fed tensor the function from its array to what kernels see.
      plan: what is executed; None if every fetch is fed.
      sources: for each unique fetch, (True, index of the feed), (False, register of the plan),
        or None for an operation.
      build: from the values of the unique fetches to the caller's structure.
      only: the register of the only fetch, where the structure is nothing but one tensor of
        the plan; else None.
      fed: the fed tensors, in order.
      wanted: the fetched tensors that are not fed, in the order of the plan's fetches.
      ops: the fetched operations.

    """

    feeders: tuple[Feeder, ...]
    insides: tuple[Callable[[np.ndarray], Any], ...]
    plan: Plan | None
    sources: tuple[tuple[bool, int] | None, ...]
    build: Callable[[Sequence[Any]], Any]
    only: int | None
    fed: tuple[Tensor, ...]
    wanted: tuple[Tensor, ...]
    ops: tuple[Operation, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """What the plan depends on: signatures that differ in the structure alone share it."""
        return self.wanted, self.ops, self.fed

    def convert(self, values: Iterable[Any]) -> list[Any]:
        """The arrays of the fed values, one for each; raises before anything has run."""
        return list(map(operator.call, self.feeders, values))

    def execute(self, fed: Sequence[Any], step: Step | None = None) -> Any:
        """Execute on converted feeds: the caller's structure of values.

        Raises:
          OpError: an operation failed; InternalError for an element that no string tensor holds.

        """
        plan = self.plan
        registers: list[Any] = []
        if plan is not None:
            registers = plan.template.copy()
            if fed:
                self._enter(plan, registers, fed)
            registers[STEP_REGISTER] = step
            plan.run(registers)
            if self.only is not None:
                return handed_out(registers[self.only])
        values = [
            None
            if source is None
            else fed[source[1]]
            if source[0]
            else handed_out(registers[source[1]])
            for source in self.sources
        ]
        return self.build(apart(values, self.sources) if len(values) > 1 else values)

    def _enter(self, plan: Plan, registers: list[Any], fed: Sequence[Any]) -> None:
        """Put what kernels see of the fed arrays into their registers."""
        try:
            for register, inside, array in zip(plan.feeds, self.insides, fed, strict=False):
                registers[register] = inside(array)
        except StringElementError as error:
            raise errors.InternalError(None, None, str(error)) from error


#: Fetches that are their own key: nothing equals one but itself, or an equal name.
_LEAVES: Final = frozenset({Tensor, Operation, str})


def cache_key(fetches: Any, feed_keys: Iterable[Any]) -> Any:
    """The key of a run in the session's cache; looking it up raises TypeError if unhashable.

    The kind is part of it: a namedtuple equals a tuple of the same elements.
    """
    kind = type(fetches)
    if kind in _LEAVES:
        return (fetches, *feed_keys) if feed_keys else fetches
    return (kind, tuple(fetches) if kind is list else fetches, *feed_keys)


def is_cacheable(fetches: Any, feed_keys: Iterable[Any]) -> bool:
    """Whether `cache_key` says all: leaves, or a flat list or tuple of them."""
    parts = fetches if type(fetches) in {list, tuple} else (fetches,)
    if not all(isinstance(part, Tensor | Operation | str) or _is_variable(part) for part in parts):
        return False
    return all(isinstance(key, Tensor | str) or _is_variable(key) for key in feed_keys)


def _is_variable(value: Any) -> bool:
    return hasattr(value, "_as_graph_element")
