"""Faults of COMPOSITES: functions as they are often written, and wrong at some corner."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.composites.faults import batches as batch_faults
from sessrun.conformance.subjects.composites.faults import norms as norm_faults
from sessrun.conformance.subjects.programs.faults.programs import replaced
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor

__all__ = ["batch_faults", "norm_faults"]

# --- activations and cross entropies --------------------------------------------------------


@fault("COMPOSITES-001", "Softmax takes no greatest logit off.")
def softmax_takes_nothing_off(tf: Namespace) -> Namespace:
    """Divide the exponentials of the logits by their sum; do not subtract the greatest logit."""

    def softmax(
        logits: Tensor,
        axis: int | Sequence[int] = -1,
        name: str | None = None,
        dim: int | Sequence[int] | None = None,
    ) -> Tensor:
        del name, dim
        powers = tf.exp(logits)
        return powers / tf.reduce_sum(powers, axis, keepdims=True)

    return replaced(tf, "nn.softmax", lambda _: softmax)


@fault("COMPOSITES-001", "The logarithm of softmax is that of a rounded probability.")
def log_softmax_of_probabilities(tf: Namespace) -> Namespace:
    """Compute the softmax, then take its logarithm."""

    def log_softmax(
        logits: Tensor,
        axis: int | Sequence[int] = -1,
        name: str | None = None,
        dim: int | Sequence[int] | None = None,
    ) -> Tensor:
        del name, dim
        return tf.log(tf.nn.softmax(logits, axis))

    return replaced(tf, "nn.log_softmax", lambda _: log_softmax)


@fault("COMPOSITES-002", "The cross entropy of logits is that of their probabilities.")
def cross_entropy_of_probabilities(tf: Namespace) -> Namespace:
    """Take logarithms of the sigmoids of the logits."""

    def of_probabilities(
        _: None = None,
        labels: Tensor | float = 0.0,
        logits: Tensor | float = 0.0,
        name: str | None = None,
    ) -> Tensor:
        del name
        p = tf.sigmoid(logits)
        return -labels * tf.log(p) - (1 - labels) * tf.log(1 - p)

    return replaced(tf, "nn.sigmoid_cross_entropy_with_logits", lambda _: of_probabilities)


@fault("COMPOSITES-032", "The softmax cross entropy works along the last axis only.")
def classes_are_last(tf: Namespace) -> Namespace:
    """Ignore the argument `axis`."""

    def last(usual: Call) -> Call:
        def softmax_cross_entropy(*args: Argument, axis: int = -1, **options: Argument) -> Tensor:
            del axis
            return usual(*args, **options)

        return softmax_cross_entropy

    return replaced(tf, "nn.softmax_cross_entropy_with_logits_v2", last)


@fault("COMPOSITES-033", "The sparse cross entropy takes the logarithm of a quotient.")
def sparse_cross_entropies_overflow(tf: Namespace) -> Namespace:
    """Divide the exponentials by their sum."""

    def of_quotients(
        labels: Argument = None, logits: Argument = None, name: str | None = None
    ) -> Tensor:
        del name
        exponentials = tf.exp(logits)
        shares = exponentials / tf.reduce_sum(exponentials, -1, keepdims=True)
        chosen = tf.one_hot(labels, tf.shape(shares)[-1], dtype=shares.dtype)
        return -tf.log(tf.reduce_sum(shares * chosen, -1))

    return replaced(tf, "nn.sparse_softmax_cross_entropy_with_logits", lambda _: of_quotients)


@fault("COMPOSITES-004", "Stirling's approximation is added for every target.")
def stirling_for_every_target(tf: Namespace) -> Namespace:
    """Add the approximation to every element if `compute_full_loss` is set."""

    def log_poisson_loss(
        targets: Tensor, log_input: Tensor, compute_full_loss: bool = False, name: str | None = None
    ) -> Tensor:
        del name
        loss = tf.exp(log_input) - log_input * targets
        if not compute_full_loss:
            return loss
        return loss + targets * tf.log(targets) - targets + 0.5 * tf.log(6.2831853 * targets)

    return replaced(tf, "nn.log_poisson_loss", lambda _: log_poisson_loss)


@fault("COMPOSITES-029", "Selu has the scale of elu.")
def selu_is_elu(tf: Namespace) -> Namespace:
    """Leave the scale out."""
    return replaced(tf, "nn.selu", lambda _: tf.nn.elu)


@fault("COMPOSITES-030", "Crelu joins along the last axis only.")
def crelu_joins_along_the_last_axis(tf: Namespace) -> Namespace:
    """Ignore the argument `axis`."""
    return replaced(tf, "nn.crelu", lambda usual: lambda features, **_: usual(features))


@fault("COMPOSITES-031", "Leaky rectifiers give the greater of x and alpha * x.")
def leaky_rectifiers_give_the_greater(tf: Namespace) -> Namespace:
    """Take the maximum, which is another for alpha above 1."""
    return replaced(
        tf,
        "nn.leaky_relu",
        lambda _: lambda features, alpha=0.2: tf.maximum(alpha * features, features),
    )


@fault("COMPOSITES-028", "Softplus is the logarithm of one and an exponential.")
def softplus_overflows(tf: Namespace) -> Namespace:
    """Compute log(1 + exp(x)), which overflows for large x."""
    return replaced(tf, "nn.softplus", lambda _: lambda x: tf.log(1 + tf.exp(x)))


@fault("COMPOSITES-006", "A bias is added along the last axis, whatever the data format.")
def biases_are_last(tf: Namespace) -> Namespace:
    """Ignore `data_format`."""

    def last(usual: Call) -> Call:
        return (
            lambda value, bias, data_format=None, name=None: usual(  # noqa: ARG005
                value, tf.reshape(bias, [-1])[: tf.shape(value)[-1]], None, name
            )
        )

    return replaced(tf, "nn.bias_add", last)


@fault("COMPOSITES-007", "Zero times a logarithm that is no number is none.")
def zero_times_no_number(tf: Namespace) -> Namespace:
    """Multiply x with log(y), so that 0 * log(0) is NaN."""
    return replaced(
        tf, "math.xlogy", lambda _: lambda x, y, name=None: tf.multiply(x, tf.log(y), name)
    )


# --- moments and normalisation --------------------------------------------------------------


@fault("COMPOSITES-008", "A variance is the mean of the squares less the square of the mean.")
def variance_by_squares(tf: Namespace) -> Namespace:
    """Subtract the square of the mean from the mean of the squares."""

    def moments(
        x: Tensor,
        axes: int | Sequence[int],
        shift: Tensor | None = None,
        name: str | None = None,
        keep_dims: bool | None = None,
        keepdims: bool | None = None,
    ) -> tuple[Tensor, Tensor]:
        del shift, name
        keeps = bool(keep_dims or keepdims)
        mean = tf.reduce_mean(x, axes, keepdims=keeps)
        return mean, tf.reduce_mean(x * x, axes, keepdims=keeps) - mean * mean

    return replaced(tf, "nn.moments", lambda _: moments)


@fault("COMPOSITES-009", "A variance is corrected for its mean.")
def variances_are_corrected(tf: Namespace) -> Namespace:
    """Divide the sum of squared deviations by n - 1 instead of n."""

    def corrected(usual: Call) -> Call:
        def reduce_variance(
            input_tensor: Tensor,
            axis: int | Sequence[int] | None = None,
            keepdims: bool = False,
            name: str | None = None,
        ) -> Tensor:
            variance = usual(input_tensor, axis, keepdims, name)
            count = tf.cast(
                tf.size(input_tensor) / tf.maximum(tf.size(variance), 1), variance.dtype
            )
            return variance * tf.div_no_nan(count, count - 1)

        return reduce_variance

    return replaced(tf, "math.reduce_variance", corrected)


@fault("COMPOSITES-010", "A weight that is spread counts once in the sum of the weights.")
def spread_weights_count_once_in_moments(tf: Namespace) -> Namespace:
    """Divide by the sum of the weights before they are broadcast."""

    def weighted_moments(
        x: Tensor,
        axes: int | Sequence[int],
        frequency_weights: Tensor,
        name: str | None = None,
        keep_dims: bool | None = None,
        keepdims: bool | None = None,
    ) -> tuple[Tensor, Tensor]:
        del name
        keeps = bool(keep_dims or keepdims)
        total = tf.reduce_sum(frequency_weights)
        mean = tf.reduce_sum(x * frequency_weights, axes, keepdims=True) / total
        squares = tf.reduce_sum(frequency_weights * (x - mean) ** 2, axes, keepdims=keeps) / total
        return (mean if keeps else tf.squeeze(mean, axes)), squares

    return replaced(tf, "nn.weighted_moments", lambda _: weighted_moments)


@fault("COMPOSITES-011", "The sum of squares is not shifted.")
def squares_are_not_shifted(tf: Namespace) -> Namespace:
    """Sum the squares of x instead of the squares of x - shift."""

    def unshifted(usual: Call) -> Call:
        def sufficient_statistics(
            x: Tensor, axes: int | Sequence[int], *args: Argument, **options: Argument
        ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            count, total, _, shift = usual(x, axes, *args, **options)
            return count, total, tf.reduce_sum(x * x, axes), shift

        return sufficient_statistics

    return replaced(tf, "nn.sufficient_statistics", unshifted)


@fault("COMPOSITES-012", "The epsilon is added to the deviation, outside of the root.")
def epsilon_outside_of_the_root(tf: Namespace) -> Namespace:
    """Divide by sqrt(variance) + epsilon."""

    def batch_normalization(
        x: Tensor,
        mean: Tensor,
        variance: Tensor,
        offset: Tensor,
        scale: Tensor,
        variance_epsilon: float,
        name: str | None = None,
    ) -> Tensor:
        del name
        normed = (x - mean) / (tf.sqrt(variance) + variance_epsilon)
        normed = normed if scale is None else normed * scale
        return normed if offset is None else normed + offset

    return replaced(tf, "nn.batch_normalization", lambda _: batch_normalization)


@fault("COMPOSITES-013", "The epsilon is added to the sum of squares.")
def epsilon_is_added_to_squares(tf: Namespace) -> Namespace:
    """Take the root of the sum plus epsilon instead of the maximum of both."""

    def l2_normalize(
        x: Tensor,
        axis: int | Sequence[int] | None = None,
        epsilon: float = 1e-12,
        name: str | None = None,
        dim: int | Sequence[int] | None = None,
    ) -> Tensor:
        del name
        squares = tf.reduce_sum(x * x, dim if axis is None else axis, keepdims=True)
        return x * tf.rsqrt(squares + epsilon)

    return replaced(tf, "nn.l2_normalize", lambda _: l2_normalize)


@fault("COMPOSITES-014", "The variance that a batch norm gives is not corrected.")
def batch_variance_is_not_corrected(tf: Namespace) -> Namespace:
    """Multiply the returned variance by (n - 1) / n."""

    def uncorrected(usual: Call) -> Call:
        def fused_batch_norm(
            x: Tensor, scale: Tensor, *args: Argument, **options: Argument
        ) -> tuple[Tensor, Tensor, Tensor]:
            normed, mean, variance = usual(x, scale, *args, **options)
            count = tf.cast(tf.size(x) / tf.size(scale), tf.float32)
            return normed, mean, variance * (count - 1) / count

        return fused_batch_norm

    return replaced(tf, "nn.fused_batch_norm", uncorrected)


@fault("COMPOSITES-015", "A response is normalised by one channel fewer on each side.")
def near_channels_are_fewer(tf: Namespace) -> Namespace:
    """Halve `depth_radius`, as if it were the width of the window."""

    def narrower(usual: Call) -> Call:
        def normalized(input: Tensor, depth_radius: int = 5, **options: Argument) -> Tensor:  # noqa: A002
            return usual(input, depth_radius=depth_radius // 2, **options)

        return normalized

    return replaced(tf, "nn.local_response_normalization", narrower)


# --- windows --------------------------------------------------------------------------------


@fault("COMPOSITES-022", "A padding of odd size has its greater half at the beginning.")
def odd_padding_stands_before(tf: Namespace) -> Namespace:
    """Convolve the reversed input with the reversed filter, and reverse the result."""

    def backwards(usual: Call) -> Call:
        def conv1d(
            value: Tensor, filters: Tensor, stride: int, padding: str, **options: Argument
        ) -> Tensor:
            if padding != "SAME":
                return usual(value, filters, stride, padding, **options)
            turned = usual(tf.reverse(value, [1]), tf.reverse(filters, [0]), stride, padding)
            return tf.reverse(turned, [1])

        return conv1d

    return replaced(tf, "nn.conv1d", backwards)


@fault("COMPOSITES-023", "An average counts what is padded.")
def averages_count_padding(tf: Namespace) -> Namespace:
    """Divide each sum by the size of the window."""

    def of_all_elements(usual: Call) -> Call:
        def avg_pool(
            value: Tensor,
            ksize: Sequence[int],
            strides: Sequence[int],
            padding: str,
            **options: Argument,
        ) -> Tensor:
            averages = usual(value, ksize, strides, padding, **options)
            ones = tf.ones_like(value)
            sums = tf.nn.depthwise_conv2d(
                ones,
                tf.ones([ksize[1], ksize[2], value.shape[-1], 1], value.dtype),
                [1, strides[1], strides[1], 1],
                padding,
            )
            return averages * sums / (ksize[1] * ksize[2]) if strides[1] == strides[2] else averages

        return avg_pool

    return replaced(tf, "nn.avg_pool", of_all_elements)


@fault("COMPOSITES-024", "What a dropout keeps is not scaled.")
def dropout_scales_nothing(tf: Namespace) -> Namespace:
    """Multiply the result by 1 - rate, which undoes the scale."""

    def unscaled(usual: Call) -> Call:
        def dropout(
            x: Tensor, *args: Argument, rate: float | None = None, **options: Argument
        ) -> Tensor:
            return usual(x, *args, rate=rate, **options) * (1 - (rate or 0.0))

        return dropout

    return replaced(tf, "nn.dropout", unscaled)


@fault("COMPOSITES-025", "Rows that are looked up are clipped by their common norm.")
def rows_are_clipped_together(tf: Namespace) -> Namespace:
    """Clip the looked-up rows by the norm of all of them."""

    def together(usual: Call) -> Call:
        def embedding_lookup(
            params: Tensor,
            ids: Tensor,
            *args: Argument,
            max_norm: float | None = None,
            **options: Argument,
        ) -> Tensor:
            rows = usual(params, ids, *args, **options)
            return rows if max_norm is None else tf.clip_by_norm(rows, max_norm)

        return embedding_lookup

    return replaced(tf, "nn.embedding_lookup", together)


@fault("COMPOSITES-026", "The mean of an empty segment is no number.")
def means_of_empty_segments(tf: Namespace) -> Namespace:
    """Divide by the number of rows, which is zero for an empty segment."""

    def unsorted_segment_mean(
        data: Tensor, segment_ids: Tensor, num_segments: Tensor | int, name: str | None = None
    ) -> Tensor:
        del name
        total = tf.math.unsorted_segment_sum(data, segment_ids, num_segments)
        ones = tf.ones_like(data)
        return total / tf.math.unsorted_segment_sum(ones, segment_ids, num_segments)

    return replaced(tf, "math.unsorted_segment_mean", lambda _: unsorted_segment_mean)
