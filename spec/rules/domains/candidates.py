"""Value domains of sampled classes: with seeds, so that what they draw is determined."""

from __future__ import annotations

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sampling import draw_seeds

__all__: list[str] = []


def _true_classes(draw: Draw, true_classes: str, count: int) -> Arguments:
    """True classes below `count`, as many a row as the attribute says."""
    draw_seeds(draw)
    draw.attrs["num_true"] = columns = draw.random.randint(1, 4)
    rows = [[draw.random.randrange(count) for _ in range(columns)] for _ in range(draw.dim(1))]
    return draw.arguments(**{true_classes: draw.integers(true_classes, rows)})


def _samples(draw: Draw, count: int) -> None:
    """How many samples: of distinct ones no more than `count`."""
    most = count if draw.attrs["unique"] else 40
    draw.attrs["num_sampled"] = draw.random.randint(1, min(most, 40))


@domain
def sampled_classes(draw: Draw, true_classes: str) -> Arguments:
    """Few classes or many, some of them true."""
    draw.attrs["range_max"] = count = draw.random.choice((1, 4, 7, 10, 64, 1000))
    _samples(draw, count)
    return _true_classes(draw, true_classes, count)


@domain
def weighted_classes(draw: Draw, true_classes: str) -> Arguments:
    """Weights of some classes, after reserved ones, perhaps divided into shards."""
    reserved, shards = draw.random.randint(0, 2), draw.random.randint(1, 2)
    shard = draw.random.randrange(shards)
    weights = [float(draw.random.randint(1, 9)) for _ in range(draw.random.randint(2, 20))]
    blocked = len(range(shard, reserved, shards))  # classes of this shard that are reserved
    drawn = sum(i % shards == shard for i in range(blocked, blocked + len(weights)))
    draw.attrs |= {
        "unigrams": weights,
        "num_reserved_ids": reserved,
        "num_shards": shards,
        "shard": shard,
        "range_max": blocked + drawn,
        "distortion": draw.random.choice((1.0, 0.5, 0.0)),
    }
    _samples(draw, drawn)
    return _true_classes(draw, true_classes, blocked + drawn)


@domain
def all_classes(draw: Draw, true_classes: str) -> Arguments:
    """As many classes as samples."""
    draw.attrs["num_sampled"] = count = draw.random.randint(1, 40)
    return _true_classes(draw, true_classes, count)


@domain
def accidental_hits(draw: Draw, true_classes: str, sampled: str) -> Arguments:
    """True classes, and samples of which some are such."""
    samples = [draw.random.randrange(20) for _ in range(draw.dim())]
    arguments = _true_classes(draw, true_classes, 20)
    return draw.arguments(**arguments.inputs, **{sampled: draw.integers(sampled, samples)})
