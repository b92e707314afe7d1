"""Programs of functions that build one operation: the node and the value."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import caught, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

_SMALL = [-0.5, 0.25, 0.75]
_LARGE = [1.0, 2.5, 4.0]
_INTEGERS = [-7, 0, 5]


def _in_own_graphs(tf, functions: list[Action]):
    """The nodes that each function builds in a graph of its own, and the value."""

    def built(function: Action):
        with tf.Graph().as_default() as graph:
            outputs = function()
            return [nodes(graph), run(tf, outputs)]

    return [caught(lambda function=function: built(function)) for function in functions]


def _of_one_number(tf):
    small = (
        "acos",
        "asin",
        "atan",
        "atanh",
        "asinh",
        "cosh",
        "sinh",
        "tan",
        "expm1",
        "erf",
        "erfc",
        "log1p",
        "sigmoid",
        "tanh",
        "rint",
        "floor",
        "ceil",
        "sign",
    )
    large = ("acosh", "lgamma", "digamma", "rsqrt", "reciprocal", "square", "sqrt", "log")
    math = tf.math
    return _in_own_graphs(
        tf,
        [
            *(lambda name=name: getattr(math, name)(_SMALL, name="named") for name in small),
            *(lambda name=name: getattr(math, name)(_LARGE) for name in large),
            lambda: tf.nn.relu6([-1.0, 3.0, 9.0]),
            lambda: tf.math.log_sigmoid(_SMALL),
            lambda: tf.bitwise.invert(_INTEGERS),
            lambda: tf.math.negative(_INTEGERS),
            lambda: tf.math.acos(["a"]),
            lambda: tf.math.cosh(_INTEGERS),
        ],
    )


def _of_two(tf):
    math = tf.math
    return _in_own_graphs(
        tf,
        [
            lambda: math.atan2(_SMALL, _LARGE),
            lambda: tf.bitwise.bitwise_xor(_INTEGERS, 3),
            lambda: tf.bitwise.right_shift(_INTEGERS, 1),
            lambda: tf.bitwise.left_shift(_INTEGERS, 1),
            lambda: tf.bitwise.bitwise_and(_INTEGERS, 6),
            lambda: tf.bitwise.bitwise_or(_INTEGERS, 6),
            lambda: tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 2.0]),
            lambda: tf.floor_div(_INTEGERS, 2),
            lambda: tf.truncatemod(_INTEGERS, 3),
            lambda: tf.truncatediv(_INTEGERS, 3),
            lambda: math.nextafter(_LARGE, 0.0),
            lambda: math.xlogy([0.0, 1.0], [0.0, 2.0]),
            lambda: math.xdivy([0.0, 1.0], [0.0, 2.0]),
            lambda: math.xlog1py([0.0, 1.0], [-1.0, 2.0]),
            lambda: math.multiply_no_nan([1.0, 2.0], [0.0, 3.0]),
            lambda: math.igamma(_LARGE, 1.0),
            lambda: math.divide_no_nan([1.0, 2.0], [0.0, 4.0]),
            lambda: math.zeta(_LARGE[1:], 2.0),
            lambda: math.squared_difference(_LARGE, 1.0),
            lambda: math.polygamma(1.0, _LARGE),
            lambda: math.approximate_equal([1.0, 2.0], [1.0, 2.1], tolerance=0.2),
            lambda: math.betainc(2.0, 3.0, [0.25, 0.75]),
            lambda: math.igammac(1.0, _LARGE),
        ],
    )


def _of_segments(tf):
    rows, ids = [[1.0, -2.0], [3.0, 4.0], [5.0, 0.5]], [0, 0, 2]
    sorted_kinds = ("segment_sum", "segment_max", "segment_mean", "segment_min", "segment_prod")
    unsorted = ("sum", "max", "min", "prod", "mean", "sqrt_n")
    math = tf.math
    return _in_own_graphs(
        tf,
        [
            *(lambda name=name: getattr(math, name)(rows, ids) for name in sorted_kinds),
            *(
                lambda name=name: getattr(math, f"unsorted_segment_{name}")(rows, [2, -1, 0], 4)
                for name in unsorted
            ),
            lambda: math.segment_sum(rows, [1, 0, 2]),
            lambda: math.unsorted_segment_sum(rows, [0, 7, 1], 3),
        ],
    )


def _of_arrays(tf):
    base = tf.constant
    return _in_own_graphs(
        tf,
        [
            lambda: tf.arg_max([[1, 5], [7, 2]], 1),
            lambda: tf.arg_min([[1, 5], [7, 2]], 0),
            lambda: tf.unique_with_counts([3, 1, 3]),
            lambda: tf.unique([3, 1, 3]),
            lambda: tf.tensor_scatter_nd_sub([5, 6, 7], [[1], [1]], [1, 2]),
            lambda: tf.tensor_scatter_nd_add([5, 6, 7], [[1], [1]], [1, 2]),
            lambda: tf.invert_permutation([2, 0, 1]),
            lambda: tf.strings.unicode_script([65, 945, -1]),
            lambda: tf.io.decode_json_example(base(['{"features": {}}'])),
            lambda: tf.broadcast_to([1, 2], [2, 2]),
            lambda: tf.reverse([[1, 2], [3, 4]], [1]),
            lambda: tf.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 0.0]], 1),
            lambda: tf.math.bincount([1, 1, 3]),
            lambda: tf.linalg.band_part(tf.ones([3, 3]), 0, 1),
        ],
    )


BEHAVIOURS = {
    "of one number": _of_one_number,
    "of two numbers": _of_two,
    "of segments": _of_segments,
    "of arrays": _of_arrays,
}
