"""Programs of event files that operations write: their contents, and when they are flushed."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.conformance.subjects.programs.refusals import hidden
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder
from sessrun.spec.cases.objects import Operation, Tensor

__all__ = ["BEHAVIOURS"]


def _writer(
    tf,
    folder: str,
    queue: int = 10,
    millis: int = 1000000,
    suffix: str = ".x",
    name: str = "w",
) -> tuple[Tensor, Operation]:
    """A writer and the operation that creates its file."""
    writer = tf.raw_ops.SummaryWriter(shared_name=name)
    path = str(Path(folder).absolute())
    return writer, tf.raw_ops.CreateSummaryFileWriter(
        writer=writer, logdir=path, max_queue=queue, flush_millis=millis, filename_suffix=suffix
    )


def _steps(tf, folder: str) -> list[Plain]:
    """The steps and contents of the events of each file, as far as it has been written."""
    rows = []
    for path in sorted(Path(folder).glob("*")):
        events = list(tf.train.summary_iterator(str(path)))
        rows.append(
            [
                [event.step, event.WhichOneof("what"), [value.tag for value in event.summary.value]]
                for event in events
            ]
        )
    return rows


@in_a_folder
def _flushed(tf):
    """Events can be read after a flush, after the queue was full, or after closing only."""
    raw, results = tf.raw_ops, []
    for number, queue in enumerate((10, 1, 0)):
        folder = f"f{number}"
        writer, begin = _writer(tf, folder, queue, name=folder)
        write = raw.WriteScalarSummary(
            writer=writer, step=tf.placeholder_with_default(np.int64(4), []), tag="t", value=2.5
        )
        flush, close = raw.FlushSummaryWriter(writer=writer), raw.CloseSummaryWriter(writer=writer)
        with tf.Session() as session:
            for op in (begin, write, write, write, flush, write, close):
                session.run(op)
                results.append(_steps(tf, folder))
            results.append(
                attempt(
                    lambda op=write: session.run(op),
                    lambda op=flush: session.run(op),
                    lambda op=close: session.run(op),
                )
            )
    return results


@in_a_folder
def _places(tf):
    """A shared name is one writer, whose file is created once."""
    raw = tf.raw_ops
    first, begin = _writer(tf, "a")
    again, anew = _writer(tf, "b")
    other, third = _writer(tf, "c", suffix="y", name="other")
    writes = [
        raw.WriteScalarSummary(writer=writer, step=np.int64(step), tag="t", value=step)
        for step, writer in enumerate((first, again, other))
    ]
    with tf.Session() as session:
        before = attempt(
            lambda: session.run(writes[0]),
            lambda: session.run(raw.FlushSummaryWriter(writer=first)),
            lambda: session.run(raw.CloseSummaryWriter(writer=first)),
        )
        for op in (begin, anew, third, *writes, raw.CloseSummaryWriter(writer=again)):
            session.run(op)
        after = attempt(lambda: session.run(writes[0]), lambda: session.run(writes[2]))
        session.run(raw.FlushSummaryWriter(writer=other))
        names = [path.name.rpartition(".")[2] for folder in "ac" for path in Path(folder).iterdir()]
        read = _steps(tf, "a"), Path("b").exists(), _steps(tf, "c"), names
        session.run([anew])
        return before, after, read, Path("b").exists()


@in_a_folder
def _refused(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    writer, begin = _writer(tf, "a")
    path = str(Path("b").absolute())

    def begun(**how):
        given = {"logdir": path, "max_queue": 1, "flush_millis": 1, "filename_suffix": "", **how}
        handle = raw.SummaryWriter(shared_name="never")
        return raw.CreateSummaryFileWriter(writer=handle, **{k: of(v) for k, v in given.items()})

    step, tag = np.int64(3), "t"
    makers = [
        lambda: begun(logdir=[path]),
        lambda: begun(max_queue=[1]),
        lambda: begun(flush_millis=[1]),
        lambda: begun(filename_suffix=["a"]),
        *(
            lambda step=step, tag=tag, value=value: raw.WriteScalarSummary(
                writer=writer, step=of(step), tag=of(tag), value=of(value)
            )
            for step, tag, value in (
                ([step], tag, 1.0),
                (step, [tag], 1.0),
                (step, tag, [1.0]),
                (step, tag, 3),
                (step, tag, 1e300),
            )
        ),
        *(
            lambda value=value: raw.WriteHistogramSummary(
                writer=writer, step=step, tag=tag, values=of(value)
            )
            for value in ([1.0, 2.0], float("nan"), [float("inf")], [], 3, [[1], [2]])
        ),
        *(
            lambda data=data: raw.ImportEvent(writer=writer, event=of(data))
            for data in (b"", b"\xff", [b""], tf.Event(step=9).SerializeToString())
        ),
        *(
            lambda data=data: raw.WriteRawProtoSummary(writer=writer, step=step, tensor=of(data))
            for data in (
                b"",
                b"\xff",
                [],
                [
                    tf.Summary(
                        value=[tf.Summary.Value(tag=tag, simple_value=2.0)]
                    ).SerializeToString()
                    for tag in "xy"
                ],
            )
        ),
        *(
            lambda data=data: raw.WriteGraphSummary(writer=writer, step=step, tensor=of(data))
            for data in (b"", b"\xff", [b""], tf.GraphDef().SerializeToString())
        ),
        *(
            lambda metadata=metadata, tag=tag: raw.WriteSummary(
                writer=writer,
                step=step,
                tensor=of([1, 2]),
                tag=of(tag),
                summary_metadata=of(metadata),
            )
            for metadata, tag in (
                (b"", "t"),
                (b"\xff", "t"),
                ([b""], "t"),
                (b"", ["t"]),
                (tf.SummaryMetadata(display_name="d").SerializeToString(), "t"),
            )
        ),
    ]
    with tf.Session() as session:
        session.run(begin)
        outcomes = attempt(*(lambda make=make: session.run(make()) for make in makers))
        session.run(raw.CloseSummaryWriter(writer=writer))
    return outcomes, _steps(tf, "a")


BEHAVIOURS = {"flushed": _flushed, "places": _places, "refused": _refused}
