"""How `tf.train.batch` and its kin batch: sets of tensors, a queue, its queue runner.

The tensors of one element go into a queue, which queue runners fill; a batch is taken out of it.
Source: TF 2.21.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.input.sparse_components import Kept, either, restored, stored
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.summary_ops import fraction_summary
from sessrun.reference.api.queues.queue_runner import QueueRunner, add_queue_runner
from sessrun.reference.api.queues.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    QueueBase,
    RandomShuffleQueue,
)
from sessrun.reference.api.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build import generated
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import no_op
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Batch", "Plan", "batched", "shuffled"]

#: A batch, in the form of a set of tensors.
Batch: TypeAlias = (
    "Tensor | SparseTensor | list[Tensor | SparseTensor] | dict[str, Tensor | SparseTensor]"
)

#: A set of tensors is one element, or with `enqueue_many` a row of each is.
Element = list[Any]


class Plan:
    """Sets of tensors to be batched; each set has a thread that enqueues its elements.

    Args:
      sets: sets of tensors, lists or dictionaries.
      keep_input: whether the elements are enqueued: a bool, or one for each row.
      enqueue_many: whether the tensors are of rows.
      what: the function, for messages.

    """

    def __init__(
        self, sets: list[Any], keep_input: TensorLike, enqueue_many: bool, what: str
    ) -> None:
        if not sets:
            raise ValueError("Expected at least one set of tensors")
        if any(isinstance(tensors, dict) and tensors.keys() != sets[0].keys() for tensors in sets):
            raise ValueError("All dictionaries in tensors_list must have the same keys")
        self.enqueue_many = enqueue_many
        self._form = sets[0]
        self._what = what
        self._given = [_listed(tensors) for tensors in sets]
        self._keep_input = keep_input
        self._elements: list[Element] = []
        self.keep: Tensor

    def values(self) -> list[object]:
        """All values: the tensors of the sets and `keep_input`."""
        return [*(tensor for tensors in self._given for tensor in tensors), self._keep_input]

    def convert(self) -> None:
        """Convert the values of all sets to tensors.

        Raises:
          ValueError: there are no tensors, `keep_input` has a wrong shape, or what is sparse in
            one set is not in another.

        """
        sets = [
            [convert_to_tensor_or_sparse_tensor(t) for t in tensors_of_set]
            for tensors_of_set in self._given
        ]
        if not sets[0]:
            raise ValueError(f"Expected at least one tensor in {self._what}().")
        if any(len(tensors_of_set) != len(sets[0]) for tensors_of_set in sets):
            raise ValueError(f"Expected the same number of tensors in each set of {self._what}().")
        kinds = [
            [isinstance(tensor, SparseTensor) for tensor in tensors_of_set]
            for tensors_of_set in sets
        ]
        for tensors_of_set, kind in zip(sets, kinds, strict=True):
            if kind != kinds[0]:
                raise ValueError(f"Inconsistent SparseTensors list: {sets[0]} vs. {tensors_of_set}")
        self.keep = _checked_keep(self._keep_input, self.enqueue_many)
        self._kept: list[Kept | None] = [None] * len(sets[0])
        for tensors_of_set in sets:
            tensors, self._kept = stored(
                tensors_of_set, self.keep, enqueue_many=self.enqueue_many, known=self._kept
            )
            self._elements.append(tensors)

    def dtypes(self) -> list[dtypes.DType]:
        """The dtype of each component.

        Raises:
          TypeError: the dtypes of the sets differ.

        """
        dtypes_of_element = [tensor.dtype.base_dtype for tensor in self._elements[0]]
        for element in self._elements[1:]:
            for want, tensor in zip(dtypes_of_element, element, strict=True):
                if tensor.dtype.base_dtype != want:
                    raise TypeError(
                        "Expected types to be consistent: "
                        f"{want.name} vs. {tensor.dtype.base_dtype.name}."
                    )
        return dtypes_of_element

    def shapes(self, given: object) -> Any:
        """The shapes of the components: those declared, or the most specific that fit all sets.

        Raises:
          ValueError: a shape is not known, or the shapes of the sets differ.

        """
        if given is not None:
            return given
        for tensor in itertools.chain.from_iterable(self._elements):
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
        columns = zip(*self._elements, strict=True)
        return [self._merged([tensor.shape for tensor in column]) for column in columns]

    def _merged(self, shapes: Sequence[TensorShape]) -> list[int | None]:
        if self.enqueue_many:
            shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
        for shape in shapes[1:]:
            shapes[0].merge_with(shape)  # refuses sets that differ; the first one is returned
        return shapes[0].as_list()

    def enqueue(self, queue: QueueBase, threads: int) -> None:
        """Add a queue runner with `threads` threads for each set, which enqueue its elements."""
        put = queue.enqueue_many if self.enqueue_many else queue.enqueue
        if self.keep.shape.ndims == 1:
            ops = [put(_kept(element, self.keep)) for element in self._elements]
        else:
            ops = [
                either(self.keep, functools.partial(put, tensors), no_op)
                for tensors in self._elements
            ]
        add_queue_runner(QueueRunner(queue, ops * threads))

    def dequeue(
        self, queue: QueueBase, batch_size: TensorLike, *, smaller: bool, name: str
    ) -> Batch:
        """Dequeue a batch, as a list or dictionary like the sets."""
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        taken = take(batch_size, name=name)
        batch = restored(taken if isinstance(taken, list) else [taken], self._kept)
        if isinstance(self._form, dict):
            return dict(zip(sorted(self._form), batch, strict=True))
        return batch[0] if len(batch) == 1 else batch


def _listed(tensors: Any) -> list[TensorLike]:
    """The tensors of a set; those of a dictionary by the order of their keys."""
    return [tensors[key] for key in sorted(tensors)] if isinstance(tensors, dict) else list(tensors)


def _checked_keep(keep_input: TensorLike, enqueue_many: bool) -> Tensor:
    keep = convert_to_tensor(keep_input)
    ndims = keep.shape.ndims
    if ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _kept(element: Element, keep: Tensor) -> Element:
    """The rows that are to be kept."""
    which = cast(keep, dtypes.int32)
    return [generated.dynamic_partition(tensor, which, num_partitions=2)[1] for tensor in element]


def batched(
    plan: Plan,
    batch_size: TensorLike,
    threads: int,
    capacity: int,
    shapes: object,
    dynamic_pad: bool,
    smaller: bool,
    shared_name: str | None,
    name: str | None,
    word: str,
) -> Batch:
    """Dequeue batches from a FIFO queue."""
    with name_scope(name, word, plan.values()) as scope:
        plan.convert()
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        types = plan.dtypes()
        queue = kind(capacity, types, plan.shapes(shapes), shared_name=shared_name)
        plan.enqueue(queue, threads)
        fraction_summary(f"fraction_of_{capacity}_full", queue.size(), capacity)
        return plan.dequeue(queue, batch_size, smaller=smaller, name=scope)


def shuffled(
    plan: Plan,
    batch_size: TensorLike,
    threads: int,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None,
    shapes: object,
    smaller: bool,
    shared_name: str | None,
    name: str | None,
    word: str,
) -> Batch:
    """Batches in random order.

    Raises:
      ValueError: also if so many elements stay behind that there is no room for others.

    """
    if capacity <= min_after_dequeue:
        raise ValueError(
            f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}."
        )
    with name_scope(name, word, plan.values()) as scope:
        plan.convert()
        types = plan.dtypes()
        queue = RandomShuffleQueue(
            capacity,
            min_after_dequeue,
            types,
            plan.shapes(shapes),
            seed=seed,
            shared_name=shared_name,
        )
        plan.enqueue(queue, threads)
        above = generated.maximum(0, queue.size() - min_after_dequeue)
        room = capacity - min_after_dequeue
        fraction_summary(f"fraction_over_{min_after_dequeue}_of_{room}_full", above, room)
        return plan.dequeue(queue, batch_size, smaller=smaller, name=scope)
