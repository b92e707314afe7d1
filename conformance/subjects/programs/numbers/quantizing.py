"""Programs of quantization: nodes and values."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built as _built
from sessrun.conformance.subjects.programs.built_graphs import fed as _fed
from sessrun.conformance.subjects.programs.program import TensorFunction

__all__ = ["BEHAVIOURS"]

_X = np.array([[-7.3, -1.26, 0.0], [0.44, 2.13, 5.5]], "float32")


def _calls(tf):
    q = tf.quantization
    lows, highs = [-1.0, -2.0, -4.0], [1.0, 2.0, 5.0]
    calls = [
        lambda p: tf.quantize(p, -6.0, 6.0, tf.quint8),
        lambda p: q.quantize(p, -6, 6, tf.qint8),
        lambda p: tf.quantize_v2(p, -6.0, 6.0, tf.qint8, "MIN_FIRST", "n"),
        lambda p: tf.quantize(p, -6.0, 6.0, tf.qint16, "SCALED", "HALF_TO_EVEN", narrow_range=True),
        lambda p: tf.quantize(p, lows, highs, tf.quint8, axis=1),
        lambda p: tf.quantize(p, lows, highs, tf.qint8, "SCALED", axis=-1),
        lambda p: tf.quantize(p, 0.0, 0.0, tf.quint8, ensure_minimum_range=0.5),
        lambda p: tf.quantize(p, 1.0, -1.0, tf.quint8),
        lambda p: tf.quantize(p, -0.0, 1.0, tf.qint8, "SCALED"),
        lambda p: tf.quantize(p, lows, 1.0, tf.qint8),
        lambda p: tf.dequantize(tf.quantize(p, -6.0, 6.0, tf.quint8)[0], -6.0, 6.0),
        lambda p: q.dequantize(tf.quantize(p, -6.0, 6.0, tf.qint8)[0], -6.0, 6.0, "MIN_FIRST"),
        lambda p: q.dequantize(
            tf.quantize(p, lows, highs, tf.qint8, "SCALED", axis=1)[0],
            lows,
            highs,
            "SCALED",
            "d",
            axis=1,
        ),
        lambda p: q.quantize_and_dequantize(p, -6.0, 6.0, range_given=True),
        lambda p: q.quantize_and_dequantize_v2(p, 0.0, 0.0, num_bits=4, axis=-2, name="b"),
        lambda p: q.quantize_and_dequantize(p, 5.0, -5.0, range_given=True),
        lambda p: q.quantize_and_dequantize(p, -5.0, 5.0, num_bits=77),
        q.fake_quant_with_min_max_args,
        lambda p: tf.fake_quant_with_min_max_args(p, -0.5, 1.0, 4, True, "f"),
        lambda p: tf.fake_quant_with_min_max_args(p, 1, -1),
        lambda p: tf.fake_quant_with_min_max_args(p, num_bits=1),
        lambda p: q.fake_quant_with_min_max_vars(p, -1.0, 3.0, num_bits=5),
        lambda p: tf.fake_quant_with_min_max_vars(p, [-1.0], 3.0),
        lambda p: q.fake_quant_with_min_max_vars_per_channel(p, lows, highs),
        lambda p: tf.fake_quant_with_min_max_args_gradient(p, p * 2.0),
        lambda p: tf.fake_quant_with_min_max_vars_gradient(p, p, -1.0, 3.0),
        lambda p: tf.fake_quant_with_min_max_vars_per_channel_gradient(p, p, lows, highs),
        lambda p: tf.gradients(tf.fake_quant_with_min_max_vars(p, -1.0, 3.0), p),
        lambda p: tf.gradients(q.quantize_and_dequantize_v2(p, -1.0, 3.0, range_given=True), p),
    ]

    def quantized(call: TensorFunction, shape):
        return _built(tf, lambda: call(tf.placeholder(tf.float32, shape, name="p")), _fed(_X))

    return [quantized(call, shape) for call in calls for shape in ([2, 3], None)]


def _networks(tf):
    """A quantized network: convolution, bias, pooling, requantization."""

    def network():
        r = tf.raw_ops
        p = tf.placeholder(tf.float32, [1, 6, 6, 2], name="p")
        x, low, high = tf.quantize(p, -4.0, 4.0, tf.quint8)
        filters = np.linspace(-1, 1, 54).reshape(3, 3, 2, 3)
        w, low_w, high_w = tf.quantize(filters, -1.0, 1.0, tf.quint8)
        y = r.QuantizedConv2D(
            input=x,
            filter=w,
            min_input=low,
            max_input=high,
            min_filter=low_w,
            max_filter=high_w,
            strides=[1, 1, 1, 1],
            padding="SAME",
        )
        need = r.RequantizationRange(input=y[0], input_min=y[1], input_max=y[2])
        y = r.Requantize(
            input=y[0],
            input_min=y[1],
            input_max=y[2],
            requested_output_min=need[0],
            requested_output_max=need[1],
            out_type=tf.quint8,
        )
        y = r.QuantizedRelu(features=y[0], min_features=y[1], max_features=y[2])
        y = r.QuantizedMaxPool(
            input=y[0],
            min_input=y[1],
            max_input=y[2],
            ksize=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            padding="VALID",
        )
        y = r.QuantizedReshape(tensor=y[0], shape=[1, 27], input_min=y[1], input_max=y[2])
        m, low_m, high_m = tf.quantize(np.linspace(-1, 1, 54).reshape(27, 2), -1.0, 1.0, tf.quint8)
        y = r.QuantizedMatMul(a=y[0], b=m, min_a=y[1], max_a=y[2], min_b=low_m, max_b=high_m)
        y = r.QuantizeDownAndShrinkRange(
            input=y[0], input_min=y[1], input_max=y[2], out_type=tf.quint8
        )
        b, low_b, high_b = tf.quantize([0.5, -0.25], -1.0, 1.0, tf.quint8)
        z = r.QuantizedBiasAdd(
            input=y[0],
            bias=b,
            min_input=y[1],
            max_input=y[2],
            min_bias=low_b,
            max_bias=high_b,
            out_type=tf.qint32,
        )
        joined = tf.quantized_concat(1, [y[0], b[None]], [y[1], low_b], [y[2], high_b])
        return [*z, *joined, tf.dequantize(y[0], y[1], y[2])]

    fed = (np.arange(72).reshape(1, 6, 6, 2) % 9 - 4.2).astype("float32")
    return _built(tf, network, _fed(fed))


BEHAVIOURS = {"calls": _calls, "networks": _networks}
