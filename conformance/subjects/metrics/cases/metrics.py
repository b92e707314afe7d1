"""Vectors of METRICS: what `tf.metrics` gives after each of several batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Matcher, Symbol, api_case, near

_CLOSE = "close(1e-5, 1e-6)"


#: The metrics at thresholds, and their values at 0.5 of 0.9 and 0.3 for True and 0.7 for False.
_AT_A_HALF = {
    "precision": 1 / 2,
    "recall": 1 / 2,
    "true_positives": 1,
    "false_positives": 1,
    "true_negatives": 0,
    "false_negatives": 1,
}


def _floats(*values: npt.ArrayLike) -> np.ndarray:
    return np.array(values, np.float32)


def _close(value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> Matcher:
    return near(np.array(value, dtype)[()], _CLOSE)


def _opened(c: ApiAuthor) -> Symbol:
    """A session in which the local variables are there."""
    sess = c.tf.Session()
    sess.run(c.tf.local_variables_initializer())
    return sess


def _seen(
    c: ApiAuthor,
    metric: Symbol,
    wanted: Sequence[npt.ArrayLike],
    feeds: Sequence[Mapping[Symbol, Recordable] | None],
    dtype: npt.DTypeLike = np.float32,
) -> None:
    """After each batch the update, and then the value, must be these."""
    sess = _opened(c)
    for want, fed in zip(wanted, feeds, strict=True):
        c.check(sess.run(metric[1], fed), _close(want, dtype))
        c.check(sess.run(metric[0]), _close(want, dtype))


def _numbers(c: ApiAuthor) -> Symbol:
    return c.tf.placeholder(c.tf.float32, [None])


# --- what every metric is -------------------------------------------------------------------


@api_case("METRICS-001", title="Updates of three batches, and the value between them.")
def updates_and_values(c: ApiAuthor) -> None:
    x = _numbers(c)
    metric = c.tf.metrics.mean(x)
    value, update = metric[0], metric[1]
    sess = _opened(c)
    for batch, want in (((1, 2), 1.5), ((3,), 2.0), ((10, 4, 4), 4.0)):
        c.check(sess.run(update, {x: _floats(*batch)}), _close(want))
        for _ in range(2):
            c.check(sess.run(value), _close(want))


@api_case("METRICS-001", title="The means of each place of a vector, fetched twice.")
def means_of_tensors(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [2])
    metric = c.tf.metrics.mean_tensor(x)
    value, update = metric[0], metric[1]
    sess = _opened(c)
    for batch, want in (((1, 2), (1, 2)), ((3, 8), (2, 5)), ((5, 2), (3, 4))):
        c.check(sess.run(update, {x: _floats(*batch)}), near(_floats(*want), _CLOSE))
        for _ in range(2):
            c.check(sess.run(value), near(_floats(*want), _CLOSE))


@api_case("METRICS-001", title="Updates that are a matrix, and accuracies of classes.")
def updates_of_classes(c: ApiAuthor) -> None:
    tf = c.tf
    labels, guesses = (tf.placeholder(tf.int64, [None]) for _ in range(2))
    overlaps = tf.metrics.mean_iou(labels, guesses, 2)
    accuracies = tf.metrics.mean_per_class_accuracy(labels, guesses, 2)
    sess = _opened(c)
    for batch, matrix, parts, overlap in (
        (([0, 1, 1], [0, 0, 1]), [[1, 0], [1, 1]], [1, 1 / 2], 1 / 2),
        (([0], [1]), [[1, 1], [1, 1]], [1 / 2, 1 / 2], 1 / 3),
    ):
        true, guessed = (np.array(numbers, np.int64) for numbers in batch)
        feeds = {labels: true, guesses: guessed}
        c.check(sess.run(overlaps[1], feeds), np.array(matrix, np.float64))
        c.check(sess.run(accuracies[1], feeds), near(_floats(*parts), _CLOSE))
        for _ in range(2):
            c.check(sess.run(overlaps[0]), _close(overlap))
            c.check(sess.run(accuracies[0]), _close(sum(parts) / 2))


@api_case("METRICS-002", title="Batches of one and of three numbers.")
def batches_of_different_sizes(c: ApiAuthor) -> None:
    x = _numbers(c)
    feeds = [{x: _floats(8)}, {x: _floats(1, 2, 1)}]
    _seen(c, c.tf.metrics.mean(x), [8, 3], feeds)


@api_case("METRICS-002", title="The root of the mean of all squares.")
def roots_of_all_squares(c: ApiAuthor) -> None:
    x = _numbers(c)
    metric = c.tf.metrics.root_mean_squared_error(c.tf.zeros_like(x), x)
    _seen(c, metric, [2, np.sqrt(7 / 4)], [{x: _floats(2)}, {x: _floats(1, 1, 1)}])


@api_case("METRICS-003", title="Values before the first batch, and of weights of zero.")
def nothing_seen(c: ApiAuthor) -> None:
    tf = c.tf
    labels = tf.constant([1, 0])
    metrics = [
        tf.metrics.mean(_floats(1, 2)),
        tf.metrics.accuracy(labels, labels),
        tf.metrics.precision(labels, labels),
        tf.metrics.recall(labels, labels),
        tf.metrics.mean_iou(labels, labels, 2),
        tf.metrics.mean(_floats(1, 2), 0.0),
    ]
    sess = _opened(c)
    for metric in metrics:
        c.check(sess.run(metric[0]), _close(0))
    c.check(sess.run(metrics[5][1]), _close(0))


@api_case("METRICS-003", title="Updates of weights that are all zero, over batches.")
def weights_of_zero(c: ApiAuthor) -> None:
    tf = c.tf
    labels, guesses = tf.constant([1, 0]), tf.constant([1, 1])
    zeros = tf.constant(_floats(0, 0))
    metrics = [
        tf.metrics.accuracy(labels, guesses, zeros),
        tf.metrics.precision(labels, guesses, zeros),
        tf.metrics.recall(labels, guesses, zeros),
        tf.metrics.mean_iou(labels, guesses, 2, zeros),
    ]
    sess = _opened(c)
    for metric in metrics:
        sess.run(metric[1])
        c.check(sess.run(metric[0]), _close(0))


@api_case("METRICS-004", title="Two variables of a mean, in their collections; forgetting.")
def variables_of_metrics(c: ApiAuthor) -> None:
    tf = c.tf
    x = _numbers(c)
    metric = tf.metrics.mean(x)
    keys = tf.GraphKeys
    kept = {
        keys.METRIC_VARIABLES: 2,
        keys.LOCAL_VARIABLES: 2,
        keys.GLOBAL_VARIABLES: 0,
        keys.TRAINABLE_VARIABLES: 0,
    }
    for key, count in kept.items():
        c.check(c.expr("$len", tf.get_collection(key)), count)
    sess = _opened(c)
    sess.run(metric[1], {x: _floats(6)})
    sess.run(tf.local_variables_initializer())
    c.check(sess.run(metric[0]), _close(0))
    c.check(sess.run(metric[1], {x: _floats(2)}), _close(2))


@api_case("METRICS-005", title="Two collections of values, one of updates.")
def collections_of_metrics(c: ApiAuthor) -> None:
    tf = c.tf
    collections = {"metrics_collections": ["a", "b"], "updates_collections": ["u"]}
    for make in (tf.metrics.mean, partial(tf.metrics.mean_squared_error, _floats(1, 2))):
        metric = make(_floats(1, 2), **collections)
        for name, index in (("a", 0), ("b", 0), ("u", 1)):
            members = tf.get_collection_ref(name)
            c.check(c.expr("$len", members), 1)
            c.check_same(members[0], metric[index])
            members.clear()


@api_case("METRICS-006", title="Weights of numbers, of rows, and one for all.")
def weights_of_metrics(c: ApiAuthor) -> None:
    tf = c.tf
    x = _numbers(c)
    feeds = [{x: _floats(1, 4)}, {x: _floats(7, 1)}]
    _seen(c, tf.metrics.mean(x, _floats(3, 1)), [7 / 4, 29 / 8], feeds)
    _seen(c, tf.metrics.mean(x, 0.5), [2.5, 3.25], feeds)
    rows = np.array([[1, 2], [5, 6]], np.float32)
    metric = tf.metrics.mean_absolute_error(np.zeros((2, 2), np.float32), rows, [[1.0], [0.0]])
    _seen(c, metric, [1.5], [None])


@api_case("METRICS-006", title="Weights of squared errors, over two batches.")
def weights_of_squares(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    x = _numbers(c)
    feeds = [{x: _floats(1, 3)}, {x: _floats(2, 0)}]
    zeros, weights = _floats(0, 0), _floats(3, 1)
    means = [12 / 4, 24 / 8]
    _seen(c, metrics.mean_squared_error(zeros, x, weights), means, feeds)
    roots = metrics.root_mean_squared_error(zeros, x, weights)
    _seen(c, roots, np.sqrt(means).tolist(), feeds)


# --- predictions beside labels --------------------------------------------------------------


@api_case("METRICS-007", title="Predictions of floats beside labels of integers.")
def predictions_are_cast(c: ApiAuthor) -> None:
    x = _numbers(c)
    metric = c.tf.metrics.accuracy([1, 2, 3], x)
    _seen(c, metric, [1, 4 / 6], [{x: _floats(1.9, 2.1, 3)}, {x: _floats(2, 2, 0.5)}])


@api_case("METRICS-008", title="Predictions in a column, labels in a row; and the other way.")
def columns_of_predictions(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    row, column = _floats(1, 2, 4), _floats(1, 2, 3)[:, None]
    _seen(c, metrics.mean_squared_error(row, column), [1 / 3], [None])
    _seen(c, metrics.accuracy(column, row), [2 / 3], [None])


@api_case("METRICS-008", title="Errors, precision and recall of a column beside a row.")
def columns_of_other_metrics(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    row, column = _floats(1, 0, 1), _floats(1, 1, 0)[:, None]
    for labels, guesses in ((row, column), (column, row)):
        _seen(c, metrics.precision(labels, guesses), [1 / 2], [None])
        _seen(c, metrics.recall(labels, guesses), [1 / 2], [None])
        _seen(c, metrics.mean_absolute_error(labels, guesses), [2 / 3], [None])
        _seen(c, metrics.root_mean_squared_error(labels, guesses), [np.sqrt(2 / 3)], [None])
    relative = metrics.mean_relative_error(row, column, _floats(1, 4, 2))
    _seen(c, relative, [0.25], [None])


@api_case("METRICS-008", title="Metrics at thresholds of a column beside a row.")
def columns_at_thresholds(c: ApiAuthor) -> None:
    labels, guesses = np.array([True, False, True]), _floats(0.9, 0.7, 0.3)
    for left, right in ((labels, guesses[:, None]), (labels[:, None], guesses)):
        for name, want in _AT_A_HALF.items():
            metric = getattr(c.tf.metrics, f"{name}_at_thresholds")(left, right, [0.5])
            _seen(c, metric, [[want]], [None])


@api_case("METRICS-009", title="Predictions below, at and above a threshold.")
def predictions_at_a_threshold(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    guesses, labels = _floats(0.25, 0.5, 0.75), np.array([True, True, True])
    for name, want in (("true_positives", 1), ("false_negatives", 2)):
        metric = getattr(metrics, f"{name}_at_thresholds")(labels, c.tf.constant(guesses), [0.5])
        _seen(c, metric, [[want]], [None])
    metric = metrics.recall_at_thresholds(labels, c.tf.constant(guesses), [0.25, 0.75])
    _seen(c, metric, [[2 / 3, 0]], [None])


@api_case("METRICS-010", title="A prediction below 0, and one above 1.")
def predictions_that_are_no_probabilities(c: ApiAuthor) -> None:
    x = _numbers(c)
    metric = c.tf.metrics.precision_at_thresholds([True, False], x, [0.5])
    sess = _opened(c)
    for wrong in (_floats(0.5, -0.25), _floats(1.25, 0.5)):
        c.raises("InvalidArgumentError", partial(sess.run, metric[1], {x: wrong}))
    c.check(sess.run(metric[1], {x: _floats(1, 0)}), near(_floats(1), "close(1e-5, 1e-6)"))


@api_case("METRICS-010", title="The other metrics at thresholds refuse them, too.")
def no_probabilities_at_thresholds(c: ApiAuthor) -> None:
    x = _numbers(c)
    updates = [
        getattr(c.tf.metrics, f"{name}_at_thresholds")([True, False], x, [0.5])[1]
        for name in _AT_A_HALF
        if name != "precision"
    ]
    sess = _opened(c)
    for update in updates:
        for wrong in (_floats(0.5, -0.25), _floats(1.25, 0.5)):
            c.raises("InvalidArgumentError", partial(sess.run, update, {x: wrong}))


@api_case("METRICS-011", title="Four predictions, a threshold between any two of them.")
def the_area_below_a_curve(c: ApiAuthor) -> None:
    labels = np.array([False, True, False, True])
    guesses = c.tf.constant(_floats(0.1, 0.35, 0.4, 0.8))
    metric = c.tf.metrics.auc(labels, guesses, thresholds=[0.2, 0.38, 0.6])
    sess = _opened(c)
    loose = near(np.float32(0.75), "close(1e-4, 1e-4)")
    c.check(sess.run(metric[1]), loose)
    c.check(sess.run(metric[0]), loose)
    wide = c.tf.metrics.auc(labels, guesses, thresholds=[0.38])
    sess = _opened(c)
    c.check(sess.run(wide[1]), near(np.float32(0.5), "close(1e-4, 1e-4)"))


@api_case("METRICS-012", title="Four classes, of which one never occurs.")
def regions_that_overlap(c: ApiAuthor) -> None:
    tf = c.tf
    labels, guesses = tf.constant([0, 1, 1, 2]), tf.constant([0, 1, 2, 2])
    metric = tf.metrics.mean_iou(labels, guesses, 4)
    sess = _opened(c)
    sess.run(metric[1])
    c.check(sess.run(metric[0]), _close((1 + 1 / 2 + 1 / 2) / 3))


@api_case("METRICS-013", title="Four classes, of which one is never labelled.")
def accuracies_of_classes(c: ApiAuthor) -> None:
    tf = c.tf
    labels, guesses = tf.constant([0, 1, 1, 2]), tf.constant([0, 1, 3, 2])
    metric = tf.metrics.mean_per_class_accuracy(labels, guesses, 4)
    sess = _opened(c)
    c.check(sess.run(metric[1]), near(_floats(1, 0.5, 1, 0), _CLOSE))
    c.check(sess.run(metric[0]), _close(2.5 / 4))


_SCORES = np.array([[0.1, 0.4, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]], np.float32)
_WANTED = np.array([[1, 3, 2], [2, 2, 2]], np.int64)


@api_case("METRICS-014", title="Rows with three labels and with one; one class only.")
def the_best_predictions(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    scores = c.tf.constant(_SCORES)
    _seen(c, metrics.precision_at_k(_WANTED, scores, 2), [2 / 4], [None], np.float64)
    _seen(c, metrics.recall_at_k(_WANTED, scores, 2), [2 / 4], [None], np.float64)
    _seen(c, metrics.recall_at_k(_WANTED, scores, 3), [1], [None], np.float64)
    one = metrics.recall_at_k(_WANTED, scores, 2, class_id=2)
    _seen(c, one, [1 / 2], [None], np.float64)


@api_case("METRICS-014", title="Hits of two batches together; one class only.")
def hits_of_batches(c: ApiAuthor) -> None:
    tf = c.tf
    wanted = tf.placeholder(tf.int64, [None, 3])
    scores = tf.placeholder(tf.float32, [None, 4])
    feeds: list[dict[Symbol, Recordable]] = [
        {wanted: _WANTED, scores: _SCORES},
        {wanted: _WANTED[:1], scores: _SCORES[1:]},
    ]
    for metric, wants in (
        (tf.metrics.precision_at_k(wanted, scores, 2), [2 / 4, 3 / 6]),
        (tf.metrics.recall_at_k(wanted, scores, 2), [2 / 4, 3 / 7]),
        (tf.metrics.recall_at_k(wanted, scores, 2, class_id=2), [1 / 2, 1 / 3]),
        (tf.metrics.precision_at_k(wanted, scores, 2, class_id=1), [1 / 2, 2 / 3]),
    ):
        _seen(c, metric, wants, feeds, np.float64)


@api_case("METRICS-015", title="Batches of two rows and of one.")
def average_precisions_of_batches(c: ApiAuthor) -> None:
    tf = c.tf
    labels = tf.placeholder(tf.int64, [None, 2])
    scores = tf.placeholder(tf.float32, [None, 4])
    rows = np.array([[1, 3], [1, 2]], np.int64)
    feeds: list[dict[Symbol, Recordable]] = [
        {labels: rows, scores: _SCORES},
        {labels: rows[1:], scores: _SCORES[:1]},
    ]
    first, second, third = (1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2, 1
    metric = tf.metrics.average_precision_at_k(labels, scores, 3)
    _seen(c, metric, [(first + second) / 2, (first + second + third) / 3], feeds, np.float64)


@api_case("METRICS-015", title="Right predictions in the first, second and third place.")
def average_precisions(c: ApiAuthor) -> None:
    metrics = c.tf.metrics
    labels = np.array([[1, 3], [1, 2]], np.int64)
    scores = c.tf.constant(_SCORES)
    first, second = (1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2
    metric = metrics.average_precision_at_k(labels, scores, 3)
    _seen(c, metric, [(first + second) / 2], [None], np.float64)
    _seen(c, metrics.average_precision_at_k(labels, scores, 1), [1 / 2], [None], np.float64)


@api_case("METRICS-022", title="Labels in rows, predictions in columns; weights.")
def matrices_of_confusion(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    labels, guesses = [0, 1, 1, 2], [0, 2, 2, 1]
    want = np.array([[1, 0, 0], [0, 0, 2], [0, 1, 0]], np.int32)
    c.check(sess.run(tf.confusion_matrix(labels, guesses)), want)
    weighted = tf.confusion_matrix(labels, guesses, 3, tf.float32, weights=[0.5, 1.0, 2.0, 4.0])
    c.check(sess.run(weighted), np.array([[0.5, 0, 0], [0, 0, 3], [0, 4, 0]], np.float32))


@api_case("METRICS-023", title="Labels and predictions that are no class.")
def confusion_of_what_is_no_class(c: ApiAuthor) -> None:
    tf = c.tf
    sess = tf.Session()
    x = tf.placeholder(tf.int32, [2])
    for fed in (tf.confusion_matrix([0, 1], x, 2), tf.confusion_matrix(x, [0, 1], 2)):
        for wrong in ([0, -1], [0, 2]):
            given = np.array(wrong, np.int32)
            c.raises("InvalidArgumentError", partial(sess.run, fed, {x: given}))


@api_case("METRICS-017", title="Numbers below, at and above a threshold.")
def numbers_below(c: ApiAuthor) -> None:
    x = _numbers(c)
    metric = c.tf.metrics.percentage_below(x, 2.0)
    _seen(c, metric, [1 / 3, 2 / 4], [{x: _floats(1, 2, 3)}, {x: _floats(0)}])
