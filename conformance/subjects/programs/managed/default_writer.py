"""Programs of `tf.summary` operations that write to the default writer."""

from __future__ import annotations

from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


def _events(tf, folder: str) -> list[list[int | str | list[str]]]:
    """The steps, tags and kinds of all events of a folder."""
    rows = []
    for path in sorted(Path(folder).glob("*tfevents*")):
        for event in tf.train.summary_iterator(str(path)):
            kind = event.WhichOneof("what")
            tags = sorted(value.tag for value in event.summary.value)
            rows.append([event.step, str(kind), tags])
    return sorted(rows)  # the order within a run is undefined


@in_a_folder
def _recorded(tf):
    """Summaries are written while recording is on, and not otherwise."""
    ops = module_of(tf, "ops.summary_ops_v2")
    step = tf.train.get_or_create_global_step()
    outcomes = [caught(ops.flush), caught(ops.initialize)]
    writer = ops.create_file_writer("d", max_queue=2, flush_millis=100, name="mine")
    with writer.as_default():
        with ops.always_record_summaries():
            always = ops.scalar("always", 1.0)
            tensor = ops.generic("tensor", tf.constant([1, 2]), metadata=None)
        with ops.never_record_summaries():
            never = ops.scalar("never", 2.0, step=3)
        with ops.record_summaries_every_n_global_steps(2):
            now_and_then = ops.scalar("now_and_then", 3.0, family="f")
        with ops.record_summaries_every_n_global_steps(3, tf.constant(3, tf.int64)):
            ops.scalar("third", 4.0)
        written = [op.name for op in ops.all_v2_summary_ops()]
        flush, close = ops.flush(), writer.close()
        with tf.Session() as session:
            outcomes.append(caught(lambda: ops.initialize(session=session)))
            session.run([step.initializer, writer.init()])
            for _ in range(3):
                session.run([always, tensor, never, now_and_then])
                session.run(tf.assign_add(step, 1))
            session.run(flush)
            session.run(close)
    return [
        outcomes,
        written,
        always,
        never,
        now_and_then,
        _events(tf, "d"),
        [op.name for op in ops.summary_writer_initializer_op()],
    ]


@in_a_folder
def _steps(tf):
    """Summaries have the step that is set, or the one that is passed."""
    ops = module_of(tf, "ops.summary_ops_v2")
    writer = ops.create_file_writer("d")
    outcomes = attempt(lambda: ops.write("tag", 1.0))
    try:
        with writer.as_default():
            outcomes += attempt(lambda: ops.write("no_step", 1.0))
            ops.set_step(7)
            tensors = [ops.write("tag", 1.0), ops.write("other", 2.0, step=9), ops.get_step()]
            outcomes += attempt(lambda: ops.scalar("bad", 1.0, step=[1, 2]))
    finally:
        ops.set_step(None)
    with tf.Session() as session:
        session.run(writer.init())
        session.run(tensors[:2])
        session.run(writer.flush())
    return [outcomes, tensors[2], ops.get_step(), _events(tf, "d")]


@in_a_folder
def _graphs(tf):
    """Graphs that are written from serialized GraphDefs."""
    ops = module_of(tf, "ops.summary_ops_v2")
    x = tf.constant(1.0, name="x")
    serialized = tf.constant(tf.get_default_graph().as_graph_def().SerializeToString())
    outcomes = [ops.graph_v1(serialized, 0).type, caught(lambda: ops.graph_v1(3))]
    nothing = ops.create_file_writer(None)
    with nothing.as_default():
        outcomes += [nothing.init(), nothing.flush(), nothing.close()]
    with ops.create_file_writer("d").as_default(), ops.always_record_summaries():
        write = ops.graph_v1(serialized, 5, name="written")
        event = tf.Event(step=8, file_version="mine").SerializeToString()
        imported = ops.import_event(tf.constant(event), name="event")
        with tf.Session() as session:
            ops.initialize(x.graph, session)
            session.run(write)
            session.run(imported)
            session.run(ops.flush())
    return [outcomes, write, _events(tf, "d")]


@in_a_folder
def _by_sessions(tf):
    """EventFileWriterV2, whose events are written by runs of a session."""
    kind = module_of(tf, "summary.writer.event_file_writer_v2").EventFileWriterV2
    with tf.Session() as session:
        writer = kind(session, "d", max_queue=1, filename_suffix=".mine")
        writer.add_event(tf.Event(step=1, file_version="one"))
        writer.flush()
        writer.close()
        writer.add_event(tf.Event(step=2, file_version="lost"))
        writer.close()
        writer.reopen()
        writer.add_event(tf.Event(step=3, file_version="three"))
        writer.reopen()
        writer.close()
        names = [path.name.endswith(".mine") for path in Path("d").iterdir()]
    return [writer.get_logdir(), all(names), _events(tf, "d")]


@in_a_folder
def _files(tf):
    """The file that an EventsWriter creates when a program reads its name."""
    kind = module_of(tf, "client._pywrap_events_writer").EventsWriter
    writer = kind(b"d")
    writer.InitWithSuffix(b".mine")
    name = writer.FileName()
    writer.WriteEvent(tf.Event(step=3, file_version="x"))
    writer.Close()
    return [str(name).rstrip("'").endswith(".mine"), len(list(Path().glob("d.out.tfevents*")))]


BEHAVIOURS = {
    "recorded": _recorded,
    "steps": _steps,
    "graphs": _graphs,
    "by sessions": _by_sessions,
    "files": _files,
}
