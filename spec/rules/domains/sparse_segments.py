"""Value domains of segments of gathered rows."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


def _drawn(draw: Draw, data: str, indices: str, segment_ids: str) -> Arguments:
    """Rows, which of them are gathered, and rising segment ids, some left out.

    Left out: no rows at all; NaN.
    """
    shape = draw.shape(1, 3, 1)
    count = draw.random.randint(0, 12)
    ids = np.cumsum([draw.random.choice([0, 0, 1, 2]) for _ in range(count)])
    return draw.arguments(
        **{
            data: draw.tensor(data, shape, "plain"),
            indices: draw.integers(
                indices, [draw.random.randrange(shape[0]) for _ in range(count)]
            ),
            segment_ids: draw.integers(segment_ids, ids),
        }
    )


@domain
def sparse_segments(draw: Draw, data: str, indices: str, segment_ids: str) -> Arguments:
    """Rows, which of them are gathered, and rising segment ids."""
    return _drawn(draw, data, indices, segment_ids)


@domain
def counted_sparse_segments(
    draw: Draw, data: str, indices: str, segment_ids: str, count: str
) -> Arguments:
    """The same, and how many segments there are, perhaps more than ids."""
    arguments = _drawn(draw, data, indices, segment_ids)
    ids = arguments.inputs[segment_ids]
    number = (int(ids[-1]) + 1 if len(ids) else 0) + draw.random.randint(0, 3)
    return draw.arguments(**arguments.inputs, **{count: draw.integers(count, number)})


@domain
def sparse_segment_gradient(
    draw: Draw, grad: str, indices: str, segment_ids: str, count: str
) -> Arguments:
    """What came back for segments, and how many rows there were, perhaps more than gathered.

    Left out: nothing gathered, of which TensorFlow makes what is in memory.
    """
    rows = draw.random.randint(1, 6)
    shape = draw.shape(1, 3, 1)
    number = draw.random.randint(1, 12)
    ids = sorted(draw.random.randrange(shape[0]) for _ in range(number))
    return draw.arguments(
        **{
            grad: draw.tensor(grad, shape, "plain"),
            indices: draw.integers(indices, [draw.random.randrange(rows) for _ in range(number)]),
            segment_ids: draw.integers(segment_ids, ids),
            count: draw.integers(count, rows),
        }
    )
