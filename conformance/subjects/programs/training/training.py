"""Programs of learning rate decays, moving averages, slots, and gradients of optimizers."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Structure
from sessrun.spec.cases.objects import Variable

# ruff: noqa: B023 - functions that a loop defines are called in the same iteration

__all__ = ["BEHAVIOURS"]

_IMPLIED = {"_output_shapes", "T"}
#: Calls of decays with the global step, by name.
_DECAYS = (
    ("exponential_decay", (0.1, 3, 0.9), {}),
    ("exponential_decay", (0.1, 3, 0.9), {"staircase": True, "name": "named"}),
    ("natural_exp_decay", (0.1, 3, 0.9), {}),
    ("natural_exp_decay", (0.1, 3, 0.9, True), {}),
    ("inverse_time_decay", (0.1, 3, 0.9), {}),
    ("inverse_time_decay", (0.1, 3, 0.9, True), {}),
    ("polynomial_decay", (0.1, 10), {}),
    ("polynomial_decay", (0.1, 10, 0.01, 2.0), {"name": "p"}),
    ("polynomial_decay", (0.1, 10), {"cycle": True, "power": 0.5}),
    ("cosine_decay", (0.1, 10), {}),
    ("cosine_decay", (0.1, 10, 0.1), {"name": "c"}),
    ("cosine_decay_restarts", (0.1, 5), {}),
    ("cosine_decay_restarts", (0.1, 5), {"t_mul": 1.0, "m_mul": 0.5, "alpha": 0.1}),
    ("linear_cosine_decay", (0.1, 10), {}),
    ("linear_cosine_decay", (0.1, 10), {"num_periods": 2.0, "alpha": 0.1, "beta": 0.01}),
    ("noisy_linear_cosine_decay", (0.1, 10), {"initial_variance": 0.0}),
)


def nodes_of(graph):
    """The nodes of a graph with all their attributes; control inputs are sorted."""
    return [
        [
            node.name,
            node.op,
            *[name for name in node.input if name[0] != "^"],
            *sorted(name for name in node.input if name[0] == "^"),
            {key: str(value) for key, value in node.attr.items() if key not in _IMPLIED},
        ]
        for node in graph.as_graph_def().node
    ]


def _shown(value):
    return np.vectorize("{:.4g}".format)(value).tolist()


def _module(tf, path: str):
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else "sessrun.reference"
    return importlib.import_module(f"{package}.python.training.{path}")


def _decayed(tf, name: str, arguments, options, dtype):
    def build_and_run():
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            step = tf.placeholder(dtype, [], name="step")
            first, *rest = arguments
            rate = getattr(tf.train, name)(first, step, *rest, **options)
            with tf.Session() as session:
                values = [_shown(session.run(rate, {step: n})) for n in (0, 1, 3, 7, 10, 23)]
            return rate, nodes_of(graph), values

    return attempt(build_and_run)


def _decays(tf):
    return [_decayed(tf, *call, dtype) for call in _DECAYS for dtype in (tf.int32, tf.int64)]


def _pieces(tf):
    outcomes = []
    for x, bounds, values in (
        (5, [5, 10], [1.0, 0.5, 0.1]),
        (np.int64(6), [5, 10], [1.0, 0.5, 0.1]),
        (2.5, [2.5], [1, 2]),
        (11, [5, 10], [1.0, 0.5, 0.1]),
        (7, [1.0], [1.0, 2.0]),
        (7, [1], [1.0, 2]),
        (7, [1, 2], [1.0, 2.0]),
        (7, [1], [1.0, np.float64(2)]),
    ):

        def build_and_run():
            with tf.Graph().as_default() as graph:
                rate = tf.train.piecewise_constant(x, bounds, values)
                tf.train.piecewise_constant_decay(x, bounds, values, name="named")
                nodes = nodes_of(graph)
                with tf.Session() as session:
                    return rate, nodes, session.run(rate)

        outcomes += attempt(build_and_run)
    return outcomes


def _variable(tf, kind: bool, name: str = "v", **options):
    return tf.get_variable(name, initializer=[10.0, 11.0], use_resource=kind, **options)


def _averaged(tf, kind: bool, **options):
    def build_and_run():
        with tf.Graph().as_default() as graph:
            v = _variable(tf, kind)
            t = tf.identity(v * 2, name="t")
            average = tf.train.ExponentialMovingAverage(0.25, **options)
            before = [average.average_name(v), average.average(v), average.name]
            update = average.apply([v, t])
            restored = sorted((key, x.name) for key, x in average.variables_to_restore().items())
            kept = [x.name for x in tf.moving_average_variables()]
            facts = [
                before,
                average.average_name(v),
                average.average_name(t),
                average.average(t),
                update,
                restored,
                kept,
                [x.name for x in tf.global_variables()],
            ]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                values = []
                for number in range(3):
                    session.run(v.assign([number, 4.0]))
                    session.run(update)
                    values.append([_shown(session.run(average.average(x))) for x in (v, t)])
            return facts, values, nodes_of(graph)

    return attempt(build_and_run)


def _averages(tf):
    return [
        _averaged(tf, kind, **options)
        for kind in (False, True)
        for options in ({}, {"zero_debias": True, "name": "E"}, {"num_updates": 3})
    ] + attempt(
        lambda: tf.train.ExponentialMovingAverage(0.1).apply([tf.Variable(1)]),
        lambda: tf.train.ExponentialMovingAverage(0.1).apply(),
    )


def _moved(tf):
    moving = _module(tf, "moving_averages")

    def build_and_run(build: Callable[[Variable], Structure]):
        with tf.Graph().as_default() as graph:
            output = build(_variable(tf, False))
            nodes = nodes_of(graph)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return output, nodes, [_shown(session.run(output)) for _ in range(2)]

    return attempt(
        lambda: build_and_run(lambda v: moving.assign_moving_average(v, [0.0, 1.0], 0.25)),
        lambda: build_and_run(
            lambda v: moving.assign_moving_average(
                v, tf.constant([0.0, 1.0]), tf.constant(0.5), zero_debias=False, name="n"
            )
        ),
        lambda: build_and_run(
            lambda _: moving.weighted_moving_average(
                tf.constant([2.0, 3.0]), 0.5, tf.constant([1.0, 2.0])
            )
        ),
        lambda: build_and_run(
            lambda _: moving.weighted_moving_average(
                tf.constant([2.0, 3.0]), 0.5, tf.constant(0.5), truediv=False, name="w"
            )
        ),
    )


def _slots(tf):
    creator = _module(tf, "slot_creator")

    def build_and_run(kind: bool):
        with tf.Graph().as_default() as graph:
            v = _variable(tf, kind)
            with tf.variable_scope("scope"):
                s = creator.create_slot(v, tf.constant([1.0, 2.0]), "slot")
            z = creator.create_zeros_slot(v, "zero", dtype=tf.float64)
            i = creator.create_slot_with_initializer(
                v,
                tf.ones_initializer(),
                tf.TensorShape([3]),
                tf.int32,
                "begin",
                colocate_with_primary=False,
            )
            t = creator.create_zeros_slot(tf.constant([[1.0]], name="t"), "of_tensor")
            open_ = tf.Variable([1.0], validate_shape=False, name="open", use_resource=kind)
            o = creator.create_zeros_slot(open_, "z")
            with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
                parts = tf.get_variable("p", [4], use_resource=kind)
                ps = [creator.create_zeros_slot(part, "m") for part in parts]
            facts = [
                (x.name, x.dtype.base_dtype, x.shape.as_list() if x.shape.ndims else None)
                for x in (s, z, i, t, o, *ps)
            ]
            cuts = [str(part._get_save_slice_info().to_proto()) for part in ps]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return facts, cuts, session.run([s, z, i, t, o]), nodes_of(graph)

    return attempt(lambda: build_and_run(False), lambda: build_and_run(True))


def _pairs(tf):
    """`compute_gradients` with several options, and `apply_gradients` of incomplete pairs."""
    sgd = tf.train.GradientDescentOptimizer(0.5)
    outcomes = []
    for kind in (False, True):
        v, w = _variable(tf, kind, f"v{kind}"), _variable(tf, kind, f"w{kind}")
        loss = tf.reduce_sum(v * v, name="loss")
        c = tf.constant([1.0, 2.0])
        outcomes += attempt(
            *(
                lambda gate=gate: sgd.compute_gradients(loss, [v, w], gate_gradients=gate)
                for gate in (0, 1, 2, 3)
            ),
            lambda: sgd.compute_gradients(loss, [v], grad_loss=tf.constant(2.0)),
            lambda: sgd.compute_gradients(loss, [v], grad_loss=tf.constant(2)),
            lambda: sgd.compute_gradients(loss, []),
            lambda: sgd.compute_gradients(loss, [3]),
            lambda: sgd.compute_gradients(tf.constant(1), [v]),
            lambda: sgd.compute_gradients(c * 2, [c]),
            lambda: sgd.compute_gradients(loss, {"a": v, "b": (w,)}),
            lambda: sgd.apply_gradients([]),
            lambda: sgd.apply_gradients([(None, v)]),
            lambda: sgd.apply_gradients([(c, c)]),
            lambda: sgd.apply_gradients([("a", v)]),
            lambda: sgd.apply_gradients([(object(), v)]),
            lambda: sgd.apply_gradients([([1.0, 2.0], v), (None, w)], name="named"),
            lambda: sgd.minimize(loss, var_list=[w]),
            lambda: sgd.minimize(loss, var_list=[v], name="scope/named"),
        )
    return outcomes


def _refused(tf):
    train = tf.train
    return attempt(
        lambda: train.Optimizer(False, ""),
        lambda: train.Optimizer(False, "o").get_name(),
        lambda: train.AdagradOptimizer(1.0, 0.0),
        lambda: train.FtrlOptimizer(1.0, 0.5),
        lambda: train.FtrlOptimizer(1.0, initial_accumulator_value=-1.0),
        lambda: train.FtrlOptimizer(1.0, l1_regularization_strength=-1.0),
        lambda: train.FtrlOptimizer(1.0, l2_regularization_strength=-1.0),
        lambda: train.FtrlOptimizer(1.0, l2_shrinkage_regularization_strength=-1.0),
        lambda: train.ProximalAdagradOptimizer(1.0, -1.0),
        lambda: train.AdagradDAOptimizer(1.0, tf.Variable(0), 0.0),
        lambda: train.Optimizer(False, "o").apply_gradients([([1.0], tf.Variable([1.0]))]),
        lambda: train.AdamOptimizer().get_slot(tf.Variable(1.0), "m"),
        lambda: train.AdamOptimizer().minimize(tf.Variable(1, name="i") * 2),
        lambda: [train.Optimizer.GATE_NONE, train.Optimizer.GATE_OP, train.Optimizer.GATE_GRAPH],
    )


def _subclassed(tf):
    """An optimizer of the program, by the methods that subclasses may override."""

    class Sign(tf.train.Optimizer):  # type: ignore[misc, name-defined]  # of either namespace
        def __init__(self) -> None:
            super().__init__(use_locking=False, name="Sign")

        def _create_slots(self, var_list) -> None:
            first = min(var_list, key=lambda v: v.name)
            self._create_non_slot_variable(initial_value=1.0, name="count", colocate_with=first)
            for v in var_list:
                self._zeros_slot(v, "last", self._name)
                self._get_or_make_slot(v, tf.ones_like(v), "kept", self._name)

        def _prepare(self) -> None:
            self._rate = tf.convert_to_tensor(self._call_if_callable(lambda: 0.5), name="rate")

        def _apply_dense(self, grad, var):
            kept = self.get_slot(var, "last").assign(grad)
            return tf.group(var.assign_sub(self._rate * tf.sign(grad)), kept)

        def _resource_apply_dense(self, grad, handle):
            return self._apply_dense(grad, handle)

        def _apply_sparse(self, grad, var):
            return var.scatter_sub(tf.IndexedSlices(self._rate * grad.values, grad.indices))

        def _finish(self, update_ops, name_scope: str):
            with tf.control_dependencies(update_ops):
                count = self._get_non_slot_variable("count", tf.get_default_graph())
                return tf.group(*update_ops, count.assign_add(1.0), name=name_scope)

    def build_and_run(kind: bool, rows: bool):
        with tf.Graph().as_default() as graph:
            v = _variable(tf, kind, constraint=None if rows else tf.abs)
            w = _variable(tf, kind, "w")
            picked = tf.gather(v, [1, 1]) if rows else v * v
            optimizer = Sign()
            train = optimizer.minimize(tf.reduce_sum(picked) + tf.reduce_sum(w))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                values = session.run([v, w, *optimizer.variables()])
            return train, optimizer.get_slot_names(), values, nodes_of(graph)

    return attempt(
        *(
            lambda kind=kind, rows=rows: build_and_run(kind, rows)
            for kind in (False, True)
            for rows in (False, True)
        )
    )


def _constrained(tf):
    """Constraints of variables whose loss contains a conditional or a loop."""

    def build_and_run(kind: bool, flow: str):
        with tf.Graph().as_default():
            v = _variable(tf, kind, constraint=lambda x: tf.clip_by_value(x, -1.0, 8.5))
            loss = tf.reduce_sum(v * v)
            if flow == "cond":
                loss = tf.cond(loss > 100.0, lambda: loss * 0.25, lambda: loss * 0.5)
            elif flow == "while":
                _, loss = tf.while_loop(
                    lambda i, _: i < 2, lambda i, x: (i + 1, x * 0.5), [0, loss]
                )
            train = tf.train.MomentumOptimizer(0.25, 0.5).minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return [(session.run(train), _shown(session.run(v)))[1] for _ in range(3)]

    return attempt(
        *(
            lambda kind=kind, flow=flow: build_and_run(kind, flow)
            for kind in (False, True)
            for flow in ("plain", "cond", "while")
        )
    )


def _replicas(tf):
    """SyncReplicasOptimizer with one replica and the chief's hook: nodes, and three steps."""

    def build_and_run(kind: bool, rows: bool):
        with tf.Graph().as_default() as graph:
            v = _variable(tf, kind)
            x = tf.gather(v, [1, 1]) if rows else v * v
            step = tf.train.get_or_create_global_step()
            sync = tf.train.SyncReplicasOptimizer(
                tf.train.MomentumOptimizer(0.125, 0.5), 1, total_num_replicas=1
            )
            refused = attempt(
                sync.get_init_tokens_op,
                sync.get_chief_queue_runner,
                lambda: sync.apply_gradients([]),
            )
            train = sync.minimize(tf.reduce_sum(x), global_step=step)
            hook = sync.make_session_run_hook(True)
            nodes = nodes_of(graph)
            init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
            hook.begin()
            with tf.Session() as session:
                session.run(init)
                hook.after_create_session(session, tf.train.Coordinator())
                counts = [session.run(train) for _ in range(3)]
            facts = [sync.get_slot_names(), sync.get_slot(v, "momentum"), sync.variables()]
            return refused, train, nodes, counts, facts

    return attempt(
        *(
            lambda kind=kind, rows=rows: build_and_run(kind, rows)
            for kind in (False, True)
            for rows in (False, True)
        )
    )


BEHAVIOURS = {
    "constrained": _constrained,
    "replicas": _replicas,
    "decays": _decays,
    "pieces": _pieces,
    "averages": _averages,
    "moved": _moved,
    "slots": _slots,
    "pairs": _pairs,
    "refused": _refused,
    "subclassed": _subclassed,
}
