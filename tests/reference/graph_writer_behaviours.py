"""Programs of writers that a session keeps: `FileWriter(session=…)`, and operations that write."""

from __future__ import annotations

import importlib
import tempfile
from typing import Any

from described import attempt
from event_file_behaviours import _events, _summary

__all__ = ["BEHAVIOURS"]


def _writers(tf: Any) -> Any:
    """The module that makes writers, of the namespace's side."""
    root = "sessrun.reference" if "sessrun" in tf.__name__ else "tensorflow"
    return importlib.import_module(f"{root}.python.ops.summary_ops_v2")


def _by_a_session(tf: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        writer = tf.summary.FileWriter(folder, session=session)
        writer.add_summary(_summary(tf), 1)
        other = tf.summary.FileWriter(folder, session=session)
        other.add_summary(_summary(tf, "b"), 2)
        other.flush()
        first = _events(tf, folder)
        writer.close()
        found = attempt(other.flush, lambda: other.add_summary(_summary(tf, "c"), 3))
        writer.reopen()
        writer.add_graph(tf.Graph(), 4)
        writer.close()
        return [first, found, _events(tf, folder), writer.get_logdir() == folder]


def _operations(tf: Any) -> Any:
    module = _writers(tf)
    event = tf.Event(step=9, graph_def=b"").SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        writer = module.create_file_writer(folder, max_queue=1, filename_suffix="end")
        with module.always_record_summaries(), writer.as_default():
            written = [module.scalar("a", 1.5, step=1), module.generic("b", ["x"], step=2)]
            given = tf.placeholder(tf.string, [])
            added = module.import_event(given)
            wrong = attempt(lambda: module.scalar("a", 1.0, step=[1, 2]),
                            lambda: module.graph_v1("text", 1))  # fmt: skip
        with writer.as_default(), module.never_record_summaries():
            unwritten = module.scalar("c", 1.0, step=3)
        begin, flush, close = writer.init(), writer.flush(), writer.close()
        with tf.Session() as session:
            run = session.run
            found = attempt(
                lambda: run(written[0]), lambda: run(flush), lambda: run(begin),
                *(lambda each=each: run(each) for each in written), lambda: run(unwritten),
                lambda: run(added, {given: event}), lambda: run(added, {given: b"\xff"}),
                lambda: run(begin), lambda: run(close), lambda: run(close), lambda: run(flush),
            )  # fmt: skip
        return [wrong, found, _events(tf, folder), len(tf.summary.all_v2_summary_ops()),
                attempt(tf.summary.initialize)]  # fmt: skip


def _refused(tf: Any) -> Any:
    module = _writers(tf)
    wrong = [{"flush_millis": [1, 2]}, {"max_queue": [1]}, {"filename_suffix": ["a", "b"]}]
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        return attempt(*(
            lambda given=given: session.run(module.create_file_writer(folder, **given).init())
            for given in wrong
        ))  # fmt: skip


BEHAVIOURS = {
    f"graph_writers_{function.__name__.strip('_')}": function
    for function in (_by_a_session, _operations, _refused)
}
