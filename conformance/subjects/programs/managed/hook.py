"""Programs of hooks of monitored sessions: calls, stops, files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import caught

__all__ = ["BEHAVIOURS"]


def _counting(tf):
    """An operation that increments the global step, and a value."""
    step = tf.train.get_or_create_global_step()
    value = tf.get_variable("value", [], initializer=tf.ones_initializer())
    return tf.group(step.assign_add(1), value.assign_add(2.0)), value


def _stopping(tf):
    train, value = _counting(tf)
    seen = []
    for hook in (
        tf.train.StopAtStepHook(num_steps=2),
        tf.train.StopAtStepHook(last_step=3),
        tf.train.FinalOpsHook([value]),
    ):
        hooks = [hook, tf.train.StopAtStepHook(num_steps=4)]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            rounds = 0
            while not session.should_stop():
                session.run(train)
                rounds += 1
        seen.append([rounds, getattr(hook, "final_ops_values", None)])
    refused = [
        caught(lambda: type(tf.train.StopAtStepHook())),
        caught(lambda: type(tf.train.StopAtStepHook(1, 2))),
    ]
    return [seen, refused]


def _not_a_number(tf):
    loss = tf.placeholder(tf.float32, [])

    def runs(hook):
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(loss, {loss: 1.0})
            session.run(loss, {loss: float("nan")})
            return session.should_stop()

    return [
        caught(lambda: runs(tf.train.NanTensorHook(loss))),
        caught(lambda: runs(tf.train.NanTensorHook(loss, fail_on_nan_loss=False))),
    ]


class _Recording:
    """A hook that records the arguments of its calls."""

    def __init__(self, tf, fetch) -> None:
        self.events = []
        events = self.events

        class Hook(tf.train.SessionRunHook):  # type: ignore[misc]
            def begin(self) -> None:
                events.append("begin")

            def after_create_session(self, _session, _coord) -> None:
                events.append("after_create_session")

            def before_run(self, context):
                original = context.original_args
                events.append(["before_run", original.feed_dict is not None])
                return tf.train.SessionRunArgs([fetch], feed_dict=None)

            def after_run(self, context, values) -> None:
                events.append(["after_run", values.results, context.stop_requested])
                if values.results[0] > 2:
                    context.request_stop()

            def end(self, _session) -> None:
                events.append("end")

        self.hook = Hook()


def _calls(tf):
    train, value = _counting(tf)
    with tf.control_dependencies([train]):
        recording = _Recording(tf, tf.identity(value))
    with tf.train.MonitoredSession(hooks=[recording.hook]) as session:
        while not session.should_stop():
            session.run(train)
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [])
        more = fed + 1
        other = _Recording(tf, fed)
        with tf.train.MonitoredSession(hooks=[other.hook]) as session:
            values = session.run([fed, more], {fed: 1.5})
    return [recording.events, other.events, values]


def _feeds_of_hooks(tf):
    x = tf.placeholder(tf.float32, [])
    doubled = x * 2

    def feeding(given, feeds=None):
        hook = tf.train.FeedFnHook(lambda: {x: given})
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            return session.run(doubled, feeds)

    return [
        caught(lambda: feeding(2.0)),
        caught(lambda: feeding(2.0, {x: 3.0})),
        caught(lambda: feeding([2.0])),
    ]


def _checkpoints(tf):
    """A session that saves checkpoints, and a later one that continues from them."""
    folder = tempfile.mkdtemp()
    train, value = _counting(tf)
    counts = []
    for _ in range(2):
        hooks = [tf.train.StopAtStepHook(num_steps=3)]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder,
            save_checkpoint_steps=2,
            hooks=hooks,
            log_step_count_steps=None,
            save_summaries_steps=None,
            save_summaries_secs=None,
        ) as session:
            while not session.should_stop():
                session.run(train)
                if not session.should_stop():
                    counts.append(session.run(value))
    state = tf.train.get_checkpoint_state(folder)
    names = [Path(path).name for path in state.all_model_checkpoint_paths]
    reader = tf.train.load_checkpoint(folder)
    return [counts, names, reader.get_tensor("value"), reader.get_tensor("global_step")]


def _sessions(tf):
    """The classes of monitored sessions, and their errors."""
    train, value = _counting(tf)
    with tf.train.SingularMonitoredSession() as session:
        session.run(train)
        seen = [
            session.graph is tf.get_default_graph(),
            session.raw_session().run(value),
            session.should_stop(),
            session.run_step_fn(lambda step_context: step_context.session.run(value)),
        ]
    return [
        seen,
        session.should_stop(),
        caught(lambda: session.run(value)),
        caught(lambda: tf.no_op()),
    ]


BEHAVIOURS = {
    "stopping": _stopping,
    "not a number": _not_a_number,
    "calls": _calls,
    "feeds": _feeds_of_hooks,
    "checkpoints": _checkpoints,
    "sessions": _sessions,
}
