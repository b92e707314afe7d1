"""Programs of windows over many channels, pooling of integers, deprecated normalization."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.imported_nodes import run_node

__all__ = ["BEHAVIOURS"]


def _numbers(*shape: int):
    """Small positive and negative numbers."""
    return (np.arange(int(np.prod(shape))).reshape(shape) * 7 % 23 - 11).astype("float32") / 8


def _given_back_to_many_channels(tf):
    """Gradients of strided convolutions by inputs and filters with many channels.

    Dilated ones are left out: not every build of TensorFlow has their gradient on a CPU.
    """
    nn, results = tf.nn, []
    for channels in (3, 17, 40):
        for strides, padding in (
            ([1, 2, 2, 1], "SAME"),
            ([1, 2, 3, 1], "VALID"),
            ([1, 1, 1, 1], "SAME"),
        ):
            x = tf.constant(_numbers(2, 7, 6, channels))
            w = tf.constant(_numbers(3, 2, channels, 2))
            y = nn.conv2d(x, w, strides, padding)
            results.append(run(tf, tf.gradients(tf.square(y), [x, w])))
        volume, w = tf.constant(_numbers(1, 4, 5, 4, channels)), _numbers(2, 2, 2, channels, 3)
        y = nn.conv3d(volume, w, [1, 2, 2, 1, 1], "SAME")
        results.append(run(tf, tf.gradients(tf.square(y), volume)))
    x, w = tf.constant(_numbers(1, 9, 8, 20)), tf.constant(_numbers(2, 3, 20, 5))
    y = nn.conv2d(x, w, [1, 2, 2, 1], "VALID", dilations=[1, 1, 2, 1])
    results += attempt(
        lambda: run(tf, y),
        lambda: run(
            tf,
            nn.conv2d_transpose(
                _numbers(1, 2, 2, 4), _numbers(3, 3, 18, 4), [1, 4, 4, 18], [1, 2, 2, 1], "SAME"
            ),
        ),
    )
    return results


def _strides_in_the_batch(tf):
    """Strides along batch and channels, which are unsupported; not where oneDNN's error differs."""
    x, w = tf.placeholder(tf.float32, [2, 4, 4, 2]), tf.constant(_numbers(2, 2, 2, 3))
    volume, cubes = tf.placeholder(tf.float32, [1, 4, 4, 4, 2]), _numbers(2, 2, 2, 2, 3)
    feeds = {x: _numbers(2, 4, 4, 2), volume: _numbers(1, 4, 4, 4, 2)}
    raw = tf.raw_ops
    return attempt(
        *(
            lambda s=strides: run(tf, tf.nn.conv2d(x, w, s, "SAME"), feeds)
            for strides in ([2, 1, 1, 1], [1, 1, 1, 2])
        ),
        lambda: run(
            tf,
            raw.Conv3D(
                input=volume,
                filter=cubes,
                strides=[1] * 5,
                padding="SAME",
                dilations=[2, 1, 1, 1, 1],
            ),
            feeds,
        ),
        lambda: run(
            tf,
            raw.Conv3DBackpropFilterV2(
                input=volume,
                filter_sizes=[2, 2, 2, 2, 3],
                out_backprop=tf.ones([1, 4, 4, 4, 3]),
                strides=[1, 1, 1, 1, 2],
                padding="SAME",
            ),
            feeds,
        ),
    )


def _random_windows_of_integers(tf):
    """Fractional average pooling of integers, whose means are rounded towards zero."""
    outcomes = []
    for dtype in ("int32", "int64", "float64"):
        x = (np.arange(2 * 7 * 6 * 2).reshape(2, 7, 6, 2) * 13 % 31 - 17).astype(dtype)
        for overlapping in (False, True):
            pooled = tf.raw_ops.FractionalAvgPool(
                value=x,
                pooling_ratio=[1.0, 1.5, 1.3, 1.0],
                pseudo_random=True,
                overlapping=overlapping,
                deterministic=True,
                seed=3,
                seed2=5,
            )
            # TensorFlow's static shapes of the windows' borders are one too short.
            outcomes.append(run(tf, [tf.placeholder_with_default(part, None) for part in pooled]))
        value, rows, columns = pooled
        grad = tf.ones_like(value)
        outcomes += attempt(
            lambda r=rows, c=columns, g=grad, x=x: run(
                tf,
                tf.raw_ops.FractionalAvgPoolGrad(
                    orig_input_tensor_shape=x.shape,
                    out_backprop=g,
                    row_pooling_sequence=r,
                    col_pooling_sequence=c,
                    overlapping=True,
                ),
            )
        )
    return outcomes


def _normalized_globally(tf):
    """`BatchNormWithGlobalNormalization` and its gradients."""
    t, mean = _numbers(2, 3, 2, 4), np.array([0.5, -1.0, 0.0, 2.0], "float32")
    variance = np.array([1.0, 4.0, 0.25, 0.0], "float32")
    beta, gamma = np.array([1.0, 2.0, 3.0, -4.0], "float32"), np.array([2, 0.5, -1, 3], "float32")
    parts = [t, mean, variance, beta, gamma]

    def normalized(inputs, epsilon: float, scaled: bool, *, back: bool = False):
        op_type = "BatchNormWithGlobalNormalization" + "Grad" * back
        attrs = {"T": tf.float32, "variance_epsilon": epsilon, "scale_after_normalization": scaled}
        return run_node(tf, op_type, inputs, attrs, producer=8)

    pairs = [(epsilon, scaled) for epsilon in (0.001, 0.5) for scaled in (True, False)]
    backwards = [t, mean, variance, gamma, _numbers(3, 2, 2, 4).reshape(2, 3, 2, 4) + 1.0]
    usual = tf.nn.batch_norm_with_global_normalization(*parts, 0.5, False)
    return (
        [normalized(parts, *pair) for pair in pairs],
        [normalized(backwards, *pair, back=True) for pair in pairs],
        run(tf, usual),
        attempt(
            *(
                lambda p=index: normalized([*parts[:p], parts[p][:2], *parts[p + 1 :]], 0.5, True)
                for index in (1, 2, 3, 4)
            ),
            lambda: normalized([t[0], *parts[1:]], 0.5, True),
            lambda: normalized([t, mean[None], *parts[2:]], 0.5, True),
            lambda: run_node(
                tf,
                "BatchNormWithGlobalNormalization",
                parts,
                {
                    "T": tf.float32,
                    "variance_epsilon": 0.5,
                    "scale_after_normalization": True,
                },
                producer=9,
            ),
        ),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _given_back_to_many_channels,
        _strides_in_the_batch,
        _normalized_globally,
    )
} | {
    "random_windows_of_whole_numbers": _random_windows_of_integers,
}
