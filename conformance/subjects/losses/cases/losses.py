"""Vectors of LOSSES: what `tf.losses` makes of labels, predictions and weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near

_CLOSE = "close(1e-5, 1e-6)"
_ROWS = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]], np.float32)
_GUESSES = np.array([[0.25, 0.5, 0.75], [0.125, 1.0, 0.5]], np.float32)
_LABELS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)


def _is(c: ApiAuthor, loss: Symbol, want: float) -> None:
    """The value of a tensor must be this, in a session of its own."""
    sess = c.tf.Session()
    c.check(sess.run(loss), near(np.float32(want), _CLOSE))


def _column(*values: float) -> np.ndarray:
    return np.array(values, np.float32)[:, None]


# --- weights and reductions -----------------------------------------------------------------


@api_case("LOSSES-001", title="A scalar weight, a weight for each loss, some of them zero.")
def weights_that_are_not_zero_count(c: ApiAuthor) -> None:
    loss = c.tf.losses.compute_weighted_loss
    _is(c, loss(_ROWS), 22 / 6)
    _is(c, loss(_ROWS, 0.5), 11 / 6)
    _is(c, loss(_ROWS, np.array([[2, 0, 1], [0, 0, 3]], np.float32)), (2 + 4 + 21) / 3)


@api_case("LOSSES-001", title="The mean of squares where one of the examples does not count.")
def an_example_that_does_not_count(c: ApiAuthor) -> None:
    weights = _column(1, 0)
    loss = c.tf.losses.mean_squared_error(_LABELS, _GUESSES, weights)
    _is(c, loss, ((_LABELS - _GUESSES) ** 2)[0].mean())


@api_case("LOSSES-002", title="A weight of zero, and zeros for each loss.")
def weights_of_zero(c: ApiAuthor) -> None:
    losses = c.tf.losses
    _is(c, losses.compute_weighted_loss(_ROWS, 0.0), 0)
    _is(c, losses.absolute_difference(_LABELS, _GUESSES, np.zeros((2, 3), np.float32)), 0)
    mean = losses.Reduction.MEAN
    _is(c, losses.compute_weighted_loss(_ROWS, _column(1, -1), reduction=mean), 0)


@api_case("LOSSES-003", title="Each reduction of six losses with weights for two rows.")
def each_reduction(c: ApiAuthor) -> None:
    losses = c.tf.losses
    weights = _column(2, 0.5)
    weighted = _ROWS * weights
    wanted = {
        "NONE": weighted,
        "SUM": weighted.sum(),
        "MEAN": weighted.sum() / 7.5,
        "SUM_OVER_BATCH_SIZE": weighted.sum() / 6,
        "SUM_BY_NONZERO_WEIGHTS": weighted.sum() / 6,
    }
    for name, want in wanted.items():
        how = getattr(losses.Reduction, name)
        _is(c, losses.compute_weighted_loss(_ROWS, weights, reduction=how), want)


@api_case("LOSSES-004", title="Weights of a column and of a row, with zeros among them.")
def weights_that_are_spread(c: ApiAuthor) -> None:
    loss = c.tf.losses.compute_weighted_loss
    _is(c, loss(_ROWS, _column(0, 2)), 30 / 3)
    _is(c, loss(_ROWS, np.array([[1, 0, 2]], np.float32)), (1 + 3 + 8 + 14) / 4)


@api_case("LOSSES-005", title="A vector for a matrix; two columns, and three rows, of weights.")
def weights_that_do_not_fit(c: ApiAuthor) -> None:
    losses = c.tf.losses
    weights = [np.ones(3), np.ones(2), np.ones((2, 2)), np.ones((3, 1)), np.ones((1, 2, 3))]
    for wrong in weights:
        given = wrong.astype(np.float32)
        c.raises("ValueError", partial(losses.compute_weighted_loss, _ROWS, given))
    c.raises("ValueError", lambda: losses.log_loss(_LABELS, _GUESSES, np.ones(3, np.float32)))


@api_case("LOSSES-006", title="Weights that are fed: of sizes that fit, and of others.")
def fed_weights(c: ApiAuthor) -> None:
    tf = c.tf
    weights = tf.placeholder(tf.float32)
    loss = tf.losses.compute_weighted_loss(_ROWS, weights)
    sess = tf.Session()
    c.check(sess.run(loss, {weights: _column(0, 2)}), near(np.float32(10), _CLOSE))
    c.check(sess.run(loss, {weights: np.float32(2)}), near(np.float32(44 / 6), _CLOSE))
    for wrong in (np.ones(3), np.ones((2, 2)), np.ones((1, 2, 3))):
        fed = wrong.astype(np.float32)
        c.raises("InvalidArgumentError", partial(sess.run, loss, {weights: fed}))


# --- what is collected ----------------------------------------------------------------------


@api_case("LOSSES-007", title="A loss in no place of choice, in a named one, in none.")
def where_a_loss_is_collected(c: ApiAuthor) -> None:
    tf = c.tf
    losses = tf.losses
    first = losses.mean_squared_error(_LABELS, _GUESSES)
    other = losses.huber_loss(_LABELS, _GUESSES, loss_collection="mine")
    losses.log_loss(_LABELS, _GUESSES, loss_collection=None)
    c.check(c.expr("$len", losses.get_losses()), 1)
    c.check_same(losses.get_losses()[0], first)
    mine = tf.get_collection("mine")
    c.check(c.expr("$len", mine), 1)
    c.check_same(mine[0], other)


def _three_losses(c: ApiAuthor) -> Symbol:
    tf = c.tf
    tf.losses.add_loss(tf.constant(1.0))
    tf.losses.add_loss(tf.constant(2.0))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(4.0))
    return tf.losses


@api_case("LOSSES-008", title="Two losses and one of a regularizer.")
def the_total_loss(c: ApiAuthor) -> None:
    losses = _three_losses(c)
    _is(c, losses.get_total_loss(), 7)
    _is(c, losses.get_total_loss(add_regularization_losses=False), 3)


@api_case("LOSSES-009", title="No regularizer, then one.")
def no_regularizer(c: ApiAuthor) -> None:
    losses = c.tf.losses
    _is(c, losses.get_regularization_loss(), 0)
    _three_losses(c)
    _is(c, losses.get_regularization_loss(), 4)


# --- single losses --------------------------------------------------------------------------


@api_case("LOSSES-010", title="Differences within delta and beyond it, for two of them.")
def huber(c: ApiAuthor) -> None:
    losses = c.tf.losses
    zeros = np.zeros(3, np.float32)
    guesses = np.array([0.5, -3.0, 1.0], np.float32)
    _is(c, losses.huber_loss(zeros, guesses), (0.125 + 2.5 + 0.5) / 3)
    _is(c, losses.huber_loss(zeros, guesses, delta=2.0), (0.125 + 4.0 + 0.5) / 3)


@api_case("LOSSES-011", title="Probabilities of 0 and 1 that are wrong, with an epsilon.")
def log_losses(c: ApiAuthor) -> None:
    losses = c.tf.losses
    labels, guesses = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    _is(c, losses.log_loss(labels, guesses, epsilon=0.5), np.log(2))
    half = np.array([0.5, 0.25], np.float32)
    want = -(np.log(0.75) + np.log(1.0)) / 2
    _is(c, losses.log_loss(labels, half, epsilon=0.25), want)


@api_case("LOSSES-012", title="Numbers on the right side, within the margin, and on the wrong one.")
def hinges(c: ApiAuthor) -> None:
    logits = np.array([2.0, 0.5, -1.0, 0.25, -3.0], np.float32)
    labels = np.array([1.0, 1.0, 1.0, 0.0, 0.0], np.float32)
    _is(c, c.tf.losses.hinge_loss(labels, logits), (0 + 0.5 + 2 + 1.25 + 0) / 5)


@api_case("LOSSES-013", title="Vectors of length 1 and of other lengths, along either axis.")
def cosines(c: ApiAuthor) -> None:
    loss = c.tf.losses.cosine_distance
    labels = np.array([[0.6, 0.8], [1.0, 0.0]], np.float32)
    guesses = np.array([[0.8, 0.6], [3.0, 4.0]], np.float32)
    products = labels * guesses
    _is(c, loss(labels, guesses, axis=1), (1 - products.sum(1)).mean())
    _is(c, loss(labels, guesses, axis=0), (1 - products.sum(0)).mean())


def _pairs(row: np.ndarray) -> float:
    return float(np.mean([(a - b) ** 2 for i, a in enumerate(row) for b in row[:i]]))


@api_case("LOSSES-014", title="Examples of three places; one that does not count.")
def pairwise(c: ApiAuthor) -> None:
    loss = c.tf.losses.mean_pairwise_squared_error
    errors = [_pairs(row) for row in _GUESSES - _LABELS]
    _is(c, loss(_LABELS, _GUESSES), sum(errors))
    _is(c, loss(_LABELS, _GUESSES, _column(0, 2)), 2 * errors[1])


def _soft(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    wide = logits.astype(np.float64)
    losses: np.ndarray = np.log(np.exp(wide).sum(1)) * labels.sum(1) - (labels * wide).sum(1)
    return losses


@api_case("LOSSES-015", title="Labels smoothed by a fifth.")
def smoothed_labels(c: ApiAuthor) -> None:
    losses = c.tf.losses
    x = _GUESSES.astype(np.float64)
    moved = _LABELS * 0.8 + 0.1
    sigmoid = np.log1p(np.exp(x)) - moved * x
    _is(c, losses.sigmoid_cross_entropy(_LABELS, _GUESSES, label_smoothing=0.2), sigmoid.mean())
    soft = _soft(_GUESSES, _LABELS * 0.8 + 0.2 / 3)
    _is(c, losses.softmax_cross_entropy(_LABELS, _GUESSES, label_smoothing=0.2), soft.mean())


@api_case("LOSSES-016", title="The gradient by labels is None, that by logits is there.")
def no_gradient_of_labels(c: ApiAuthor) -> None:
    tf = c.tf
    labels, logits = tf.constant(_LABELS), tf.constant(_GUESSES)
    loss = tf.losses.softmax_cross_entropy(labels, logits)
    gradients = tf.gradients(loss, [labels, logits])
    c.check(gradients[0], None)
    sess = tf.Session()
    shares = np.exp(_GUESSES) / np.exp(_GUESSES).sum(1, keepdims=True)
    c.check(sess.run(gradients[1]), near(((shares - _LABELS) / 2).astype(np.float32), _CLOSE))


@api_case("LOSSES-017", title="Labels and weights [batch, 1] beside those [batch].")
def a_last_dimension_of_one(c: ApiAuthor) -> None:
    loss = c.tf.losses.sparse_softmax_cross_entropy
    losses = _soft(_GUESSES, np.eye(3)[[0, 2]])
    numbers, weights = np.array([0, 2]), np.array([1.0, 0.5], np.float32)
    want = (losses * weights).sum() / 2
    for shape in ((2,), (2, 1)):
        _is(c, loss(numbers.reshape(shape), _GUESSES, weights.reshape(shape)), want)


@api_case("LOSSES-018", title="A row for a matrix, a column for it, one size that differs.")
def shapes_that_differ(c: ApiAuthor) -> None:
    losses = c.tf.losses
    wrong = [_LABELS[0], _LABELS[:, :1], _LABELS[:1]]
    names = ["mean_squared_error", "absolute_difference", "huber_loss", "log_loss", "hinge_loss"]
    for name in names:
        call: Callable[..., Symbol] = getattr(losses, name)
        for labels in wrong:
            c.raises("ValueError", partial(call, labels, _GUESSES))


@api_case("LOSSES-018", title="Static shapes of which one size or the rank differs.")
def static_shapes_that_differ(c: ApiAuthor) -> None:
    tf, losses = c.tf, c.tf.losses
    logits = tf.placeholder(tf.float32, [None, 3])
    wrong = [tf.placeholder(tf.float32, shape) for shape in ([2, 4], [None, 1], [None])]
    names = ["mean_squared_error", "mean_pairwise_squared_error", "hinge_loss"]
    names += ["sigmoid_cross_entropy", "softmax_cross_entropy"]
    for labels in wrong:
        for name in names:
            c.raises("ValueError", partial(getattr(losses, name), labels, logits))
        c.raises("ValueError", partial(losses.cosine_distance, labels, logits, axis=0))
