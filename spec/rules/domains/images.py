"""Value domains of operations on images: small pictures, boxes in them, files of pictures."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sampling import draw_seeds

__all__: list[str] = []

#: How many numbers a pixel has.
_DEPTHS = (1, 3, 4)


def _pictures(draw: Draw, depth: int | None = None) -> tuple[int, int, int, int]:
    """The shape of a batch of pictures, each of some pixels."""
    many = draw.random.choice([1, 1, 2, 3])
    return many, draw.dim(1, 7), draw.dim(1, 7), depth or draw.random.randint(1, 4)


def _no_both(draw: Draw) -> None:
    """Corners and half pixels exclude each other."""
    if draw.attrs.get("half_pixel_centers"):
        draw.attrs["align_corners"] = False


@domain
def resizing(draw: Draw, images: str, size: str) -> Arguments:
    """Pictures and a size."""
    _no_both(draw)
    wanted = [draw.random.randint(1, 10), draw.random.randint(1, 10)]
    return draw.arguments(
        **{images: draw.tensor(images, _pictures(draw), "plain"), size: draw.integers(size, wanted)}
    )


@domain
def resizing_gradient(draw: Draw, grads: str, original: str) -> Arguments:
    """Pictures, and gradients of another size."""
    _no_both(draw)
    shape = _pictures(draw)
    resized = (shape[0], draw.dim(1, 9), draw.dim(1, 9), shape[3])
    return draw.arguments(
        **{
            grads: draw.tensor(grads, resized, "plain"),
            original: draw.tensor(original, shape, "plain"),
        }
    )


def _boxes(draw: Draw, count: int) -> np.ndarray:
    """Boxes of which some reach beyond the picture and some are turned around."""
    rows = [
        [
            draw.random.uniform(-0.2, 0.6),
            draw.random.uniform(-0.2, 0.6),
            draw.random.uniform(0.4, 1.2),
            draw.random.uniform(0.4, 1.2),
        ]
        for _ in range(count)
    ]
    rows = [row[::-1] if draw.chance(0.2) else row for row in rows]
    return np.array(rows, "float32").reshape(count, 4)


def _cropped(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...], np.ndarray, np.ndarray]:
    """The shapes of pictures and of crops, boxes, and the picture of each."""
    shape = _pictures(draw)
    count = draw.random.randint(1, 3)
    numbers = np.array([draw.random.randrange(shape[0]) for _ in range(count)], "int32")
    crops = (count, draw.random.randint(1, 5), draw.random.randint(1, 5), shape[3])
    return shape, crops, _boxes(draw, count), numbers


@domain
def cropping(draw: Draw, image: str, boxes: str, numbers: str, size: str) -> Arguments:
    """Pictures, boxes, the picture of each, and a size."""
    shape, crops, its, whose = _cropped(draw)
    draw.attrs["extrapolation_value"] = draw.random.choice([0.0, 2.5])
    return draw.arguments(
        **{
            image: draw.tensor(image, shape, "plain"),
            boxes: its,
            numbers: whose,
            size: draw.integers(size, crops[1:3]),
        }
    )


@domain
def cropping_gradient(
    draw: Draw, grads: str, boxes: str, numbers: str, image_size: str
) -> Arguments:
    """Gradients of crops, boxes, the picture of each, and the pictures' shape."""
    shape, crops, its, whose = _cropped(draw)
    return draw.arguments(
        **{
            grads: draw.tensor(grads, crops, "plain"),
            boxes: its,
            numbers: whose,
            image_size: draw.integers(image_size, shape),
        }
    )


@domain
def cropping_box_gradient(
    draw: Draw, grads: str, image: str, boxes: str, numbers: str
) -> Arguments:
    """Gradients of crops, pictures, boxes and the picture of each."""
    shape, crops, its, whose = _cropped(draw)
    return draw.arguments(
        **{
            grads: draw.tensor(grads, crops, "plain"),
            image: draw.tensor(image, shape, "plain"),
            boxes: its,
            numbers: whose,
        }
    )


@domain
def glimpses(draw: Draw, images: str, size: str, offsets: str) -> Arguments:
    """Pictures, a size, an offset for each; what is beyond a picture is zero, not noise."""
    shape = _pictures(draw)
    draw.attrs.update(noise="zero", uniform_noise=False)
    wide = 1.0 if draw.attrs["normalized"] else 5.0
    places = [[draw.random.uniform(-wide, wide) for _ in range(2)] for _ in range(shape[0])]
    return draw.arguments(
        **{
            images: draw.tensor(images, shape, "plain"),
            size: draw.integers(size, [draw.random.randint(1, 5) for _ in range(2)]),
            offsets: np.array(places, "float32"),
        }
    )


@domain
def adjusting(draw: Draw, images: str, factor: str) -> Arguments:
    """RGB pictures of parts above zero, and a factor; float32, which alone a CPU takes."""
    draw.attrs["T"] = "float32"
    shape = (*draw.shape(0, 1), draw.dim(0, 4), draw.dim(0, 4), 3)
    number = draw.random.uniform(-1, 1) if factor == "delta" else draw.random.uniform(0, 3)
    return draw.arguments(
        **{
            images: np.abs(draw.tensor(images, shape, "factor")),
            factor: np.array(number, "float32"),
        }
    )


@domain
def cut_contrast(draw: Draw, images: str, factor: str, low: str, high: str) -> Arguments:
    """Pictures, a factor, and two values at which they are cut."""
    shape = (*draw.shape(0, 1), draw.dim(1, 4), draw.dim(1, 4), draw.dim(1, 3))
    least = draw.random.uniform(-2, 2)
    return draw.arguments(
        **{
            images: draw.tensor(images, shape, "small"),
            factor: np.array(draw.random.uniform(0, 3), "float32"),
            low: np.array(least, "float32"),
            high: np.array(least + draw.random.uniform(0, 9), "float32"),
        }
    )


@domain
def colours(draw: Draw, images: str) -> Arguments:
    """A tensor whose last dimension is 3: colours with parts between 0 and 1, some grey."""
    shape = (*draw.shape(0, 3), 3)
    count = int(np.prod(shape[:-1]))
    rows = [
        [draw.random.choice([0.0, 0.5, 1.0, draw.random.random()]) for _ in range(3)]
        for _ in range(count)
    ]
    dtype = draw.tensor(images, (0,)).dtype
    return draw.arguments(**{images: np.array(rows).reshape(shape).astype(dtype)})


@domain
def drawing(draw: Draw, images: str, boxes: str) -> Arguments:
    """Pictures and boxes."""
    shape = _pictures(draw, draw.random.choice(_DEPTHS))
    count = draw.random.randint(1, 3)
    its = np.stack([_boxes(draw, count) for _ in range(shape[0])])
    return draw.arguments(**{images: draw.tensor(images, shape, "plain"), boxes: its})


@domain
def drawing_coloured(draw: Draw, images: str, boxes: str, colors: str) -> Arguments:
    """Pictures, boxes and colours."""
    arguments = drawing(draw, images, boxes)
    table = draw.tensor(colors, (draw.random.randint(1, 3), 4), "positive")
    return draw.arguments(**arguments.inputs, **{colors: table})


@domain
def suppressing(draw: Draw, boxes: str, scores: str, most: str, *thresholds: str) -> Arguments:
    """Boxes, scores, how many at most; the greatest overlap, the least score, a sigma."""
    count = draw.random.randint(0, 8)
    numbers = (
        draw.random.choice([0.0, 0.3, 0.5, 0.9]),
        draw.random.choice([-1.0, 0.2, 0.5]),
        draw.random.choice([0.0, 0.0, 0.7]),
    )
    its = _boxes(draw, count)
    dtype = draw.tensor(boxes, (0,)).dtype
    values = [
        draw.random.choice([draw.random.random(), 0.25 * draw.random.randrange(4)])
        for _ in range(count)
    ]
    inputs = {
        name: np.array(number).astype(draw.tensor(name, (0,)).dtype)
        for name, number in zip(thresholds, numbers, strict=False)
    }
    return draw.arguments(
        **{
            boxes: its.astype(dtype),
            scores: np.array(values).astype(dtype),
            most: draw.integers(most, draw.random.randint(0, 6)),
            **inputs,
        }
    )


@domain
def suppressing_overlaps(
    draw: Draw, overlaps: str, scores: str, most: str, overlap: str, score: str
) -> Arguments:
    """The overlaps of each two, scores, how many at most, and two bounds."""
    count = draw.random.randint(0, 7)
    shares = np.abs(draw.tensor(overlaps, (count, count), "unit"))
    shares = np.nan_to_num(np.maximum(shares, shares.T))
    return draw.arguments(
        **{
            overlaps: shares,
            scores: draw.tensor(scores, (count,), "positive"),
            most: draw.integers(most, draw.random.randint(0, 6)),
            overlap: np.array(draw.random.choice([0.0, 0.3, 0.5]), "float32"),
            score: np.array(draw.random.choice([-1.0, 1.5]), "float32"),
        }
    )


@domain
def suppressing_classes(
    draw: Draw, boxes: str, scores: str, most_of_class: str, total: str, overlap: str, score: str
) -> Arguments:
    """Boxes of some pictures and classes, no two scores equal, how many, and two bounds."""
    batch, count, classes = (draw.random.randint(1, 3) for _ in range(3))
    groups = draw.random.choice([1, classes])
    its = np.stack([_boxes(draw, count * groups).reshape(count, groups, 4) for _ in range(batch)])
    places = list(range(batch * count * classes))
    draw.random.shuffle(places)
    values = (np.array(places, "float32") + 1) / (len(places) + 1)
    return draw.arguments(
        **{
            boxes: its,
            scores: values.reshape(batch, count, classes),
            most_of_class: draw.integers(most_of_class, draw.random.randint(1, 3)),
            total: draw.integers(total, draw.random.randint(1, 5)),
            overlap: np.array(draw.random.choice([0.3, 0.5]), "float32"),
            score: np.array(draw.random.choice([-1.0, 0.4]), "float32"),
        }
    )


_KERNEL_TYPES = (
    "lanczos1",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "box",
    "triangle",
    "keyscubic",
    "mitchellcubic",
)


def _moved(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Factors of rows and columns, and how far they are moved."""
    draw.attrs["kernel_type"] = draw.random.choice(_KERNEL_TYPES)
    factors = [draw.random.choice((0.5, 1.0, 2.0, draw.random.uniform(0.3, 3))) for _ in "yx"]
    moves = [draw.random.choice((0.0, 1.0, draw.random.uniform(-2, 2))) for _ in "yx"]
    return np.array(factors, "float32"), np.array(moves, "float32")


@domain
def scaling(draw: Draw, images: str, size: str, scale: str, translation: str) -> Arguments:
    """Pictures, a size, factors and moves."""
    factors, moves = _moved(draw)
    wanted = [draw.random.randint(1, 10), draw.random.randint(1, 10)]
    return draw.arguments(
        **{
            images: draw.tensor(images, _pictures(draw), "plain"),
            size: draw.integers(size, wanted),
            scale: factors,
            translation: moves,
        }
    )


@domain
def scaling_gradient(
    draw: Draw, grads: str, original: str, scale: str, translation: str
) -> Arguments:
    """Pictures, gradients of another size, factors and moves."""
    factors, moves = _moved(draw)
    shape = _pictures(draw)
    resized = (shape[0], draw.dim(1, 9), draw.dim(1, 9), shape[3])
    return draw.arguments(
        **{
            grads: draw.tensor(grads, resized, "plain"),
            scale: factors,
            translation: moves,
            original: draw.tensor(original, shape, "plain"),
        }
    )


@domain
def projecting(draw: Draw, images: str, transforms: str, size: str, *fill: str) -> Arguments:
    """Pictures, a transformation of each or of all, a size, and perhaps what is beyond them.

    Numbers are quarters, so that nothing is nearly half way between two pixels.
    """
    draw.attrs["interpolation"] = draw.random.choice(("NEAREST", "BILINEAR"))
    draw.attrs["fill_mode"] = draw.random.choice(("REFLECT", "WRAP", "CONSTANT", "NEAREST"))
    shape = _pictures(draw)
    rows = [
        [
            draw.random.choice((1, 0.5, -1)),
            draw.random.choice((0, 0.25)),
            draw.random.randint(-9, 9) / 4,
            draw.random.choice((0, 0.25)),
            draw.random.choice((1, 0.5, -1)),
            draw.random.randint(-9, 9) / 4,
            0,
            0,
        ]
        for _ in range(draw.random.choice((1, shape[0])))
    ]
    wanted = [draw.random.randint(1, 10), draw.random.randint(1, 10)]
    return draw.arguments(
        **{
            images: draw.tensor(images, shape, "plain"),
            size: draw.integers(size, wanted),
            transforms: np.array(rows, "float32"),
            **{name: np.array(draw.random.randint(0, 5), "float32") for name in fill},
        }
    )


@domain
def sampled_blocks(draw: Draw, size: str, boxes: str, *rest: str) -> Arguments:
    """The size of a picture, boxes of objects in it, and seeds."""
    draw.attrs["T"] = kind = draw.random.choice(["uint8", "int8", "int16", "int32", "int64"])
    draw.attrs["use_image_if_no_bounding_boxes"] = True
    draw.attrs["max_attempts"] = draw.random.choice([1, 10, 100])
    given: dict[str, np.ndarray] = {}
    if "seed" not in rest:
        draw_seeds(draw)
    else:
        draw.attrs["Tseed"] = draw.random.choice(["int32", "int64"])
        given["seed"] = draw.integers("seed", [draw.random.randint(-99, 99) for _ in range(2)])
    share = draw.random.choice([0.0, 0.1, 0.5])
    if "min_object_covered" in rest:
        given["min_object_covered"] = np.array(share, "float32")
    else:
        draw.attrs["min_object_covered"] = share
    objects = [
        [
            draw.random.randint(0, 4) / 8,
            draw.random.randint(0, 4) / 8,
            draw.random.randint(5, 8) / 8,
            draw.random.randint(5, 8) / 8,
        ]
        for _ in range(draw.random.randint(0, 3))
    ]
    return draw.arguments(
        **{
            size: np.array([draw.random.randint(8, 100), draw.random.randint(8, 100), 3], kind),
            boxes: np.array(objects, "float32").reshape(1, -1, 4),
            **given,
        }
    )


@domain
def stored_pictures(draw: Draw, image: str) -> Arguments:
    """Pictures or batches of them, which are stored as they are: how bytes are packed is open."""
    draw.attrs["compression"] = 0
    batch = () if draw.chance(0.7) else (draw.random.randint(1, 3),)
    shape = (*batch, *(draw.random.randint(1, 9) for _ in range(2)), draw.random.randint(1, 4))
    return draw.arguments(**{image: draw.tensor(image, shape)})
