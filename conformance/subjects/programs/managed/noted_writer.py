"""Programs of hooks and supervisors that use a writer of the program, which notes its calls."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


class _Writer:
    """A writer that notes which of its methods are called, with which step and tags."""

    def __init__(self) -> None:
        self.noted = []

    def add_summary(self, summary, global_step=None) -> None:
        serialized = summary if isinstance(summary, bytes) else summary.SerializeToString()
        tags = sorted(part for part in (b"loss", b"step", b"per_sec") if part in serialized)
        self.noted.append(("summary", tags, _plain(global_step)))

    def add_session_log(self, log, global_step=None) -> None:
        self.noted.append(("log", log.status, _plain(global_step)))

    def add_graph(self, graph, global_step=None) -> None:
        self.noted.append(("graph", type(graph).__name__, _plain(global_step)))

    def add_meta_graph(self, graph, global_step=None) -> None:
        self.noted.append(("meta graph", bool(graph), _plain(global_step)))

    def add_run_metadata(self, data, tag: str, global_step=None) -> None:
        self.noted.append(("metadata", bool(data.step_stats.dev_stats), tag, _plain(global_step)))

    def flush(self) -> None:
        self.noted.append("flush")

    def reopen(self) -> None:
        self.noted.append("reopen")

    def close(self) -> None:
        self.noted.append("close")


def _plain(step):
    return None if step is None else int(step)


def _model(tf) -> tuple[Tensor, Tensor]:
    """An operation that increments the global step, and a summary of it."""
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("loss", tf.cast(step, tf.float32) * 2.0)
    return step, tf.assign_add(step, 1, name="next")


def _stepped(session, after):
    """Run the step alone, and then the session with its hooks, which so read an unchanging step."""
    value = session.run_step_fn(lambda step_context: step_context.session.run(after))
    session.run([])
    return int(value)


def _ran(tf, make, rounds: int, *, initial: int = 0):
    """The calls of a hook's writer in a monitored session of several runs."""
    with tf.Graph().as_default():
        step, after = _model(tf)
        writer, begin = _Writer(), step.assign(initial)
        hook = make(writer)
        with tf.train.MonitoredSession(hooks=[hook] if hook else []) as session:
            if initial:
                session.run_step_fn(lambda step_context: step_context.session.run(begin))
            values = [_stepped(session, after) for _ in range(rounds)]
        return values, writer.noted


def _summaries(tf):
    """SummarySaverHook with an operation, with lists, with a scaffold, at several intervals."""
    hook = tf.train.SummarySaverHook

    def scaffold(writer):
        return hook(
            2, summary_writer=writer, scaffold=tf.train.Scaffold(summary_op=tf.summary.merge_all())
        )

    def empty(writer):
        tf.get_default_graph().clear_collection("summaries")
        return hook(2, summary_writer=writer, scaffold=tf.train.Scaffold())

    makers = (
        lambda w: hook(1, summary_writer=w, summary_op=tf.summary.merge_all()),
        lambda w: hook(2, summary_writer=w, summary_op=tf.summary.merge_all()),
        lambda w: hook(3, summary_writer=w, summary_op=[tf.summary.merge_all()] * 2),
        lambda w: hook(save_secs=1000, summary_writer=w, summary_op=tf.summary.merge_all()),
        scaffold,
        empty,
        lambda w: hook(2, summary_writer=w),
        lambda w: hook(summary_writer=w, summary_op=tf.constant("")),
        lambda w: hook(2, 3.0, summary_writer=w, summary_op=tf.constant("")),
        lambda w: hook(
            2, summary_writer=w, summary_op=tf.constant(""), scaffold=tf.train.Scaffold()
        ),
    )
    return attempt(
        *(
            lambda m=make, n=rounds, i=initial: _ran(tf, m, n, initial=i)
            for make in makers
            for rounds, initial in ((0, 0), (1, 0), (5, 0), (4, 7))
        )
    )


def _saved(tf):
    """CheckpointSaverHook: when it saves, the calls of writer and listeners, and its saver."""

    class Listener(tf.train.CheckpointSaverListener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.noted = []

        def begin(self) -> None:
            self.noted.append("begin")

        def before_save(self, session, global_step_value) -> None:  # noqa: ARG002 - the interface
            self.noted.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):  # noqa: ARG002 - the interface
            self.noted.append(("after", int(global_step_value)))
            return int(global_step_value) >= 4

        def end(self, session, global_step_value) -> None:  # noqa: ARG002 - the interface
            self.noted.append(("end", int(global_step_value)))

    def saving(rounds: int, savers: int, **options):
        with tf.Graph().as_default():
            _, after = _model(tf)
            folder, listener = tempfile.mkdtemp(), Listener()
            for _ in range(savers):
                tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
            hook = tf.train.CheckpointSaverHook(folder, listeners=[listener], **options)
            done = []
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                while not session.should_stop() and len(done) < rounds:
                    done.append(_stepped(session, after))
            names = sorted(path.name for path in Path(folder).glob("*.index"))
            return done, listener.noted, names

    return attempt(
        *(
            lambda r=rounds, n=every: saving(r, 1, save_steps=n)
            for rounds in (0, 1, 6)
            for every in (1, 2)
        ),
        *(lambda n=savers: saving(2, n, save_steps=1) for savers in (0, 1, 2)),
        lambda: saving(2, 0, save_steps=1, saver=tf.train.Saver()),
        lambda: saving(2, 0, save_steps=1, scaffold=tf.train.Scaffold()),
        lambda: saving(2, 1, save_secs=1000),
        lambda: saving(2, 1, save_steps=1, save_secs=1),
        lambda: saving(2, 1, save_steps=2, checkpoint_basename="other.ckpt"),
    )


def _supervised(tf):
    """The calls of a supervisor's writer: graphs, session starts, and summaries."""

    def supervised(**options):
        with tf.Graph().as_default():
            step, after = _model(tf)
            writer, merged = _Writer(), tf.summary.merge_all()
            supervisor = tf.train.Supervisor(
                logdir=tempfile.mkdtemp(),
                summary_writer=writer,
                save_model_secs=0,
                save_summaries_secs=0,
                **{"global_step": step, **options},
            )
            with supervisor.managed_session() as session:
                values = [int(session.run(after)) for _ in range(2)]
                supervisor.summary_computed(session, session.run(merged))
                supervisor.summary_computed(session, session.run(merged), 33)
                supervisor.summary_computed(session, session.run(merged), 0)
            return values, writer.noted

    def prepared(services: bool):
        with tf.Graph().as_default():
            _model(tf)
            writer = _Writer()
            supervisor = tf.train.Supervisor(
                logdir=tempfile.mkdtemp(),
                summary_writer=writer,
                save_model_secs=0,
                save_summaries_secs=0,
            )
            session = supervisor.prepare_or_wait_for_session(start_standard_services=services)
            supervisor.stop()
            session.close()
            return writer.noted

    return attempt(
        supervised,
        lambda: supervised(global_step=None),
        lambda: supervised(summary_op=None),
        lambda: supervised(is_chief=True),
        lambda: prepared(True),
        lambda: prepared(False),
        lambda: tf.train.Supervisor(logdir=None, summary_op=None).summary_computed(None, b""),
    )


BEHAVIOURS = {"summaries": _summaries, "saved": _saved, "supervised": _supervised}
