"""Vectors of LAYERS: batch normalization, its moving moments and their updates."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.conformance.subjects.layers.cases.layers import check_names, near_to, started

_X = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 8.0]], np.float32)
_MEAN, _VARIANCE = _X.mean(0), _X.var(0)
_NAMES = [
    f"batch_normalization/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")
]


def _normalized(epsilon: float = 1e-3) -> np.ndarray:
    return np.asarray((_X - _MEAN) / np.sqrt(_VARIANCE + epsilon))


@api_case("LAYERS-020", title="Batch normalization makes four variables, of which two are trained.")
def variables_of_batch_normalization(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.batch_normalization(tf.constant(_X))
    check_names(c, tf.global_variables(), _NAMES)
    check_names(c, tf.trainable_variables(), _NAMES[:2])
    values = started(c).run(tf.global_variables())
    for index, number in enumerate((1.0, 0.0, 0.0, 1.0)):
        c.check(values[index], np.full(2, number, np.float32))


@api_case("LAYERS-021", title="Inference is by the moving moments.")
def inference_is_by_moving_moments(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.layers.batch_normalization(
        tf.constant(_X),
        epsilon=1.0,
        moving_mean_initializer=tf.constant_initializer(2.0),
        moving_variance_initializer=tf.constant_initializer(3.0),
    )
    c.check(started(c).run(y), near_to((_X - 2.0) / 2.0))


@api_case("LAYERS-022", title="Training is by the batch's moments.")
def training_is_by_the_batch(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.layers.batch_normalization(
        tf.constant(_X),
        training=True,
        epsilon=0.5,
        gamma_initializer=tf.constant_initializer(2.0),
        beta_initializer=tf.constant_initializer(-1.0),
    )
    c.check(started(c).run(y), near_to(2 * _normalized(0.5) - 1))


@api_case("LAYERS-023", title="Training has two updates, inference none.")
def updates_are_collected(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.batch_normalization(tf.constant(_X))
    c.check(c.expr("$len", tf.get_collection("update_ops")), 0)
    tf.layers.batch_normalization(tf.constant(_X), training=True)
    c.check(c.expr("$len", tf.get_collection("update_ops")), 2)


@api_case("LAYERS-024", title="What is not asked for is not updated.")
def updates_are_not_run_by_themselves(c: ApiAuthor) -> None:
    tf = c.tf
    y = tf.layers.batch_normalization(tf.constant(_X), training=True)
    session = started(c)
    c.check(session.run(y), near_to(_normalized()))
    values = session.run(tf.global_variables())
    c.check(values[2], np.zeros(2, np.float32))
    c.check(values[3], np.ones(2, np.float32))


@api_case("LAYERS-025", title="Updates move the moving moments towards the batch's.")
def updates_move_the_moments(c: ApiAuthor) -> None:
    tf = c.tf
    tf.layers.batch_normalization(tf.constant(_X), training=True, momentum=0.75)
    session = started(c)
    mean, variance = np.zeros(2), np.ones(2)
    for _ in range(2):
        session.run(tf.get_collection("update_ops"))
        mean, variance = 0.75 * mean + 0.25 * _MEAN, 0.75 * variance + 0.25 * _VARIANCE
        values = session.run(tf.global_variables())
        c.check(values[2], near_to(mean))
        c.check(values[3], near_to(variance))


@api_case("LAYERS-026", title="A fed bool says whether batch normalization trains.")
def training_by_a_fed_bool(c: ApiAuthor) -> None:
    tf = c.tf
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(tf.constant(_X), training=training, momentum=0.5)
    session, updates = started(c), tf.get_collection("update_ops")
    c.check(session.run(y, {training: False}), near_to(_X / np.sqrt(1.001)))
    session.run(updates, {training: False})
    c.check(session.run(tf.global_variables())[2], np.zeros(2, np.float32))
    c.check(session.run(y, {training: True}), near_to(_normalized()))
    session.run(updates, {training: True})
    c.check(session.run(tf.global_variables())[2], near_to(_MEAN / 2))
