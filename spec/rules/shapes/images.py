"""Shape rules of operations on images: resized, cropped, coloured, marked, decoded and encoded."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    as_dim,
    at_least,
    exactly,
    merge_dims,
    rule,
    with_rank,
)

__all__: list[str] = []

#: A picture's rows, columns and channels.
_PICTURE = 3
#: A box's corners.
_CORNERS = 4


def _sizes(size: Known, count: int = 2) -> tuple[Dim, ...]:
    """The dimensions that a vector of so many integers names; -1 for one that is not known."""
    exactly(with_rank(size.shape, 1)[0], count)
    return tuple(map(as_dim, size.elements(count)))


@rule
def resized(images: Shape, size: Known) -> list[Shape]:
    """[batch, height, width, channels] of images and the vector [height, width]."""
    batch, _, _, channels = with_rank(images, 4)
    return [(batch, *_sizes(size), channels)]


@rule
def first_shape(shape: Shape, _: Shape) -> list[Shape]:
    """The shape of the first argument, whatever the second's."""
    return [shape]


@rule
def crops(images: Shape, boxes: Shape, numbers: Shape, size: Known) -> list[Shape]:
    """[boxes, height, width, channels] of images, boxes, each box's image, and a size."""
    channels = with_rank(images, 4)[3]
    count, corners = with_rank(boxes, 2)
    exactly(corners, _CORNERS)
    count = merge_dims(count, with_rank(numbers, 1)[0])
    return [(count, *_sizes(size), channels)]


@rule
def of_rank(shape: Shape, rank: int) -> list[Shape]:
    """The shape that a vector of that many integers denotes."""
    return [with_rank(shape, rank)]


@rule
def glimpses(images: Shape, size: Known, offsets: Shape) -> list[Shape]:
    """[batch, height, width, channels] of images, a size and each image's offset."""
    batch, _, _, channels = with_rank(images, 4)
    many, coordinates = with_rank(offsets, 2)
    merge_dims(coordinates, 2)
    return [(merge_dims(batch, many), *_sizes(size), channels)]


@rule
def adjusted(images: Shape, *scalars: Shape) -> list[Shape]:
    """The shape of the images, of rank 3 at least; what they are adjusted by is scalars."""
    for scalar in scalars:
        with_rank(scalar, 0)
    return [at_least(images, 3)]


@rule
def colours(images: Shape) -> list[Shape]:
    """The input's shape, whose last dimension is 3."""
    dims = at_least(images, 1)
    return [None if dims is None else (*dims[:-1], merge_dims(dims[-1], 3))]


@rule
def distorted(size: Shape, boxes: Shape, *scalars: Shape) -> list[Shape]:
    """Where a block begins, its size, and it as a box: [3], [3] and [1, 1, 4]."""
    exactly(with_rank(size, 1)[0], _PICTURE)
    exactly(with_rank(boxes, 3)[2], _CORNERS)
    for scalar in scalars:
        with_rank(scalar, 0)
    return [(_PICTURE,), (_PICTURE,), (1, 1, _CORNERS)]


@rule
def distorted_of_seeds(size: Shape, boxes: Shape, share: Shape, seed: Shape) -> list[Shape]:
    """As `distorted`; the seed is a pair."""
    shapes = distorted(size, boxes, share)
    exactly(with_rank(seed, 1)[0], 2)
    return shapes


def _boxes(boxes: Shape, scores: Shape, scalars: Sequence[Shape]) -> None:
    count, corners = with_rank(boxes, 2)
    merge_dims(count, with_rank(scores, 1)[0])
    for scalar in scalars:
        with_rank(scalar, 0)
    exactly(corners, _CORNERS)


@rule
def suppressed(boxes: Shape, scores: Shape, *scalars: Shape) -> list[Shape]:
    """A vector of the boxes that stay."""
    _boxes(boxes, scores, scalars)
    return [(None,)]


@rule
def suppressed_overlaps(overlaps: Shape, scores: Shape, *scalars: Shape) -> list[Shape]:
    """A vector of the boxes that stay; the overlaps of each two are a square matrix."""
    rows, columns = with_rank(overlaps, 2)
    merge_dims(rows, with_rank(scores, 1)[0])
    for scalar in scalars:
        with_rank(scalar, 0)
    merge_dims(rows, columns)
    return [(None,)]


@rule
def suppressed_padded(
    boxes: Shape, scores: Shape, most: Known, pads: bool, with_scores: bool, *scalars: Shape
) -> list[Shape]:
    """The boxes that stay, as many as asked for if padded; perhaps their scores; their number."""
    _boxes(boxes, scores, (most.shape, *scalars))
    count = int(most.value) if pads and most.value is not None else None
    return [(count,), *([(count,)] if with_scores else ()), ()]


@rule
def suppressed_classes(
    boxes: Shape,
    scores: Shape,
    most_of_class: Known,
    total: Known,
    overlap: Shape,
    score: Shape,
    pads: bool,
) -> list[Shape]:
    """[batch, boxes, 4] and thrice as many rows; the number of boxes of each image."""
    batch, count, groups, corners = with_rank(boxes, 4)
    many, other, classes = with_rank(scores, 3)
    for scalar in (most_of_class.shape, total.shape, overlap, score):
        with_rank(scalar, 0)
    merge_dims(count, other)
    merge_dims(batch, many)
    exactly(corners, _CORNERS)
    if None not in {groups, classes} and groups not in {1, classes}:
        raise ShapeError(
            f"third dimension of boxes must be either 1 or equal to the third "
            f"dimension of scores, got {groups} and {classes}"
        )
    most: Dim = None if total.value is None else int(total.value)
    if most is not None and most <= 0:
        raise ShapeError("max_total_size should be > 0 ")
    if pads and most is not None:
        per_class = None if most_of_class.value is None else int(most_of_class.value)
        if per_class is not None and per_class <= 0:
            raise ShapeError("max_output_size_per_class should be > 0 ")
        most = None if None in {per_class, classes} else min(most, per_class * classes)  # type: ignore[operator]  # neither is None
    return [(batch, most, _CORNERS), (batch, most), (batch, most), (batch,)]


@rule
def decoded_image(contents: Shape, channels: int, expands: bool) -> list[Shape]:
    """[height, width, channels], of which the last may be known; nothing where frames are."""
    with_rank(contents, 0)
    if channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    return [None if expands else (None, None, channels or None)]


@rule
def decoded_frames(contents: Shape) -> list[Shape]:
    """[frames, height, width, 3]."""
    with_rank(contents, 0)
    return [(None, None, None, 3)]


@rule
def decoded_block(contents: Shape, window: Known, channels: int) -> list[Shape]:
    """[height, width, channels] of a picture's block [row, column, height, width]."""
    with_rank(contents, 0)
    if channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    _, _, height, width = _sizes(window, 4)
    return [(height, width, channels or None)]


@rule
def jpeg_shape(contents: Shape) -> list[Shape]:
    """A vector of height, width and channels."""
    with_rank(contents, 0)
    return [(_PICTURE,)]


@rule
def encoded_image(image: Shape, *scalars: Shape) -> list[Shape]:
    """A scalar for a picture of rank 3."""
    with_rank(image, _PICTURE)
    for scalar in scalars:
        with_rank(scalar, 0)
    return [()]


@rule
def encoded_images(images: Shape) -> list[Shape]:
    """The shape without its last three dimensions."""
    dims = at_least(images, _PICTURE)
    return [None if dims is None else dims[:-3]]


@rule
def decoded_sound(contents: Shape, channels: int, samples: int) -> list[Shape]:
    """[samples, channels] and a scalar; each dimension known if it is requested."""
    with_rank(contents, 0)
    if channels != -1 and channels < 0:
        raise ShapeError(f"channels must be non-negative, got {channels}")
    if samples != -1 and samples < 0:
        raise ShapeError(f"samples must be non-negative, got {samples}")
    return [(None if samples == -1 else samples, None if channels == -1 else channels), ()]


@rule
def encoded_sound(audio: Shape, rate: Shape) -> list[Shape]:
    """A scalar of a matrix of samples and the scalar rate."""
    with_rank(audio, 2)
    with_rank(rate, 0)
    return [()]


@rule
def spectrogram(audio: Shape, window: int, stride: int) -> list[Shape]:
    """[channels, windows, frequencies] of [samples, channels]."""
    samples, channels = with_rank(audio, 2)
    if window < 2:
        raise ShapeError(f"window size must be at least 2, got {window}")
    if stride < 1:
        raise ShapeError(f"stride must be positive, got {stride}")
    count: Dim = None
    if samples is not None:
        count = 0 if samples < window else 1 + (samples - window) // stride
    length = 1
    while length < window:
        length *= 2
    return [(channels, count, length // 2 + 1)]


@rule
def cepstrum(spectra: Shape, rate: Shape, count: int) -> list[Shape]:
    """[channels, windows, coefficients] of [channels, windows, frequencies]."""
    channels, windows, _ = with_rank(spectra, 3)
    with_rank(rate, 0)
    return [(channels, windows, count)]
