"""Definitions of recurrent cells: of one step, and of all steps of a sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.spec.definitions.base import Array, definition, wide

__all__: list[str] = []


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _step(
    x: Array,
    carry: Array,
    state: Array,
    weights: Sequence[Array],
    order: str,
    forget_bias: float,
    cell_clip: float,
) -> list[Array]:
    """`i, cs, f, o, ci, co, h` of one time step.

    Args:
      x: the inputs [batch, size].
      carry: `cs` of the step before.
      state: `h` of the step before.
      weights: the matrix, the peepholes of `i`, `f` and `o`, the bias.
      order: in which order the matrix has its gates, one letter each: `c` for the new carry.
      forget_bias: added to `f` before its sigmoid.
      cell_clip: the largest size of `cs`, if positive.

    """
    w, wci, wcf, wco, b = weights
    sums = np.concatenate([x, state], axis=1) @ w + b
    parts = dict(zip(order, np.split(sums, 4, axis=1), strict=True))
    i, ci = _sigmoid(parts["i"] + carry * wci), np.tanh(parts["c"])
    f = _sigmoid(parts["f"] + carry * wcf + forget_bias)
    cs = ci * i + carry * f
    cs = np.clip(cs, -cell_clip, cell_clip) if cell_clip > 0 else cs
    o, co = _sigmoid(parts["o"] + cs * wco), np.tanh(cs)
    return [i, cs, f, o, ci, co, co * o]


def _weights(weights: Sequence[Array], *, peephole: bool) -> list[Array]:
    w, *holes, b = map(wide, weights)
    return [w, *(hole if peephole else hole * 0 for hole in holes), b]


@definition("LSTMBlockCell")
def _lstm_cell(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> list[Array]:
    weights = _weights((w, wci, wcf, wco, b), peephole=use_peephole)
    return _step(wide(x), wide(cs_prev), wide(h_prev), weights, "icfo", forget_bias, cell_clip)


def _times(
    count: Array,
    inputs: Sequence[Array],
    weights: Sequence[Array],
    order: str,
    forget_bias: float,
    cell_clip: float,
) -> list[Array]:
    """All seven outputs of each time step before `count`, zeros of later ones."""
    x, carry, state = map(wide, inputs)
    rows = []
    for time in range(int(count)):
        outputs = _step(x[time], carry, state, weights, order, forget_bias, cell_clip)
        carry, state = outputs[1], outputs[6]
        rows.append(outputs)
    rest = [[np.zeros_like(carry)] * 7] * (len(x) - len(rows))
    return [np.stack(column) for column in zip(*rows, *rest, strict=True)]


@definition("BlockLSTM")
def _block_lstm(
    count: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> list[Array]:
    weights = _weights((w, wci, wcf, wco, b), peephole=use_peephole)
    return _times(count, (x, cs_prev, h_prev), weights, "icfo", forget_bias, cell_clip)


@definition("BlockLSTMV2")
def _block_lstm_v2(
    count: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> list[Array]:
    weights = _weights((w, wci, wcf, wco, b), peephole=use_peephole)
    return _times(count, (x, cs_prev, h_prev), weights, "ifco", 0.0, cell_clip)


@definition("GRUBlockCell")
def _gru_cell(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> list[Array]:
    """`r`, `u`, `c` and `h`."""
    state = wide(h_prev)
    sums = np.concatenate([wide(x), state], axis=1) @ wide(w_ru) + wide(b_ru)
    r, u = np.split(_sigmoid(sums), 2, axis=1)
    c = np.tanh(np.concatenate([wide(x), r * state], axis=1) @ wide(w_c) + wide(b_c))
    return [r, u, c, u * state + (1 - u) * c]
