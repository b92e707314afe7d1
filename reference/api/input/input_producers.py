"""Queues of file names, ranges and slices: `tf.train.string_input_producer` and its kin.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.ops.array_ops import gather, shape, size
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.random_ops import random_shuffle
from sessrun.reference.api.ops.summary_ops import fraction_summary
from sessrun.reference.api.queues.queue_runner import QueueRunner, add_queue_runner
from sessrun.reference.api.queues.queues import FIFOQueue
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variables import create
from sessrun.reference.base import dtypes
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build import generated
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("io.match_filenames_once", "train.match_filenames_once")
def match_filenames_once(
    pattern: str | Sequence[str] | Tensor, name: str | None = None
) -> Variable:
    """A local variable of the names of files, which are looked for when it is initialized.

    Args:
      pattern: one, or a vector of them.
      name: of the variable.

    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return create(
            generated.matching_files(pattern),
            trainable=False,
            name=scope,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


@public("train.limit_epochs")
def limit_epochs(tensor: Tensor, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """A tensor that can be evaluated `num_epochs` times; after that it raises OutOfRangeError.

    Args:
      tensor: any tensor.
      num_epochs: how many times; without limit if None.
      name: the name of the operations.

    Raises:
      ValueError: `num_epochs` is not above 0.

    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = create(
            constant(0, dtypes.int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with get_default_graph().control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


@public("train.input_producer")
def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue that a queue runner fills with the rows of a tensor.

    Args:
      input_tensor: the rows.
      element_shape: of a row, if the tensor's shape does not say it.
      num_epochs: how many times every row is produced; without end if None.
      shuffle: whether the rows have another order in every epoch.
      seed: of their order.
      capacity: of the queue.
      shared_name: under which sessions know the queue.
      summary_name: of a summary of how full it is; none if None.
      name: the name of the operations.
      cancel_op: ends the threads that wait, instead of the queue's own.

    Raises:
      ValueError: the shape of a row is not known.

    """
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        element = rows.shape[1:].merge_with(element_shape)
        if not element.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or "
                "`element_shape` must be specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[element],
            shared_name=shared_name,
            name=name,  # type: ignore[arg-type]  # None names it by its type
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            fraction_summary(summary_name, queue.size(), capacity)
        return queue


@public("train.string_input_producer")
def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of strings, such as the names of files; arguments as of `input_producer`.

    Raises:
      ValueError: there are no strings.

    """
    message = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        check = assert_(generated.greater(size(strings), 0), [message])
        with get_default_graph().control_dependencies([check]):
            strings = identity(strings)
        return input_producer(
            strings,
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
            cancel_op,
        )


@public("train.range_input_producer")
def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the integers from 0 to below `limit`; arguments as of `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


@public("train.slice_input_producer")
def slice_input_producer(
    tensor_list: Sequence[object],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """A row of each tensor, of the same index; arguments as of `input_producer`.

    Raises:
      ValueError: there are no tensors.

    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name
        )
        index = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]
