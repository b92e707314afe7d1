"""Programs of the nodes that convolutions and pooling build, and of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain, Program
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

#: An argument of a call; a function is called with the namespace, and gives the argument.
Argument: TypeAlias = "Plain | Callable[[Namespace], Tensor]"


def _p(*shape, dtype: str = "float32") -> Callable[[Namespace], Tensor]:
    return lambda tf: tf.placeholder(getattr(tf, dtype), list(shape))


def _unknown(tf):
    return tf.placeholder(tf.float32)


def _in_own_graph(tf, name: str, arguments: tuple[Argument, ...], named: dict[str, Argument]):
    """What a function returns, and the nodes; arguments that are functions are called first."""

    def value(argument):
        return argument(tf) if callable(argument) else argument

    def build_and_run():
        with tf.Graph().as_default() as graph:
            function = tf
            for part in name.split("."):
                function = getattr(function, part)
            outputs = function(*map(value, arguments), **{k: value(v) for k, v in named.items()})
            return outputs, nodes(graph)

    return attempt(build_and_run)


def _calls(*calls: tuple[Argument, ...]) -> Program:
    """A program of calls: a name, arguments, and perhaps a dictionary of named arguments."""

    def program(tf):
        results = []
        for name, *arguments in calls:
            named = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
            results.append(_in_own_graph(tf, name, tuple(arguments), named))
        return results

    return program


_X, _F, _G = _p(2, 5, 6, 3), _p(3, 3, 3, 4), _p(2, 5, 6, 4)
_BOTH, _PADS = [1, 2, 2, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]
_conv2d = _calls(
    ("nn.conv2d", _X, _F, _BOTH, "SAME"),
    ("nn.conv2d", _X, _F, 1, _PADS),
    ("nn.conv2d", _X, {"filters": _F, "strides": 2, "padding": "VALID", "dilations": [2, 1]}),
    ("nn.conv2d", _X, _F, None, "SAME", {"data_format": None, "name": "c"}),
    ("nn.conv2d", _p(2, 3, 5, 6), _F, [2, 1], "SAME", {"data_format": "NCHW"}),
    ("nn.conv2d", _X, _F, _BOTH, "SAME", {"filters": _F}),
    ("nn.conv2d", _X, _F, [1, 2, 2], "SAME"),
    ("nn.conv2d", _X, _F, 1, "EXPLICIT"),
    ("nn.conv2d", _X, _F, 1, [[1, 1]]),
    ("nn.conv2d", _X, _F, 1, [1, 1]),
    ("nn.conv2d", _X, _F, 1, "same"),
    ("nn.conv2d", _X, _F, 1),
    ("nn.conv2d", _X, None, 1, "SAME"),
    ("nn.conv2d", _p(7, 2, 5, 6, 3), _F, 1, "SAME"),
    ("nn.conv2d", _p(7, None, 5, None, 3), _F, 1, "SAME", {"name": "q"}),
    ("nn.conv2d", _unknown, _F, 1, "SAME"),
    ("nn.conv2d", [[[[1.0]]]], _F, 1, "SAME"),
    ("nn.conv2d", np.ones((1, 4, 4, 3), np.float32), _F, 1, "SAME"),
    ("nn.conv2d", _X, _p(3, 3, 3, 4, dtype="float64"), 1, "SAME"),
    ("nn.conv2d", _X, _F, 1, "SAME", {"data_format": "XX"}),
    ("nn.conv2d", _X, _p(3, 3, 2, 4), 1, "SAME"),
    ("nn.conv2d", _p(2, 2, 6, 3), _F, 1, "VALID"),
    ("nn.conv2d_backprop_filter", _X, [3, 3, 3, 4], _G, [1] * 4, "SAME"),
    ("nn.conv2d_backprop_filter", _X, [3, 3, 3, 4], _G, [1] * 4, _PADS, {"name": "z"}),
    ("nn.conv2d_backprop_input", [2, 5, 6, 3], _F, _G, [1] * 4, "SAME"),
    ("nn.conv2d_backprop_input", [2, 5, 6, 3], _F, _G, 1, "SAME"),
    ("nn.conv2d_transpose", _G, _F, [2, 10, 12, 3], 2),
    (
        "nn.conv2d_transpose",
        None,
        None,
        _p(4, dtype="int32"),
        [2, 2],
        "VALID",
        {"input": _G, "filters": _F, "name": "y"},
    ),
    ("nn.conv2d_transpose", _G, _p(3, 3, 3, 5), [2, 10, 12, 3], 2),
    ("nn.conv2d_transpose", _p(2, 4, 5, 6), _F, [2, 3, 10, 12], 2, {"data_format": "NCHW"}),
)

_R, _RF, _V, _VF = _p(2, 6, 3), _p(3, 3, 4), _p(1, 4, 5, 6, 2), _p(2, 2, 2, 2, 3)
_other_ranks = _calls(
    ("nn.conv1d", _R, _RF, 2, "SAME"),
    ("nn.conv1d", _p(5, 2, 6, 3), _RF, 1, "SAME"),
    (
        "nn.conv1d",
        None,
        _RF,
        [2],
        "VALID",
        {"input": _p(2, 3, 6), "data_format": "NCW", "dilations": 2, "name": "d"},
    ),
    ("nn.conv1d", _R, _RF, 2, "SAME", {"data_format": "BAD"}),
    ("nn.conv1d", _unknown, _RF, 2, "SAME"),
    ("nn.conv1d", _R, _RF, 2, "SAME", {"use_cudnn_on_gpu": False, "data_format": "NHWC"}),
    ("nn.conv1d_transpose", _p(2, 6, 4), _RF, [2, 12, 3], 2),
    ("nn.conv1d_transpose", _p(2, 4, 6), _RF, _p(3, dtype="int32"), 2, "VALID", "NCW"),
    ("nn.conv1d_transpose", _p(2, 4, 6), _RF, [2, 3, 12], 2, {"data_format": "BAD"}),
    ("nn.conv_transpose", _p(2, 6, 4), _RF, [2, 12, 3], 2),
    ("nn.conv_transpose", _G, _F, [2, 10, 12, 3], 2),
    ("nn.conv_transpose", _G, _F, [2, 10], 2),
    ("nn.conv_transpose", _p(1, 4, 5, 6, 3), _VF, [1, 8, 10, 12, 2], 2),
    ("nn.conv_transpose", _G, _F, 5, 2),
    ("nn.conv_transpose", _G, _F, _p(4, dtype="int32"), 2),
    ("nn.conv3d", _V, _VF, [1] * 5, "SAME"),
    ("nn.conv3d", _V, _VF, 1, "SAME"),
    ("nn.conv3d", _V, {"filters": _VF, "strides": [1, 2, 2, 2, 1], "padding": "VALID"}),
    ("nn.conv3d_transpose", _p(1, 4, 5, 6, 3), _VF, [1, 8, 10, 12, 2], 2),
    ("nn.conv3d_backprop_filter", _V, [2, 2, 2, 2, 3], _p(1, 4, 5, 6, 3), [1] * 5, "SAME"),
    ("nn.conv3d_backprop_filter_v2", _V, [2, 2, 2, 2, 3], _p(1, 4, 5, 6, 3), [1] * 5, "SAME"),
)

_I = _p(2, 5, 6, 4)
_pools = _calls(
    ("nn.max_pool", _I, 2, 2, "SAME"),
    ("nn.max_pool", _I, 2, 2, _PADS),
    ("nn.max_pool", _I, 0, 2, "SAME"),
    ("nn.max_pool", None, [1, 3, 3, 1], _BOTH, "VALID", {"input": _I, "name": "m"}),
    ("nn.max_pool", _I, 2, 2, "SAME", {"data_format": "NCHW"}),
    ("nn.max_pool", _I, 2, [1, 2, 3], "SAME"),
    ("nn.max_pool", _I, 2, 2, _PADS, {"data_format": "NCHW_VECT_C"}),
    ("nn.max_pool2d", _I, 2, 2, "SAME"),
    ("nn.max_pool1d", _R, 2, 2, "SAME"),
    ("nn.max_pool1d", _R, 2, 2, [[0, 0], [1, 0], [0, 0]]),
    ("nn.max_pool1d", _R, 2, 2, "VALID", "NCW"),
    ("nn.max_pool_v2", _R, 2, 2, "SAME"),
    ("nn.max_pool_v2", _I, [2, 3], _BOTH, "VALID", "NHWC", "hh"),
    ("nn.max_pool_v2", _p(2, 5), 2, 2, "SAME"),
    ("nn.max_pool_v2", _V, 2, 2, "SAME"),
    ("nn.max_pool_v2", _V, 2, 2, [[0, 0]] * 5),
    ("nn.max_pool", _I, [1, 1, 1, 2], [1, 1, 1, 2], "SAME"),
    ("nn.max_pool", _p(2, 5, 6), 2, 2, "SAME"),
    ("nn.max_pool3d", _V, 2, 2, "SAME"),
    ("nn.avg_pool", _I, 2, 2, "SAME"),
    ("nn.avg_pool2d", _I, _BOTH, 2, "VALID", {"name": "k"}),
    ("nn.avg_pool1d", _R, 2, 2, "SAME"),
    ("nn.avg_pool_v2", _R, 2, 2, "SAME"),
    ("nn.avg_pool_v2", _I, 2, 2, "SAME", {"name": "w"}),
    ("nn.avg_pool_v2", _V, 2, 2, "SAME"),
    ("nn.avg_pool", _I, 2, 2, "SAME", {"input": _I}),
    ("nn.avg_pool", _p(2, 5, 6, 4, dtype="int32"), 2, 2, "SAME"),
    ("nn.avg_pool3d", _V, 2, 2, "SAME"),
    ("nn.avg_pool3d", _V, 2, 2, "SAME", {"data_format": "NCDHW"}),
    ("nn.max_pool_with_argmax", _I, _BOTH, _BOTH, "SAME"),
    ("nn.max_pool_with_argmax", _I, _BOTH, _BOTH, "SAME", "NCHW"),
    ("nn.max_pool_with_argmax", _I, 2, 2, "SAME"),
    ("nn.lrn", _I),
    ("nn.lrn", _R),
    ("nn.local_response_normalization", _I, 2, 1.5, 0.1, 0.75, "lr"),
    ("nn.fractional_avg_pool", _I, [1.0, 0.5, 1.5, 1.0]),
    ("nn.bias_add", _I, _p(4)),
    ("nn.bias_add", _I, _p(5), "NCHW"),
    ("nn.bias_add", _I, _p(4), "XY"),
    ("nn.fused_batch_norm", _I, _p(4), _p(4)),
    ("nn.fused_batch_norm", _I, _p(4), _p(4), {"is_training": False}),
    ("nn.fused_batch_norm", _I, _p(4), _p(4), _p(4), _p(4), 0.01, "NHWC", False, "n"),
    ("nn.fused_batch_norm", _I, _p(4), _p(4), {"exponential_avg_factor": 0.5}),
    ("nn.fused_batch_norm", _p(2, 4, 5, 6), [1.0] * 4, [0.0] * 4, {"data_format": "NCHW"}),
)

_W, _D, _ONES = _p(2, 6, 4, 3), _p(2, 2, 3, 2), [1, 1, 1, 1]
_apart = _calls(
    ("nn.depthwise_conv2d", _W, _D, _ONES, "SAME"),
    ("nn.depthwise_conv2d", _W, _D, _ONES, "SAME", [2, 2]),
    ("nn.depthwise_conv2d", _W, _D, _ONES, "VALID", {"dilations": [2, 1], "name": "dd"}),
    ("nn.depthwise_conv2d", _p(2, 3, 6, 4), _D, _ONES, "VALID", {"data_format": "NCHW"}),
    (
        "nn.depthwise_conv2d",
        _p(2, 3, 6, 4),
        _D,
        _ONES,
        "SAME",
        {"data_format": "NCHW", "rate": [2, 2]},
    ),
    ("nn.depthwise_conv2d", _unknown, _D, _ONES, "SAME", [2, 2]),
    ("nn.depthwise_conv2d", _W, _unknown, _ONES, "SAME", [2, 2]),
    ("nn.depthwise_conv2d", _W, _D, _ONES, _PADS),
    ("nn.depthwise_conv2d", _W, _D, _ONES, _PADS, [2, 2]),
    ("nn.depthwise_conv2d_native", _W, _D, _ONES, "SAME"),
    ("nn.depthwise_conv2d_backprop_input", [2, 6, 4, 3], _D, _p(2, 6, 4, 6), _ONES, "SAME"),
    ("nn.depthwise_conv2d_native_backprop_filter", _W, [2, 2, 3, 2], _p(2, 6, 4, 6), _ONES, "SAME"),
    ("nn.separable_conv2d", _W, _D, _p(1, 1, 6, 5), _ONES, "SAME"),
    ("nn.separable_conv2d", _W, _D, _p(1, 1, 6, 5), _ONES, "SAME", [2, 2], "s"),
    ("nn.separable_conv2d", _W, _D, _p(2, 1, 6, 5), _ONES, "SAME"),
    ("nn.convolution", _W, _D, "SAME"),
    ("nn.convolution", _p(2, 6, 3), _p(2, 3, 2), "SAME", [2]),
    ("nn.convolution", _p(2, 6, 4, 5, 3), _p(2, 2, 2, 3, 2), "VALID", [2, 1, 1], {"name": "w"}),
    ("nn.convolution", _W, _D, "SAME", None, [2, 2]),
    ("nn.convolution", _unknown, _D, "SAME", None, [2, 2]),
    ("nn.convolution", _p(2, 6, 3), _p(2, 3, 2), "VALID", None, [2], "o"),
    ("nn.convolution", _p(2, 6, 4, 5, 3), _p(2, 2, 2, 3, 2), "SAME", {"dilations": [2, 1, 2]}),
    ("nn.convolution", _p(2, 3, 6, 4), _D, "SAME", None, [2, 2], {"data_format": "NCHW"}),
    ("nn.convolution", _p(2, 3, 6), _p(2, 3, 2), "SAME", None, [2], {"data_format": "NCW"}),
    ("nn.convolution", _p(2, None, 4, 3), _D, "SAME", None, [2, 2]),
    ("nn.convolution", _W, _p(None, 2, 3, 2), "SAME", None, [2, 2]),
    ("nn.convolution", _p(5, 2, 6, 4, 3), _D, "SAME"),
    ("nn.convolution", _W, _D, _PADS, None, [2, 2]),
    ("nn.convolution", _p(5, 2, 6, 4, 3), _D, "SAME", None, [2, 2]),
    ("nn.convolution", _W, _D, "SAME", [2, 2], [2, 2]),
    ("nn.convolution", _unknown, _unknown, "SAME"),
    ("nn.convolution", _W, _p(2, 2, 2, 2), "SAME", None, [2, 2]),
    ("nn.convolution", _p(2, 6), _p(2, 2), "SAME"),
    ("nn.convolution", _W, _D, "SAME", None, [2, 0]),
    ("nn.convolution", _W, _D, "SAME", [2, 2, 2]),
    ("nn.convolution", _W, _D, "SAME", None, [2, 2], {"data_format": "XX"}),
    ("nn.atrous_conv2d", _W, _D, 2, "SAME"),
    ("nn.atrous_conv2d", _W, _D, [2, 1], "VALID", "r"),
    *(
        ("nn.atrous_conv2d_transpose", _p(2, 6, 4, 2), filters, sizes, rate, padding)
        for filters, sizes, rate, padding in (
            (_D, [2, 6, 4, 3], 2, "SAME"),
            (_D, [2, 8, 6, 3], 2, "VALID"),
            (_D, [2, 6, 4, 3], 1, "SAME"),
            (_D, _p(4, dtype="int32"), 2, "SAME"),
            (_p(None, 2, 3, 2), (2, 6, 4, 3), 2, "SAME"),
            (_p(2, 2, 3, 3), [2, 6, 4, 3], 2, "SAME"),
            (_D, [2, 6, 4, 4], 2, "SAME"),
            (_D, [2, 6, 4, 3], 0, "SAME"),
            (_D, [2, 6, 4, 3], 2, "X"),
        )
    ),
    ("nn.pool", _W, [2, 2], "MAX", "SAME"),
    ("nn.pool", _R, [2], "AVG", "SAME", None, [2], "p1"),
    ("nn.pool", _p(2, 6, 4, 5, 3), [2, 2, 2], "MAX", "VALID"),
    ("nn.pool", _R, [2], "AVG", "VALID", [2]),
    ("nn.pool", _W, [2, 2], "MAX", "VALID", [2, 2]),
    ("nn.pool", _W, [2, 2], "MAX", "SAME", [2, 2]),
    ("nn.pool", _W, [2, 2], "MIN", "SAME"),
    ("nn.pool", _W, [2, 2], "MAX", "SAME", None, [3, 3]),
    ("nn.pool", _W, [2, 2, 2], "MAX", "SAME"),
    ("nn.pool", _W, [2, 2, 2, 2], "MAX", "SAME"),
    ("nn.pool", _p(2, 3, 6), [2], "MAX", "SAME", {"data_format": "NCW"}),
)


def _by_function(tf):
    def same(_):
        return lambda x, _, padding: tf.nn.max_pool(x, 2, 1, padding)

    return [
        _in_own_graph(tf, "nn.with_space_to_batch", (_W, rate, padding, same), named)
        for rate, padding, named in (
            ([2, 2], "VALID", {}),
            ([1, 1], "VALID", {}),
            ([2, 2], "SAME", {}),
            ([2, 2], "SAME", {"filter_shape": [2, 2]}),
            ([2, 2], "X", {"filter_shape": [2, 2]}),
            (_p(2, dtype="int32"), "SAME", {"filter_shape": [2, 2]}),
            ([0, 2], "VALID", {}),
            ([2], "VALID", {"spatial_dims": [2]}),
            ([2, 2], "VALID", {"spatial_dims": [2, 1]}),
            ([2, 2], "VALID", {"spatial_dims": [1, 3]}),
            (2, "VALID", {}),
            (_p(None, dtype="int32"), "VALID", {}),
        )
    ]


_B, _K = _p(1, 4, 6, 3), [[0, 0], [1, 1]]
_space = _calls(
    ("space_to_batch", _B, _K, 2),
    ("nn.space_to_batch", _B, _K, {"block_shape": 2, "name": "a"}),
    ("space_to_batch", _B, _K, 2, {"block_shape": 2}),
    ("space_to_batch", _p(1, 5, 6, 3), _K, 2),
    ("space_to_batch", _unknown, _p(2, 2, dtype="int32"), 2),
    ("batch_to_space", _p(4, 4, 6, 3), _K, 2),
    ("batch_to_space", _p(3, 4, 6, 3), _K, 2),
    ("batch_to_space", _p(4, 4, 6, 3), [[0, 9], [1, 1]], 2),
    *(
        ("space_to_batch_nd", _p(2, 6, 4), blocks, pads)
        for blocks, pads in (
            ([2, 2], [[0, 0], [0, 0]]),
            (_p(None, dtype="int32"), [[0, 0], [0, 0]]),
            ([2, 2], [[0, 0]]),
            (_p(2, dtype="int32"), [[0, 0], [0, 0]]),
            ([2, 2], _p(2, 2, dtype="int32")),
            ([2, 0], [[0, 0], [0, 0]]),
            ([2, 2], [[-2, 0], [0, 0]]),
        )
    ),
    ("batch_to_space_nd", _p(4, 6, 4), [2, 2], [[1, 0], [0, 0]], "v"),
    ("batch_to_space_nd", _p(5, 6, 4), [2, 2], [[1, 0], [0, 0]]),
    ("manip.batch_to_space_nd", _p(None, 6, 4), [2, 2], [[1, 0], [0, 0]]),
    ("space_to_depth", _p(2, 6, 4, 3), 2),
    ("nn.space_to_depth", _p(2, 3, 6, 4), 2, "n", "NCHW"),
    ("space_to_depth", _p(2, 5, 4, 3), 2),
    ("space_to_depth", _p(2, 6, 4, 3), 1),
    ("depth_to_space", _p(2, 6, 4, 8), 2),
    ("nn.depth_to_space", _p(2, 6, 4, 7), 2),
    ("required_space_to_batch_paddings", [5, 6], [2, 3]),
    ("required_space_to_batch_paddings", [], []),
    ("required_space_to_batch_paddings", _p(2, dtype="int32"), [2, 3], [[1, 1], [0, 0]]),
    ("required_space_to_batch_paddings", [5, 6], [2]),
    ("extract_image_patches", _W, [1, 2, 2, 1], _ONES, _ONES, "SAME"),
    (
        "image.extract_image_patches",
        _W,
        {"sizes": [1, 2, 2, 1], "strides": _ONES, "rates": _BOTH, "padding": "VALID", "name": "b"},
    ),
    ("image.extract_patches", _W, [1, 2, 2, 1], _ONES, _ONES, "SAME"),
    ("extract_image_patches", _W, 2, _ONES, _ONES, "SAME"),
    ("extract_volume_patches", _p(2, 6, 4, 5, 3), [1, 2, 2, 2, 1], [1] * 5, "SAME"),
    ("nn.dilation2d", _W, _p(2, 2, 3), _ONES, _ONES, "SAME"),
    (
        "nn.dilation2d",
        _W,
        {
            "filters": _p(2, 2, 3),
            "strides": _BOTH,
            "dilations": _BOTH,
            "padding": "VALID",
            "name": "d",
        },
    ),
    ("nn.dilation2d", _W, _p(2, 2, 4), _ONES, _ONES, "SAME"),
    ("nn.erosion2d", _W, _p(2, 2, 3), _ONES, _ONES, "SAME"),
    ("nn.dilation2d", _p(1, 2, 2, 3), _p(3, 3, 3), _ONES, _ONES, "VALID"),
    ("nn.dilation2d", _p(1, 2, 2, 3), _p(4, 3, 3), _ONES, _ONES, "VALID"),
    ("nn.dilation2d", _W, _p(None, 2, 3), _ONES, _ONES, "SAME"),
    ("extract_image_patches", _p(1, 2, 2, 1), [1, 3, 3, 1], _ONES, _ONES, "VALID"),
    ("extract_image_patches", _p(1, 2, 2, 1), [1, 4, 3, 1], _ONES, _ONES, "VALID"),
)

BEHAVIOURS = {
    "conv2d": _conv2d,
    "other_ranks": _other_ranks,
    "pools": _pools,
    "apart": _apart,
    "by_function": _by_function,
    "space": _space,
}
