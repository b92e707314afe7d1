"""Named checks of single hooks: what one adds, sees, fetches, feeds, and how it stops."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.cases.library import RunArguments
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Coordinator, RunContext, RunValues, Session, Tensor

__all__ = [
    "added_in_begin",
    "ended_by_close",
    "fed_together",
    "fetched_step",
    "losses",
    "seen_when_created",
]


def added_in_begin(tf: Namespace, value: int) -> int:
    """The value of an operation that a hook has added in `begin`."""
    added: list[Tensor] = []

    class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        def begin(self) -> None:
            added.append(tf.constant(value))

    with tf.Graph().as_default(), tf.train.MonitoredSession(hooks=[Hook()]) as session:
        return int(session.run(added[0]))


def seen_when_created(tf: Namespace, value: int) -> list[int]:
    """What a variable holds in each `after_create_session`."""
    seen: list[int] = []
    with tf.Graph().as_default():
        variable = tf.Variable(value, use_resource=False)

        class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
            def after_create_session(self, session: Session, coord: Coordinator) -> None:
                del coord
                seen.append(int(session.run(variable)))

        with tf.train.MonitoredSession(hooks=[Hook()]) as session:
            session.run(variable)
    return seen


def fetched_step(tf: Namespace, runs: int) -> list[list[int]]:
    """For each run, the counter as the caller and as a hook fetch the one step that moves it."""
    seen: list[list[int]] = []
    with tf.Graph().as_default():
        counter = tf.Variable(0, use_resource=False)
        step = tf.assign_add(counter, 1) + 0
        fetched: list[int] = []

        class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
            def before_run(self, run_context: RunContext) -> RunArguments:
                del run_context
                return tf.train.SessionRunArgs([step])

            def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
                del run_context
                fetched.append(int(run_values.results[0]))

        with tf.train.MonitoredSession(hooks=[Hook()]) as session:
            for _ in range(runs):
                value = int(session.run(step))
                seen.append([value, fetched[-1]])
    return seen


def fed_together(tf: Namespace, hook: int, caller: int) -> list[int]:
    """The sum of what a hook and the caller feed, and how many keys the caller's feeds have."""
    with tf.Graph().as_default():
        first, second = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
        total = first + second
        feeder = tf.train.FeedFnHook(lambda: {first: hook})
        feeds = {second: caller}
        with tf.train.MonitoredSession(hooks=[feeder]) as session:
            return [int(session.run(total, feed_dict=feeds)), len(feeds)]


def ended_by_close(tf: Namespace, value: int) -> list[str]:
    """The calls of a hook whose session is closed without a `with`."""
    log: list[str] = []
    with tf.Graph().as_default():
        number = tf.constant(value)

        class Hook(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
            def begin(self) -> None:
                log.append("begin")

            def end(self, session: Session) -> None:
                log.append(f"end {session.run(number)}")

        tf.train.MonitoredSession(hooks=[Hook()]).close()
    return log


def losses(tf: Namespace, values: Sequence[float], fails: bool) -> list[str]:
    """How a session with a NanTensorHook ends when the loss has these values, one for each run."""
    log: list[str] = []
    with tf.Graph().as_default():
        loss = tf.placeholder(tf.float32, [])
        hook = tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)
        try:
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for value in values:
                    got = session.run(loss, feed_dict={loss: value})
                    log.append(f"ran {got}")
                log.append("stopped" if session.should_stop() else "goes on")
        except Exception as error:  # noqa: BLE001 - the exception is the result
            log.append(f"raised {type(error).__name__}")
    return log
