"""Vectors of OPTIMIZERS that steps of the classes show: formulas, slots, rows, gates."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near
from sessrun.conformance.subjects.optimizers.cases.optimizers import begun, floats, seen, variable

#: The folder of vectors, which this module shares with another.
VECTORS = "optimizers"


_NEAR: Final = "close(1e-5, 1e-6)"


def _matrix(c: ApiAuthor, values: Recordable, *, is_resource: bool) -> Symbol:
    variable: Symbol = c.tf.Variable(np.array(values, np.float32), use_resource=is_resource)
    return variable


@api_case("OPTIMIZERS-049", title="Two steps of Adam on variables of both kinds, and their slots.")
def two_steps_of_adam(c: ApiAuthor) -> None:
    v, w = _matrix(c, [1], is_resource=True), _matrix(c, [1], is_resource=False)
    adam = c.tf.train.AdamOptimizer(0.5, beta1=0.5, beta2=0.75, epsilon=0.25)
    train = adam.apply_gradients([(floats(2), v), (floats(-4), w)])
    sess = begun(c)
    one, two = np.array([1.0]), np.array([1.0])
    first, second = np.zeros((2, 1)), np.zeros((2, 1))
    for step in (1, 2):
        sess.run(train)
        rate = 0.5 * np.sqrt(1 - 0.75**step) / (1 - 0.5**step)
        grads = np.array([[2.0], [-4.0]])
        first, second = 0.5 * first + 0.5 * grads, 0.75 * second + 0.25 * grads**2
        moved = rate * first / (np.sqrt(second) + 0.25)
        one, two = one - moved[0], two - moved[1]
        seen(c, sess, v, *one)
        seen(c, sess, w, *two)
        for row, of in enumerate((v, w)):
            seen(c, sess, adam.get_slot(of, "m"), *first[row])
            seen(c, sess, adam.get_slot(of, "v"), *second[row])


@api_case("OPTIMIZERS-049", title="Momentum that looks ahead, of two variables.")
def two_steps_with_nesterov(c: ApiAuthor) -> None:
    v, w = _matrix(c, [1], is_resource=True), _matrix(c, [1], is_resource=False)
    momentum = c.tf.train.MomentumOptimizer(0.5, 0.5, use_nesterov=True)
    train = momentum.apply_gradients([(floats(1), v), (floats(2), w)])
    sess = begun(c)
    for values, slots in (((0.25, -0.5), (1, 2)), ((-0.625, -2.25), (1.5, 3))):
        sess.run(train)
        for of, value, slot in zip((v, w), values, slots, strict=True):
            seen(c, sess, of, value)
            seen(c, sess, momentum.get_slot(of, "momentum"), slot)


@api_case("OPTIMIZERS-049", title="Two steps of Momentum on eight variables of both kinds.")
def two_steps_on_eight_variables(c: ApiAuthor) -> None:
    variables = [_matrix(c, [number], is_resource=number % 2 == 0) for number in range(8)]
    momentum = c.tf.train.MomentumOptimizer(0.5, 0.5)
    pairs = [(floats(number + 1), v) for number, v in enumerate(variables)]
    train = momentum.apply_gradients(pairs)
    sess = begun(c)
    for moved, slot in ((0.5, 1.0), (1.25, 1.5)):
        sess.run(train)
        for number, v in enumerate(variables):
            seen(c, sess, v, number - moved * (number + 1))
            seen(c, sess, momentum.get_slot(v, "momentum"), slot * (number + 1))


@api_case("OPTIMIZERS-050", title="Momentum leaves rows alone that have no gradient.")
def rows_without_gradient_stay(c: ApiAuthor) -> None:
    momentum = c.tf.train.MomentumOptimizer(1.0, 0.5)
    v = _matrix(c, [[1], [2], [3]], is_resource=True)
    picked = c.tf.placeholder(c.tf.int32, [None])
    gathered = c.tf.reduce_sum(c.tf.gather(v, picked))
    pairs = momentum.compute_gradients(gathered)
    c.check_instance(pairs[0][0], c.tf.IndexedSlices)
    train = momentum.apply_gradients(pairs)
    sess = begun(c)
    for rows, values, slots in (
        ([0, 2], [[0], [2], [2]], [[1], [0], [1]]),
        ([2, 1], [[0], [1], [0.5]], [[1], [1], [1.5]]),
    ):
        sess.run(train, {picked: np.array(rows, np.int32)})
        c.check(sess.run(v), near(np.array(values, np.float32), _NEAR))
        slot = sess.run(momentum.get_slot(v, "momentum"))
        c.check(slot, near(np.array(slots, np.float32), _NEAR))


def _adds_equal_rows(c: ApiAuthor, optimizer: Symbol, *slots: str, **options: Recordable) -> None:
    """A step on one index twice must be that on it once, for variables of both kinds."""
    rows = np.array([[10], [20]], np.float32)
    halves, total = (c.tf.constant(np.array(g, np.float32)) for g in ([[1], [2]], [[3]]))
    twice = c.tf.IndexedSlices(halves, c.tf.constant([1, 1]))
    once = c.tf.IndexedSlices(total, c.tf.constant([1]))
    pairs, same = [], []
    for is_resource in (True, False):
        v, w = (_matrix(c, rows, is_resource=is_resource) for _ in range(2))
        pairs += [(twice, v), (once, w)]
        same.append((v, w))
    train = optimizer.apply_gradients(pairs, **options)
    same += [
        (optimizer.get_slot(v, slot), optimizer.get_slot(w, slot))
        for slot in slots
        for v, w in list(same)
    ]
    differences = [c.tf.subtract(v, w) for v, w in same]
    sess = begun(c)
    sess.run(train)
    none = np.zeros([2, 1], np.float32)
    c.check(sess.run(differences), near([none for _ in differences], _NEAR))
    moved = [c.tf.not_equal(v, rows) for v, _ in same[:2]]
    c.check(sess.run([m[1] for m in moved]), [np.array([True]), np.array([True])])


@api_case("OPTIMIZERS-036", title="Descent, Momentum and Adam add rows of one index.")
def equal_rows_of_momentum(c: ApiAuthor) -> None:
    train = c.tf.train
    _adds_equal_rows(c, train.GradientDescentOptimizer(0.5))
    _adds_equal_rows(c, train.MomentumOptimizer(0.5, 0.5, use_nesterov=True), "momentum")
    _adds_equal_rows(c, train.AdamOptimizer(0.5, epsilon=0.25), "m", "v")


@api_case("OPTIMIZERS-036", title="Optimizers with squares of gradients add rows of one index.")
def equal_rows_of_squares(c: ApiAuthor) -> None:
    train = c.tf.train
    _adds_equal_rows(c, train.AdagradOptimizer(0.5), "accumulator")
    _adds_equal_rows(c, train.AdadeltaOptimizer(0.5, epsilon=0.25), "accum", "accum_update")
    _adds_equal_rows(c, train.RMSPropOptimizer(0.5, momentum=0.5), "rms", "momentum")
    centered = train.RMSPropOptimizer(0.5, epsilon=0.25, centered=True)
    _adds_equal_rows(c, centered, "mg", "rms", "momentum")


@api_case("OPTIMIZERS-036", title="Optimizers with norms of variables add rows of one index.")
def equal_rows_of_norms(c: ApiAuthor) -> None:
    train = c.tf.train
    norms = {"l1_regularization_strength": 0.125, "l2_regularization_strength": 0.5}
    _adds_equal_rows(c, train.FtrlOptimizer(0.5, **norms), "accum", "linear")
    _adds_equal_rows(c, train.ProximalGradientDescentOptimizer(0.5, **norms))
    _adds_equal_rows(c, train.ProximalAdagradOptimizer(0.5, **norms), "accumulator")
    step = train.get_or_create_global_step()
    averaged = train.AdagradDAOptimizer(0.5, step, **norms)
    slots = "gradient_accumulator", "gradient_squared_accumulator"
    _adds_equal_rows(c, averaged, *slots, global_step=step)


@api_case(
    "OPTIMIZERS-051", title="All gradients are of the values before the step, which is counted."
)
def gradients_are_of_the_values_before(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = variable(c, "v", (3,)), variable(c, "w", (5,))
    sgd = tf.train.GradientDescentOptimizer(0.5)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.multiply(v, w))
    train = sgd.minimize(loss, global_step=step, gate_gradients=sgd.GATE_GRAPH)
    sess = begun(c)
    sess.run(train)
    c.check(sess.run(step), np.int64(1))
    seen(c, sess, v, 0.5)
    seen(c, sess, w, 3.5)
    sess.run(train)
    seen(c, sess, v, -1.25)
    seen(c, sess, w, 3.25)
