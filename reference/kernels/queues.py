"""Kernels of queues: a handle, and the session's queue behind it. Clauses: QUEUES."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_shape import Shape
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import HOST, frozen, is_own, is_scalar, scalar_int, stacked
from sessrun.reference.kernels.philox import Stream, interleaved
from sessrun.reference.kernels.registry import Bind, KernelFunction, Step, binder, kernel
from sessrun.reference.state.queues.queue_resource import (
    Element,
    FifoStore,
    PriorityStore,
    Queue,
    QueueTerms,
    ShuffleStore,
    Store,
)
from sessrun.spec.dtypes import BY_NAME

_CPU: Final = ("CPU",)
#: More elements than any memory holds: the capacity of a queue without one.
_UNBOUNDED: Final = 2**31 - 1
#: Groups of random words that are computed together.
_GROUPS: Final = 64


@binder(
    "FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2", devices=_CPU
)
def queue(bind: Bind) -> KernelFunction:
    """The queue with that container and name, created at the first use."""
    attrs, kind = bind.attrs, bind.node.type.removesuffix("V2")
    container, name = attribute_text(attrs["container"]), attribute_text(attrs["shared_name"])
    # Names that begin with `_` cannot be shared.
    key = name or f"_0_{bind.node.name}"
    name = name or bind.node.name
    capacity = attrs["capacity"] if attrs["capacity"] >= 0 else _UNBOUNDED
    types = tuple(attrs["component_types"])
    shapes = tuple(attrs["shapes"])
    if kind == "PriorityQueue":
        types, shapes = ("int64", *types), ((), *shapes)
    reserve = attrs.get("min_after_dequeue")
    terms = QueueTerms(bind.node.type, capacity, reserve, bind.seeds, types, shapes)

    def make() -> Queue:
        _check_terms(terms, attrs["capacity"])
        return Queue(kind, name, _store(kind, bind), capacity, terms)

    def compute() -> Queue:
        resource_names(attrs)
        shared = bind.resources.get_or_create(container, key, Queue, make)
        _agree(shared.terms, terms, name)
        return shared

    return compute


def _check_terms(terms: QueueTerms, capacity: int) -> None:
    """Check the terms of a new queue against what its kind supports."""
    if terms.shapes and len(terms.shapes) != len(terms.types):
        raise InvalidArgument(
            f"A queue of {len(terms.types)} components cannot have "
            f"{len(terms.shapes)} component shapes"
        )
    padding = terms.op_type == "PaddingFIFOQueueV2"
    if padding and (not terms.shapes or None in terms.shapes):
        raise InvalidArgument("All components of a PaddingFIFOQueue must have shapes of known rank")
    if not padding and not all(map(_is_known, terms.shapes)):
        raise InvalidArgument("The shapes of a queue's components must be fully specified")
    if terms.reserve is not None and terms.reserve < 0:
        raise InvalidArgument(f"min_after_dequeue must be at least 0, not {terms.reserve}")
    if terms.reserve is not None and 0 <= capacity <= terms.reserve:
        raise InvalidArgument(
            f"min_after_dequeue {terms.reserve} must be less than the capacity {capacity}"
        )


def _agree(has: QueueTerms, requested: QueueTerms, name: str) -> None:
    """Check the attributes of a node against those of the existing queue."""
    if has.op_type != requested.op_type:
        expected = has.op_type.removesuffix("V2")
        raise InvalidArgument(
            f"Queue '{name}' is a {expected}, not a {requested.op_type}: it is "
            "shared by nodes of one kind"
        )
    for what, of in _COMPARED_TERMS.items():
        old, new = of(has), of(requested)
        if old != new and not _never_mind(what, has, requested):
            verb = "were" if what.endswith("s") else "was"
            raise InvalidArgument(
                f"Shared queue '{name}' has {what} {old} but requested {what} {verb} {new}"
            )


def _never_mind(what: str, has: QueueTerms, requested: QueueTerms) -> bool:
    """Whether two nodes may differ in a term: default seeds, or sizes that padding allows."""
    if what == "random seeds":
        return not any(requested.seeds)
    padding = has.op_type == "PaddingFIFOQueueV2" and len(has.shapes) == len(requested.shapes)
    return (
        what == "component shapes"
        and padding
        and all(_alike(*pair) for pair in zip(has.shapes, requested.shapes, strict=True))
    )


def _alike(shape: Shape, other: Shape) -> bool:
    """Whether two partially known shapes are compatible."""
    return (
        shape is None
        or other is None
        or (
            len(shape) == len(other)
            and all(None in pair or pair[0] == pair[1] for pair in zip(shape, other, strict=True))
        )
    )


#: The terms that all nodes of a queue must agree on, as messages show them, in TensorFlow's order.
_COMPARED_TERMS: Final[Mapping[str, Callable[[QueueTerms], object]]] = {
    "capacity": lambda terms: terms.capacity,
    "min_after_dequeue": lambda terms: terms.reserve,
    "random seeds": lambda terms: terms.seeds,
    "component types": lambda terms: ", ".join(BY_NAME[dtype].opdef for dtype in terms.types),
    "component shapes": lambda terms: f"[{','.join(map(bracketed, terms.shapes))}]",
}


def _store(kind: str, bind: Bind) -> Store:
    if kind == "PriorityQueue":
        return PriorityStore()
    if kind == "RandomShuffleQueue":
        return ShuffleStore(bind.attrs["min_after_dequeue"], _words(bind.seeds))
    return FifoStore()


def _words(seeds: tuple[int, int]) -> Iterator[int]:
    """An endless stream of random words; with seeds from the system if none are given."""
    system = random.SystemRandom()
    pair = seeds if any(seeds) else (system.getrandbits(64), system.getrandbits(64))
    stream = Stream(HOST, *pair)
    words = HOST.empty((_GROUPS, 4), dtype="uint32")
    while True:
        for block, even, odd in stream.groups(stream.reserve(_GROUPS), _GROUPS):
            interleaved(words[block], even, odd)
        yield from words.reshape(-1).tolist()


def _fits(shape: Sequence[int], wanted: Shape) -> bool:
    return wanted is None or (
        len(shape) == len(wanted)
        and all(want in {None, have} for have, want in zip(shape, wanted, strict=True))
    )


def _check(
    queue: Queue, types: Sequence[str], shapes: Sequence[tuple[int, ...]], *rows: int | None
) -> None:
    """Check components against the queue's; `rows` is the number of elements, if several."""
    if tuple(types) != queue.terms.types:
        raise InvalidArgument(
            f"Mismatch between {queue.title}'s component types {list(queue.terms.types)} and "
            f"the tuple's {list(types)}"
        )
    for index, (shape, of_one) in enumerate(zip(shapes, queue.terms.shapes, strict=False)):
        wanted = None if of_one is None else (*rows, *of_one)
        if not _fits(shape, wanted):
            raise InvalidArgument(
                f"Shape mismatch in tuple component {index}. Expected {bracketed(wanted)}, got "
                f"{bracketed(shape)}"
            )


@binder("QueueEnqueueV2", devices=_CPU, needs_step=True, only_takes=True)
def enqueue(bind: Bind) -> KernelFunction:
    """Enqueues one element, waiting for room."""
    node, types = bind.node.name, tuple(bind.attrs["Tcomponents"])

    def compute(step: Step, queue: Queue, *components: Array) -> None:
        shapes = tuple([component.shape for component in components])
        if shapes != queue.terms.shapes or types != queue.terms.types:
            _check(queue, types, shapes)
        element = tuple(map(_own, components))
        step.take(node, lambda: queue.enqueue([element]))

    return compute


@kernel("QueueEnqueueManyV2", devices=_CPU, needs_step=True, only_takes=True)
def enqueue_many(
    bind: Bind, step: Step, queue: Queue, *components: Array, Tcomponents: Sequence[str]
) -> None:
    """Enqueues the rows as elements, waiting for room."""
    node = bind.node.name
    shapes = [component.shape for component in components]
    _check(queue, Tcomponents, shapes, next(iter(shapes[0]), None))
    counts = {shape[:1] for shape in shapes}
    if counts & {()} or len(counts) != 1:
        raise InvalidArgument(
            "All input tensors must have the same size in the 0th dimension, at least rank "
            f"1: {[list(shape) for shape in shapes]}"
        )
    rows = list(zip(*(_rows(_own(component)) for component in components), strict=True))
    step.take(node, lambda: queue.enqueue(rows))


def _own(component: Array) -> Array:
    """The component as the queue keeps it: read-only, and an array in memory of its own."""
    if is_scalar(component):
        return component
    return frozen(component if is_own(component) else component.copy())


def _rows(component: Array) -> list[Array]:
    return [component[index, ...] for index in range(component.shape[0])]


@binder("QueueDequeueV2", devices=_CPU, needs_step=True, only_takes=True)
def dequeue(bind: Bind) -> KernelFunction:
    """Dequeues one element, waiting for one."""
    node, types = bind.node.name, tuple(bind.attrs["component_types"])

    def compute(step: Step, queue: Queue) -> object:
        if types != queue.terms.types:
            _check(queue, types, ())
        (element,) = step.take(node, lambda: queue.dequeue(1))
        return element[0] if len(element) == 1 else element

    return compute


def _dequeue_many(op_type: str, *, few: bool) -> None:
    def bind(bind: Bind) -> KernelFunction:
        node, types = bind.node.name, bind.attrs["component_types"]

        def compute(step: Step, queue: Queue, count: Array) -> Array | tuple[Array, ...]:
            wanted = scalar_int(count)
            _check(queue, types, ())
            if wanted < 0:
                raise InvalidArgument(f"DequeueMany: the number of elements is {wanted}, below 0")
            if queue.kind != "PaddingFIFOQueue" and not all(map(_is_known, _all_shapes(queue))):
                raise InvalidArgument(
                    f"{queue.title}'s DequeueMany and DequeueUpTo require the components to "
                    "have specified shapes."
                )
            if wanted == 0:
                shapes = queue.terms.shapes
                batch = [_empty(bind.xp, t, s) for t, s in zip(types, shapes, strict=True)]
            else:
                elements = step.take(node, lambda: queue.dequeue(wanted, few=few))
                batch = _batch(bind.xp, queue, elements)
            return batch[0] if len(batch) == 1 else tuple(batch)

        return compute

    binder(op_type, devices=_CPU, needs_step=True, only_takes=True)(bind)


_dequeue_many("QueueDequeueManyV2", few=False)
_dequeue_many("QueueDequeueUpToV2", few=True)


def _all_shapes(queue: Queue) -> Sequence[Shape]:
    return queue.terms.shapes or [None] * len(queue.terms.types)


def _is_known(shape: Shape) -> bool:
    return shape is not None and None not in shape


def _empty(xp: ArrayModule, dtype: str, shape: Shape) -> Array:
    kind = object if dtype == "string" else dtype
    return xp.empty((0, *(size or 0 for size in shape or ())), kind)


def _batch(xp: ArrayModule, queue: Queue, elements: Sequence[Element]) -> list[Array]:
    """The elements stacked, component by component; padded if the queue pads."""
    batch = []
    for index, parts in enumerate(zip(*elements, strict=True)):
        arrays = [xp.asarray(part) for part in parts]
        if queue.kind == "PaddingFIFOQueue":
            shape = queue.terms.shapes[index]
            arrays = _padded(xp, arrays, shape or ())
        batch.append(stacked(xp, arrays))
    return batch


def _padded(xp: ArrayModule, arrays: Sequence[Array], shape: tuple[int | None, ...]) -> list[Array]:
    """The arrays padded to one shape, with zeros, empty strings or False."""
    if _is_known(shape):
        return list(arrays)
    sizes = [max(array.shape[axis] for array in arrays) for axis in range(len(shape))]
    padded = []
    for array in arrays:
        filler = b"" if array.dtype == object else 0
        padded_array = xp.full(sizes, filler, array.dtype)
        padded_array[tuple(slice(0, size) for size in array.shape)] = array
        padded.append(padded_array)
    return padded


@kernel("QueueCloseV2", devices=_CPU, needs_step=True, only_takes=True)
def close(bind: Bind, step: Step, queue: Queue, *, cancel_pending_enqueues: bool) -> None:
    """Closes the queue; enqueues that wait are completed first, or cancelled."""
    node = bind.node.name
    step.take(node, lambda: queue.close(cancel=cancel_pending_enqueues))


@binder("QueueSizeV2", devices=_CPU)
def size(bind: Bind) -> KernelFunction:
    """The number of elements in the queue."""
    return lambda queue: bind.xp.int32(len(queue))


@binder("QueueIsClosedV2", devices=_CPU)
def is_closed(bind: Bind) -> KernelFunction:
    """Whether the queue is closed."""
    return lambda queue: bind.xp.bool_(queue.closed)
