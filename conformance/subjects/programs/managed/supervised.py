"""Programs of supervisors, and of hooks that write, log, wait and profile."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import caught
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _counting(tf) -> tuple[Tensor, Tensor]:
    """The global step, and an operation that increments it."""
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1, name="next")


def _supervisor(tf):
    folder = tempfile.mkdtemp()
    step, after = _counting(tf)
    tf.summary.scalar("step", step)
    supervisor = tf.train.Supervisor(
        logdir=folder, global_step=step, save_model_secs=0, save_summaries_secs=0
    )
    with supervisor.managed_session() as session:
        rounds = [session.run(after) for _ in range(3) if not supervisor.should_stop()]
        supervisor.summary_computed(session, session.run(supervisor.summary_op))
        supervisor.saver.save(session, supervisor.save_path, global_step=step)
        facts = [
            supervisor.is_chief,
            supervisor.save_model_secs,
            supervisor.save_summaries_secs,
            Path(supervisor.save_path).name,
            supervisor.global_step.name,
            supervisor.init_feed_dict,
            supervisor.coord.should_stop(),
            supervisor.ready_op.name,
            supervisor.ready_for_local_init_op is None,
        ]
        supervisor.request_stop()
    names = sorted(path.name for path in Path(folder).glob("*.index"))
    return [rounds, facts, names, supervisor.should_stop(), _recovered(tf, folder)]


def _recovered(tf, folder: str):
    """A later supervisor continues from the checkpoint; `loop` calls until it is stopped."""
    with tf.Graph().as_default():
        step, after = _counting(tf)
        supervisor = tf.train.Supervisor(logdir=folder, global_step=step, summary_op=None)
        calls: list[int] = []
        with supervisor.managed_session(start_standard_services=False) as session:
            first = session.run(step)

            def call() -> None:
                calls.append(int(session.run(after)))
                if len(calls) == 2:
                    supervisor.request_stop()

            thread = supervisor.loop(0.0, call)
            thread.join()
        with supervisor.stop_on_exception():
            inside = supervisor.coord.should_stop()
        return [first, calls, inside]


def _refusals(tf):
    with tf.device("/cpu:0"):
        _counting(tf)
    chief = tf.train.Supervisor(logdir=None)
    worker = tf.train.Supervisor(is_chief=False)

    def ended() -> str:
        with tf.train.Supervisor(logdir=None).managed_session(""):
            raise tf.errors.OutOfRangeError(None, None, "")
        return "ended"

    return [
        caught(ended),
        caught(lambda: chief.summary_computed(None, b"")),
        caught(lambda: chief.start_standard_services(None)),
        caught(lambda: worker.start_standard_services(None)),
        caught(lambda: tf.train.Supervisor(ready_op=3)),
        [chief.save_path, chief.summary_writer, chief.session_manager is not None],
    ]


def _loops(tf):
    """`basic_train_loop` calls a step until the supervisor is asked to stop."""
    step, after = _counting(tf)
    supervisor = tf.train.Supervisor(logdir=None, global_step=step)
    seen: list[int] = []

    def train(session, *args) -> None:
        seen.append(int(session.run(after)))
        if len(seen) == len(args) + 2:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, train, args=(1, 2))
    return seen


def _written(tf):
    """Hooks that write summaries, log values and wait for a step."""
    folder = tempfile.mkdtemp()
    step, after = _counting(tf)
    summary = tf.summary.scalar("step", step)
    hooks = [
        tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=summary),
        tf.train.StepCounterHook(every_n_steps=2, output_dir=folder),
        tf.train.LoggingTensorHook({"step": step}, every_n_iter=2, at_end=True),
        tf.train.GlobalStepWaiterHook(0),
        tf.train.StopAtStepHook(last_step=5),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(after)
    (path,) = Path(folder).glob("events.out.tfevents.*")
    tags = []
    for event in tf.train.summary_iterator(str(path)):
        tags += [[event.step, value.tag] for value in event.summary.value]
    refused = [
        caught(lambda: type(tf.train.LoggingTensorHook({"step": step}))),
        caught(lambda: type(tf.train.SummarySaverHook(summary_op=summary))),
        caught(lambda: type(tf.train.StepCounterHook(every_n_steps=1, every_n_secs=1))),
    ]
    return [tags, refused]


def _profiled(tf):
    """A hook that writes a timeline of every other step."""
    folder = tempfile.mkdtemp()
    _, after = _counting(tf)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=folder)
    with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(4)]) as session:
        while not session.should_stop():
            session.run(after)
    return sorted(path.name for path in Path(folder).glob("timeline-*"))


BEHAVIOURS = {
    "supervisors": _supervisor,
    "refusals of supervisors": _refusals,
    "loops": _loops,
    "writing hooks": _written,
    "profiles": _profiled,
}
