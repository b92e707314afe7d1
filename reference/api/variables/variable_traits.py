"""The options of a variable that no operation holds: modes, constraints, collections."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Traits",
    "VariableAggregation",
    "VariableAggregationV2",
    "VariableSynchronization",
    "collections_of",
    "traits_of",
]


class VariableSynchronization(enum.Enum):
    """When copies of a distributed variable are brought together; nothing here depends on it."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class _Aggregation(enum.Enum):
    """A way of combining updates; it equals the one of the same number in either version."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Aggregation) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


class VariableAggregation(_Aggregation):
    """How updates of a distributed variable are combined; nothing here depends on it."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # its older name


class VariableAggregationV2(_Aggregation):
    """VariableAggregation of TensorFlow 2, without the alias ONLY_FIRST_TOWER."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@dataclass(frozen=True, slots=True)
class Traits:
    """The options of a variable that no operation holds."""

    trainable: bool = True
    constraint: Callable[..., Tensor] | None = None
    synchronization: VariableSynchronization = VariableSynchronization.AUTO
    aggregation: VariableAggregation = VariableAggregation.NONE


def traits_of(
    name: str | None,
    trainable: object,
    constraint: object,
    synchronization: object,
    aggregation: object,
) -> Traits:
    """The traits, checked; a variable that is combined on reads is not trainable by default.

    Raises:
      ValueError: `synchronization` or `aggregation` is not one of their constants, or the
        constraint cannot be called.

    """
    modes: list[Any] = []
    for what, kind, value in (
        ("synchronization", VariableSynchronization, synchronization),
        ("aggregation", VariableAggregation, aggregation),
    ):
        if isinstance(value, kind):
            modes.append(value)
            continue
        try:
            modes.append(kind(0 if value is None else getattr(value, "value", value)))
        except ValueError as error:
            raise ValueError(
                f"Invalid variable {what} mode: {value} for variable: {name}"
            ) from error
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    if trainable is None:
        trainable = modes[0] is not VariableSynchronization.ON_READ
    return Traits(bool(trainable), constraint, modes[0], modes[1])


def collections_of(collections: Iterable[str] | None, *, trainable: bool) -> list[str]:
    """The collections that a variable is added to.

    Raises:
      ValueError: `collections` is no list, tuple or set.

    """
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(  # noqa: TRY004 - as TensorFlow
            "collections argument to Variable constructor must be a list, tuple, or set. "
            f"Got {collections} of type {type(collections)}"
        )
    keys = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    return keys
