"""Programs of monitored sessions, session managers, device setters and timers of hooks."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _nodes(tf) -> list[str]:
    return [f"{op.name}:{op.type}" for op in tf.get_default_graph().get_operations()]


def _training(tf):
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    tf.summary.scalar("twice", add * 2)
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        hooks = [tf.train.StopAtStepHook(last_step=4)]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder,
            save_checkpoint_steps=3,
            save_summaries_steps=2,
            log_step_count_steps=2,
            hooks=hooks,
        ) as session:
            while not session.should_stop():
                seen.append(int(session.run(add)))
        files = sorted(path.name for path in Path(folder).glob("model*"))
    return [seen, files, _nodes(tf)]


def _scaffold(tf):
    tf.Variable(1.0, name="a")
    tf.Variable(2, name="b", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    scaffold = tf.train.Scaffold(init_feed_dict={}).finalize()
    keys = ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "savers")
    kept = [len(tf.get_collection(key)) for key in keys]
    with tf.Session() as session:
        missing = [
            sorted(session.run(op).tolist())
            for op in (scaffold.ready_op, scaffold.ready_for_local_init_op)
        ]
    changes = attempt(lambda: setattr(scaffold, "init_op", None), lambda: tf.constant(1))
    return [kept, missing, changes, scaffold.init_op.name, scaffold.ready_op.name]


def _refused(tf):
    tf.train.get_or_create_global_step()
    train = tf.train
    return attempt(
        lambda: train.StopAtStepHook(),
        lambda: train.StopAtStepHook(num_steps=1, last_step=2),
        lambda: train.SecondOrStepTimer(),
        lambda: train.LoggingTensorHook(["x"]),
        lambda: train.LoggingTensorHook(["x"], every_n_iter=0),
        lambda: train.LoggingTensorHook(["nowhere"], every_n_iter=1).begin(),
        lambda: train.CheckpointSaverHook("x", save_steps=1, saver=1, scaffold=train.Scaffold()),
        lambda: train.SummarySaverHook(save_steps=1),
        lambda: train.StepCounterHook(every_n_steps=None),
        lambda: train.Scaffold(copy_from_scaffold=1),
        lambda: train.SessionManager(ready_for_local_init_op=tf.constant(1)),
        lambda: train.MonitoredSession(hooks=[None]),
    )


def _clusters(tf):
    spec = tf.train.ClusterSpec({"b": ["x:1", "y:2"], "a": {2: "z:3"}, "none": []})
    return [
        spec.as_dict(),
        sorted(spec.jobs),
        repr(spec),
        spec.num_tasks("b"),
        spec.task_indices("a"),
        spec.job_tasks("a"),
        bool(spec),
        bool(tf.train.ClusterSpec({})),
        spec == tf.train.ClusterSpec(spec),
        spec == tf.train.ClusterSpec(spec.as_cluster_def()),
        spec.as_cluster_def().SerializeToString(deterministic=True),
        attempt(
            lambda: spec.num_tasks("c"),
            lambda: spec.task_address("b", 7),
            lambda: tf.train.ClusterSpec(None),
            lambda: tf.train.ClusterSpec({"a": 1}),
            lambda: tf.train.ClusterSpec({"a": [1]}),
            lambda: spec.job_tasks("none"),
        ),
    ]


def _devices(tf):
    devices = []
    for options in (
        {"ps_tasks": 2},
        {"ps_tasks": 1, "merge_devices": False},
        {"cluster": {"ps": ["a:1", "b:1", "c:1"]}},
    ):
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(**options)):
            v = [tf.Variable(i, use_resource=i % 2 == 1) for i in range(4)]
            with tf.device("/cpu:0"):
                v.append(tf.Variable(9))
            devices.append([x.device for x in v] + [(v[0] + v[1]).device])
    return [devices, tf.train.replica_device_setter(0)]


def _supervised(tf):
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    tf.Variable([1.0], name="v")
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
        with supervisor.managed_session() as session:
            while not supervisor.should_stop():
                seen.append(int(session.run(add)))
                if len(seen) == 3:
                    supervisor.request_stop()
        kept = [supervisor.init_op.name, supervisor.ready_op.name, supervisor.saver is None]
    return [seen, kept, supervisor.should_stop(), _nodes(tf)]


def _timers(tf):
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    results = [timer.should_trigger_for_step(1), timer.update_last_triggered_step(1)]
    results += [timer.should_trigger_for_step(step) for step in (1, 2, 3, 4, 9)]
    results += [timer.update_last_triggered_step(9)[1], timer.last_triggered_step()]
    timer.reset()
    return [*results, timer.last_triggered_step()]


#: Each program and its name.
BEHAVIOURS = {
    "a training and its graph": _training,
    "a scaffold": _scaffold,
    "arguments refused": _refused,
    "clusters": _clusters,
    "devices of replicas": _devices,
    "a supervised training": _supervised,
    "timers": _timers,
}
