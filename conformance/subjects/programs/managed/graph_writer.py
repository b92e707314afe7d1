"""Programs of writers in a session: `FileWriter(session=…)`, and operations that write."""

from __future__ import annotations

import contextlib
import importlib
import tempfile

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.managed.event_file import _events, _summary
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _writers(tf):
    """The module `summary_ops_v2` of the namespace's package."""
    root = "sessrun.reference" if "sessrun" in tf.__name__ else "tensorflow"
    return importlib.import_module(f"{root}.python.ops.summary_ops_v2")


def _by_a_session(tf):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        writer = tf.summary.FileWriter(folder, session=session)
        writer.add_summary(_summary(tf), 1)
        other = tf.summary.FileWriter(folder, session=session)
        other.add_summary(_summary(tf, "b"), 2)
        other.flush()
        first = _events(tf, folder)
        writer.close()
        outcomes = attempt(other.flush, lambda: other.add_summary(_summary(tf, "c"), 3))
        writer.reopen()
        writer.add_graph(tf.Graph(), 4)
        writer.close()
        return [first, outcomes, _events(tf, folder), writer.get_logdir() == folder]


def _operations(tf):
    module = _writers(tf)
    event = tf.Event(step=9, graph_def=b"").SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        writer = module.create_file_writer(folder, max_queue=1, filename_suffix="end")
        with module.always_record_summaries(), writer.as_default():
            written = [module.scalar("a", 1.5, step=1), module.generic("b", ["x"], step=2)]
            given = tf.placeholder(tf.string, [])
            added = module.import_event(given)
            wrong = attempt(
                lambda: module.scalar("a", 1.0, step=[1, 2]), lambda: module.graph_v1("text", 1)
            )
        with writer.as_default(), module.never_record_summaries():
            unwritten = module.scalar("c", 1.0, step=3)
        begin, flush, close = writer.init(), writer.flush(), writer.close()
        with tf.Session() as session:
            run = session.run
            outcomes = attempt(
                lambda: run(written[0]),
                lambda: run(flush),
                lambda: run(begin),
                *(lambda op=op: run(op) for op in written),
                lambda: run(unwritten),
                lambda: run(added, {given: event}),
                lambda: run(added, {given: b"\xff"}),
                lambda: run(begin),
                lambda: run(close),
                lambda: run(close),
                lambda: run(flush),
            )
        return [
            wrong,
            outcomes,
            _events(tf, folder),
            len(tf.summary.all_v2_summary_ops()),
            attempt(tf.summary.initialize),
        ]


def _nodes(graph) -> list[Plain]:
    return [
        (
            op.name,
            op.type,
            [tensor.name for tensor in op.inputs],
            sorted(op.name for op in op.control_inputs),
        )
        for op in graph.get_operations()
    ]


def _kinds(tf):
    """Every kind of summary, recorded always, in every second step, or by default."""
    module = _writers(tf)
    results = []
    pictures = np.arange(2 * 3 * 4 * 3, dtype="f").reshape(2, 3, 4, 3) - 5
    pictures[0, 0, 0, 0] = np.nan
    sounds = np.linspace(-1.5, 1.5, 12, dtype="f").reshape(2, 6)
    raw = [_summary(tf, tag).SerializeToString() for tag in "xy"]

    def written(step) -> list[Tensor]:
        with tf.name_scope("outer"):
            return [
                module.histogram("h", tf.constant([1, 2, 2, 5]), step=step),
                module.histogram("hf", tf.constant([1.0, -2.0]), "family", step),
                module.image("i", pictures, step=step, max_images=2),
                module.image("j", np.ones_like(pictures, "uint8"), step=step, max_images=1),
                module.image("k", pictures, tf.constant([1, 2, 3], tf.uint8), step=step),
                module.audio("a", sounds, 44100.0, 2, step=step),
                module.scalar("s", 1.5, step=step),
                module.generic("g", [1, 2], step=step),
                module.write("w", [[1, 2]], step=step or 3),
                module.write_raw_pb(raw, step=step or 4),
            ]

    for way in ("always", "every", "nothing"):
        with (
            tempfile.TemporaryDirectory() as folder,
            tf.Graph().as_default() as graph,
            tf.Session() as session,
        ):
            step = tf.train.get_or_create_global_step()
            writer = module.create_file_writer("folder")
            recording = {
                "always": module.always_record_summaries,
                "nothing": contextlib.nullcontext,
                "every": lambda: module.record_summaries_every_n_global_steps(2),
            }[way]
            with recording(), writer.as_default():
                operations = written(None if way == "every" else 7)
            nodes = _nodes(graph)
            session.run(tf.global_variables_initializer())
            begin = writer.init()
            name = graph.get_operations()[-1].inputs[1].name
            session.run(begin, {name: folder})
            values = []
            for _ in range(2):
                values.append([session.run(operation) for operation in operations])
                session.run(step.assign_add(1))
            session.run(writer.flush())
            results.append([nodes, values, _events(tf, folder)])
    return results


def _kinds_refused(tf):
    module = _writers(tf)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        writer = module.create_file_writer(folder)
        session.run(writer.init())

        def run(make):
            with module.always_record_summaries(), writer.as_default():
                return session.run(make())

        return [module.has_default_writer(), module.get_step()], attempt(
            lambda: session.run(module.write("w", 1, step=1)),
            lambda: run(lambda: module.write("w", 1)),
            lambda: run(lambda: module.write_raw_pb(b"\xff", 1)),
            lambda: run(lambda: module.histogram("h", [float("nan")], step=1)),
            lambda: run(lambda: module.image("i", np.zeros([1, 2, 2, 2], "f"), step=1)),
            lambda: run(lambda: module.audio("a", np.zeros([1, 2], "f"), -1.0, 1, step=1)),
        )


def _refused(tf):
    module = _writers(tf)
    wrong = [{"flush_millis": [1, 2]}, {"max_queue": [1]}, {"filename_suffix": ["a", "b"]}]
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        return attempt(
            *(
                lambda given=given: session.run(module.create_file_writer(folder, **given).init())
                for given in wrong
            )
        )


BEHAVIOURS = {
    f"graph_writers_{function.__name__.strip('_')}": function
    for function in (_by_a_session, _operations, _refused, _kinds, _kinds_refused)
}
