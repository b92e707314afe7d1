"""Programs of resized, cropped and encoded images."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]


def _areas(tf):
    """`ResizeArea` with areas that end at a pixel's edge, beside a large number."""
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    sizes = [(have, want) for have in (1, 2, 3, 5, 7, 10, 11) for want in (1, 2, 3, 4, 6, 7, 9)]

    def row(have: int) -> np.ndarray:
        numbers = np.array([1.0, 5.0, 3.0, 1e5, 2.0, 7.0, 1e5, 4.0, 0.5, 3.0, 1e5])[:have]
        return numbers.astype(np.float32).reshape(1, 1, have, 1)

    return outcomes_of(
        tf,
        *(
            lambda have=have, want=want, align=align: tf.reshape(
                raw.ResizeArea(images=of(row(have)), size=of([1, want]), align_corners=align), [-1]
            )
            for have, want in sizes
            for align in (False, True)
        ),
        *(
            lambda have=have, want=want: tf.reshape(
                raw.ResizeArea(images=of(row(have).reshape(1, have, 1, 1)), size=of([want, 2])),
                [-1],
            )
            for have, want in sizes
        ),
        *(
            lambda size=size: raw.ResizeArea(images=of(row(3)), size=of(size))
            for size in ([0, 1], [1, -1], [1], [[1, 1]], [1, 1, 1])
        ),
        lambda: raw.ResizeArea(images=of(row(3)[0]), size=of([1, 1])),
        lambda: raw.ResizeArea(images=of(row(0)), size=of([1, 1])),
    )


def _kinds(tf):
    """Every resize operation and its gradient, with different factors for rows and columns."""
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    pictures = (np.arange(2 * 3 * 4 * 2) * 7 % 23).astype(np.float32).reshape(2, 3, 4, 2)
    kinds = ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor")
    corners = ((False, False), (True, False), (False, True))
    sizes = ([5, 3], [2, 7], [1, 1], [3, 4], [6, 8])
    return outcomes_of(
        tf,
        *(
            lambda kind=kind, size=size, how=how: getattr(raw, kind)(
                images=of(pictures), size=of(size), align_corners=how[0], half_pixel_centers=how[1]
            )
            for kind, size, how in itertools.product(kinds, sizes, corners)
        ),
        *(
            lambda kind=kind, size=size, how=how: getattr(raw, f"{kind}Grad")(
                grads=of(pictures),
                original_image=of(np.zeros((2, *size, 2), np.float32)),
                align_corners=how[0],
                half_pixel_centers=how[1],
            )
            for kind, size, how in itertools.product(kinds[:2], sizes, corners)
        ),
        *(
            lambda size=size, how=how: raw.ResizeNearestNeighborGrad(
                grads=of(pictures), size=of(size), align_corners=how[0], half_pixel_centers=how[1]
            )
            for size, how in itertools.product(sizes, corners)
        ),
        *(
            lambda kind=kind, size=size: getattr(raw, kind)(images=of(pictures), size=of(size))
            for kind in kinds
            for size in ([0, 1], [1, -1], [1], [[1, 1]])
        ),
        *(
            lambda kind=kind: getattr(raw, f"{kind}Grad")(
                grads=of(pictures[0]), original_image=of(pictures)
            )
            for kind in kinds[:2]
        ),
    )


def _glimpses(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    pictures = (np.arange(2 * 4 * 5) * 7 % 23).astype(np.float32).reshape(2, 4, 5, 1)
    offsets = np.array([[0.0, 0.0], [0.25, -0.5]], np.float32)

    def seen(images, size, offsets, name: str = "ExtractGlimpseV2", **how):
        return getattr(raw, name)(
            input=of(images),
            size=of(size),
            offsets=of(offsets),
            uniform_noise=False,
            noise="zero",
            **how,
        )

    return outcomes_of(
        tf,
        *(
            lambda name=name, size=size, how=how: seen(
                pictures,
                size,
                offsets * (1 if how[1] else 4),
                name,
                centered=how[0],
                normalized=how[1],
            )
            for name in ("ExtractGlimpse", "ExtractGlimpseV2")
            for size in ([1, 1], [2, 3], [3, 2], [4, 5], [6, 7])
            for how in itertools.product((False, True), repeat=2)
        ),
        *(
            lambda size=size: seen(pictures, size, offsets)
            for size in ([0, 1], [1, 0], [-1, 1], [0, 0], [1], [1, 1, 1], [[1, 1]])
        ),
        *(
            lambda offset=offset: seen(pictures, [1, 1], offset)
            for offset in (
                offsets[:1],
                offsets[:, :1],
                offsets[0],
                [offsets],
                offsets.reshape(1, 4),
            )
        ),
        lambda: seen(pictures[0], [1, 1], offsets),
        lambda: seen(pictures[:0], [1, 1], offsets[:0]),
    )


def _packed(tf):
    """Whether files of images with distant repetitions are compressed well."""
    row = (np.arange(1500) ** 2 * 37 % 251).astype(np.uint8).reshape(1, 500, 3)
    pictures = [
        np.repeat(row, 40, axis=0),
        np.concatenate([row, row[:, ::-1]] * 20),
        np.repeat(row[:, :, :1], 9, axis=0),
        np.repeat(row[:, :60], 9, axis=0),
        np.repeat(row.astype(np.uint16) * 257, 12, axis=0),
        row,
    ]
    with tf.Session() as session:
        results = []
        for picture in pictures:
            file, plain = session.run(
                [tf.image.encode_png(picture), tf.image.encode_png(picture, compression=0)]
            )
            back = session.run(tf.image.decode_png(file, dtype=picture.dtype))
            results.append(
                [
                    (back == picture).all(),
                    len(file) * 4 < picture.nbytes,
                    len(plain) > picture.nbytes,
                ]
            )
        return results


BEHAVIOURS = {"areas": _areas, "kinds": _kinds, "glimpses": _glimpses, "packed": _packed}
