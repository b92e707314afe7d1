"""Value domains of connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


def _inputs(draw: Draw, inputs: str, lengths: str) -> dict[str, Any]:
    """Logits [time, batch, classes] and lengths, no two logits the same."""
    time, batch, classes = draw.dim(1, 8), draw.dim(1, 3), draw.random.randint(2, 5)
    logits = draw.tensor(inputs, (time, batch, classes), "plain") / 3
    steps = [draw.random.randint(1, time) for _ in range(batch)]
    return {inputs: logits, lengths: draw.integers(lengths, steps)}


@domain
def ctc_inputs(draw: Draw, inputs: str, lengths: str) -> Arguments:
    """Logits and lengths."""
    return draw.arguments(**_inputs(draw, inputs, lengths))


@domain
def ctc_beams(draw: Draw, inputs: str, lengths: str) -> Arguments:
    """Logits and lengths, and one path."""
    draw.attrs |= {"beam_width": draw.random.choice((2, 5, 100)), "top_paths": 1}
    return draw.arguments(**_inputs(draw, inputs, lengths))


@domain
def ctc_labels(draw: Draw, inputs: str, lengths: str) -> Arguments:
    """Logits and lengths, and labels for each sequence, at most as many as it has steps."""
    given = _inputs(draw, inputs, lengths)
    classes = given[inputs].shape[2]
    places: list[list[int]] = []
    labels: list[int] = []
    for row, steps in enumerate(given[lengths].tolist()):
        for step in range(draw.random.randint(1, steps)):
            places.append([row, step])
            labels.append(draw.random.randrange(classes - 1))
    return draw.arguments(
        **given,
        labels_indices=np.array(places, np.int64),
        labels_values=draw.integers("labels_values", labels),
    )
