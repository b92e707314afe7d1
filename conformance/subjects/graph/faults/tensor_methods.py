"""Faults of GRAPH and PLACEMENT: what tensors themselves say and do.

A tensor of a conforming namespace is given a class of the fault's own, derived from its class.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import elements, running
from sessrun.spec.cases.arguments import Argument, Shape, ShapeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Operation, Session, Tensor, Value

Derive = Callable[[type], type]


def _tensors(tf: Namespace, derive: Derive) -> Namespace:
    """The namespace whose placeholders and constants are of the class `derive(class)`."""
    derived: dict[type, type] = {}

    def changed(tensor: Tensor) -> Tensor:
        kind = type(tensor)
        tensor.__class__ = derived.setdefault(kind, derive(kind))
        return tensor

    return override(
        tf,
        placeholder=lambda *args, **kwargs: changed(tf.placeholder(*args, **kwargs)),
        constant=lambda *args, **kwargs: changed(tf.constant(*args, **kwargs)),
    )


@fault("GRAPH-095", "`set_shape` replaces the static shape.")
def set_shape_replaces(tf: Namespace) -> Namespace:
    """Keep the new static shape only."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            def set_shape(self, shape: ShapeLike | None) -> None:
                super().set_shape(shape)
                self.replaced = tf.TensorShape(shape)

            @property
            def shape(self) -> Shape:
                return vars(self).get("replaced", super().shape)

            def get_shape(self) -> Shape:
                return self.shape

        return Derived

    return _tensors(tf, derive)


@fault("GRAPH-096", "`set_shape` to a contradicting shape does nothing.")
def contradicting_shapes_are_ignored(tf: Namespace) -> Namespace:
    """Keep the static shape."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            def set_shape(self, shape: ShapeLike | None) -> None:
                with contextlib.suppress(ValueError):
                    super().set_shape(shape)

        return Derived

    return _tensors(tf, derive)


@fault("GRAPH-102", "A tensor is true, as any object of Python is.")
def tensors_are_true(tf: Namespace) -> Namespace:
    """Leave the truth of an object as it is."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            def __bool__(self) -> bool:
                return True

        return Derived

    return _tensors(tf, derive)


@fault("GRAPH-103", "Iterating over a tensor gives its rows.")
def tensors_have_rows(tf: Namespace) -> Namespace:
    """Iterate over as many slices as the first dimension has."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            def __iter__(self) -> Iterator[Tensor]:
                return iter([self[index] for index in range(self.shape.as_list()[0])])

        return Derived

    return _tensors(tf, derive)


@fault("GRAPH-104", "Constants of one value are equal.")
def equal_constants_are_one(tf: Namespace) -> Namespace:
    """Compare constants by the attributes of their nodes."""

    def held(tensor: Tensor) -> tuple[str, str]:
        return tensor.op.type, str(tensor.op.node_def.attr)

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            def __eq__(self, other: object) -> bool:
                if self.op.type != "Const" or not isinstance(other, kind):
                    return self is other
                return bool(held(self) == held(other))

            def __ne__(self, other: object) -> bool:
                return not self == other

            def __hash__(self) -> int:
                return hash(self.op.type)

        return Derived

    return _tensors(tf, derive)


@fault("GRAPH-105", "An index out of the known bounds is the last one, when the slice is built.")
def indices_are_clipped(tf: Namespace) -> Namespace:
    """Take the last row where the index is refused."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            def __getitem__(self, index: Argument) -> Tensor:
                try:
                    return super().__getitem__(index)
                except ValueError:
                    return super().__getitem__(-1)

        return Derived

    return _tensors(tf, derive)


@fault("PLACEMENT-030", "A fetched tensor tells the device that it was placed on.")
def runs_tell_devices(tf: Namespace) -> Namespace:
    """Write the placement into the graph's own tensors."""
    derived: dict[type, type] = {}

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            __slots__ = ()

            @property
            def device(self) -> str:
                return "/job:localhost/replica:0/task:0/device:CPU:0"

        return Derived

    def change(session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        values = base(fetches)
        for tensor in elements(session, fetches):
            kind = type(tensor)
            if isinstance(tensor, tf.Tensor) and kind not in derived.values():
                tensor.__class__ = derived.setdefault(kind, derive(kind))
        return values

    return running(tf, change)


@fault("GRAPH-131", "A tensor knows no consumers.")
def tensors_know_no_consumers(tf: Namespace) -> Namespace:
    """Return an empty list of consumers."""

    def derive(kind: Any) -> type:
        class Derived(kind):  # type: ignore[misc]
            def consumers(self) -> list[Operation]:
                return []

        return Derived

    return _tensors(tf, derive)
