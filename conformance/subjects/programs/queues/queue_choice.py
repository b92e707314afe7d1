"""Programs of `QueueBase.from_list`, of limits of staging areas, and of named readers."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Plain

__all__ = ["BEHAVIOURS"]


def _common(tf):
    """The static shapes of the elements of a chosen queue."""
    fifo, padding = tf.FIFOQueue, tf.PaddingFIFOQueue
    number = tf.placeholder_with_default(0, [])

    def chosen(make, *shapes, dtypes=None, names=None):
        dtypes = dtypes or [tf.float32]
        queues = [make(3, dtypes, shape, **({"names": names} if names else {})) for shape in shapes]
        either = tf.QueueBase.from_list(number, queues)
        taken = either.dequeue()
        return either.shapes, either.dtypes, either.names, taken, either.queue_ref.op.type

    pair = [tf.float32, tf.int32]
    return attempt(
        lambda: chosen(fifo, [[2]], [[2]]),
        lambda: chosen(fifo, [[2]], [[3]]),
        lambda: chosen(fifo, [[2]], [[2, 1]]),
        lambda: chosen(fifo, None, [[2]]),
        lambda: chosen(fifo, [[2]], None),
        lambda: chosen(fifo, None, None),
        lambda: chosen(fifo, [[2, 3]], [[2, 4]], [[2, 3]]),
        lambda: chosen(fifo, [[]], [[]]),
        lambda: chosen(padding, [[None]], [[2]]),
        lambda: chosen(padding, [[None, 3]], [[2, 3]]),
        lambda: chosen(padding, [[2]], [[2]]),
        lambda: chosen(fifo, [[2], []], [[2], [1]], dtypes=pair),
        lambda: chosen(fifo, [[2], []], [[3], []], dtypes=pair, names=["a", "b"]),
        lambda: tf.QueueBase.from_list(number, []),
        lambda: tf.QueueBase.from_list(number, [1]),
        lambda: tf.QueueBase.from_list(number, fifo(3, tf.float32)),
        lambda: tf.QueueBase.from_list(number, [fifo(3, tf.float32), fifo(3, tf.int32)]),
        lambda: tf.QueueBase.from_list(
            number, [fifo(3, pair, names=["a", "b"]), fifo(3, pair, names=["b", "a"])]
        ),
        lambda: tf.train.maybe_batch_join(
            [[tf.SparseTensor([[0]], [n], [2])] for n in (1, 2)], keep_input=False, batch_size=2
        ),
        lambda: tf.QueueBase.from_list(number, [fifo(3, pair, names=["a", "b"]), fifo(3, pair)]),
    )


def _limits(tf):
    """Staging areas that are filled to their limit, cleared, and filled again."""
    raw, types = tf.raw_ops, [tf.uint8]

    def filled(kind: str, limit: int, capacity: int, sizes):
        options = {"dtypes": types, "memory_limit": limit, "capacity": capacity}
        options["shared_name"] = f"area_{kind}_{limit}_{capacity}"
        if kind == "Stage":
            puts = [
                raw.Stage(
                    values=[tf.zeros([size], tf.uint8)],
                    memory_limit=limit,
                    capacity=capacity,
                    shared_name=options["shared_name"],
                )
                for size in sizes
            ]
            get = raw.Unstage(**options)
        else:
            puts = [
                getattr(raw, kind)(
                    key=tf.constant(index, tf.int64),
                    indices=[0],
                    values=[tf.zeros([size], tf.uint8)],
                    **options,
                )
                for index, size in enumerate(sizes)
            ]
            taking = getattr(raw, kind.replace("Stage", "UnstageNoKey"))
            get = taking(indices=[0], **options)
        count = getattr(raw, f"{kind}Size")(**options)
        clear = getattr(raw, f"{kind}Clear")(**options)
        with tf.Session() as session:

            def all_of(*fetches) -> list[Plain]:
                return attempt(*(lambda f=fetch: session.run(f) for fetch in fetches))

            return [all_of(*puts, count, clear, count, *puts, count), all_of(get, count, puts[0])]

    return attempt(
        *(
            lambda k=kind, s=sizes, c=capacity: filled(k, sum(s), c, s)
            for kind in ("Stage", "MapStage", "OrderedMapStage")
            for sizes, capacity in (((8,), 0), ((3, 5), 2), ((1, 2, 3), 0), ((4, 4), 2))
        )
    )


def _named_readers(tf):
    """The operations of readers with names and without."""
    queue = tf.FIFOQueue(3, tf.string, [[]])

    def of(make):
        outputs = []
        for name in (None, "mine"):
            reader = make()
            outputs += [
                reader.read(queue, name=name),
                reader.read_up_to(queue, 2, name=name),
                reader.num_records_produced(name=name),
                reader.reset(name=name),
                reader.num_work_units_completed(name=name),
                reader.serialize_state(name=name),
                reader.restore_state("", name=name),
            ]
        return outputs

    return attempt(
        *(
            lambda m=make: of(m)
            for make in (
                tf.IdentityReader,
                tf.WholeFileReader,
                tf.TextLineReader,
                tf.TFRecordReader,
                lambda: tf.FixedLengthRecordReader(3),
                lambda: tf.IdentityReader(name="a name"),
                lambda: tf.TextLineReader(skip_header_lines=2, name="lines"),
            )
        )
    )


def _numbers(tf):
    """A queue chosen by a fed index, and by one that is out of range."""
    queues = [tf.FIFOQueue(3, tf.int32, [[]]) for _ in range(3)]
    puts = [queue.enqueue(number) for queue, number in zip(queues, (5, 6, 7), strict=True)]
    number = tf.placeholder(tf.int32, [])
    either = tf.QueueBase.from_list(number, queues)
    value, size = either.dequeue(), either.size()
    with tf.Session() as session:
        session.run(puts)
        return attempt(
            *(lambda n=n: session.run(size, {number: n}) for n in (0, 1, 2, 3, -1)),
            *(lambda n=n: session.run(value, {number: n}) for n in (2, 0, 1)),
            lambda: run(tf, queues[0].size()),
        )


BEHAVIOURS = {
    "common": _common,
    "limits": _limits,
    "named readers": _named_readers,
    "numbers": _numbers,
}
