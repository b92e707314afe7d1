"""Programs of session managers, of wrapped sessions, and of a supervisor's threads."""

from __future__ import annotations

import threading
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder, listing

__all__ = ["BEHAVIOURS"]


def _model(tf):
    step = tf.train.get_or_create_global_step()
    tf.get_variable("v", initializer=3.0)
    return step


@in_a_folder
def _recovered(tf):
    """`recover_session` from a folder, from a checkpoint, and without any."""
    _model(tf)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, "d/x")
    local = tf.get_local_variable("local", initializer=1.0)
    ready = tf.report_uninitialized_variables()
    init = tf.local_variables_initializer()
    never = tf.constant(["never"])
    kinds = [
        {"ready_op": ready},
        {"ready_op": ready, "local_init_op": init},
        {},
        {"ready_op": never, "local_init_op": init},
        {"ready_op": ready, "local_init_op": init, "ready_for_local_init_op": never},
    ]

    def recovered(options, **given) -> Action:
        def call():
            manager = tf.train.SessionManager(**options)
            session, is_restored = manager.recover_session("", saver=saver, **given)
            return [
                is_restored,
                caught(lambda: session.run("v:0")),
                caught(lambda: session.run(local)),
            ]

        return call

    return attempt(
        *(recovered(options, checkpoint_dir="d") for options in kinds),
        recovered(kinds[1], checkpoint_filename_with_path="d/x"),
        recovered(kinds[1]),
        recovered(kinds[1], checkpoint_dir="none"),
        recovered(kinds[1], checkpoint_dir="d", checkpoint_filename_with_path="d/x"),
        recovered(kinds[1], checkpoint_dir="none", wait_for_checkpoint=True, max_wait_secs=0),
    )


def _waited_for(tf):
    """`wait_for_session` for a model that another process initializes."""
    _model(tf)
    manager = tf.train.SessionManager(ready_op=tf.constant([], tf.string))
    late = tf.train.SessionManager(ready_op=tf.constant(["v"]), recovery_wait_secs=1)
    creator = tf.train.WorkerSessionCreator(
        tf.train.Scaffold(ready_op=tf.constant([], tf.string)), max_wait_secs=1
    )
    bare = tf.train.SessionCreator

    class Own(bare):  # type: ignore[misc,valid-type]  # of the namespace
        """A session creator that calls its base class."""

        def create_session(self):
            return super().create_session()

    return attempt(
        lambda: manager.wait_for_session("", max_wait_secs=1).run(tf.constant(1)),
        lambda: late.wait_for_session("", max_wait_secs=0),
        lambda: creator.create_session().graph is tf.get_default_graph(),
        lambda: Own().create_session(),
    )


def _wrapped(tf):
    """The sessions that monitored sessions wrap."""
    monitored = module_of(tf, "training.monitored_session")
    step = _model(tf)
    results = []
    with tf.Session() as session:
        wrapped = monitored._WrappedSession(session)
        outer = monitored._WrappedSession(wrapped)
        results += [
            outer.graph is session.graph,
            outer.sess_str == session.sess_str,
            outer.should_stop(),
            outer.run(tf.constant(4)),
        ]
        outer.close()
        results += [outer.should_stop(), caught(lambda: outer.run(step))]
    with tf.train.MonitoredSession() as session:
        results.append(session._is_closed())
    return [*results, session._is_closed(), str(tf.train.NanLossDuringTrainingError())]


def _timers(tf):
    never = tf.train.NeverTriggerTimer() if hasattr(tf.train, "NeverTriggerTimer") else None
    hooks = module_of(tf, "training.basic_session_run_hooks")
    never = never or hooks.NeverTriggerTimer()
    saver = tf.train.CheckpointSaverHook("d", save_steps=4)
    counter = tf.train.StepCounterHook(every_n_steps=4, output_dir="d")
    for hook in (saver, counter):
        hook._set_steps_per_run(2)
    return [
        never.should_trigger_for_step(3),
        never.update_last_triggered_step(3),
        never.last_triggered_step(),
        never.reset(),
        saver._steps_per_run,
        counter._steps_per_run,
    ]


def _events(tf):
    tags = set()
    for path in Path("d").glob("*tfevents*"):
        for event in tf.train.summary_iterator(str(path)):
            tags |= {value.tag for value in event.summary.value}
            tags.add(str(event.WhichOneof("what")))
    return sorted(tags)


@in_a_folder
def _services(tf):
    """The threads of a supervisor, which write summaries and steps per second, and save."""
    step = _model(tf)
    tf.summary.scalar("v", tf.get_variable("s", initializer=1.0))
    supervisor = tf.train.Supervisor(logdir="d", save_summaries_secs=1000, save_model_secs=1000)
    with supervisor.managed_session() as session:
        session.run(tf.assign_add(step, 1) if not session.graph.finalized else step)
        threads = module_of(tf, "training.supervisor")
        kinds = (
            threads.SVSummaryThread,
            threads.SVStepCounterThread,
            threads.SVTimerCheckpointThread,
        )
        for kind in kinds:
            thread = kind(supervisor, session)
            thread.start_loop()
            thread.run_loop()
        waiting = threading.Thread(target=supervisor.wait_for_stop)
        waiting.start()
        supervisor.request_stop()
        waiting.join(10)
    return [
        waiting.is_alive(),
        supervisor.should_stop(),
        _events(tf),
        [name for name in listing() if name.endswith("index")],
    ]


@in_a_folder
def _services_without_steps(tf):
    """Without a global step, summaries have no step."""
    tf.get_variable("v", initializer=3.0)
    tf.summary.scalar("v", 2.0)
    supervisor = tf.train.Supervisor(
        logdir="d", global_step=None, save_summaries_secs=1000, save_model_secs=0
    )
    with supervisor.managed_session() as session:
        threads = module_of(tf, "training.supervisor")
        threads.SVSummaryThread(supervisor, session).run_loop()
        names = [type(service).__name__ for service in supervisor.start_standard_services(session)]
        supervisor.request_stop()
    return [sorted(names), _events(tf)]


def _invalid_global_step(tf):
    """A tensor with the name of the global step that is not a valid one."""
    tf.placeholder(tf.float32, [], name="global_step")
    return [tf.train.Supervisor(logdir=None).global_step]


BEHAVIOURS = {
    "recovered": _recovered,
    "waited for": _waited_for,
    "wrapped": _wrapped,
    "timers": _timers,
    "services": _services,
    "services without steps": _services_without_steps,
    "odd steps": _invalid_global_step,
}
