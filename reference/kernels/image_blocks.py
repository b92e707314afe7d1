"""Kernels that cut blocks out of images: at random around bounding boxes, glimpses, patches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, OutOfRange, Unimplemented
from sessrun.reference.kernels.host import HOST, ints
from sessrun.reference.kernels.input_shapes import check_size, require_rank
from sessrun.reference.kernels.philox import Stream, interleaved, stream_of
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.stateless import seeded_stream
from sessrun.reference.kernels.windows import geometry, padded, rows

_CPU: Final = ("CPU",)
_WORD: Final = 0xFFFFFFFF
#: Almost half a pixel, added to a width that is then rounded down.
_EDGE: Final = 0.5 - 0.0000001


def _words(stream: Stream, attempts: int) -> Iterator[int]:
    """The random words for a number of attempts: four per attempt are reserved, used or not.

    A run that needs more, because words were rejected, goes on into those of the next run.
    """
    first = stream.reserve(attempts)
    count = 2 * attempts + 8
    for _, even, odd in stream.groups(first, count):
        words = HOST.empty((even.shape[1], 4), dtype="uint32")
        interleaved(words, even, odd)
        yield from words.reshape(-1).tolist()


def _below(words: Iterator[int], bound: int) -> int:
    """A number in [0, bound), all equally likely."""
    word = next(words)
    if bound == 0:
        return 0
    if bound & (bound - 1) == 0:
        return word & (bound - 1)
    spare = _WORD % bound + 1
    while word < spare:
        word = next(words)
    return word % bound


def _share(word: int) -> Array:
    """A float32 in [0, 1) of a word's lowest bits."""
    return HOST.float32((word & 0x7FFFFF) / float(1 << 23))


def _even(value: Array) -> int:
    """The nearest integer, ties to even."""
    return int(HOST.rint(HOST.float32(value)))


def _extent(
    words: Iterator[int], size: tuple[int, int], areas: tuple[Array, Array], ratio: Array
) -> tuple[int, int] | None:
    """The height and width of a random block of the areas and the ratio; None if none fits."""
    height_of_image, width_of_image = size
    least, greatest = (HOST.float32(area * width_of_image * height_of_image) for area in areas)
    if areas[1] <= 0 or ratio <= 0 or min(size) <= 0 or areas[0] > areas[1]:
        return None
    height = _even(HOST.sqrt(least / ratio))
    tallest = _even(HOST.sqrt(greatest / ratio))
    if _even(tallest * ratio) > width_of_image:
        tallest = int(HOST.float32(width_of_image + _EDGE) / ratio)
        tallest -= _even(tallest * ratio) > width_of_image
    tallest = min(tallest, height_of_image)
    height = min(height, tallest)
    if height < tallest:
        height += _below(words, tallest - height + 1)
    width = _even(height * ratio)
    if width * height < least:
        height += 1
        width = _even(height * ratio)
    if width * height > greatest:
        height -= 1
        width = _even(height * ratio)
    if not least <= width * height <= greatest or width <= 0 or height <= 0:
        return None
    return (height, width) if height <= height_of_image and width <= width_of_image else None


Block = tuple[int, int, int, int]


def _block(
    words: Iterator[int], size: tuple[int, int], areas: tuple[Array, Array], ratio: Array
) -> Block | None:
    """A random block: top, left, bottom, right; None if none fits the areas and the ratio."""
    extent = _extent(words, size, areas, ratio)
    if extent is None:
        return None
    height, width = extent
    top = _below(words, size[0] - height) if height < size[0] else 0
    left = _below(words, size[1] - width) if width < size[1] else 0
    return top, left, top + height, left + width


def _area(block: Block) -> int:
    return max(block[2] - block[0], 0) * max(block[3] - block[1], 0)


def _covers(block: Block, objects: list[Block], share: Array) -> bool:
    """Whether the block covers at least that share of one of the objects."""
    if _area(block) < 1:
        return False
    for other in objects:
        both = (max(block[0], other[0]), max(block[1], other[1]),
                min(block[2], other[2]), min(block[3], other[3]))  # fmt: skip
        if _area(other) >= 1 and HOST.float32(_area(both)) / HOST.float32(_area(other)) >= share:
            return True
    return False


def _objects(boxes: Array, size: tuple[int, int], may_be_image: bool) -> list[Block]:
    """The boxes in pixels; the image itself if there are no boxes and `may_be_image`."""
    if not boxes.size:
        if not may_be_image:
            raise InvalidArgument(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any "
                "bounding boxes."
            )
        return [(0, 0, *size)]
    if not ((boxes >= 0) & (boxes <= 1)).all():
        raise InvalidArgument("All bounding box coordinates must be in [0.0, 1.0]")
    height, width = size
    scaled = boxes.reshape(-1, 4) * HOST.array([height, width, height, width], "float32")
    return [tuple(map(int, row)) for row in scaled]  # type: ignore[misc]  # four of them


def _checked_size(image_size: Array, boxes: Array) -> tuple[int, int]:
    if image_size.ndim != 1 or image_size.size != 3:
        raise InvalidArgument(f"image_size must contain 3 elements: {image_size.shape}")
    height, width, _ = ints(image_size)
    if height <= 0 or width <= 0:
        raise InvalidArgument(f"Image height and width must be positive, got {height} and {width}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise InvalidArgument(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {boxes.shape}"
        )
    return height, width


@binder("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", devices=_CPU)
def sample_distorted_bounding_box(bind: Bind) -> KernelFunction:
    """A random block that covers enough of an object: its begin, its size, and it as a box."""
    attrs, stream = bind.attrs, stream_of(bind, HOST)
    sample = _sampler(attrs)

    def compute(image_size: Array, boxes: Array, share: Array | None = None) -> tuple[Array, ...]:
        wanted = attrs["min_object_covered"] if share is None else share
        return sample(image_size, boxes, wanted, stream)

    return compute


@binder("StatelessSampleDistortedBoundingBox", devices=_CPU)
def stateless_sample_distorted_bounding_box(bind: Bind) -> KernelFunction:
    """As `SampleDistortedBoundingBoxV2`, drawn from a pair of seeds."""
    sample = _sampler(bind.attrs)
    return lambda image_size, boxes, share, seed: sample(
        image_size, boxes, share, seeded_stream(HOST, seed)
    )


def _sampler(attrs: Attrs) -> Callable[..., tuple[Array, Array, Array]]:
    """Check the attributes, and return the function that samples a block."""
    ratios = [HOST.float32(bound) for bound in attrs["aspect_ratio_range"]]
    areas = [HOST.float32(bound) for bound in attrs["area_range"]]
    _check_ranges(ratios, areas, attrs["max_attempts"])

    def sample(
        image_size: Array, boxes: Array, share: Array, stream: Stream
    ) -> tuple[Array, Array, Array]:
        size = _checked_size(image_size, boxes)
        if HOST.ndim(share):
            raise InvalidArgument(f"min_object_covered must be a scalar, got {share.shape}")
        wanted = HOST.float32(share)
        if not wanted >= 0:
            raise InvalidArgument(f"Min object covered must be non-negative, got {wanted}")
        objects = _objects(boxes, size, attrs["use_image_if_no_bounding_boxes"])
        chosen: Block = (0, 0, *size)
        words = _words(stream, attrs["max_attempts"])
        for _ in range(attrs["max_attempts"]):
            ratio = _share(next(words)) * (ratios[1] - ratios[0]) + ratios[0]
            block = _block(words, size, (areas[0], areas[1]), ratio)
            if block is not None and _covers(block, objects, wanted):
                chosen = block
                break
        top, left, bottom, right = chosen
        height, width = size
        return (
            HOST.array([top, left, 0]).astype(image_size.dtype),
            HOST.array([bottom - top, right - left, -1]).astype(image_size.dtype),
            HOST.array([[[top, left, bottom, right]]], "float32")
            / HOST.array([height, width, height, width], "float32"),
        )

    return sample


def _check_ranges(ratios: list[Array], areas: list[Array], attempts: int) -> None:
    for name, bounds in (("Aspect ratio", ratios), ("Area", areas)):
        if len(bounds) != 2:
            raise InvalidArgument(f"{name} range field must specify 2 dimensions")
        if bounds[0] <= 0 or bounds[1] <= 0:
            raise InvalidArgument(f"{name} range must be non-negative: {bounds}")
    if areas[0] > 1 or areas[1] > 1:
        raise InvalidArgument(f"Area range must be less then or equal to 1.0: {areas}")
    if attempts <= 0:
        raise InvalidArgument(f"Max attempts must be positive: {attempts}")


def _first(
    offset: Array, have: int, want: int, *, centered: bool, normalized: bool, is_old: bool
) -> int:
    """Where a glimpse begins along one axis, rounded towards zero.

    The first version always counts offsets from the glimpse's middle, V2 only where they are
    centered and normalized.
    """
    begin, size = HOST.float32(offset), HOST.float32(have)
    if normalized:
        begin *= size
    if centered:
        begin = begin / (2 if is_old or normalized else 1) + size / 2
    if is_old or (centered and normalized):
        begin -= HOST.float32(want) / 2
    return int(begin)


def _noise(images: Array, shape: tuple[int, ...], kind: str, generator: Any) -> Array:
    """Values for outside of the images: uniform or normal as theirs are spread, or zeros."""
    if kind == "uniform":
        return HOST.asarray(generator.uniform(images.min(), images.max(), shape))
    if kind == "gaussian":
        return HOST.asarray(generator.normal(images.mean(), HOST.std(images), shape))
    return HOST.zeros(shape)


@binder("ExtractGlimpse", "ExtractGlimpseV2", devices=_CPU)
def extract_glimpse(bind: Bind) -> KernelFunction:
    """A window of each image, padded with unseeded noise outside of the image."""
    attrs, is_old = bind.attrs, bind.node.type == "ExtractGlimpse"
    kind = attrs["noise"] if isinstance(attrs["noise"], str) else attrs["noise"].decode()
    if attrs["uniform_noise"] and kind not in {"uniform", ""}:
        raise InvalidArgument(
            "The uniform_noise and noise should not be specified at the same time"
        )
    if kind not in {"uniform", "gaussian", "zero"}:
        kind = "uniform" if attrs["uniform_noise"] else "gaussian"
    generator = HOST.random.default_rng()
    how = {"centered": attrs["centered"], "normalized": attrs["normalized"], "is_old": is_old}

    def compute(images: Array, size: Array, offsets: Array) -> Array:
        _check_glimpse(images, size, offsets)
        want = tuple(ints(size))
        shape = (images.shape[0], *want, images.shape[3])
        check_size(shape)
        windows = HOST.empty(shape, "float32")
        for image, offset, window in zip(images, offsets, windows, strict=True):
            spans = [
                _span(
                    _first(offset[axis], image.shape[axis], want[axis], **how),
                    image.shape[axis],
                    want[axis],
                )
                for axis in range(2)
            ]
            (into_rows, rows), (into_columns, columns) = spans
            inside = image[rows, columns]
            if inside.shape != window.shape:
                window[...] = _noise(images, window.shape, kind, generator)
            window[into_rows, into_columns] = inside
        return windows

    return compute


def _span(first: int, have: int, want: int) -> tuple[slice, slice]:
    """Which part of a window lies in the image, and where it lies there."""
    low, high = min(max(first, 0), have), max(min(first + want, have), 0)
    high = max(low, high)
    begin = low - first if high > low else 0
    return slice(begin, begin + high - low), slice(low, high)


def _check_glimpse(images: Array, size: Array, offsets: Array) -> None:
    require_rank(4, images=images)
    if size.ndim != 1 or size.size != 2:
        raise InvalidArgument(f"input must be a vector of size 2 (height, width): {size.shape}")
    if min(ints(size)) < 0:
        raise InvalidArgument("output_height and output_width must not be negative")
    if offsets.ndim != 2 or offsets.shape[0] != images.shape[0] or offsets.shape[1] != 2:
        raise InvalidArgument(f"input must be a tensor [batch_size, 2]: {offsets.shape}")


def _patches(
    xp: ArrayModule,
    x: Array,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows, [batch, *positions, window * channels], with 0 outside of the image."""
    rank = len(ksizes)
    if x.ndim != rank:
        raise InvalidArgument(f"input must be {rank}-dimensional: {x.shape}")
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[-1] != 1:
            raise Unimplemented(f"Only support {name} across space.")
        if min(values) < 1:
            raise OutOfRange(f"{name} is out of range.")
    along = geometry(x.shape[1:-1], ksizes[1:-1], strides, rates, padding)
    shape = (x.shape[0], *(axis.out for axis in along), -1)
    if not x.size or 0 in shape:
        window = 1
        for size in ksizes:
            window *= size
        return xp.zeros((*shape[:-1], window * x.shape[-1]), x.dtype)
    return rows(xp, padded(xp, x, along), along).reshape(shape)


@kernel("ExtractImagePatches")
def image_patches(
    xp: ArrayModule,
    x: Array,
    *,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Array:
    """The windows of images as channels."""
    return _patches(xp, x, ksizes, strides, rates, padding)


@kernel("ExtractVolumePatches")
def volume_patches(
    xp: ArrayModule, x: Array, *, ksizes: Sequence[int], strides: Sequence[int], padding: str
) -> Array:
    """The windows of volumes as channels."""
    return _patches(xp, x, ksizes, strides, (1,) * len(ksizes), padding)
