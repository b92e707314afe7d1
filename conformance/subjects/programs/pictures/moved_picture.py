"""Programs of translated and resized images, suppressed boxes, and random parameters."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built as _built
from sessrun.conformance.subjects.programs.built_graphs import fed as _fed
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import TensorFunction

__all__ = ["BEHAVIOURS"]

_PICTURES = np.random.default_rng(3).uniform(size=(2, 6, 5, 3)).astype("float32")


def _coarse(tf, output):
    """Numbers in hundredths: their last bits depend on the order of sums."""
    return tf.floor(output * 100.0 + 0.25) if output.dtype.is_floating else output


def _in_own_graphs(tf, calls: list[TensorFunction], shapes=([2, 6, 5, 3],)):
    def make(call: TensorFunction, shape):
        pictures = tf.placeholder(tf.float32, shape, name="p")
        output = call(pictures)
        return _coarse(tf, output), [
            _coarse(tf, gradient) for gradient in tf.gradients(output, [pictures])
        ]

    return [
        _built(tf, lambda call=call, shape=shape: make(call, shape), _fed(_PICTURES))
        for call in calls
        for shape in shapes
    ]


def _resized(tf):
    images = module_of(tf, "ops.image_ops_impl")
    methods = (
        "bilinear",
        "nearest",
        "bicubic",
        "lanczos3",
        "lanczos5",
        "gaussian",
        "mitchellcubic",
        "unknown",
    )
    calls = [
        lambda p, method=method: images.resize_images_v2(p, [4, 7], method) for method in methods
    ]
    calls += [
        lambda p: images.resize_images_v2(p, [3, 9], antialias=True, name="n"),
        lambda p: images.resize_images_v2(p, [3, 9], "bicubic", True, antialias=True),
        lambda p: images.resize_images_v2(p[0], [6, 5]),
    ]
    return _in_own_graphs(tf, calls, ([2, 6, 5, 3], [None, None, None, 3]))


def _moved(tf):
    raw = tf.raw_ops
    rows = [[1.0, 0.25, -0.5, 0.0, 0.5, 1.0, 0.0, 0.0]]
    calls = [
        lambda p: raw.ScaleAndTranslate(
            images=p, size=[4, 4], scale=[0.5, 1.5], translation=[0.25, -1.0], kernel_type="box"
        ),
        lambda p: raw.ScaleAndTranslate(
            images=p, size=[4, 4], scale=[0.5, 1.5], translation=[0.25, -1.0], antialias=False
        ),
        lambda p: raw.ImageProjectiveTransformV2(
            images=p,
            transforms=rows,
            output_shape=[5, 6],
            interpolation="BILINEAR",
            fill_mode="REFLECT",
        ),
        lambda p: raw.ImageProjectiveTransformV3(
            images=p, transforms=rows, output_shape=[5, 6], interpolation="BILINEAR", fill_value=0.5
        ),
    ]
    return _in_own_graphs(tf, calls)


def _of_parameters(tf):
    random = tf.random
    own = module_of(tf, "ops.random_ops")
    crops = module_of(tf, "ops.random_crop_ops")
    calls = [
        lambda: random.stateless_binomial([5], [1, 2], [10.0] * 5, 0.4),
        lambda: random.stateless_binomial([2, 3], [1, 2], 50, [0.5, 0.9, 1.0], tf.float32, "n"),
        lambda: _coarse(tf, random.stateless_parameterized_truncated_normal([4], [1, 2])),
        lambda: _coarse(
            tf,
            random.stateless_parameterized_truncated_normal(
                [2, 3], [1, 2], 1.0, [1.0, 2.0, 3.0], 0.5, 9.0, name="n"
            ),
        ),
        lambda: _coarse(tf, own.parameterized_truncated_normal([7], 1.0, 2.0, 0.0, 1.5, seed=3)),
        lambda: crops.stateless_random_crop(np.arange(24).reshape(4, 6), [2, 3], [1, 2]),
        lambda: tf.random_uniform([2], [1, 2], 3, tf.int32),
        lambda: random.stateless_uniform([2], [1, 2], 1, [2, 3], tf.int32),
        lambda: tf.random_uniform([0], 1, 1, tf.int32, seed=1),
        lambda: random.stateless_uniform([2], [1, 2, 3]),
        lambda: tf.random_poisson(float("inf"), [2], seed=1),
    ]
    return [_built(tf, call) for call in calls]


def _differentiated(tf):
    def normal():
        parameters = [tf.constant(value) for value in (0.25, [1.0, 2.0], -1.0, 1.5)]
        drawn = tf.random.stateless_parameterized_truncated_normal([3, 2], [1, 2], *parameters)
        return [_coarse(tf, gradient) for gradient in tf.gradients(drawn, parameters)]

    def gamma():
        alpha = tf.constant([0.5, 3.0])
        drawn = tf.random.stateless_gamma([4, 2], [1, 2], alpha, 2.0)
        return _coarse(tf, tf.gradients(drawn, alpha)[0])

    return [_built(tf, normal), _built(tf, gamma)]


def _suppressed_in_tiles(tf):
    generator = np.random.default_rng(5)
    corners = generator.uniform(0.0, 4.0, (3, 40, 2))
    boxes = np.concatenate([corners, corners + generator.uniform(1.0, 3.0, (3, 40, 2))], -1)
    boxes, scores = boxes.astype("float32"), generator.uniform(0.1, 1.0, (3, 40)).astype("float32")
    suppress, results = tf.image.non_max_suppression_padded, []
    for limit, scored in ((0.2, 0.3), (0.5, float("-inf")), (0.9, 0.3)):
        results += suppress(boxes, scores, 12, limit, scored, True, tile_size=8)
    results += suppress(
        tf.constant(boxes[0]),
        np.sort(scores[0])[::-1],
        5,
        0.5,
        sorted_input=True,
        canonicalized_coordinates=True,
    )
    turned = [[[1.0, 0, 0, 1], [1, 0, 0, 1], [4, 3, 3, 4]],
              [[0, 0, 1, 1], [0, 0, 1, 1], [3, 3, 4, 4]]]  # fmt: skip
    results += suppress(turned, [[0.9, 0.8, 0.7]] * 2, 3, 0.5, pad_to_max_output_size=True)
    with tf.Session() as session:
        return (
            results[0],
            results[1],
            results[-1].op.type,
            session.run(results),
            attempt(
                lambda: suppress(tf.constant(boxes), scores, 5),
                lambda: suppress([[0.0] * 4], [1.0], 5),
                lambda: suppress(tf.constant(boxes[0]), scores[0], 2**31),
            ),
        )


BEHAVIOURS = {
    "differentiated": _differentiated,
    "moved": _moved,
    "of_parameters": _of_parameters,
    "resized": _resized,
    "suppressed_in_tiles": _suppressed_in_tiles,
}
