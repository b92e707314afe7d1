"""Value domains of cells of recurrent networks: shapes that go together, moderate values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain

__all__: list[str] = []


def _drawn(draw: Draw, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Values of the inputs that the operation has, between -1 and 1."""
    return {
        arg.name: np.clip(draw.tensor(arg.name, shapes[arg.name], "plain") / 8, -1, 1)
        for arg in draw.operation.inputs
        if arg.name in shapes
    }


def _lstm_shapes(draw: Draw, lead: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    batch, size, units = draw.dim(1, 3), draw.dim(1, 4), draw.dim(1, 4)
    gates = ("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")
    return {
        "x": (*lead, batch, size),
        "cs_prev": (batch, units),
        "h_prev": (batch, units),
        "w": (size + units, 4 * units),
        "b": (4 * units,),
        **dict.fromkeys(("wci", "wcf", "wco"), (units,)),
        **dict.fromkeys(gates, (*lead, batch, units)),
    }


def _options(draw: Draw) -> None:
    """Carries are cut or not, peepholes looked through or not."""
    draw.attrs["use_peephole"] = draw.chance(0.5)
    if "cell_clip" in draw.attrs:
        draw.attrs["cell_clip"] = draw.random.choice((0.0, 0.25, 3.0))


@domain
def lstm_step(draw: Draw) -> Arguments:
    """One step; batch, inputs and state are not empty."""
    _options(draw)
    return draw.arguments(**_drawn(draw, _lstm_shapes(draw, ())))


@domain
def lstm_times(draw: Draw) -> Arguments:
    """All times are computed: gates of others are whatever was in memory."""
    _options(draw)
    time = draw.dim(1, 4)
    given = _drawn(draw, _lstm_shapes(draw, (time,)))
    return draw.arguments(seq_len_max=draw.integers("seq_len_max", time), **given)


@domain
def gru_step(draw: Draw) -> Arguments:
    """One step; batch, inputs and state are not empty."""
    batch, size, units = draw.dim(1, 3), draw.dim(1, 4), draw.dim(1, 4)
    row = (batch, units)
    return draw.arguments(
        **_drawn(
            draw,
            {
                "x": (batch, size),
                "h_prev": row,
                "w_ru": (size + units, 2 * units),
                "w_c": (size + units, units),
                "b_ru": (2 * units,),
                "b_c": (units,),
                "r": row,
                "u": row,
                "c": row,
                "d_h": row,
            },
        )
    )
