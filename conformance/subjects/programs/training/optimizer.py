"""Programs of optimizers: the nodes of `minimize`, and the losses of twenty steps."""

from __future__ import annotations

import itertools

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["BEHAVIOURS"]

_IMPLIED = {"_output_shapes", "T"}
#: Every optimizer by name, as a function of the namespace.
OPTIMIZERS = {
    "descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(
        lambda: 0.1, 0.5, use_locking=True, use_nesterov=True
    ),
    "adam": lambda tf: tf.train.AdamOptimizer(0.05),
    "adam_own": lambda tf: tf.train.AdamOptimizer(
        0.05, name="Own", use_own_namescope_for_non_slot_vars=True
    ),
    "rms_prop": lambda tf: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "centered": lambda tf: tf.train.RMSPropOptimizer(0.05, centered=True, epsilon=1e-3),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.3),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(
        0.5,
        tf.train.get_or_create_global_step(),
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.01,
    ),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01),
    "ftrl_v2": lambda tf: tf.train.FtrlOptimizer(
        0.5,
        -0.6,
        l2_regularization_strength=0.1,
        beta=0.2,
        accum_name="A",
        linear_name="L",
        l2_shrinkage_regularization_strength=0.01,
    ),
    "proximal": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(
        0.3, l1_regularization_strength=0.01
    ),
}


def _nodes(graph):
    """The nodes of a graph with all their attributes and the values of constants."""
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


def _loss(tf, kind: bool, dtype, rows: bool):
    """A loss of a matrix and a vector; of the matrix by all rows or by some, one of them twice."""
    w = tf.get_variable(
        "w", initializer=tf.constant([[1.0, 2], [-3, 4], [5, -6]], dtype), use_resource=kind
    )
    b = tf.get_variable("b", initializer=tf.constant([0.5, -0.5], dtype), use_resource=kind)
    weights = tf.constant([[1, 2, 3], [0, 1, 1]], dtype)
    taken = tf.gather(w, [0, 2, 0]) if rows else tf.matmul(weights, w)
    return tf.reduce_sum(tf.square(taken + b)), w, b


def _trained(tf, make: Program, kind: bool, dtype, rows: bool):
    """The slots, the nodes, and the losses of twenty steps."""

    def build_and_run():
        with tf.Graph().as_default() as graph:
            loss, w, b = _loss(tf, kind, dtype, rows)
            optimizer = make(tf)
            step = tf.train.get_or_create_global_step()
            train = optimizer.minimize(loss, global_step=step)
            init = tf.global_variables_initializer()
            names = optimizer.get_slot_names()
            facts = [
                optimizer.get_name(),
                names,
                train,
                [[optimizer.get_slot(v, name) for name in names] for v in (w, b)],
                [v.name for v in optimizer.variables()],
                [op.name for op in tf.get_collection(tf.GraphKeys.TRAIN_OP)],
                [v.name for v in tf.global_variables()],
                [v.name for v in tf.trainable_variables()],
            ]
            with tf.Session() as session:
                session.run(init)
                losses = []
                for _ in range(20):
                    session.run(train)
                    losses.append(f"{session.run(loss):.3g}")
                return facts, _nodes(graph), losses, session.run(step)

    return attempt(build_and_run)


def _of_one(name: str) -> Program:
    def program(tf):
        choices = itertools.product((False, True), (tf.float32, tf.float64), (False, True))
        return [_trained(tf, OPTIMIZERS[name], *choice) for choice in choices]

    return program


def _own(tf):
    """An optimizer that a program derives, with some of the methods for applying gradients."""

    class Own(tf.train.Optimizer):  # type: ignore[misc,name-defined]  # of the namespace
        """Applies dense gradients to reference variables, and sparse ones to resource variables."""

        def _apply_dense(self, grad, var):
            return tf.assign_sub(var, grad)

        def _resource_apply_sparse(self, grad, handle, indices):
            return tf.scatter_sub(handle, indices, grad)

    outcomes = []
    for kind, rows in itertools.product((False, True), (False, True)):
        for make in (lambda: Own(False, "own"), lambda: tf.train.Optimizer(False, "none")):

            def trained(make=make, kind: bool = kind, rows: bool = rows):
                with tf.Graph().as_default(), tf.Session() as session:
                    loss, w, _ = _loss(tf, kind, tf.float32, rows)
                    step = make().minimize(loss, var_list=[w])
                    session.run(tf.global_variables_initializer())
                    session.run(step)
                    return session.run(w)

            outcomes += attempt(trained)
    return outcomes


BEHAVIOURS = {name: _of_one(name) for name in OPTIMIZERS} | {"of_a_program": _own}
