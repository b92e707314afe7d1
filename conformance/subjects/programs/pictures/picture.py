"""Programs of `tf.image`: nodes, static shapes, values."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import built as _built
from sessrun.conformance.subjects.programs.built_graphs import fed as _fed
from sessrun.conformance.subjects.programs.program import PairFunction, Plain, TensorFunction

__all__ = ["BEHAVIOURS"]

_ONE = np.random.default_rng(3).uniform(size=(5, 4, 3)).astype("float32")
_TWO = np.stack([_ONE, _ONE[::-1] * 0.5])
_BYTES = (np.arange(5 * 4 * 3).reshape(5, 4, 3) * 37 % 256).astype("uint8")
#: Static shapes of an image, with the arrays that are fed.
_KNOWN = [
    ([5, 4, 3], _ONE),
    ([2, 5, 4, 3], _TWO),
    ([None, None, 3], _ONE),
    (None, _ONE),
    ([None, 5, 4, 3], _TWO),
    ([5, None, None], _ONE),
    ([4, 3], _ONE[0]),
    ([2, 0, 4, 3], _TWO),
]


def _coarse(tf, output):
    """Numbers in thousandths: their last bits depend on the order of sums."""
    if isinstance(output, tuple | list):
        return [_coarse(tf, item) for item in output]
    return tf.floor(output * 1000.0) if output.dtype.is_floating else output


def _of_shapes(tf, call: TensorFunction, kinds=None) -> list[Plain]:
    """What a call builds and computes for images of several static shapes."""

    def make(shape):
        return _coarse(tf, call(tf.placeholder(tf.float32, shape, name="p")))

    return [
        _built(tf, lambda shape=shape: make(shape), _fed(value)) for shape, value in kinds or _KNOWN
    ]


def _turned(tf):
    i = tf.image
    calls = [
        i.flip_left_right,
        i.flip_up_down,
        i.rot90,
        lambda p: i.rot90(p, k=3, name="r"),
        lambda p: i.rot90(p, tf.placeholder_with_default(2, [])),
        i.transpose_image,
        lambda p: i.transpose(p, name="t"),
        lambda p: i.random_flip_left_right(p, seed=1),
        lambda p: i.random_flip_up_down(p, seed=3),
    ]
    # For an unknown rank TensorFlow's optimizer takes the wrong branch of `rot90`.
    ranked = [(shape, value) for shape, value in _KNOWN if shape is not None]
    flips = [i.flip_left_right, i.flip_up_down]
    unknown = [_of_shapes(tf, flip, [(None, _ONE), (None, _TWO)]) for flip in flips]
    return [unknown, *(_of_shapes(tf, call, ranked) for call in calls)]


def _framed(tf):
    i = tf.image

    def later(number: int):
        return tf.placeholder_with_default(number, [])

    calls = [
        lambda p: i.central_crop(p, 0.5),
        lambda p: i.central_crop(p, 1.0),
        lambda p: i.central_crop(p, 0.0),
        lambda p: i.central_crop(p, tf.constant(0.5)),
        lambda p: i.central_crop(p, tf.placeholder_with_default(0.5, [])),
        lambda p: i.pad_to_bounding_box(p, 1, 2, 8, 9),
        lambda p: i.pad_to_bounding_box(p, 0, 0, 5, 4),
        lambda p: i.pad_to_bounding_box(p, -1, 0, 5, 4),
        lambda p: i.pad_to_bounding_box(p, 1, 0, 5, 4),
        lambda p: i.pad_to_bounding_box(p, later(1), 1, later(8), 8),
        lambda p: i.crop_to_bounding_box(p, 1, 1, 3, 2),
        lambda p: i.crop_to_bounding_box(p, 1, 1, 5, 2),
        lambda p: i.crop_to_bounding_box(p, 0, 0, 0, 2),
        lambda p: i.crop_to_bounding_box(p, 0, -1, 1, 2),
        lambda p: i.crop_to_bounding_box(p, later(1), 1, later(2), 2),
        lambda p: i.resize_image_with_crop_or_pad(p, 7, 2),
        lambda p: i.resize_image_with_crop_or_pad(p, later(3), later(6)),
        lambda p: i.resize_image_with_crop_or_pad(p, 0, 2),
    ]
    return [_of_shapes(tf, call) for call in calls]


def _resized(tf):
    i = tf.image
    calls = [
        lambda p: i.resize_images(p, [3, 6]),
        lambda p: i.resize_images(p, [5, 4]),
        lambda p: i.resize_images(p, [7, 8], i.ResizeMethod.NEAREST_NEIGHBOR, align_corners=True),
        lambda p: i.resize_images(p, [7, 8], "bicubic", name="n"),
        lambda p: i.resize_images(p, [2, 3], i.ResizeMethod.AREA),
        lambda p: i.resize_images(p, [3, 3], preserve_aspect_ratio=True),
        lambda p: i.resize_images(p, tf.placeholder_with_default([3, 6], [2])),
        lambda p: i.resize_images(p, [3, tf.placeholder_with_default(6, [])]),
        lambda p: i.resize_images(p, [1, 2], 9),
        lambda p: i.resize_images(p, [1, 2, 3]),
        lambda p: i.resize_images(p, 3),
        lambda p: i.resize_images(p, [1.5, 2]),
        lambda p: i.resize_image_with_pad(p, 10, 12),
        lambda p: i.resize_image_with_pad(p, 3, 2, 1),
        lambda p: i.resize_image_with_pad(p, 0, 2),
        lambda p: i.resize_image_with_pad(p, tf.placeholder_with_default(6, []), 7),
        lambda p: i.resize_bilinear(p, [3, 6], name="b"),
        lambda p: i.resize_area(p, [3, 2], True),
        lambda p: i.resize_bicubic(p, [3, 6], half_pixel_centers=True),
        lambda p: i.resize_nearest_neighbor(p, [3, 6], True),
    ]
    return [_of_shapes(tf, call) for call in calls]


def _coloured(tf):
    i = tf.image
    calls = [
        lambda p: i.adjust_brightness(p, 0.2),
        lambda p: i.adjust_contrast(p, 1.5),
        lambda p: i.adjust_gamma(p, 2.0, 0.5),
        lambda p: i.adjust_gamma(p, -1),
        lambda p: i.adjust_gamma(p, tf.placeholder_with_default(2.0, [])),
        lambda p: i.adjust_hue(p, 0.3, "h"),
        lambda p: i.adjust_saturation(p, 0.5),
        lambda p: i.adjust_saturation(i.convert_image_dtype(p, tf.uint8), 0.5),
        lambda p: i.random_brightness(p, 0.3, seed=1),
        lambda p: i.random_brightness(p, -1),
        lambda p: i.random_contrast(p, 0.3, 0.8, seed=1),
        lambda p: i.random_contrast(p, 1, 1),
        lambda p: i.random_contrast(p, -1, 1),
        lambda p: i.random_hue(p, 0.2, 3),
        lambda p: i.random_hue(p, 0.6),
        lambda p: i.random_hue(p, -0.1),
        lambda p: i.random_saturation(p, 0.2, 0.4, 3),
        lambda p: i.random_saturation(p, 2, 1),
        i.rgb_to_hsv,
        i.hsv_to_rgb,
        i.rgb_to_grayscale,
        i.per_image_standardization,
        lambda p: i.convert_image_dtype(p, tf.uint8, saturate=True),
        lambda p: i.convert_image_dtype(p, tf.float64),
        lambda p: i.convert_image_dtype(p, tf.float32),
        lambda p: i.convert_image_dtype(p, tf.int16, name="c"),
        lambda p: i.convert_image_dtype(p, tf.string),
        i.total_variation,
        i.image_gradients,
    ]
    results = [_of_shapes(tf, call) for call in calls]
    some = [i.rgb_to_yiq, i.yiq_to_rgb, i.rgb_to_yuv, i.yuv_to_rgb]

    def known(call: TensorFunction):
        return _built(tf, lambda: call(tf.placeholder(tf.float32, [5, 4, 3], name="p")), _fed(_ONE))

    return [*results, *map(known, some)]


def _bytes(tf):
    i = tf.image
    calls = [
        lambda p: i.adjust_brightness(p, 0.2),
        lambda p: i.adjust_contrast(p, 1.5),
        lambda p: i.adjust_gamma(p, 2.0, 0.5),
        lambda p: i.rgb_to_grayscale(p),
        lambda p: i.convert_image_dtype(p, tf.int16),
        lambda p: i.convert_image_dtype(p, tf.int8),
        lambda p: i.convert_image_dtype(p, tf.uint16, saturate=True),
        lambda p: i.convert_image_dtype(p, tf.float32),
        lambda p: i.encode_png(p, 3),
        lambda p: i.encode_jpeg(p, quality=60, name="e"),
        lambda p: i.resize_images(p, [2, 9]),
        lambda p: tf.io.encode_png(p),
        i.per_image_standardization,
        lambda p: i.resize_images(p, [2, 9], 1),
        lambda p: i.flip_left_right(p),
        lambda p: i.decode_png(i.encode_png(p)),
        lambda p: i.adjust_jpeg_quality(p, 70, "INTEGER_ACCURATE"),
        lambda p: i.decode_jpeg(i.encode_jpeg(p), dct_method="INTEGER_ACCURATE"),
    ]

    def built(call: TensorFunction, shape):
        def make():
            output = call(tf.placeholder(tf.uint8, shape, name="p"))
            return tf.shape(output) if output.op.type == "EncodePng" else output  # encoders differ

        return _built(tf, make, _fed(_BYTES))

    grey = [
        _built(
            tf,
            lambda shape=shape: i.grayscale_to_rgb(tf.placeholder(tf.uint8, shape, name="p")),
            _fed(_BYTES[..., :1]),
        )
        for shape in ([5, 4, 1], [None, None, None], None, [5, 4, 3], [4])
    ]
    return [*grey, *(built(call, shape) for call in calls for shape in ([5, 4, 3], [None] * 3))]


def _boxed(tf):
    i = tf.image
    boxes = [[0.0, 0.0, 0.5, 0.6], [0.1, 0.0, 0.6, 0.6], [0.3, 0.2, 0.9, 0.95]]
    scores = [0.5, 0.9, 0.3]
    overlaps = [[1.0, 0.7, 0.1], [0.7, 1.0, 0.2], [0.1, 0.2, 1.0]]
    boxes_by_class = [[[box] for box in boxes]]
    ranks = [[[score, 1 - score] for score in scores]]
    calls = [
        lambda _: i.non_max_suppression(boxes, scores, 2),
        lambda _: i.non_max_suppression(boxes, scores, 3, 0.2, 0.4, "n"),
        lambda _: i.non_max_suppression_with_scores(boxes, scores, 3, 1.0, 0.1, 0.5),
        lambda _: i.non_max_suppression_overlaps(overlaps, scores, 3),
        lambda _: i.combined_non_max_suppression(boxes_by_class, ranks, 2, 3),
        lambda _: i.combined_non_max_suppression(boxes_by_class, ranks, 1, 5, pad_per_class=True),
        lambda p: i.crop_and_resize(p, boxes[:2], [0, 1], [3, 2]),
        lambda p: i.crop_and_resize(p, boxes[:2], box_indices=[0, 1], crop_size=[3, 2], name="c"),
        lambda p: i.crop_and_resize(p, boxes[:2], [0, 1], [3, 2], box_indices=[0, 1]),
        lambda p: i.crop_and_resize(p, boxes[:1], [1], [2, 2], "nearest", 0.5),
        lambda p: i.crop_and_resize(p, boxes, [0, 1], [3, 2]),
        lambda p: i.draw_bounding_boxes(p, [boxes, boxes]),
        lambda p: i.draw_bounding_boxes(p, [boxes, boxes], colors=[[1.0, 2.0, 3.0, 4.0]], name="d"),
        lambda p: i.extract_glimpse(p, [2, 2], [[0.0, 0.1], [0.1, 0.0]]),
        lambda p: i.extract_glimpse(p, [2, 2], [[0.0, 0.1]], centered=False, normalized=False),
        lambda _: i.sample_distorted_bounding_box([50, 60, 3], [boxes], seed=3),
        lambda _: i.sample_distorted_bounding_box(
            [50, 60, 3], [boxes], 3, 4, 0.5, [0.5, 2.0], [0.2, 0.9], 50, name="s"
        ),
        lambda _: i.sample_distorted_bounding_box([50, 60, 3], [], seed=3),
        *(
            lambda _, o=option: i.sample_distorted_bounding_box([50, 60, 3], [boxes], seed=3, **o)
            for option in ({"max_attempts": 0}, {"area_range": (0.05, 2.0)})
        ),
        lambda _: i.sample_distorted_bounding_box([50, 60, 3], [[[0.1, 0.1, 1.2, 1.0]]], seed=3),
        lambda _: i.sample_distorted_bounding_box(
            [50, 60, 3], np.zeros([1, 0, 4], "f"), seed=3, use_image_if_no_bounding_boxes=True
        ),
    ]

    def built(call: TensorFunction):
        return _built(
            tf, lambda: call(tf.placeholder(tf.float32, [2, 5, 4, 3], name="p")), _fed(_TWO)
        )

    return [built(call) for call in calls]


def _compared(tf):
    i = tf.image

    def built(shapes, values):
        def make():
            one = (
                tf.constant(values[0])
                if shapes[0] is None
                else tf.placeholder_with_default(values[0], shapes[0])
            )
            return i.psnr(one, tf.constant(values[1]), 1.0)

        return _built(tf, make)

    return [
        built((None, None), (_TWO, _TWO * 0.9)),
        built(([None] * 4, None), (_TWO, _TWO * 0.9)),
        built((None, None), (_ONE, _TWO * 0.9)),
        built((None, None), (_ONE, _ONE[1:])),
        _built(tf, lambda: i.psnr(tf.constant(_BYTES), tf.constant(_BYTES[::-1]), 255, name="x")),
    ]


def _files(tf):
    i = tf.image
    calls = [
        lambda: i.is_jpeg(b"\xff\xd8\xff\xe0"),
        lambda: i.is_jpeg(b"none", "j"),
        lambda: tf.io.is_jpeg(b""),
        lambda: i.decode_image("junk"),
        lambda: tf.shape(
            i.decode_image(i.encode_jpeg(_BYTES), 3, tf.float32, expand_animations=False)
        ),
        lambda: i.decode_image(i.encode_png(_BYTES), dtype=tf.int16, name="d"),
        lambda: i.encode_png(np.array([[[100], [50], [25], [12], [6]]], "uint8")),
        lambda: i.decode_image(i.encode_png(_BYTES.astype("uint16") * 99), dtype=tf.uint16),
        lambda: i.extract_jpeg_shape(i.encode_jpeg(_BYTES)),
        lambda: i.decode_gif("GIF89a"),
        lambda: i.decode_bmp("BM"),
        lambda: i.decode_and_crop_jpeg(
            i.encode_jpeg(_BYTES), [1, 1, 2, 2], dct_method="INTEGER_ACCURATE"
        ),
        lambda: tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [-0.25]], 8000), 1, 3),
    ]
    return [_built(tf, call) for call in calls]


def _spread(tf):
    numbers = [[1.0, 2.0, 4.0], [0.0, 0.0, 6.0]]
    calls = [
        lambda: tf.math.reduce_std(numbers),
        lambda: tf.math.reduce_variance(numbers, 1),
        lambda: tf.math.reduce_std(numbers, [0], keepdims=True, name="s"),
        lambda: tf.math.reduce_variance([1, 2]),
        lambda: tf.math.reduce_variance([1j, 2]),
    ]
    return [_built(tf, call) for call in calls]


def _alike(tf):
    i = tf.image
    draw = np.random.default_rng(5)
    one = draw.uniform(size=(2, 27, 21, 3)).astype("float32")
    two = np.clip(one + draw.normal(size=one.shape) * 0.1, 0, 1).astype("float32")
    calls = [
        lambda a, b: i.ssim(a, b, 1.0),
        lambda a, b: i.ssim(a[0], b[0], 1.0, 5, 1.0, 0.02, 0.05),
        lambda a, b: i.ssim(a, b, 1.0, return_index_map=True),
        lambda a, b: i.ssim_multiscale(a, b, 1.0, power_factors=(0.5, 0.3), filter_size=7),
        lambda a, _: i.sobel_edges(a),
        lambda a, b: i.ssim(a, b[:, 1:], 1.0),
        lambda a, b: i.ssim(tf.cast(a * 255, tf.uint8), tf.cast(b * 255, tf.uint8), 255),
    ]

    def compared(call: PairFunction, shape):
        pair = [tf.placeholder(tf.float32, shape, name="p") for _ in range(2)]
        return _coarse(tf, call(*pair))

    return [
        _built(tf, lambda call=call, shape=shape: compared(call, shape), _fed(one, two))
        for call in calls
        for shape in ([2, 27, 21, 3], [None, None, None, 3])
    ]


BEHAVIOURS = {
    "alike": _alike,
    "boxed": _boxed,
    "bytes": _bytes,
    "coloured": _coloured,
    "compared": _compared,
    "files": _files,
    "framed": _framed,
    "resized": _resized,
    "spread": _spread,
    "turned": _turned,
}
