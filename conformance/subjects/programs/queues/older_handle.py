"""Programs of the first releases, whose queues, tables and readers are references to strings."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _queues(tf):
    raw = tf.raw_ops
    queue = raw.FIFOQueue(component_types=[tf.int32, tf.string], shapes=[[], []], shared_name="q")
    put = raw.QueueEnqueue(handle=queue, components=[1, "a"])
    many = raw.QueueEnqueueMany(handle=queue, components=[[2, 3, 4], ["b", "c", "d"]])
    taken = raw.QueueDequeue(handle=queue, component_types=[tf.int32, tf.string])
    batch = raw.QueueDequeueMany(handle=queue, n=2, component_types=[tf.int32, tf.string])
    rest = raw.QueueDequeueUpTo(handle=queue, n=5, component_types=[tf.int32, tf.string])
    size, close = raw.QueueSize(handle=queue), raw.QueueClose(handle=queue)
    with tf.Session() as session:
        run = session.run
        return [
            queue.shape,
            queue.dtype,
            *attempt(
                lambda: run(queue),
                lambda: run(put),
                lambda: run(many),
                lambda: run(size),
                lambda: run(taken),
                lambda: run(batch),
                lambda: run(close),
                lambda: run(rest),
                lambda: (
                    run(raw.QueueIsClosed(handle=queue)) if hasattr(raw, "QueueIsClosed") else True
                ),
                lambda: run(taken),
                lambda: run(put),
                lambda: run(size, {queue: [b"a", b"b"]}),
                lambda: raw.QueueSize(handle=tf.constant("a")),
            ),
        ]


def _kinds_of_queues(tf):
    raw = tf.raw_ops
    first = raw.PriorityQueue(shapes=[[]], component_types=[tf.string])
    mixed = raw.RandomShuffleQueue(component_types=[tf.int32], shapes=[[]], seed=1, seed2=2)
    padded = raw.PaddingFIFOQueue(component_types=[tf.int32], shapes=[tf.TensorShape([None])])
    with tf.Session() as session:
        run = session.run
        run(
            raw.QueueEnqueueMany(
                handle=first, components=[tf.constant([2, 1], tf.int64), ["b", "a"]]
            )
        )
        run(raw.QueueEnqueueMany(handle=mixed, components=[[1, 2, 3, 4]]))
        for row in ([1], [2, 3]):
            run(raw.QueueEnqueue(handle=padded, components=[row]))
        return [
            run(raw.QueueDequeue(handle=first, component_types=[tf.int64, tf.string])),
            run(raw.QueueDequeueMany(handle=mixed, n=4, component_types=[tf.int32])),
            run(raw.QueueDequeueMany(handle=padded, n=2, component_types=[tf.int32])),
        ]


def _tables(tf):
    raw = tf.raw_ops
    fixed = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
    fill = raw.InitializeTable(
        table_handle=fixed, keys=["a", "b"], values=tf.constant([1, 2], tf.int64)
    )
    changing = raw.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64, shared_name="m")
    put = raw.LookupTableInsert(
        table_handle=changing, keys=["x"], values=tf.constant([7], tf.int64)
    )
    nothing = tf.constant(-1, tf.int64)
    find = [
        raw.LookupTableFind(table_handle=table, keys=["a", "x"], default_value=nothing)
        for table in (fixed, changing)
    ]
    sizes = [raw.LookupTableSize(table_handle=table) for table in (fixed, changing)]
    export = raw.LookupTableExport(table_handle=changing, Tkeys=tf.string, Tvalues=tf.int64)
    with tf.Session() as session:
        run = session.run
        return [
            fixed.shape,
            *attempt(
                lambda: run(find[0]),
                lambda: run(fill),
                lambda: run(fill),
                lambda: run(put),
                lambda: run(find),
                lambda: run(sizes),
                lambda: run(export),
                lambda: run(changing),
            ),
        ]


def _readers(tf):
    raw = tf.raw_ops
    definition = tf.GraphDef()
    node = definition.node.add(name="reader", op="TextLineReader")
    node.attr["skip_header_lines"].i = 1
    outcomes = attempt(raw.TextLineReader)
    for producer in (26, 25):  # 25 is the last graph version with this operation
        definition.versions.producer = producer
        outcomes += attempt(lambda: tf.import_graph_def(definition, name=""))
    reader = tf.get_default_graph().get_tensor_by_name("reader:0")
    queue = raw.FIFOQueue(component_types=[tf.string], shapes=[[]])
    name = tf.placeholder(tf.string, [1])
    put = raw.QueueEnqueueMany(handle=queue, components=[name])
    read = raw.ReaderRead(reader_handle=reader, queue_handle=queue)
    ahead = raw.ReaderReadUpTo(reader_handle=reader, queue_handle=queue, num_records=2)
    counts = [
        raw.ReaderNumRecordsProduced(reader_handle=reader),
        raw.ReaderNumWorkUnitsCompleted(reader_handle=reader),
    ]
    close = raw.QueueClose(handle=queue)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        path = Path(folder) / "lines"
        path.write_text("head\na\nb\nc\n")
        session.run(put, {name: [str(path)]})
        return outcomes + attempt(
            lambda: session.run(read).value,
            lambda: session.run(ahead).values,
            lambda: session.run(close),
            lambda: session.run(counts),
            lambda: type(session.run(read)),
            lambda: session.run(counts),
            lambda: session.run(raw.ReaderReset(reader_handle=reader)),
            lambda: session.run(counts),
        )


def _stacks(tf):
    raw = tf.raw_ops
    stack = raw.Stack(elem_type=tf.float32)
    pushed = raw.StackPush(handle=stack, elem=2.5)
    with tf.control_dependencies([pushed]):
        popped = raw.StackPop(handle=stack, elem_type=tf.float32)
    with tf.Session() as session:
        return session.run([pushed, popped])


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_queues, _kinds_of_queues, _tables, _readers, _stacks)
}
