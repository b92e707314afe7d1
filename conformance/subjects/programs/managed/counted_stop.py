"""Programs of hooks that stop, of queue runners under supervisors, of savers that recover."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _stops(tf):
    """The number of runs that a StopAtStepHook allows, from several first steps."""
    hooks = tf.train

    def rounds(make, initial: int, by: int):
        with tf.Graph().as_default():
            step = hooks.get_or_create_global_step()
            begin, more = step.assign(initial), step.assign_add(by)
            done = 0
            with hooks.MonitoredSession(hooks=[make()]) as session:
                session.run_step_fn(lambda step_context: step_context.session.run(begin))
                while not session.should_stop() and done < 20:
                    session.run_step_fn(lambda step_context: step_context.session.run(more))
                    session.run([])
                    done += 1
            return done

    return attempt(
        *(
            lambda m=make, i=initial, b=by: rounds(m, i, b)
            for make in (
                lambda: hooks.StopAtStepHook(num_steps=3),
                lambda: hooks.StopAtStepHook(last_step=5),
                lambda: hooks.StopAtStepHook(last_step=0),
                lambda: hooks.StopAtStepHook(num_steps=0),
                lambda: hooks.StopAtStepHook(3, 5),
                lambda: hooks.StopAtStepHook(),
            )
            for initial, by in ((0, 1), (2, 1), (0, 2), (9, 1))
        )
    )


def _fed(tf):
    """The elements of a queue whose runner a supervisor, a session or a coordinator starts."""

    def taken(start):
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(10, tf.int32, [[]])
            counter = tf.get_variable("n", initializer=0, use_resource=True)
            put = queue.enqueue(counter.assign_add(1))
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
            out = queue.dequeue()
            return start(out)

    def supervised(out):
        supervisor = tf.train.Supervisor(
            logdir=tempfile.mkdtemp(), summary_op=None, global_step=None, save_model_secs=0
        )
        with supervisor.managed_session() as session:
            return [int(session.run(out)) for _ in range(3)]

    def started(out):
        supervisor = tf.train.Supervisor(
            logdir=tempfile.mkdtemp(), summary_op=None, global_step=None, save_model_secs=0
        )
        session = supervisor.prepare_or_wait_for_session(start_standard_services=False)
        threads = supervisor.start_queue_runners(session)
        values = [int(session.run(out)) for _ in range(3)]
        supervisor.request_stop()
        session.close()
        return len(threads), [thread.daemon for thread in threads], values

    def coordinated(out):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator, daemon=True, start=True)
            values = [int(session.run(out)) for _ in range(3)]
            coordinator.request_stop()
            session.run(tf.get_collection("queue_runners")[0].cancel_op)
            coordinator.join(threads)
            return values, coordinator.joined

    return attempt(*(lambda s=start: taken(s) for start in (supervised, started, coordinated)))


def _recovered(tf):
    """A session that recovers from a checkpoint: the checkpoints that its saver then lists."""

    def saved(folder: str, count: int):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=1.0)
            saver = tf.train.Saver(max_to_keep=3)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for step in range(count):
                    session.run(v.assign_add(1.0))
                    saver.save(session, f"{folder}/model", global_step=step)

    def recovered(count: int, keep: int, **how):
        with tempfile.TemporaryDirectory() as folder:
            saved(folder, count)
            given = (
                {"checkpoint_dir": folder}
                if not how
                else {key: value.format(folder) for key, value in how.items()}
            )
            with tf.Graph().as_default():
                v = tf.get_variable("v", initializer=7.0)
                saver = tf.train.Saver(max_to_keep=keep)
                manager = tf.train.SessionManager()
                session = manager.prepare_session(
                    "", init_op=tf.global_variables_initializer(), saver=saver, **given
                )
                known = [Path(path).name for path in saver.last_checkpoints]
                value = session.run(v)
                saver.save(session, f"{folder}/model", global_step=50)
                session.close()
                names = sorted(path.name for path in Path(folder).glob("*.index"))
                return float(value), known, names

    return attempt(
        *(lambda c=count, k=keep: recovered(c, k) for count in (0, 1, 4) for keep in (1, 2, 5)),
        lambda: recovered(2, 5, checkpoint_filename_with_path="{}/model-0"),
        lambda: recovered(2, 5, checkpoint_filename_with_path="{}/nothing"),
    )


BEHAVIOURS = {"stops": _stops, "fed": _fed, "recovered": _recovered}
