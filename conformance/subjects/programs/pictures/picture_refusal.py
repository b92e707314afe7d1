"""Programs of invalid images: files of another type, sizes that overflow, seeds."""

from __future__ import annotations

import struct

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

_HUGE = [1879048192, 1879048192]
_BMP = b"BM" + b"\x36\0\0\0" + b"\0" * 100
#: A BMP file of two rows of two pixels of 24 bits, each row padded to eight bytes.
_COMPLETE_BMP = b"".join(
    (
        b"BM",
        struct.pack("<IIIIiiHHIIiiII", 70, 0, 54, 40, 2, 2, 1, 24, 0, 16, 0, 0, 0, 0),
        bytes(range(16)),
    )
)


def _says(tf, word: str, make: Action):
    """Whether a run raises an error with these words."""
    with tf.Session() as session:
        try:
            return session.run(make())
        except tf.errors.InvalidArgumentError as error:
            return word in error.message


def _files_of_another_kind(tf):
    raw, picture = tf.raw_ops, np.arange(60, dtype="uint8").reshape(4, 5, 3)
    with tf.Session() as session:
        files = session.run([tf.image.encode_png(picture), tf.image.encode_jpeg(picture)])
    wrong = "Trying to decode BMP format using a wrong op. Use `decode_bmp`"
    results = [
        _says(
            tf,
            f"{wrong} or `decode_image` instead. Op used: {name}",
            lambda name=name: getattr(raw, name)(contents=_BMP),
        )
        for name in ("DecodePng", "DecodeJpeg", "DecodeGif")
    ]
    for content, kind in zip(files, ("png", "jpeg"), strict=True):
        words = (
            f"Trying to decode {kind.upper()} format using DecodeBmp op. Use "
            f"`decode_{kind}` or `decode_image` instead."
        )
        results.append(_says(tf, words, lambda content=content: tf.image.decode_bmp(content)))
    only = "DecodeAndCropJpeg operation can run on JPEG only, but detected"
    results += [
        _says(tf, f"{only} PNG", lambda: tf.image.decode_and_crop_jpeg(files[0], [0, 0, 1, 1])),
        _says(tf, f"{only} BMP", lambda: tf.image.decode_and_crop_jpeg(_BMP, [0, 0, 1, 1])),
        _says(tf, "Input is empty", lambda: tf.image.decode_png(b"")),
        _says(tf, "Unknown image file format", lambda: tf.image.decode_png(b"nonsense")),
        _says(
            tf,
            "JPEG does not support 4 channels",
            lambda: tf.image.decode_image(files[1], channels=4),
        ),
        _says(tf, "Invalid JPEG data, size", lambda: tf.image.extract_jpeg_shape(files[0])),
        _says(
            tf,
            "Invalid JPEG data or crop window",
            lambda: tf.image.decode_and_crop_jpeg(files[1], [0, 0, 9, 1]),
        ),
    ]
    return results


def _sizes_that_overflow(tf):
    raw, pictures = tf.raw_ops, np.ones((2, 3, 4, 3), "float32")
    boxes = np.zeros((2, 4), "float32")
    calls = [
        *(
            lambda name=name: getattr(raw, name)(images=pictures, size=_HUGE)
            for name in ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")
        ),
        lambda: raw.ResizeNearestNeighborGrad(grads=pictures, size=_HUGE),
        lambda: raw.ScaleAndTranslate(
            images=pictures, size=_HUGE, scale=[1.0, 1.0], translation=[0.0, 0.0]
        ),
        lambda: raw.CropAndResize(image=pictures, boxes=boxes, box_ind=[0, 9], crop_size=_HUGE),
        lambda: raw.ImageProjectiveTransformV2(
            images=pictures,
            transforms=np.zeros((1, 8), "float32"),
            output_shape=_HUGE,
            interpolation="NEAREST",
        ),
    ]
    of_any_shape = tf.placeholder(tf.float32)
    return [_says(tf, "Encountered overflow when multiplying", call) for call in calls], attempt(
        *(
            lambda k=k, s=s: run(tf, tf.extract_image_patches(pictures, k, s, [1] * 4, "VALID"))
            for k, s in (
                ([1, 9, 9, 1], [1] * 4),
                ([2, 1, 1, 1], [1] * 4),
                ([1] * 4, [2, 1, 1, 1]),
                ([1] * 4, [1, 1, 1, 2]),
            )
        ),
        lambda: run(
            tf,
            tf.image.non_max_suppression(of_any_shape, [0.5, 0.6], 2),
            {of_any_shape: np.ones([2, 3])},
        ),
        *(lambda n=n: run(tf, tf.image.decode_bmp(_COMPLETE_BMP[: 70 - n])) for n in (0, 1, 8, 16)),
    )


def _boxes_that_are_not_finite(tf):
    return _says(
        tf,
        "Boxes contains at least one element that is not finite",
        lambda: tf.image.crop_and_resize(
            np.zeros((2, 1, 1, 1), "float32"), [[1.0e40, 0, 0, 0]], [1], [1, 1]
        ),
    )


def _seeds_asked_for(tf):
    module, config = module_of(tf, "ops.image_ops_impl"), module_of(tf, "framework.config")
    given = {"image_size": [50, 50, 1], "bounding_boxes": [[[0.0, 0.0, 1.0, 1.0]]]}
    config.enable_op_determinism()
    try:
        return attempt(
            lambda: module.sample_distorted_bounding_box(**given),
            lambda: module.sample_distorted_bounding_box(seed2=1, **given)[0],
        )
    finally:
        config.disable_op_determinism()


def _padded_without_checks(tf):
    pad = module_of(tf, "ops.image_ops").pad_to_bounding_box_internal
    picture = tf.placeholder(tf.float32, [None, 2, 3])
    padded = pad(picture, 1, 0, 4, 3, check_dims=False)
    types = [op.type for op in tf.get_default_graph().get_operations()]
    with tf.Session() as session:
        return padded, types, session.run(padded, {picture: np.ones((2, 2, 3))})


BEHAVIOURS = {
    "boxes_that_are_not_finite": _boxes_that_are_not_finite,
    "files_of_another_kind": _files_of_another_kind,
    "padded_without_checks": _padded_without_checks,
    "seeds_asked_for": _seeds_asked_for,
    "sizes_that_overflow": _sizes_that_overflow,
}
