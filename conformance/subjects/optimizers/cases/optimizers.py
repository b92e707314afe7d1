"""Vectors of OPTIMIZERS: the classes of `tf.train`, slots, decays of learning rates, averages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near
from sessrun.spec.forms import Json

_NEAR = "close(1e-5, 1e-6)"


def floats(*values: npt.ArrayLike) -> np.ndarray:
    """A float32 vector."""
    return np.array(values, np.float32)


def variable(
    c: ApiAuthor, name: str = "v", values: Sequence[float] = (1, 2), **options: Recordable
) -> Symbol:
    """A resource variable of that name that begins with these values."""
    result: Symbol = c.tf.get_variable(
        name, initializer=floats(*values), use_resource=True, **options
    )
    return result


def begun(c: ApiAuthor) -> Symbol:
    """A session in which all variables are initialized."""
    sess: Symbol = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    return sess


def seen(c: ApiAuthor, sess: Symbol, fetched: Symbol, *values: npt.ArrayLike) -> None:
    """Fetching must give this vector, up to rounding."""
    c.check(sess.run(fetched), near(floats(*values), _NEAR))


def momentum(c: ApiAuthor) -> Symbol:
    """An optimizer with slots."""
    optimizer: Symbol = c.tf.train.MomentumOptimizer(0.5, 0.5)
    return optimizer


# --- slots --------------------------------------------------------------------------------


@api_case("OPTIMIZERS-030", title="Slots are named for the variable and the optimizer.")
def slots_are_named_for_both(c: ApiAuthor) -> None:
    v = variable(c)
    adam = c.tf.train.AdamOptimizer(0.5)
    adam.apply_gradients([(floats(1, 1), v)])
    c.check(adam.get_slot(v, "m").name, "v/Adam:0")
    c.check(adam.get_slot(v, "v").name, "v/Adam_1:0")
    named = c.tf.train.MomentumOptimizer(0.5, 0.5, name="mine")
    named.apply_gradients([(floats(1, 1), v)])
    c.check(named.get_slot(v, "momentum").name, "v/mine:0")


@api_case("OPTIMIZERS-031", title="Slots are global, not trainable, like their variable.")
def slots_are_like_their_variable(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.get_variable("v", initializer=np.ones((2, 3)), use_resource=False)
    momentum(c).apply_gradients([(np.ones((2, 3)), v)])
    c.check(c.expr("$len", tf.global_variables()), 2)
    c.check(c.expr("$len", tf.trainable_variables()), 1)
    slot = tf.global_variables()[1]
    c.check(slot.name, "v/Momentum:0")
    c.check(slot.shape.as_list(), [2, 3])
    c.check(slot.dtype.base_dtype.name, "float64")
    c.check(slot.op.type, "VariableV2")


@api_case("OPTIMIZERS-057", title="The names of slots are sorted.")
def names_of_slots_are_sorted(c: ApiAuthor) -> None:
    rms = c.tf.train.RMSPropOptimizer(0.5)
    c.check(rms.get_slot_names(), [])
    rms.apply_gradients([(floats(1, 1), variable(c))])
    c.check(rms.get_slot_names(), ["momentum", "rms"])


@api_case("OPTIMIZERS-058", title="Slots by their names.")
def slots_are_found_by_name(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = variable(c), variable(c, "w")
    rms = tf.train.RMSPropOptimizer(0.5)
    c.check(rms.get_slot(v, "rms"), None)
    rms.apply_gradients([(floats(1, 1), v)])
    c.check(rms.get_slot(w, "rms"), None)
    c.check(rms.get_slot(v, "other"), None)
    c.check(rms.get_slot(v, "rms").name, "v/RMSProp:0")
    c.check_same(rms.get_slot(v, "rms"), rms.get_slot(v, "rms"))


# --- gradients ----------------------------------------------------------------------------


@api_case("OPTIMIZERS-033", title="The global step counts the runs.")
def the_global_step_counts_runs(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(
        [(floats(1, 1), v)], global_step=step
    )
    sess = begun(c)
    for count in (1, 2, 3):
        sess.run(train)
        c.check(sess.run(step), np.int64(count))
    seen(c, sess, v, -2, -1)


@api_case("OPTIMIZERS-034", title="A variable without a gradient stays.")
def a_variable_without_gradient_stays(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = variable(c), variable(c, "w")
    sgd = tf.train.GradientDescentOptimizer(1.0)
    c.raises("ValueError", lambda: sgd.apply_gradients([(None, v), (None, w)]))
    c.raises("ValueError", lambda: sgd.apply_gradients([]))
    train = sgd.apply_gradients([(None, v), (floats(1, 1), w)])
    sess = begun(c)
    sess.run(train)
    seen(c, sess, v, 1, 2)
    seen(c, sess, w, 0, 1)


@api_case("OPTIMIZERS-035", title="Trainable variables are optimized, and only those.")
def trainable_variables_are_optimized(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = variable(c), variable(c, "w", trainable=False)
    x = variable(c, "x")
    loss = tf.reduce_sum(tf.add(tf.multiply(v, w), x))
    pairs = tf.train.GradientDescentOptimizer(1.0).compute_gradients(loss)
    c.check(c.expr("$len", pairs), 2)
    c.check_same(pairs[0][1], v)
    c.check_same(pairs[1][1], x)


@api_case("OPTIMIZERS-036", title="Rows of one index are added before a step.")
def equal_rows_are_added(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.get_variable("v", initializer=np.array([[10], [20]], np.float32), use_resource=True)
    rows = tf.IndexedSlices(np.array([[1], [2]], np.float32), np.array([1, 1]))
    optimizer = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=16.0)
    train = optimizer.apply_gradients([(rows, v)])
    sess = begun(c)
    sess.run(train)
    c.check(sess.run(optimizer.get_slot(v, "accumulator")), np.array([[16], [25]], np.float32))
    c.check(sess.run(v), near(np.array([[10], [20 - 3 / 5]], np.float32), _NEAR))


@api_case("OPTIMIZERS-037", title="Adam moves rows that have no gradient.")
def adam_moves_all_rows(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c, values=(10, 20))
    adam = tf.train.AdamOptimizer(0.5, beta1=0.5, beta2=0.75, epsilon=0.0)
    first = adam.apply_gradients([(floats(2, 2), v)])
    rows = tf.IndexedSlices(floats(0), np.array([1]))
    second = adam.apply_gradients([(rows, v)])
    sess = begun(c)
    sess.run(first)
    seen(c, sess, v, 9.5, 19.5)
    sess.run(second)
    # The moments are 0.5 and 0.75; the rate is 0.5 * sqrt(1 - 0.5625) / (1 - 0.25).
    moved = 0.5 * 0.4375**0.5 / 0.75 * 0.5 / 0.75**0.5
    seen(c, sess, v, 9.5 - moved, 19.5 - moved)


@api_case("OPTIMIZERS-038", title="The powers of Adam's betas.")
def powers_are_raised_after_steps(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c)
    adam = tf.train.AdamOptimizer(0.5, beta1=0.5, beta2=0.75)
    train = adam.apply_gradients([(floats(1, 1), v)])
    c.check(adam.variables()[0].name, "beta1_power:0")
    sess = begun(c)
    for count in (1, 2, 3):
        c.check(
            sess.run([adam.variables()[0], adam.variables()[1]]),
            [np.float32(0.5**count), np.float32(0.75**count)],
        )
        sess.run(train)


@api_case("OPTIMIZERS-039", title="A constraint is applied after the step.")
def a_constraint_is_applied(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c, constraint=tf.abs)
    w = tf.get_variable("w", initializer=floats(1, 2), use_resource=False, constraint=tf.abs)
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(
        [(floats(3, 1), v), (floats(4, 1), w)]
    )
    sess = begun(c)
    sess.run(train)
    seen(c, sess, v, 2, 1)
    seen(c, sess, w, 3, 1)


# --- learning rates -----------------------------------------------------------------------


@api_case("OPTIMIZERS-040", title="A function that is an argument is called at the end.")
def functions_are_called_late(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c)
    kept: dict[str, Json] = {"$item": [{"$call": "tf.get_collection", "args": ["rates"]}, 0]}
    sgd = tf.train.GradientDescentOptimizer(c.function([], lambda: Symbol(c, kept)))
    tf.add_to_collection("rates", tf.constant(0.25))
    train = sgd.apply_gradients([(floats(4, 4), v)])
    sess = begun(c)
    sess.run(train)
    seen(c, sess, v, 0, 1)


@api_case("OPTIMIZERS-041", title="A learning rate that is fed.")
def a_rate_is_computed_in_each_run(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c)
    rate = tf.placeholder(tf.float32, [], name="rate")
    train = tf.train.GradientDescentOptimizer(rate).apply_gradients([(floats(1, 1), v)])
    sess = begun(c)
    sess.run(train, {"rate:0": 1.0})
    seen(c, sess, v, 0, 1)
    sess.run(train, {"rate:0": 0.5})
    seen(c, sess, v, -0.5, 0.5)


def decayed(
    c: ApiAuthor, name: str, at: dict[int, float], *args: Recordable, **options: Recordable
) -> None:
    """A learning rate of 1 must have decayed to `at[count]` after `count` steps."""
    tf = c.tf
    step = tf.placeholder(tf.int32, [], name="step")
    rate = getattr(tf.train, name)(1.0, step, *args, **options)
    sess = tf.Session()
    for count, want in at.items():
        c.check(sess.run(rate, {"step:0": np.int32(count)}), near(np.float32(want), _NEAR))


@api_case("OPTIMIZERS-053", title="Exponential decay is continuous.")
def exponential_decay_is_continuous(c: ApiAuthor) -> None:
    decayed(c, "exponential_decay", {0: 1, 1: 0.5, 2: 0.25, 3: 0.125}, 2, 0.25)


@api_case("OPTIMIZERS-054", title="Exponential decay as a staircase.")
def exponential_decay_is_a_staircase(c: ApiAuthor) -> None:
    at = {0: 1.0, 1: 1.0, 2: 0.25, 3: 0.25, 4: 0.0625}
    decayed(c, "exponential_decay", at, 2, 0.25, staircase=True)


@api_case("OPTIMIZERS-043", title="A boundary belongs to the piece before it.")
def a_boundary_is_of_the_piece_before(c: ApiAuthor) -> None:
    tf = c.tf
    step = tf.placeholder(tf.int32, [], name="step")
    rate = tf.train.piecewise_constant(step, [2, 4], [1.0, 0.5, 0.25])
    sess = tf.Session()
    for count, want in ((0, 1), (2, 1), (3, 0.5), (4, 0.5), (5, 0.25)):
        c.check(sess.run(rate, {"step:0": np.int32(count)}), np.float32(want))


@api_case("OPTIMIZERS-055", title="Polynomial decay stays at its end.")
def polynomial_decay_stays(c: ApiAuthor) -> None:
    at = {0: 1.0, 2: 0.2 + 0.8 * 0.25, 4: 0.2, 9: 0.2}
    decayed(c, "polynomial_decay", at, 4, 0.2, power=2.0)


@api_case("OPTIMIZERS-056", title="Polynomial decay begins anew.")
def polynomial_decay_begins_anew(c: ApiAuthor) -> None:
    at = {0: 1.0, 4: 0.2, 5: 0.2 + 0.8 * 3 / 8, 8: 0.2, 9: 0.2 + 0.8 * 3 / 12}
    decayed(c, "polynomial_decay", at, 4, 0.2, cycle=True)


@api_case("OPTIMIZERS-045", title="Cosine decay goes down to alpha.")
def cosine_decay_goes_down(c: ApiAuthor) -> None:
    at = {0: 1.0, 1: 0.2 + 0.8 * (1 + 0.5**0.5) / 2, 2: 0.6, 4: 0.2, 9: 0.2}
    decayed(c, "cosine_decay", at, 4, alpha=0.2)


# --- averages -----------------------------------------------------------------------------


@api_case("OPTIMIZERS-046", title="How averages begin.")
def averages_begin(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c, values=(8, 4))
    t = tf.constant(floats(8, 4), name="t")
    average = tf.train.ExponentialMovingAverage(0.75)
    update = average.apply([v, t])
    sess = begun(c)
    seen(c, sess, average.average(v), 8, 4)
    seen(c, sess, average.average(t), 0, 0)
    sess.run(v.assign(floats(0, 0)))
    sess.run(update)
    seen(c, sess, average.average(v), 6, 3)
    seen(c, sess, average.average(t), 2, 1)


@api_case("OPTIMIZERS-047", title="Few updates make averages quick.")
def few_updates_make_averages_quick(c: ApiAuthor) -> None:
    tf = c.tf
    v = variable(c, values=(8, 4))
    count = tf.placeholder(tf.int32, [], name="count")
    average = tf.train.ExponentialMovingAverage(0.5, num_updates=count)
    update = average.apply([v])
    sess = begun(c)
    sess.run(v.assign(floats(0, 0)))
    sess.run(update, {"count:0": np.int32(2)})
    seen(c, sess, average.average(v), 2, 1)
    sess.run(update, {"count:0": np.int32(100)})
    seen(c, sess, average.average(v), 1, 0.5)


@api_case("OPTIMIZERS-048", title="Averages are restored in their variables' place.")
def averages_are_restored(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = variable(c), variable(c, "w", trainable=False)
    average = tf.train.ExponentialMovingAverage(0.5)
    average.apply([v])
    variables = average.variables_to_restore()
    c.check(c.expr("$len", variables), 2)
    c.check_same(variables["v/ExponentialMovingAverage"], v)
    c.check_same(variables["w"], w)
