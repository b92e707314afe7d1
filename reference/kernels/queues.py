"""Kernels of queues: a handle, and the session's queue behind it. Clauses: QUEUES."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import HOST, frozen, is_own, scalar_int, stacked
from sessrun.reference.kernels.philox import Stream, interleaved
from sessrun.reference.kernels.registry import Bind, Step, binder
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

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: More elements than any memory holds: the capacity of a queue without one.
_UNBOUNDED: Final = 2**31 - 1
#: Groups of random words that are computed together.
_GROUPS: Final = 64
#: What a container's name looks like.

Shape = tuple[int | None, ...] | None


@binder(
    "FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2", devices=_CPU
)
def queue(bind: Bind) -> Callable[..., Any]:
    """The queue of that container and name, made if there is none."""
    attrs, kind = bind.attrs, bind.node.type.removesuffix("V2")
    container, name = attribute_text(attrs["container"]), attribute_text(attrs["shared_name"])
    # Nobody else can ask for a name that begins so.
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
        _check_made(terms, attrs["capacity"])
        return Queue(kind, name, _store(kind, bind), capacity, terms)

    def compute() -> Queue:
        resource_names(attrs)
        found = bind.resources.get_or_create(container, key, Queue, make)
        _agree(found.terms, terms, name)
        return found

    return compute


def _check_made(terms: QueueTerms, capacity: int) -> None:
    """Hold what a new queue is to be against what its kind can be."""
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
    """Hold what a node asks for against the queue that there is."""
    if has.op_type != requested.op_type:
        expected = has.op_type.removesuffix("V2")
        raise InvalidArgument(
            f"Expected {expected}, found {requested.op_type}: queue '{name}' is "
            "shared by nodes of one kind"
        )
    for what, of in _TOLD.items():
        old, new = of(has), of(requested)
        if old != new and not _never_mind(what, has, requested):
            verb = "were" if what.endswith("s") else "was"
            raise InvalidArgument(
                f"Shared queue '{name}' has {what} {old} but requested {what} {verb} {new}"
            )


def _never_mind(what: str, has: QueueTerms, requested: QueueTerms) -> bool:
    """Whether two nodes may differ in this: seeds not asked for, sizes that padding allows."""
    if what == "random seeds":
        return not any(requested.seeds)
    padding = has.op_type == "PaddingFIFOQueueV2" and len(has.shapes) == len(requested.shapes)
    return (
        what == "component shapes"
        and padding
        and all(_alike(*pair) for pair in zip(has.shapes, requested.shapes, strict=True))
    )


def _alike(shape: Shape, other: Shape) -> bool:
    """Whether some array could have both shapes."""
    return (
        shape is None
        or other is None
        or (
            len(shape) == len(other)
            and all(None in pair or pair[0] == pair[1] for pair in zip(shape, other, strict=True))
        )
    )


#: What an error says of the terms on which two nodes of one queue differ, in TensorFlow's order.
_TOLD: Final[Mapping[str, Callable[[QueueTerms], Any]]] = {
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
    """Random words, one after the other; without seeds, of seeds of the system's."""
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
    """Hold components against the queue's; `rows` is how many elements they are, if several."""
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
        shapes = [component.shape for component in components]
        _check(queue, types, shapes, next(iter(shapes[0]), None))
        counts = {shape[:1] for shape in shapes}
        if counts & {()} or len(counts) != 1:
            raise InvalidArgument(
                "All input tensors must have the same size in the 0th dimension, at least rank "
                f"1: {[list(shape) for shape in shapes]}"
            )
        rows = list(zip(*(_rows(_own(component)) for component in components), strict=True))
        step.take(node, lambda: queue.enqueue(rows))

    return compute


def _own(component: Any) -> Any:
    """The component as the queue keeps it: read-only, no memory of a feed or of another array."""
    return frozen(component if is_own(component) else component.copy())


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

    binder(op_type, devices=_CPU, needs_step=True)(bind)


_dequeue_many("QueueDequeueManyV2", few=False)
_dequeue_many("QueueDequeueUpToV2", few=True)


def _all_shapes(queue: Queue) -> Sequence[Shape]:
    return queue.terms.shapes or [None] * len(queue.terms.types)


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
            shape = queue.terms.shapes[index]
            arrays = _padded(xp, arrays, shape or ())
        batch.append(stacked(xp, arrays))
    return batch


def _padded(xp: Any, arrays: Sequence[Any], shape: tuple[int | None, ...]) -> list[Any]:
    """The arrays grown to one shape: with zeros, empty strings, False."""
    if _is_known(shape):
        return list(arrays)
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
