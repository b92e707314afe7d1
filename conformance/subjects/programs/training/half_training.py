"""Programs that train many parameters of float16.

Adagrad and Adadelta are left out: their quotients by roots depend on the processor.
"""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

_COUNT = 5000


def _values(start: float, end: float):
    """Numbers of float16 between two bounds, with some very small and very large ones."""
    values = np.linspace(start, end, _COUNT).astype("float16")
    values[:8] = [0.0, -0.0, 6e-8, -6e-8, 6.1e-5, 1e-4, 300.0, -300.0]
    return values


def _trained(tf, optimizer, gradient, *, steps: int = 2, resource: bool):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.Variable(_values(-3.0, 2.0), use_resource=resource)
        optimizer = optimizer(tf.train)
        step = optimizer.apply_gradients([(gradient, x)])
        slots = [optimizer.get_slot(x, name) for name in optimizer.get_slot_names()]
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return session.run([x, *slots])


def _dense(tf):
    makers = (
        lambda t: t.GradientDescentOptimizer(0.3),
        lambda t: t.MomentumOptimizer(0.1, 0.9),
        lambda t: t.MomentumOptimizer(0.1, 0.5, use_nesterov=True),
        lambda t: t.RMSPropOptimizer(0.05, 0.8, 0.3),
        lambda t: t.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    )
    gradient = _values(0.75, -0.5)
    return [
        attempt(lambda m=make, r=resource: _trained(tf, m, gradient, resource=r))
        for make in makers
        for resource in (False, True)
    ]


def _rows(tf):
    """Gradients of a few long rows, some of them twice."""

    def trained(optimizer, *, resource: bool):
        with tf.Graph().as_default(), tf.Session() as session:
            table = _values(-1.0, 1.0).reshape(2, -1)
            x = tf.Variable(table, use_resource=resource)
            rows = tf.IndexedSlices(
                _values(0.5, -0.5).reshape(2, -1),
                tf.constant([1, 0]),
                tf.constant([2, _COUNT // 2]),
            )
            step = optimizer(tf.train).apply_gradients([(rows, x)])
            session.run(tf.global_variables_initializer())
            session.run([step])
            return session.run(x)

    return [
        attempt(lambda m=make, r=resource: trained(m, resource=r))
        for make in (
            lambda t: t.GradientDescentOptimizer(0.3),
            lambda t: t.MomentumOptimizer(0.1, 0.9),
        )
        for resource in (False, True)
    ]


BEHAVIOURS = {"dense": _dense, "rows": _rows}
