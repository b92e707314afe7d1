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


@definition("GRUBlockCellGrad")
def _gru_cell_grad(
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    _b_ru: Array,
    _b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> list[Array]:
    """By `x`, `h_prev`, the sum of `c`, and the sums of `r` and `u`."""
    state, matrix, r, u, c, d_h = map(wide, (h_prev, w_c, r, u, c, d_h))
    size = x.shape[1]
    d_c_sum = d_h * (1 - u) * (1 - c * c)
    d_u_sum = d_h * (state - c) * u * (1 - u)
    d_x_c, d_reset = np.split(d_c_sum @ matrix.T, [size], axis=1)
    d_gates = np.concatenate([d_reset * state * r * (1 - r), d_u_sum], axis=1)
    d_x_ru, d_state = np.split(d_gates @ wide(w_ru).T, [size], axis=1)
    return [d_x_c + d_x_ru, d_state + d_reset * r + d_h * u, d_c_sum, d_gates]


@definition("LSTMBlockCellGrad")
def _lstm_cell_grad(
    _x: Array,
    cs_prev: Array,
    _h_prev: Array,
    _w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    _b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> list[Array]:
    """By `cs_prev`, by the sums of `i`, `ci`, `f` and `o`, and by the peepholes."""
    outputs = [*map(wide, (i, cs, f, o, ci, co))]
    holes = [hole if use_peephole else hole * 0 for hole in map(wide, (wci, wcf, wco))]
    d_carry, d_sums = _step_grad(wide(cs_prev), holes, outputs, wide(cs_grad), wide(h_grad))
    sums = [d_sums[name] for name in ("i", "c", "f", "o")]
    peepholes = _hole_grads(d_sums, wide(cs_prev), outputs[1], used=use_peephole)
    return [d_carry, np.concatenate(sums, axis=1), *peepholes]


def _step_grad(
    carry: Array, holes: Sequence[Array], outputs: Sequence[Array], cs_grad: Array, h_grad: Array
) -> tuple[Array, dict[str, Array]]:
    """The derivatives of a step by the carry before it, and by the sum of each gate."""
    i, _, f, o, ci, co = outputs
    d_sums = {"o": h_grad * co * o * (1 - o)}
    d_cs = cs_grad + h_grad * o * (1 - co * co) + d_sums["o"] * holes[2]
    d_sums["c"] = d_cs * i * (1 - ci * ci)
    d_sums["f"] = d_cs * carry * f * (1 - f)
    d_sums["i"] = d_cs * ci * i * (1 - i)
    return d_cs * f + d_sums["i"] * holes[0] + d_sums["f"] * holes[1], d_sums


def _hole_grads(d_sums: dict[str, Array], carry: Array, cs: Array, *, used: bool) -> list[Array]:
    sums = [d_sums["i"] * carry, d_sums["f"] * carry, d_sums["o"] * cs]
    return [one.sum(axis=0) * used for one in sums]
