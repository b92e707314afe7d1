"""Vectors of COMPOSITES, and of the LOSSES and METRICS that streams of batches show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.forms import Numbers, Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, near
from sessrun.conformance.subjects.run.cases.run import floats

_CLOSE: Final = "close(1e-5, 1e-6)"


def _is(c: ApiAuthor, tensors: Recordable, want: Recordable, contract: str = _CLOSE) -> None:
    """In a run, the tensors must have these values."""
    session = c.tf.Session()
    c.check(session.run(tensors), near(want, contract))


def _f(values: Numbers) -> np.ndarray:
    return np.array(values, np.float32)


# --- activations and cross entropies --------------------------------------------------------


@api_case("COMPOSITES-001", title="Logits of a thousand along the first axis.")
def softmax_of_large_logits(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[1000, -2000], [1000, 3000], [1000, 3000]]))
    _is(c, c.tf.nn.softmax(x, axis=0), _f([[1 / 3, 0], [1 / 3, 0.5], [1 / 3, 0.5]]))
    logs = _f(
        [
            [np.log(1 / 3), -5000 - np.log(2)],
            [np.log(1 / 3), -np.log(2)],
            [np.log(1 / 3), -np.log(2)],
        ]
    )
    _is(c, c.tf.nn.log_softmax(x, axis=0), logs)


@api_case("COMPOSITES-002", title="The cross entropies of logits of a thousand are lines.")
def sigmoid_cross_entropy_of_large_logits(c: ApiAuthor) -> None:
    logits, labels = c.tf.constant(floats(-1000, 1000, -1000, 0)), floats(1, 0, 0, 1)
    nn = c.tf.nn
    loss = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    _is(c, loss, floats(1000, 1000, 0, np.log(2)))
    weighed = nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, pos_weight=3.0)
    _is(c, weighed, floats(3000, 1000, 0, 3 * np.log(2)))


@api_case("COMPOSITES-032", title="Cross entropies of classes first and last.")
def softmax_cross_entropy_along_an_axis(c: ApiAuthor) -> None:
    logits, want = _f([[1, 0], [0, 0]]), floats(1 + np.log1p(np.exp(-1)), np.log(2))
    nn = c.tf.nn
    rows = nn.softmax_cross_entropy_with_logits_v2(
        labels=_f([[0, 1], [1, 0]]), logits=c.tf.constant(logits)
    )
    _is(c, rows, want)
    columns = nn.softmax_cross_entropy_with_logits_v2(
        labels=_f([[0, 0], [1, 1]]), logits=c.tf.constant(logits), axis=0
    )
    _is(c, columns, want)
    batches = c.tf.constant(np.stack([logits, logits[::-1]]))
    sparse = nn.sparse_softmax_cross_entropy_with_logits(labels=[[1, 0], [0, 1]], logits=batches)
    _is(c, sparse, np.stack([want, want[::-1]]))


@api_case("COMPOSITES-033", title="Cross entropies of logits of a thousand.")
def softmax_cross_entropy_of_large_logits(c: ApiAuthor) -> None:
    logits = c.tf.constant(_f([[1000, 0], [0, 0]]))
    nn = c.tf.nn
    rows = nn.softmax_cross_entropy_with_logits_v2(labels=_f([[0, 1], [1, 0]]), logits=logits)
    _is(c, rows, floats(1000, np.log(2)))
    sparse = nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=logits)
    _is(c, sparse, floats(1000, np.log(2)))


@api_case("COMPOSITES-033", title="The older cross entropy of logits of a thousand.")
def older_softmax_cross_entropy_of_large_logits(c: ApiAuthor) -> None:
    nn, logits = c.tf.nn, c.tf.constant(_f([[1000, 0], [-1000, 0], [0, 0]]))
    labels = _f([[0, 1], [0.5, 0.5], [1, 0]])
    rows = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    _is(c, rows, floats(1000, 500, np.log(2)))
    sparse = nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0, 1], logits=logits)
    _is(c, sparse, floats(1000, 1000, np.log(2)))


@api_case("COMPOSITES-004", title="Stirling's approximation is added for targets above 1.")
def full_loss_of_poisson(c: ApiAuthor) -> None:
    targets, log_input = floats(0, 1, 4), c.tf.constant(floats(0, 0, 0))
    plain = c.tf.nn.log_poisson_loss(targets, log_input)
    _is(c, plain, floats(1, 1, 1))
    full = c.tf.nn.log_poisson_loss(targets, log_input, compute_full_loss=True)
    _is(c, full, floats(1, 1, 1 + 4 * np.log(4) - 4 + 0.5 * np.log(8 * np.pi)))
    _is(c, c.tf.nn.l2_loss(c.tf.constant(floats(3, 4))), np.float32(12.5))


@api_case("COMPOSITES-028", title="The logarithms of sigmoids of a thousand.")
def logarithms_of_large_numbers(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(-1000, 0, 1000))
    _is(c, c.tf.nn.softplus(x), floats(0, np.log(2), 1000))
    _is(c, c.tf.math.log_sigmoid(x), floats(-1000, -np.log(2), 0))


@api_case("COMPOSITES-029", title="Exponential units of a thousand.")
def exponential_units_of_large_numbers(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(-1000, 0, 1000))
    _is(c, c.tf.nn.elu(x), floats(-1, 0, 1000))
    _is(c, c.tf.nn.selu(x), floats(-1.7580993, 0, 1050.7009873))


@api_case("COMPOSITES-031", title="Activations below and above their bounds.")
def activations_beyond_their_bounds(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(-3, 0.5, 9))
    _is(c, c.tf.nn.softsign(x), floats(-3 / 4, 1 / 3, 0.9))
    _is(c, c.tf.nn.relu6(x), floats(0, 0.5, 6))
    _is(c, c.tf.nn.leaky_relu(x, 1.5), floats(-4.5, 0.5, 9))
    _is(c, c.tf.nn.swish(x), floats(*(v / (1 + np.exp(-v)) for v in (-3, 0.5, 9))))


@api_case("COMPOSITES-030", title="Both sides along an axis.")
def both_sides_along_an_axis(c: ApiAuthor) -> None:
    both = c.tf.nn.crelu(c.tf.constant(_f([[1, -2]])), axis=0)
    _is(c, both, _f([[1, 0], [0, 2]]))


@api_case("COMPOSITES-006", title="A bias of channels that come first, and last.")
def biases_by_data_format(c: ApiAuthor) -> None:
    x, bias = c.tf.zeros([1, 2, 1, 2]), c.tf.constant(floats(1, 2))
    _is(c, c.tf.nn.bias_add(x, bias, data_format="NCHW"), _f([[[[1, 1]], [[2, 2]]]]))
    _is(c, c.tf.nn.bias_add(x, bias, data_format="NHWC"), _f([[[[1, 2]], [[1, 2]]]]))
    rows = c.tf.nn.xw_plus_b(c.tf.ones([1, 2]), c.tf.constant(_f([[1, 2], [3, -9]])), bias)
    _is(c, rows, _f([[5, -5]]))


@api_case("COMPOSITES-007", title="Zeros beside infinities and NaN.")
def zeros_beside_what_is_no_number(c: ApiAuthor) -> None:
    odd, math = c.tf.constant(floats(0, np.inf, np.nan)), c.tf.math
    zero = c.tf.constant(np.float32(0))
    _is(c, math.xlogy(zero, odd), floats(0, 0, 0))
    _is(c, math.divide_no_nan(odd, zero), floats(0, 0, 0))
    _is(c, math.multiply_no_nan(odd, zero), floats(0, 0, 0))


@api_case("COMPOSITES-007", title="Zeros beside logarithms of nothing and of NaN.")
def zeros_beside_logarithms(c: ApiAuthor) -> None:
    odd = c.tf.constant(floats(-1, -2, np.inf, np.nan))
    _is(c, c.tf.math.xlog1py(c.tf.constant(np.float32(0)), odd), floats(0, 0, 0, 0))


# --- moments and normalisation --------------------------------------------------------------


@api_case("COMPOSITES-008", title="The variance of numbers near 4096, and of halves near 1024.")
def moments_of_numbers_far_from_zero(c: ApiAuthor) -> None:
    x = c.tf.constant(4096 + floats(-0.25, 0.25, -0.25, 0.25))
    moments = c.tf.nn.moments(x, [0])
    _is(c, moments[1], np.float32(0.0625))
    halves = c.tf.nn.moments(c.tf.constant(np.full(100, 1024, np.float16)), [0])
    _is(c, halves[0], np.float16(1024))
    _is(c, halves[1], np.float16(0))


@api_case("COMPOSITES-009", title="The variance of three numbers is over three.")
def variances_without_correction(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[1, 2, 6], [5, 5, 5]]))
    _is(c, c.tf.math.reduce_variance(x, axis=1), floats(14 / 3, 0))
    _is(c, c.tf.math.reduce_std(x, axis=1), floats(np.sqrt(14 / 3), 0))


@api_case("COMPOSITES-010", title="Weights that are spread over the rows.")
def weighted_moments_of_rows(c: ApiAuthor) -> None:
    x, weights = c.tf.constant(_f([[0, 4], [2, 2]])), c.tf.constant(_f([[3], [1]]))
    moments = c.tf.nn.weighted_moments(x, [0, 1], weights)
    _is(c, moments[0], np.float32(2))
    _is(c, moments[1], np.float32(3))


@api_case("COMPOSITES-011", title="Sums less a shift.")
def sums_less_a_shift(c: ApiAuthor) -> None:
    statistics = c.tf.nn.sufficient_statistics(c.tf.constant(_f([[1, 2, 6]])), [1], shift=1.0)
    _is(c, statistics[0], np.float32(3))
    _is(c, statistics[1], floats(6))
    _is(c, statistics[2], floats(26))


@api_case("COMPOSITES-012", title="The epsilon is added to the variance.")
def epsilon_of_a_batch_normalization(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[1, 5]]))
    normed = c.tf.nn.batch_normalization
    _is(c, normed(x, floats(0, 1), floats(3, 0), None, None, 1.0), _f([[0.5, 4]]))
    _is(c, normed(x, floats(0, 1), floats(3, 0), floats(10, 20), floats(2, 3), 1.0), _f([[11, 32]]))


@api_case("COMPOSITES-013", title="A vector of zeros, and one that is shorter than epsilon.")
def short_vectors_are_normalized(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[0, 0], [0.75, 1], [3, 4]]))
    _is(c, c.tf.nn.l2_normalize(x, 1, epsilon=4.0), _f([[0, 0], [0.375, 0.5], [0.6, 0.8]]))


@api_case("COMPOSITES-014", title="The channels come first, and their variance is corrected.")
def batch_norms_of_channels_first(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[[[1, 3]], [[10, 30]]]]))
    scale, offset = floats(1, 2), floats(0, 5)
    outputs = c.tf.nn.fused_batch_norm(x, scale, offset, epsilon=3.0, data_format="NCHW")
    one, two = 1 / 2, 20 / np.sqrt(103)
    want = _f([[[[-one, one]], [[5 - two, 5 + two]]]])
    session = c.tf.Session()
    wanted = [want, floats(2, 20), floats(2, 200)]
    c.check(session.run([outputs[0], outputs[1], outputs[2]]), [near(w, _CLOSE) for w in wanted])


@api_case("COMPOSITES-015", title="Channels up to one away on both sides.")
def responses_of_near_channels(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[[[1, 2, 3]]]]))
    responses = c.tf.nn.local_response_normalization(
        x, depth_radius=1, bias=1.0, alpha=0.5, beta=1.0
    )
    _is(c, responses, _f([[[[1 / 3.5, 2 / 8, 3 / 7.5]]]]))


# --- clipping and norms ---------------------------------------------------------------------


@api_case("COMPOSITES-016", title="Both bounds, and NaN.")
def values_are_clipped(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(-9, 0.25, 9, np.nan, np.inf))
    _is(c, c.tf.clip_by_value(x, -1.0, 2.0), floats(-1, 0.25, 2, np.nan, 2), "exact")


@api_case("COMPOSITES-017", title="Zeros, a short and a long vector.")
def vectors_are_clipped_by_norm(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[0, 0], [0.3, 0.4], [6, 8]]))
    _is(c, c.tf.clip_by_norm(x, 1.0, axes=[1]), _f([[0, 0], [0.3, 0.4], [0.6, 0.8]]))
    _is(c, c.tf.clip_by_norm(c.tf.zeros([2]), 1.0), floats(0, 0))


@api_case("COMPOSITES-018", title="One factor for all, None passed over, an infinite norm.")
def tensors_are_clipped_by_global_norm(c: ApiAuthor) -> None:
    x, y = c.tf.constant(floats(3)), c.tf.constant(floats(4, 0))
    clipped_and_norm = c.tf.clip_by_global_norm([x, None, y], 1.0)
    _is(c, clipped_and_norm[0][0], floats(0.6))
    c.check(clipped_and_norm[0][1], None)
    _is(c, clipped_and_norm[0][2], floats(0.8, 0))
    _is(c, clipped_and_norm[1], np.float32(5))
    whole = c.tf.clip_by_global_norm([x, y], 10.0)
    _is(c, whole[0][0], floats(3), "exact")
    lost = c.tf.clip_by_global_norm([c.tf.constant(floats(np.inf)), y], 1.0)
    _is(c, lost[0][1], floats(np.nan, np.nan))


@api_case("COMPOSITES-019", title="The norm is divided by the number of elements.")
def vectors_are_clipped_by_average_norm(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(6, 8))
    _is(c, c.tf.clip_by_average_norm(x, 1.0), floats(1.2, 1.6))
    _is(c, c.tf.clip_by_average_norm(x, 5.5), floats(6, 8))


@api_case("COMPOSITES-020", title="Norms of every order along an axis.")
def norms_of_each_order(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([[3, -4], [0, 0]]))
    for order, want in (("euclidean", 5), (1, 7), (float("inf"), 4), (3.0, 91 ** (1 / 3))):
        _is(c, c.tf.norm(x, ord=order, axis=1), floats(want, 0))
    _is(c, c.tf.math.reduce_euclidean_norm(x, axis=0), floats(3, 4))


@api_case("COMPOSITES-034", title="Squared differences of reals and complex numbers.")
def squared_differences(c: ApiAuthor) -> None:
    x, y = c.tf.constant(floats(1, 4)), c.tf.constant(_f([[2], [6]]))
    for function in (c.tf.math.squared_difference, c.tf.squared_difference):
        _is(c, function(x, y), _f([[1, 4], [25, 4]]))
    z = c.tf.constant(np.array([1 + 2j, -3], np.complex64))
    _is(c, c.tf.squared_difference(z, c.tf.constant(1j, "complex64")), np.array([2, 10], "c8"))


@api_case("COMPOSITES-020", title="Norms of every order of no elements.")
def norms_of_nothing(c: ApiAuthor) -> None:
    none = c.tf.zeros([2, 0])
    for order, want in (("euclidean", 0), (1, 0), (float("inf"), -np.inf), (3.0, 0)):
        _is(c, c.tf.norm(none, ord=order, axis=1), floats(want, want))


@api_case("COMPOSITES-021", title="Exponentials that no float32 can hold.")
def logarithms_of_sums_of_exponentials(c: ApiAuthor) -> None:
    x = c.tf.constant(floats(1000, 1000, -1000))
    _is(c, c.tf.reduce_logsumexp(x), np.float32(1000 + np.log(2)))
    sums = c.tf.math.cumulative_logsumexp(x)
    _is(c, sums, floats(1000, 1000 + np.log(2), 1000 + np.log(2)))


# --- windows --------------------------------------------------------------------------------


@api_case("COMPOSITES-022", title="An even filter with a stride of two, padded at the end.")
def even_filters_are_padded_at_the_end(c: ApiAuthor) -> None:
    x = c.tf.constant(_f([1, 2, 3, 4, 5]).reshape(1, 5, 1))
    taps = c.tf.constant(_f([1, 10]).reshape(2, 1, 1))
    convolved = c.tf.nn.conv1d(x, taps, 2, "SAME")
    _is(c, convolved, _f([21, 43, 5]).reshape(1, 3, 1))
    picture = c.tf.reshape(x, [1, 5, 1, 1])
    square = c.tf.reshape(taps, [2, 1, 1, 1])
    convolved = c.tf.nn.conv2d(picture, square, [1, 3, 1, 1], "SAME")
    _is(c, convolved, _f([21, 54]).reshape(1, 2, 1, 1))
    convolved = c.tf.nn.convolution(picture, square, "SAME", dilation_rate=[2, 1])
    _is(c, convolved, _f([20, 31, 42, 53, 4]).reshape(1, 5, 1, 1))


@api_case("COMPOSITES-023", title="What is padded counts for no average and no greatest number.")
def padding_counts_for_no_pooling(c: ApiAuthor) -> None:
    x = c.tf.constant(-_f([1, 2, 3, 4, 5]).reshape(1, 5, 1, 1))
    pooled = c.tf.nn.avg_pool(x, [1, 2, 1, 1], [1, 2, 2, 1], "SAME")
    _is(c, pooled, -_f([1.5, 3.5, 5]).reshape(1, 3, 1, 1))
    pooled = c.tf.nn.max_pool(x, [1, 2, 1, 1], [1, 2, 1, 1], "SAME")
    _is(c, pooled, -_f([1, 3, 5]).reshape(1, 3, 1, 1))
    places = c.tf.nn.max_pool_with_argmax(x, [1, 2, 1, 1], [1, 2, 1, 1], "SAME")
    c.check(c.tf.Session().run(places[1]), np.array([0, 2, 4]).reshape(1, 3, 1, 1))


@api_case("COMPOSITES-024", title="What is kept is scaled, what is not is zero.")
def kept_elements_are_scaled(c: ApiAuthor) -> None:
    tf = c.tf
    dropped = tf.nn.dropout(tf.fill([1000], 3.0), rate=0.25, seed=7)
    near_four = tf.abs(dropped - 4.0) < 1e-3
    outcome = tf.reduce_all(tf.logical_or(tf.equal(dropped, 0.0), near_four))
    kept = tf.count_nonzero(dropped)
    in_between = tf.logical_and(tf.greater(kept, 650), tf.less(kept, 850))
    c.check(tf.Session().run([outcome, in_between]), [np.True_, np.True_])


@api_case("COMPOSITES-025", title="Rows that are longer than the norm, and one that is not.")
def rows_are_clipped_each_by_itself(c: ApiAuthor) -> None:
    params = c.tf.constant(_f([[0.3, 0.4], [3, 4], [0, 10]]))
    rows = c.tf.nn.embedding_lookup(params, c.tf.constant([2, 0, 1, 1]), max_norm=1.0)
    _is(c, rows, _f([[0, 1], [0.3, 0.4], [0.6, 0.8], [0.6, 0.8]]))


@api_case("COMPOSITES-026", title="A segment without rows, one of two, a row that belongs to none.")
def segments_without_rows_are_zero(c: ApiAuthor) -> None:
    data, ids = c.tf.constant(floats(8, 1, 2)), c.tf.constant([2, -1, 2])
    _is(c, c.tf.math.unsorted_segment_mean(data, ids, 3), floats(0, 0, 5))
    _is(c, c.tf.math.unsorted_segment_sqrt_n(data, ids, 3), floats(0, 0, 10 / np.sqrt(2)))


@api_case("COMPOSITES-026", title="A mean of sorted segments, one of them without rows.")
def sorted_segments_without_rows(c: ApiAuthor) -> None:
    data, ids = c.tf.constant(floats(8, 1, 2)), c.tf.constant([0, 2, 2])
    _is(c, c.tf.math.segment_mean(data, ids), floats(8, 0, 1.5))


# --- losses and metrics ---------------------------------------------------------------------


@api_case("LOSSES-019", title="The losses of halves are computed in float32.")
def losses_of_halves(c: ApiAuthor) -> None:
    losses = c.tf.losses
    none = losses.Reduction.NONE
    labels = c.tf.constant(np.array([1000, -3], np.float16))
    guesses = c.tf.constant(np.array([-1000, -1], np.float16))
    _is(c, losses.mean_squared_error(labels, guesses, reduction=none), floats(4e6, 4))
    _is(c, losses.absolute_difference(labels, guesses, reduction=none), floats(2000, 2))


def _streamed(
    c: ApiAuthor, metric: Symbol, given: Sequence[Symbol], batches: Sequence[tuple[Any, ...]]
) -> None:
    """After each batch, the update must give the last item of the batch's tuple."""
    session = c.tf.Session()
    session.run(c.tf.local_variables_initializer())
    for *arrays, want in batches:
        feeds = dict(zip(given, arrays, strict=True))
        c.check(session.run(metric[1], feeds), near(np.float32(want), _CLOSE))


def _column(c: ApiAuthor, dtype: str = "float32", *last: int) -> Symbol:
    return c.tf.placeholder(getattr(c.tf, dtype), [None, *last])


@api_case("METRICS-024", title="An error whose normalizer is zero, over two batches.")
def relative_errors(c: ApiAuthor) -> None:
    labels, guesses, norm = _column(c), _column(c), _column(c)
    metric = c.tf.metrics.mean_relative_error(labels, guesses, norm)
    _streamed(
        c,
        metric,
        [labels, guesses, norm],
        [(floats(4, 1), floats(2, 5), floats(4, 0), 0.25), (floats(3), floats(1), floats(2), 0.5)],
    )


@api_case("METRICS-025", title="The cosines of two batches.")
def cosine_distances(c: ApiAuthor) -> None:
    left, right = _column(c, "float32", 2), _column(c, "float32", 2)
    metric = c.tf.metrics.mean_cosine_distance(left, right, 1)
    _streamed(
        c,
        metric,
        [left, right],
        [(_f([[1, 0]]), _f([[0, 1]]), 1), (_f([[0, 1]] * 3), _f([[0, 1]] * 3), 0.25)],
    )


def _of_truths(c: ApiAuthor, name: str, first: float, last: float) -> None:
    """A metric of three batches, the second of them empty, and its first and last value."""
    labels, guesses = _column(c, "bool"), _column(c, "bool")
    none, more = np.zeros(0, bool), np.array([True])
    batches = [
        (
            np.array([True, True, False, True, True]),
            np.array([True, False, True, True, False]),
            first,
        ),
        (none, none, first),
        (more, more, last),
    ]
    _streamed(c, getattr(c.tf.metrics, name)(labels, guesses), [labels, guesses], batches)


@api_case("METRICS-026", title="Precision over three batches, one of them empty.")
def precision_of_batches(c: ApiAuthor) -> None:
    _of_truths(c, "precision", 2 / 3, 3 / 4)


@api_case("METRICS-027", title="Recall over three batches, one of them empty.")
def recall_of_batches(c: ApiAuthor) -> None:
    _of_truths(c, "recall", 2 / 4, 3 / 5)


@api_case("METRICS-028", title="The four counts over three batches, one of them empty.")
def counts_of_batches(c: ApiAuthor) -> None:
    _of_truths(c, "true_positives", 2, 3)
    _of_truths(c, "false_positives", 1, 1)
    _of_truths(c, "true_negatives", 0, 0)
    _of_truths(c, "false_negatives", 2, 2)


def _of_judgements(c: ApiAuthor, name: str) -> None:
    """A metric of two batches at a half."""
    labels, guesses = _column(c, "bool"), _column(c)
    metric = getattr(c.tf.metrics, name)(labels, guesses, 0.5, num_thresholds=5)
    first = np.array([True, True, False, False]), floats(0.9, 0.3, 0.1, 0.6)
    more = np.array([True, True]), floats(0.1, 0.1)
    _streamed(c, metric, [labels, guesses], [(*first, 1.0), (*more, 0.5)])


@api_case("METRICS-029", title="The sensitivity where half of the False are told.")
def sensitivity_at_a_specificity(c: ApiAuthor) -> None:
    _of_judgements(c, "sensitivity_at_specificity")


@api_case("METRICS-030", title="The specificity where half of the True are told.")
def specificity_at_a_sensitivity(c: ApiAuthor) -> None:
    _of_judgements(c, "specificity_at_sensitivity")
