"""Steps of one optimizer for many small variables, computed as one step.

The variables are laid one after the other in one array, and each of their slots in another. A
variable is a read-only view of its part. Elements are computed as they are alone, so that every bit
is the same; what is saved are the calls for each variable, which take longer than its numbers.

Arrays that anything else refers to are left as they are, like those of single variables: the
variables are laid out anew.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST, frozen
from sessrun.reference.kernels.optimizer_steps import DenseStep
from sessrun.reference.kernels.registry import VariableBuffer
from sessrun.reference.kernels.resources import Handle

__all__ = ["LARGEST", "Batch"]

#: The most elements of a variable whose step is worth being one of many.
LARGEST: Final = 2**14
#: What the reference count of an object in a list alone is, asked for as below.
_ALONE: Final = next(map(sys.getrefcount, [object()]))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Arrays in which variables lie one after the other.

    Attributes:
      flat: an array for the variables, and one for each of their slots.
      views: the parts of these arrays, all of the first one first.
      gradient: the array that gradients are gathered in.

    """

    flat: list[Array]
    views: list[Array]
    gradient: Array

    @classmethod
    def of(cls, values: Sequence[Array], count: int) -> _Layout:
        """The layout of copies of these values, for `count` variables and their slots."""
        flat = [
            HOST.concatenate(values[start : start + count], axis=None)
            for start in range(0, len(values), count)
        ]
        views = []
        for array, start in zip(flat, range(0, len(values), count), strict=True):
            begin = 0
            for value in values[start : start + count]:
                view = array[begin : begin + value.size].reshape(value.shape)
                views.append(frozen(view))
                begin += value.size
        return cls(flat, views, HOST.empty_like(flat[0]))

    def is_alone(self, count: int) -> bool:
        """Whether nothing refers to the arrays but this layout of `count` variables."""
        views, arrays = map(sys.getrefcount, self.views), map(sys.getrefcount, self.flat)
        return max(views) <= _ALONE and max(arrays) <= _ALONE + count


class Batch:
    """The steps of one formula for several variables, none of which comes twice.

    Args:
      steps: the single steps.
      sources: for each step its variable and slots, as buffers or handles.
      failed: from the number of a step and what it has raised to the error of the run.

    """

    def __init__(
        self,
        steps: Sequence[DenseStep],
        sources: Sequence[Sequence[VariableBuffer | Handle]],
        failed: Callable[[int, Exception], Exception],
    ) -> None:
        self._steps = steps
        self._sources = sources
        self._failed = failed
        self._by_slot = [slot for slots in zip(*sources, strict=True) for slot in slots]
        self._stores = {source.store for source in self._by_slot if isinstance(source, Handle)}
        self._known: tuple[list[int], list[VariableBuffer], list[VariableBuffer]] | None = None
        self._layout: _Layout | None = None

    def __call__(self, *values: Any) -> None:
        """Update the variables.

        Args:
          values: the gradients of all steps, then the scalars of all steps, step by step.

        """
        count = len(self._steps)
        gradients, scalars = values[:count], values[count:]
        width = len(scalars) // count
        first = scalars[:width]
        if any(scalar.ndim for scalar in first) or not all(
            map(operator.is_, scalars, first * count)
        ):
            self._one_by_one(gradients, scalars)
            return
        buffers, locked = self._buffers()
        for buffer in locked:
            buffer.lock.acquire()
        try:
            layout = self._taken(buffers, gradients) if buffers else None
            if layout is None:
                self._one_by_one(gradients, scalars)
                return
            try:
                HOST.concatenate(gradients, axis=None, out=layout.gradient)
                self._steps[0].train(first, layout.gradient, layout.flat)
            finally:
                for buffer, view in zip(buffers, layout.views, strict=True):
                    buffer.value = view
        finally:
            for buffer in locked:
                buffer.lock.release()

    def _buffers(self) -> tuple[list[VariableBuffer], list[VariableBuffer]]:
        """The buffers, all variables first, and in the order in which they are locked.

        There are none if a variable was never set.
        """
        removals = [store.removals for store in self._stores]
        if self._known is None or self._known[0] != removals:
            resources = [
                source.held() if isinstance(source, Handle) else source for source in self._by_slot
            ]
            buffers = [buffer for buffer in resources if buffer is not None]
            if len(buffers) < len(resources):
                return [], []
            self._known = removals, buffers, sorted(buffers, key=id)
        return self._known[1:]

    def _taken(
        self, buffers: Sequence[VariableBuffer], gradients: Sequence[Array]
    ) -> _Layout | None:
        """The layout of the variables, taken out of their buffers; None if they do not fit."""
        values = [buffer.value for buffer in buffers]
        layout, count = self._layout, len(gradients)
        if layout is None or not all(map(operator.is_, values, layout.views)):
            if not _fit(values, gradients):
                return None
            layout = self._layout = _Layout.of(values, count)
        elif not _fit(values[:count], gradients):
            return None
        values.clear()
        for buffer in buffers:
            buffer.value = None
        if not layout.is_alone(count):
            try:
                layout = self._layout = _Layout.of(layout.views, count)
            except MemoryError:
                for buffer, view in zip(buffers, layout.views, strict=True):
                    buffer.value = view
                raise
        return layout

    def _one_by_one(self, gradients: Sequence[Array], scalars: Sequence[Array]) -> None:
        """Update the variables one after the other: some step may be refused."""
        width = len(scalars) // len(self._steps)
        for number, (step, sources) in enumerate(zip(self._steps, self._sources, strict=True)):
            own = scalars[number * width : (number + 1) * width]
            try:
                step.update(sources, own, gradients[number])
            except Exception as error:
                raise self._failed(number, error) from error


def _fit(values: Sequence[Array], gradients: Sequence[Array]) -> bool:
    """Whether values of variables, and of slots if there are any, have the gradients' shapes."""
    count = len(gradients)
    return all(
        type(value) is HOST.ndarray and value.shape == gradients[number % count].shape
        for number, value in enumerate(values)
    )
