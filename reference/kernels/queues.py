"""Kernels of queues: a handle, and the session's queue behind it. Clauses: QUEUES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.kernels.host import frozen, scalar_int
from sessrun.reference.kernels.registry import Bind, KernelError, Step, binder
from sessrun.reference.queue_resource import (
    Element,
    FifoStore,
    PriorityStore,
    Queue,
    ShuffleStore,
    Store,
)

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: More elements than any memory holds: the capacity of a queue without one.
_UNBOUNDED: Final = 2**31 - 1

Shape = Sequence[int | None] | None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@binder("FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2",
        devices=_CPU)  # fmt: skip
def queue(bind: Bind) -> Callable[..., Any]:
    """The queue of that container and name, made if there is none."""
    attrs, kind = bind.attrs, bind.node.type.removesuffix("V2")
    name = _text(attrs["shared_name"]) or bind.node.name
    capacity = attrs["capacity"] if attrs["capacity"] >= 0 else _UNBOUNDED
    types = tuple(attrs["component_types"])
    shapes = tuple(attrs["shapes"])
    if kind == "PriorityQueue":
        types, shapes = ("int64", *types), ((), *shapes)
    signature = (kind, capacity, types, shapes, attrs.get("min_after_dequeue"))

    def make() -> Queue:
        return Queue(kind, name, _store(kind, bind), capacity, signature)

    def compute() -> Queue:
        found = bind.resources.get_or_create(_text(attrs["container"]), name, Queue, make)
        if found.signature != signature:
            raise KernelError(
                3, f"Shared queue '{name}' has component types, shapes or a capacity other than "
                "the requested ones"
            )  # fmt: skip
        return found

    return compute


def _store(kind: str, bind: Bind) -> Store:
    if kind == "PriorityQueue":
        return PriorityStore()
    if kind == "RandomShuffleQueue":
        seeds = bind.seeds
        seed = seeds[0] * 2**32 + seeds[1] if any(seeds) else None
        return ShuffleStore(bind.attrs["min_after_dequeue"], seed)
    return FifoStore()


def _types(queue: Queue) -> tuple[str, ...]:
    types: tuple[str, ...] = queue.signature[2]
    return types


def _shapes(queue: Queue) -> tuple[Shape, ...]:
    shapes: tuple[Shape, ...] = queue.signature[3]
    return shapes


def _fits(shape: Sequence[int], wanted: Shape) -> bool:
    return wanted is None or (
        len(shape) == len(wanted)
        and all(want in {None, have} for have, want in zip(shape, wanted, strict=True))
    )


def _check(queue: Queue, types: Sequence[str], shapes: Sequence[Sequence[int]]) -> None:
    """Hold an element's components against the queue's."""
    if tuple(types) != _types(queue):
        raise KernelError(
            3, f"Mismatch between {queue.title}'s component types {list(_types(queue))} and the "
            f"tuple's {list(types)}"
        )  # fmt: skip
    for index, (shape, wanted) in enumerate(zip(shapes, _shapes(queue), strict=False)):
        if not _fits(shape, wanted):
            raise KernelError(
                3, f"Shape mismatch in tuple component {index}. Expected {_told(wanted)}, got "
                f"{_told(shape)}"
            )  # fmt: skip


def _told(shape: Shape) -> str:
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


@binder("QueueEnqueueV2", devices=_CPU, needs_step=True)
def enqueue(bind: Bind) -> Callable[..., Any]:
    """Puts one element in, once there is room."""
    node, types = bind.node.name, bind.attrs["Tcomponents"]

    def compute(step: Step, queue: Queue, *components: Any) -> None:
        _check(queue, types, [component.shape for component in components])
        element = tuple(map(_own, components))
        step.take(node, lambda: queue.enqueue([element]))

    return compute


@binder("QueueEnqueueManyV2", devices=_CPU, needs_step=True)
def enqueue_many(bind: Bind) -> Callable[..., Any]:
    """Puts the rows in, as room appears."""
    node, types = bind.node.name, bind.attrs["Tcomponents"]

    def compute(step: Step, queue: Queue, *components: Any) -> None:
        counts = {component.shape[:1] for component in components}
        if counts & {()} or len(counts) != 1:
            raise KernelError(
                3, "All input tensors must have the same size in the 0th dimension, at least rank "
                f"1: {[list(component.shape) for component in components]}"
            )  # fmt: skip
        _check(queue, types, [component.shape[1:] for component in components])
        rows = list(zip(*(_rows(_own(component)) for component in components), strict=True))
        step.take(node, lambda: queue.enqueue(rows))

    return compute


def _own(component: Any) -> Any:
    """The component as the queue keeps it: read-only, and never the memory of a feed."""
    return frozen(component if component.flags.writeable else component.copy())


def _rows(component: Any) -> list[Any]:
    return [component[index, ...] for index in range(component.shape[0])]


@binder("QueueDequeueV2", devices=_CPU, needs_step=True)
def dequeue(bind: Bind) -> Callable[..., Any]:
    """Takes one element, once there is one."""
    node, types = bind.node.name, bind.attrs["component_types"]
    checked: list[Queue] = []

    def compute(step: Step, queue: Queue) -> Any:
        if queue not in checked:
            _check(queue, types, ())
            checked.append(queue)
        (element,) = step.take(node, lambda: queue.dequeue(1))
        return element[0] if len(element) == 1 else element

    return compute


def _dequeue_many(op_type: str, *, few: bool) -> None:
    def bind(bind: Bind) -> Callable[..., Any]:
        node, types = bind.node.name, bind.attrs["component_types"]

        def compute(step: Step, queue: Queue, count: Any) -> Any:
            wanted = scalar_int(count)
            _check(queue, types, ())
            if wanted < 0:
                raise KernelError(3, f"DequeueMany: the number of elements is {wanted}, below 0")
            if queue.kind != "PaddingFIFOQueue" and not all(map(_is_known, _all_shapes(queue))):
                raise KernelError(
                    3, f"{queue.title}'s DequeueMany and DequeueUpTo require the components to "
                    "have specified shapes."
                )  # fmt: skip
            if wanted == 0:
                batch = [_empty(bind.xp, t, s) for t, s in zip(types, _shapes(queue), strict=True)]
            else:
                elements = step.take(node, lambda: queue.dequeue(wanted, few=few))
                batch = _batch(bind.xp, queue, elements)
            return batch[0] if len(batch) == 1 else tuple(batch)

        return compute

    binder(op_type, devices=_CPU, needs_step=True)(bind)


_dequeue_many("QueueDequeueManyV2", few=False)
_dequeue_many("QueueDequeueUpToV2", few=True)


def _all_shapes(queue: Queue) -> Sequence[Shape]:
    return _shapes(queue) or [None] * len(_types(queue))


def _is_known(shape: Shape) -> bool:
    return shape is not None and None not in shape


def _empty(xp: Any, dtype: str, shape: Shape) -> Any:
    kind = object if dtype == "string" else dtype
    return xp.empty((0, *(size or 0 for size in shape or ())), kind)


def _batch(xp: Any, queue: Queue, elements: Sequence[Element]) -> list[Any]:
    """A row for each element, in each component; padded where the queue pads."""
    batch = []
    for index, parts in enumerate(zip(*elements, strict=True)):
        arrays = [xp.asarray(part) for part in parts]
        if queue.kind == "PaddingFIFOQueue":
            shape = _shapes(queue)[index]
            arrays = _padded(xp, arrays, shape or ())
        batch.append(xp.stack(arrays))
    return batch


def _padded(xp: Any, arrays: Sequence[Any], shape: Sequence[int | None]) -> list[Any]:
    """The arrays grown to one shape: with zeros, empty strings, False."""
    sizes = [max(array.shape[axis] for array in arrays) for axis in range(len(shape))]
    padded = []
    for array in arrays:
        filler = b"" if array.dtype == object else 0
        whole = xp.full(sizes, filler, array.dtype)
        whole[tuple(slice(0, size) for size in array.shape)] = array
        padded.append(whole)
    return padded


@binder("QueueCloseV2", devices=_CPU, needs_step=True)
def close(bind: Bind) -> Callable[..., Any]:
    """Closes it: after the enqueues that wait, or at once, ending them."""
    node, cancel = bind.node.name, bind.attrs["cancel_pending_enqueues"]

    def compute(step: Step, queue: Queue) -> None:
        step.take(node, lambda: queue.close(cancel=cancel))

    return compute


@binder("QueueSizeV2", devices=_CPU)
def size(bind: Bind) -> Callable[..., Any]:
    """How many elements it holds."""
    return lambda queue: bind.xp.int32(len(queue))


@binder("QueueIsClosedV2", devices=_CPU)
def is_closed(bind: Bind) -> Callable[..., Any]:
    """Whether it is closed."""
    return lambda queue: bind.xp.bool_(queue.closed)
