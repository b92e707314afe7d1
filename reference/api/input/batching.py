"""Batches of elements that single steps produce: `tf.train.batch`, `tf.train.shuffle_batch` ...

The arguments that they share:

- `batch_size`: how many elements a batch has.
- `num_threads`: how many threads enqueue elements.
- `capacity`: the capacity of the queue.
- `min_after_dequeue`: how many elements stay in the queue, from which the next is drawn at random.
- `seed`: the seed of the order.
- `enqueue_many`: whether every row of the tensors is an element; else the tensors are one element.
- `shapes`: the shapes of an element's tensors; by default their static shapes.
- `dynamic_pad`: whether elements may differ in shape; a batch is then padded.
- `allow_smaller_final_batch`: whether the last batch may be smaller, once the queue is closed.
- `keep_input`: a bool tensor: whether an element is enqueued; with `enqueue_many` a vector may
  say it for every row.
- `shared_name`: the name under which sessions share the queue.
- `name`: the name of the operations.

All raise ValueError if there are no tensors or their shapes are not known; the `_join` functions
raise TypeError if the dtypes of the sets differ. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.input.batch_queues import Batch, Plan, batched, shuffled
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.public import public


@public("train.batch")
def batch(
    tensors: Sequence[object],
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: object = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of elements in order: tensors like `tensors` with a new first dimension."""
    plan = Plan([tensors], True, enqueue_many, "batch")
    return batched(
        plan,
        batch_size,
        num_threads,
        capacity,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch",
    )


@public("train.maybe_batch")
def maybe_batch(
    tensors: Sequence[object],
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: object = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `batch`, of the elements for which `keep_input` is true."""
    plan = Plan([tensors], keep_input, enqueue_many, "batch")
    return batched(
        plan,
        batch_size,
        num_threads,
        capacity,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch",
    )


@public("train.batch_join")
def batch_join(
    tensors_list: Sequence[Structure],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `batch`, of several sets of tensors, with a thread of its own for each set."""
    plan = Plan(list(tensors_list), True, enqueue_many, "batch_join")
    return batched(
        plan,
        batch_size,
        1,
        capacity,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch_join",
    )


@public("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list: Sequence[Structure],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `batch_join`, of the elements for which `keep_input` is true."""
    plan = Plan(list(tensors_list), keep_input, enqueue_many, "batch_join")
    return batched(
        plan,
        batch_size,
        1,
        capacity,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch_join",
    )


@public("train.shuffle_batch")
def shuffle_batch(
    tensors: Sequence[object],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: object = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of elements in random order: tensors like `tensors` with a new first dimension."""
    plan = Plan([tensors], True, enqueue_many, "shuffle_batch")
    return shuffled(
        plan,
        batch_size,
        num_threads,
        capacity,
        min_after_dequeue,
        seed,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch",
    )


@public("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors: Sequence[object],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: object = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `shuffle_batch`, of the elements for which `keep_input` is true."""
    plan = Plan([tensors], keep_input, enqueue_many, "shuffle_batch")
    return shuffled(
        plan,
        batch_size,
        num_threads,
        capacity,
        min_after_dequeue,
        seed,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch",
    )


@public("train.shuffle_batch_join")
def shuffle_batch_join(
    tensors_list: Sequence[Structure],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `shuffle_batch`, of several sets of tensors, with a thread of its own for each set."""
    plan = Plan(list(tensors_list), True, enqueue_many, "shuffle_batch_join")
    return shuffled(
        plan,
        batch_size,
        1,
        capacity,
        min_after_dequeue,
        seed,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch_join",
    )


@public("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list: Sequence[Structure],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """As `shuffle_batch_join`, of the elements for which `keep_input` is true."""
    plan = Plan(list(tensors_list), keep_input, enqueue_many, "shuffle_batch_join")
    return shuffled(
        plan,
        batch_size,
        1,
        capacity,
        min_after_dequeue,
        seed,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch_join",
    )
