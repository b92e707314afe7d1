"""Queues: `tf.FIFOQueue` and its kin. Source: TF 2.21; clauses: QUEUES."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import gather, stack
from sessrun.reference.base.dtypes import DType, DTypeLike, as_dtype
from sessrun.reference.base.dtypes import int32 as int32_type
from sessrun.reference.base.dtypes import int64 as int64_type
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph import default_graph, random_seed
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "FIFOQueue",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "RandomShuffleQueue",
    "shape_list",
]


@public("QueueBase", "io.QueueBase", "queue.QueueBase")
class QueueBase:
    """A queue in the graph: its resource, and methods that build operations on it.

    Args:
      dtypes: the dtype of each component of an element.
      shapes: the shape of each component, or None where they are not known.
      names: a name for each component, or None; an element is then a dictionary.
      queue_ref: the queue's resource tensor.

    Raises:
      ValueError: lists whose lengths differ.

    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any,
        names: str | Sequence[str],
        queue_ref: Tensor,
    ) -> None:
        self._dtypes = list(dtypes)
        self._shapes = (
            [TensorShape(shape) for shape in shapes]
            if shapes is not None
            else [TensorShape(None)] * len(self._dtypes)
        )
        if shapes is not None and len(self._shapes) != len(self._dtypes):
            raise ValueError(
                "Queue shapes must have the same length as dtypes, received "
                f"len(shapes)={len(self._shapes)}, len(dtypes)={len(self._dtypes)}"
            )
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes, received "
                f"len(names)={len(names)},len(dtypes)={len(self._dtypes)}"
            )
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue at `index`, a scalar tensor, of a list of queues alike.

        Raises:
          TypeError: `queues` is no non-empty list of queues, or their dtypes differ.
          ValueError: their names differ.

        """
        if (
            not queues
            or not isinstance(queues, list)
            or not all(isinstance(queue, QueueBase) for queue in queues)
        ):
            raise TypeError("A list of queues expected")
        if any(queue.dtypes != queues[0].dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != queues[0].names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common(parts) for parts in zip(*(queue.shapes for queue in queues), strict=True)]
        chosen = gather(stack([queue.queue_ref for queue in queues]), index)
        return QueueBase(queues[0].dtypes, shapes, queues[0].names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The queue's resource tensor."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's operation."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtype of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> str | Sequence[str]:
        """The name of each component, or None."""
        return self._names

    def enqueue(
        self, vals: TensorLike | Mapping[str, TensorLike], name: str | None = None
    ) -> Operation:
        """Put one element in, once there is room.

        Args:
          vals: a value for each component: a list or tuple, the one value alone, or a dictionary
            where the queue has names.
          name: the operation's name.

        Raises:
          ValueError: a shape, or the keys of a dictionary, contradict the queue's.
          TypeError: a value cannot be converted to its component's dtype.

        """
        return self._put("enqueue", "QueueEnqueueV2", vals, name)

    def enqueue_many(
        self, vals: TensorLike | Mapping[str, TensorLike], name: str | None = None
    ) -> Operation:
        """Put the rows of `vals` in, as room appears; arguments and errors as of `enqueue`."""
        return self._put("EnqueueMany", "QueueEnqueueManyV2", vals, name)

    def _put(
        self, word: str, op_type: str, vals: TensorLike | Mapping[str, TensorLike], name: str | None
    ) -> Operation:
        many = op_type == "QueueEnqueueManyV2"
        given = self._listed(vals)
        tensors = [value for value in given if isinstance(value, Tensor)]
        with name_scope(name, f"{self._name}_{word}", tensors) as scope:
            components = [
                convert_to_tensor(value, dtype=dtype, name=f"component_{index}")
                for index, (value, dtype) in enumerate(zip(given, self._dtypes, strict=False))
            ]
            rows = TensorShape([None])
            for component, shape in zip(components, self._shapes, strict=False):
                static = component.shape
                if many:
                    rows = rows.merge_with(static.with_rank_at_least(1)[:1])
                    static = static[1:]
                static.assert_is_compatible_with(shape)
            inputs = {"handle": self._queue_ref, "components": components}
            return apply_op(op_type, inputs, {}, scope)

    def _listed(self, vals: Any) -> list[TensorLike]:
        """The values in the order of the components."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(vals, key=str)},Queue: {sorted(self._names, key=str)}"
                )
            return [vals[name] for name in self._names]
        if self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        return list(vals) if isinstance(vals, list | tuple) else [vals]

    def dequeue(self, name: str | None = None) -> Any:
        """Take one element, once the queue has one.

        Returns:
          A tensor, a list of one tensor per component, or a dictionary where there are names.

        """
        attrs = {"component_types": self._dtypes}
        op = apply_op(
            "QueueDequeueV2", {"handle": self._queue_ref}, attrs, name or f"{self._name}_Dequeue"
        )
        return self._taken(op, self._shapes)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """Take `n` elements, once the queue has them, stacked along a new first dimension.

        Args:
          n: an int, or a scalar int32 tensor.
          name: the operation's name.

        Raises:
          ValueError: `n` is negative.

        """
        op = self._take_many("QueueDequeueManyV2", n, name or f"{self._name}_DequeueMany")
        count = constant_value(op.inputs[1])
        rows = TensorShape([None if count is None else int(count)])
        return self._taken(op, [rows.concatenate(shape) for shape in self._shapes])

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """As `dequeue_many`, but of a closed queue as few elements as are left."""
        op = self._take_many("QueueDequeueUpToV2", n, name or f"{self._name}_DequeueUpTo")
        rows = TensorShape([None])
        return self._taken(op, [rows.concatenate(shape) for shape in self._shapes])

    def _take_many(self, op_type: str, n: TensorLike, name: str) -> Operation:
        if isinstance(n, int) and n < 0:
            raise ValueError(f"Input 'n' must be >= 0, but is {n} for {name!r} (op: {op_type!r})")
        with name_scope(name, values=[self._queue_ref]) as scope:
            count = n if isinstance(n, Tensor) else convert_to_tensor(n, int32_type, name="n")
            inputs = {"handle": self._queue_ref, "n": count}
            return apply_op(op_type, inputs, {"component_types": self._dtypes}, scope)

    def _taken(
        self, op: Operation, shapes: Iterable[TensorShape]
    ) -> Tensor | list[Tensor] | dict[str, Tensor]:
        for tensor, shape in zip(op.outputs, shapes, strict=True):
            tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, op.outputs, strict=True))
        return op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Close it: it takes no more elements; those it holds can still be taken.

        Args:
          cancel_pending_enqueues: whether enqueues that wait for room fail; else they go on.
          name: the operation's name.

        """
        attrs = {"cancel_pending_enqueues": cancel_pending_enqueues}
        inputs = {"handle": self._queue_ref}
        return apply_op("QueueCloseV2", inputs, attrs, name or f"{self._name}_Close")

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it is closed: a scalar bool tensor."""
        inputs = {"handle": self._queue_ref}
        return apply_op("QueueIsClosedV2", inputs, {}, name or f"{self._name}_Is_Closed").outputs[0]

    def size(self, name: str | None = None) -> Tensor:
        """How many elements it holds: a scalar int32 tensor."""
        inputs = {"handle": self._queue_ref}
        return apply_op("QueueSizeV2", inputs, {}, name or f"{self._name}_Size").outputs[0]


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """The most that is true of all the shapes."""
    first = shapes[0]
    if any(shape.ndims is None or shape.ndims != first.ndims for shape in shapes):
        return TensorShape(None)
    columns = zip(*(shape.as_list() for shape in shapes), strict=True)
    return TensorShape([sizes[0] if len(set(sizes)) == 1 else None for sizes in columns])


def _dtype_list(dtypes: Sequence[DTypeLike]) -> list[DType]:
    many = dtypes if isinstance(dtypes, list | tuple) else [dtypes]
    return [as_dtype(dtype) for dtype in many]


def shape_list(shapes: object, *, partial: bool = False) -> list[TensorShape] | None:
    """The shapes of the components.

    Raises:
      ValueError: a shape is not known as far as `partial` requires.
      TypeError: `shapes` is not a list or tuple.

    """
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, tuple | list):
        raise TypeError(
            f"Shapes must be a TensorShape or a list or tuple of TensorShapes, got "
            f"{type(shapes)} instead."
        )
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        # A single shape for the only component.
        shapes = [shapes]
    static_shapes = [TensorShape(shape) for shape in shapes]
    if partial and any(shape.ndims is None for shape in static_shapes):
        raise ValueError(f"All shapes must have a defined rank: {static_shapes}")
    if not partial and not all(shape.is_fully_defined() for shape in static_shapes):
        raise ValueError(f"All shapes must be fully defined: {static_shapes}")
    return static_shapes


def _create_queue(
    op_type: str, attrs: Mapping[str, object], shared_name: str | None, name: str
) -> Tensor:
    # TensorFlow requests a device for this kind of queue only.
    graph = default_graph.get_default_graph()
    with graph.device("CPU") if op_type == "FIFOQueueV2" else contextlib.nullcontext():
        op = apply_op(op_type, {}, {**attrs, "shared_name": shared_name or ""}, name)
    return op.outputs[0]


def _seed_of_name(graph_seed: int, shared_name: str) -> int:
    # Of the shared name only, so that every queue of that name asks for the same order, however
    # many operations the graph had before it.
    text = f"{graph_seed}{shared_name}".encode()
    digest = hashlib.md5(text, usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def _named(names: Any, dtypes: Sequence[DType]) -> list[str] | None:
    if names is None:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != len(dtypes):
        raise ValueError(
            "List of names must have the same length as the list of dtypes, received "
            f"len(names)={len(listed)},len(dtypes)={len(dtypes)}"
        )
    return listed


@public("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that gives its elements in the order in which they came.

    Args:
      capacity: how many elements it may hold; below 0 for no bound.
      dtypes: a DType, or a list of one per component.
      shapes: a list of one fully defined shape per component, or None.
      names: a list of one name per component, or None.
      shared_name: the name under which sessions know it, its own if None.
      name: the operation's name.

    Raises:
      ValueError: shapes that are not fully defined, lists whose lengths differ.

    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: object = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types = _dtype_list(dtypes)
        known = shape_list(shapes)
        names = _named(names, types)
        attrs = {"component_types": types, "shapes": known or [], "capacity": capacity}
        super().__init__(
            types, known, names, _create_queue("FIFOQueueV2", attrs, shared_name, name)
        )


@public("PaddingFIFOQueue", "io.PaddingFIFOQueue", "queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose components may vary in size; arguments as of `FIFOQueue`.

    `shapes` is required, of known rank, with None where a size varies; a batch is padded there
    with zeros, empty strings or False.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: object,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _dtype_list(dtypes)
        if shapes is None:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        known = shape_list(shapes, partial=True)
        names = _named(names, types)
        attrs = {"component_types": types, "shapes": known or [], "capacity": capacity}
        super().__init__(
            types, known, names, _create_queue("PaddingFIFOQueueV2", attrs, shared_name, name)
        )


@public("PriorityQueue", "io.PriorityQueue", "queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue that gives the element of the smallest priority; arguments as of `FIFOQueue`.

    The first component of an element is its priority, a scalar of int64, beside those of
    `types` and `shapes`. As in TensorFlow the shapes must be given after all.

    Raises:
      TypeError: there are no shapes.

    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        own = _dtype_list(types)
        known = shape_list(shapes)
        attrs = {"component_types": own, "shapes": known, "capacity": capacity}
        ref = _create_queue("PriorityQueueV2", attrs, shared_name, name)
        shapes = [TensorShape([]), *(known or [])]
        super().__init__([int64_type, *own], shapes, names, ref)


@public("RandomShuffleQueue", "io.RandomShuffleQueue", "queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in random order; arguments as of `FIFOQueue`.

    Args:
      min_after_dequeue: how many elements stay behind while it is open.
      seed: of its order.

    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: object = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = _dtype_list(dtypes)
        known = shape_list(shapes)
        names = _named(names, types)
        seed1, seed2 = random_seed.get_seed(seed)
        if seed is None and seed1 is not None and shared_name is not None:
            seed2 = _seed_of_name(seed1, shared_name)
        attrs = {
            "component_types": types,
            "shapes": known or [],
            "capacity": capacity,
            "min_after_dequeue": min_after_dequeue,
            "seed": seed1 or 0,
            "seed2": seed2 or 0,
        }
        ref = _create_queue("RandomShuffleQueueV2", attrs, shared_name, name)
        super().__init__(types, known, names, ref)
