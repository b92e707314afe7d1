"""Programs of replica device setters, moving averages, and `compute_gradients`."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _setters(tf):
    """Devices of variables and other operations, for several clusters and strategies."""
    clusters = (
        None,
        {},
        {"ps": ["a:1", "b:1"]},
        {"ps": ["a:1"], "worker": ["c:1", "d:1"]},
        {"worker": ["c:1"]},
        {"ps": {0: "a:1", 3: "b:1"}},
        {"mine": ["a:1", "b:1", "c:1"]},
    )
    options = (
        {},
        {"ps_tasks": 2},
        {"ps_tasks": 0},
        {"ps_device": "/job:mine"},
        {"worker_device": "/cpu:0"},
        {"ps_device": "/cpu:0"},
        {"ps_ops": ["Add"]},
        {"merge_devices": False, "ps_tasks": 1},
        {"ps_device": "/job:ps/cpu:0", "worker_device": "/job:worker/task:1"},
        {"ps_device": None, "ps_tasks": 2},
        {"ps_strategy": lambda op: len(op.name) % 2, "ps_tasks": 2},
        {"ps_strategy": 3, "ps_tasks": 2},
    )

    def placed(cluster, given):
        with tf.Graph().as_default():
            chooser = tf.train.replica_device_setter(cluster=cluster, **given)
            if chooser is None:
                return None
            with tf.device(chooser):
                elements = [tf.get_variable(n, [2]) for n in ("a", "bb", "c")]
                elements += [tf.get_variable("d", [2], use_resource=True), tf.constant(1.0)]
                with tf.device("/cpu:3"):
                    elements += [tf.get_variable("e", [2]), tf.add(1.0, 2.0)]
                with tf.device("/job:other"):
                    elements.append(tf.Variable(1.0))
            return [thing.device for thing in elements]

    return attempt(
        *(lambda c=cluster, o=option: placed(c, o) for cluster in clusters for option in options)
    )


def _weighted(tf):
    """Weighted moving averages, and the collections of their variables."""
    from_module = tf.train.ExponentialMovingAverage

    def averaged(**options):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            v = tf.get_variable("v", initializer=[1.0, 2.0])
            average = from_module(0.5, **options)
            update = average.apply([v, x])
            restored = sorted(average.variables_to_restore([v]))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for value in ([2.0, 4.0], [0.0, 8.0]):
                    session.run(update, {x: value})
                    session.run(v.assign_add([1.0, 1.0]))
                values = session.run([average.average(v), average.average(x)])
            keys = ("variables", "moving_average_variables", "trainable_variables")
            kept = {key: [variable.name for variable in graph.get_collection(key)] for key in keys}
            return values, kept, restored, average.average_name(v), average.name

    return attempt(
        averaged,
        lambda: averaged(zero_debias=True),
        lambda: averaged(name="named"),
        lambda: averaged(num_updates=3),
        lambda: averaged(num_updates=tf.constant(3)),
        lambda: from_module(0.5).apply([tf.constant(1)]),
        lambda: from_module(0.5).average(3),
        lambda: from_module(0.5).apply([tf.zeros([2])] * 2),
        lambda: from_module(1.5).name,
    )


def _gradients(tf):
    """`compute_gradients` with several losses, variables and gates, and None as gradients."""

    def asked(**options):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=[1.0, 2.0])
            w = tf.get_variable("w", initializer=3.0, use_resource=True)
            n = tf.get_variable("n", initializer=[1, 2], trainable=True)
            unused = tf.get_variable("unused", initializer=1.0)
            loss = tf.reduce_sum(v * v) * w
            given = {"var_list": [v, w, unused], **options}
            if given["var_list"] == "numbers":
                given["var_list"] = [v, n]
            if given["var_list"] == "tensor":
                given["var_list"] = [v + 1.0]
            optimizer = tf.train.GradientDescentOptimizer(0.5)
            pairs = optimizer.compute_gradients(loss, **given)
            step = optimizer.apply_gradients(pairs)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(step)
                values = session.run([v, w])
            return [(g, var.name) for g, var in pairs], values

    optimizer = tf.train.GradientDescentOptimizer(0.5)
    v = tf.get_variable("outside", initializer=[1.0, 2.0])
    return attempt(
        asked,
        lambda: asked(var_list=None),
        lambda: asked(var_list="numbers"),
        lambda: asked(var_list="tensor"),
        lambda: asked(var_list=[]),
        *(lambda g=gate: asked(gate_gradients=g) for gate in (1, 2, 3, None)),
        lambda: asked(colocate_gradients_with_ops=True),
        lambda: asked(grad_loss=2.0),
        lambda: asked(grad_loss=[1.0, 2.0]),
        lambda: optimizer.compute_gradients(tf.constant(1)),
        lambda: optimizer.compute_gradients(None),
        lambda: optimizer.apply_gradients([]),
        lambda: optimizer.apply_gradients([(None, v)]),
        lambda: optimizer.apply_gradients([(np.float32(1), v)]).type,
        lambda: optimizer.apply_gradients([(tf.zeros([3]), v)]).type,
        lambda: optimizer.apply_gradients([("a", v)]),
        lambda: optimizer.apply_gradients([v]),
        lambda: optimizer.minimize(tf.constant(1.0)),
        lambda: optimizer.minimize(v, var_list=[v]).type,
        lambda: (optimizer.get_name(), optimizer.get_slot_names(), optimizer.variables()),
    )


BEHAVIOURS = {"setters": _setters, "weighted": _weighted, "gradients": _gradients}
