"""Kernels of cells of recurrent networks, and of their gradients.

Halves are computed in float32, as sums of many products would lose too much.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.kernels.host import scalar_int
from sessrun.reference.kernels.registry import kernel

#: The positions of the input gate, new carry, forget and output gate in the joined matrix.
_ORDER_V1: Final = (0, 1, 2, 3)
_ORDER_V2: Final = (0, 2, 1, 3)


class _Weights(NamedTuple):
    """Matrix, peepholes (None if they are not used) and bias of an LSTM, float32."""

    w: Array
    wci: Array | None
    wcf: Array | None
    wco: Array | None
    b: Array


def _weights(w: Array, wci: Array, wcf: Array, wco: Array, b: Array, *, peephole: bool) -> _Weights:
    matrix, i, f, o, bias = (weight.astype("float32") for weight in (w, wci, wcf, wco, b))
    return _Weights(matrix, i, f, o, bias) if peephole else _Weights(matrix, None, None, None, bias)


def _sigmoid(xp: ArrayModule, x: Array) -> Array:
    return 0.5 * xp.tanh(0.5 * x) + 0.5


def _refuse(what: str) -> KernelError:
    return InvalidArgument(f"The shapes do not fit: {what}")


def _check(inputs: tuple[int, ...], state: Array, w: Array, b: Array, gates: int) -> None:
    """Check that the shapes of one step's inputs, state, weights and bias fit."""
    if len(inputs) != 2 or state.ndim != 2 or state.shape[0] != inputs[0]:
        raise _refuse(f"inputs of {list(inputs)}, a state of {list(state.shape)}")
    units = state.shape[1]
    wanted = (inputs[1] + units, gates * units), (gates * units,)
    if (w.shape, b.shape) != wanted:
        raise _refuse(f"weights and bias of {list(w.shape)} and {list(b.shape)}, not {wanted}")


def _check_lstm(inputs: tuple[int, ...], cs_prev: Array, h_prev: Array, *weights: Array) -> None:
    """Check the shapes of an LSTM: a carry like the state, and peepholes [units] besides."""
    w, *holes, b = weights
    _check(inputs, cs_prev, w, b, 4)
    if h_prev.shape != cs_prev.shape:
        raise _refuse(f"a carry of {list(cs_prev.shape)}, a state of {list(h_prev.shape)}")
    for hole in holes:
        if hole.shape != cs_prev.shape[1:]:
            raise _refuse(f"a peephole of {list(hole.shape)}")


def _times(count: Array, x: Array, *rest: Array) -> int:
    """The number of time steps to be computed, after a check of all shapes."""
    if count.ndim or x.ndim != 3:
        raise _refuse(f"`seq_len_max` of {list(count.shape)}, inputs of {list(x.shape)}")
    _check_lstm(x.shape[1:], *rest)
    times = scalar_int(count)
    if not 0 <= times <= x.shape[0]:
        raise _refuse(f"{times} times of {x.shape[0]}")
    return times


def _step(
    xp: ArrayModule,
    x: Array,
    carry: Array,
    state: Array,
    weights: _Weights,
    order: tuple[int, ...],
    forget_bias: float,
    cell_clip: float,
) -> tuple[Array, ...]:
    """i, cs, f, o, ci, co and h of one time step."""
    sums = xp.concatenate([x, state], axis=1) @ weights.w + weights.b
    units = carry.shape[1]
    entering, new, staying, leaving = (sums[:, units * n : units * (n + 1)] for n in order)
    if weights.wci is not None and weights.wcf is not None:
        entering, staying = entering + carry * weights.wci, staying + carry * weights.wcf
    i, ci = _sigmoid(xp, entering), xp.tanh(new)
    f = _sigmoid(xp, staying + xp.asarray(forget_bias, dtype="float32"))
    cs = ci * i + f * carry
    if cell_clip > 0:
        cs = xp.clip(cs, -cell_clip, cell_clip)
    if weights.wco is not None:
        leaving = leaving + cs * weights.wco
    o, co = _sigmoid(xp, leaving), xp.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _step_back(
    xp: ArrayModule,
    carry: Array,
    gates: tuple[Array, ...],
    by_cs: Array,
    by_h: Array,
    weights: _Weights,
    order: tuple[int, ...],
) -> tuple[Array, Array, list[Array]]:
    """The gradients by the last carry, by the sums of all gates, and by the peepholes."""
    i, cs, f, o, ci, co = gates
    by_o = o * (1 - o) * by_h * co
    by_cs = (1 - co * co) * by_h * o + by_cs
    if weights.wco is not None:
        by_cs = by_cs + by_o * weights.wco
    by_ci, by_i = (1 - ci * ci) * by_cs * i, i * (1 - i) * by_cs * ci
    by_f = f * (1 - f) * by_cs * carry
    parts = [by_i, by_ci, by_f, by_o]
    by_sums = xp.concatenate([parts[order.index(n)] for n in range(4)], axis=1)
    before = by_cs * f
    if weights.wci is None or weights.wcf is None:
        return before, by_sums, [xp.zeros_like(carry[0])] * 3
    before = before + by_i * weights.wci + by_f * weights.wcf
    holes = (by_i * carry, by_f * carry, by_o * cs)
    return before, by_sums, [xp.sum(hole, axis=0) for hole in holes]


@kernel("LSTMBlockCell")
def lstm_block_cell(
    xp: ArrayModule,
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
) -> tuple[Array, ...]:
    """One step of an LSTM."""
    _check_lstm(x.shape, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    inputs, carry, state = (operand.astype("float32") for operand in (x, cs_prev, h_prev))
    outputs = _step(xp, inputs, carry, state, weights, _ORDER_V1, forget_bias, cell_clip)
    return tuple(operand.astype(x.dtype) for operand in outputs)


@kernel("LSTMBlockCellGrad")
def lstm_block_cell_grad(
    xp: ArrayModule,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *rest: Array,
    use_peephole: bool,
) -> tuple[Array, ...]:
    """The gradients of `LSTMBlockCell` by the carry, the sums of the gates, and the peepholes."""
    _check_lstm(x.shape, cs_prev, h_prev, w, wci, wcf, wco, b)
    if any(operand.shape != cs_prev.shape for operand in rest):
        raise _refuse(f"gates and gradients of {[list(operand.shape) for operand in rest]}")
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    *gates, by_cs, by_h = (operand.astype("float32") for operand in rest)
    carry = cs_prev.astype("float32")
    before, by_sums, holes = _step_back(xp, carry, tuple(gates), by_cs, by_h, weights, _ORDER_V1)
    return tuple(operand.astype(x.dtype) for operand in (before, by_sums, *holes))


def _over_times(
    xp: ArrayModule,
    times: int,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    weights: _Weights,
    order: tuple[int, ...],
    forget_bias: float,
    cell_clip: float,
) -> tuple[Array, ...]:
    """All outputs of an LSTM over the first `times` time steps; zeros after the last one."""
    outputs = [xp.zeros((*x.shape[:2], cs_prev.shape[1]), x.dtype) for _ in range(7)]
    carry, state = cs_prev.astype("float32"), h_prev.astype("float32")
    for time in range(times):
        inputs = x[time].astype("float32")
        now = _step(xp, inputs, carry, state, weights, order, forget_bias, cell_clip)
        for output, part in zip(outputs, now, strict=True):
            output[time] = part.astype(x.dtype)
        carry, state = now[1], now[6]
    return tuple(outputs)


@kernel("BlockLSTM", host_inputs=("seq_len_max",))
def block_lstm(
    xp: ArrayModule,
    seq_len_max: Array,
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
) -> tuple[Array, ...]:
    """An LSTM over all time steps."""
    times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    return _over_times(xp, times, x, cs_prev, h_prev, weights, _ORDER_V1, forget_bias, cell_clip)


@kernel("BlockLSTMV2", host_inputs=("seq_len_max",))
def block_lstm_v2(
    xp: ArrayModule,
    seq_len_max: Array,
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
) -> tuple[Array, ...]:
    """As `BlockLSTM`, with the gates in another order and no `forget_bias`."""
    times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    return _over_times(xp, times, x, cs_prev, h_prev, weights, _ORDER_V2, 0.0, cell_clip)


def _all_times_back(op_type: str, order: tuple[int, ...]) -> None:
    def compute(
        xp: ArrayModule,
        seq_len_max: Array,
        x: Array,
        cs_prev: Array,
        h_prev: Array,
        w: Array,
        wci: Array,
        wcf: Array,
        wco: Array,
        b: Array,
        *rest: Array,
        use_peephole: bool,
    ) -> tuple[Array, ...]:
        times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
        if any(operand.shape != (*x.shape[:2], cs_prev.shape[1]) for operand in rest):
            raise _refuse(f"gates and gradients of {[list(operand.shape) for operand in rest]}")
        weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
        *gates, h, cs_grad, h_grad = (operand.astype("float32") for operand in rest)
        by_x = xp.zeros_like(x)
        by_w, by_b = xp.zeros_like(weights.w), xp.zeros_like(weights.b)
        holes = [xp.zeros(wci.shape, "float32") for _ in range(3)]
        by_carry, by_state = xp.zeros(cs_prev.shape, "float32"), xp.zeros(h_prev.shape, "float32")
        for time in reversed(range(times)):
            carry = gates[1][time - 1] if time else cs_prev.astype("float32")
            state = h[time - 1] if time else h_prev.astype("float32")
            by_carry, by_sums, more = _step_back(
                xp,
                carry,
                tuple(operand[time] for operand in gates),
                cs_grad[time] + by_carry,
                h_grad[time] + by_state,
                weights,
                order,
            )
            both = by_sums @ weights.w.T
            by_x[time] = both[:, : x.shape[2]].astype(x.dtype)
            by_state = both[:, x.shape[2] :]
            inputs = xp.concatenate([x[time].astype("float32"), state], axis=1)
            by_w, by_b = by_w + inputs.T @ by_sums, by_b + xp.sum(by_sums, axis=0)
            holes = [hole + operand for hole, operand in zip(holes, more, strict=True)]
        gradients = (by_carry, by_state, by_w, *holes, by_b)
        return by_x, *(operand.astype(x.dtype) for operand in gradients)

    compute.__doc__ = "The gradients of an LSTM over all time steps."
    kernel(op_type, host_inputs=("seq_len_max",))(compute)


_all_times_back("BlockLSTMGrad", _ORDER_V1)
_all_times_back("BlockLSTMGradV2", _ORDER_V2)


@kernel("GRUBlockCell")
def gru_block_cell(
    xp: ArrayModule, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Array, Array, Array, Array]:
    """One step of a GRU: r, u, c and h."""
    _check(x.shape, h_prev, w_ru, b_ru, 2)
    _check(x.shape, h_prev, w_c, b_c, 1)
    units = h_prev.shape[1]
    both = _sigmoid(xp, xp.concatenate([x, h_prev], axis=1) @ w_ru + b_ru)
    r, u = both[:, :units], both[:, units:]
    c = xp.tanh(xp.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


@kernel("GRUBlockCellGrad")
def gru_block_cell_grad(
    xp: ArrayModule,
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    b_ru: Array,
    b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> tuple[Array, Array, Array, Array]:
    """The gradients of `GRUBlockCell` by inputs, state, and the sums of c and of both gates."""
    _check(x.shape, h_prev, w_ru, b_ru, 2)
    _check(x.shape, h_prev, w_c, b_c, 1)
    if any(operand.shape != h_prev.shape for operand in (r, u, c, d_h)):
        raise _refuse("gates and gradients of another shape than the state")
    size = x.shape[1]
    by_c = d_h * (1 - u) * (1 - c * c)
    by_u = d_h * (h_prev - c) * u * (1 - u)
    of_new = by_c @ w_c.T
    by_r = of_new[:, size:] * h_prev * r * (1 - r)
    by_gates = xp.concatenate([by_r, by_u], axis=1)
    of_gates = by_gates @ w_ru.T
    by_state = of_gates[:, size:] + of_new[:, size:] * r + d_h * u
    return of_gates[:, :size] + of_new[:, :size], by_state, by_c, by_gates
