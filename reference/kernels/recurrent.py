"""Kernels of cells of recurrent networks, and of their gradients.

Halves are computed in float32, as sums of many products would lose too much.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.kernels.host import scalar_int
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

#: Where input, new carry, forget and output gates stand side by side.
_OLDER: Final = (0, 1, 2, 3)
_NEWER: Final = (0, 2, 1, 3)


class _Weights(NamedTuple):
    """Matrix, peepholes (None if they are not looked through) and bias of an LSTM."""

    w: Any
    wci: Any
    wcf: Any
    wco: Any
    b: Any


def _weights(w: Any, wci: Any, wcf: Any, wco: Any, b: Any, *, peephole: bool) -> _Weights:
    wide = [each.astype("float32") for each in (w, wci, wcf, wco, b)]
    if not peephole:
        wide[1:4] = [None, None, None]
    return _Weights(*wide)


def _sigmoid(xp: Any, x: Any) -> Any:
    return 0.5 * xp.tanh(0.5 * x) + 0.5


def _refuse(what: str) -> KernelError:
    return InvalidArgument(f"The sizes do not go together: {what}")


def _check(inputs: tuple[int, ...], state: Any, w: Any, b: Any, gates: int) -> None:
    """Check that the shapes of a time's inputs, state, weights and bias go together."""
    if len(inputs) != 2 or state.ndim != 2 or state.shape[0] != inputs[0]:
        raise _refuse(f"inputs of {list(inputs)}, a state of {list(state.shape)}")
    units = state.shape[1]
    wanted = (inputs[1] + units, gates * units), (gates * units,)
    if (w.shape, b.shape) != wanted:
        raise _refuse(f"weights and bias of {list(w.shape)} and {list(b.shape)}, not {wanted}")


def _check_lstm(inputs: tuple[int, ...], cs_prev: Any, h_prev: Any, *weights: Any) -> None:
    """Check what an LSTM has besides: a carry like the state, peepholes for each unit."""
    w, *holes, b = weights
    _check(inputs, cs_prev, w, b, 4)
    if h_prev.shape != cs_prev.shape:
        raise _refuse(f"a carry of {list(cs_prev.shape)}, a state of {list(h_prev.shape)}")
    for each in holes:
        if each.shape != cs_prev.shape[1:]:
            raise _refuse(f"a peephole of {list(each.shape)}")


def _times(count: Any, x: Any, *rest: Any) -> int:
    """How many times are computed; all sizes go together."""
    if count.ndim or x.ndim != 3:
        raise _refuse(f"`seq_len_max` of {list(count.shape)}, inputs of {list(x.shape)}")
    _check_lstm(x.shape[1:], *rest)
    times = scalar_int(count)
    if not 0 <= times <= x.shape[0]:
        raise _refuse(f"{times} times of {x.shape[0]}")
    return times


def _step(
    xp: Any,
    x: Any,
    carry: Any,
    state: Any,
    weights: _Weights,
    order: tuple[int, ...],
    forget_bias: float,
    cell_clip: float,
) -> tuple[Any, ...]:
    """i, cs, f, o, ci, co and h of one time."""
    sums = xp.concatenate([x, state], axis=1) @ weights.w + weights.b
    units = carry.shape[1]
    entering, new, staying, leaving = (sums[:, units * n : units * (n + 1)] for n in order)
    if weights.wci is not None:
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
    xp: Any,
    carry: Any,
    gates: tuple[Any, ...],
    by_cs: Any,
    by_h: Any,
    weights: _Weights,
    order: tuple[int, ...],
) -> tuple[Any, Any, list[Any]]:
    """The gradients by the carry before, by the sums of all gates, and by the peepholes."""
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
    if weights.wci is None:
        return before, by_sums, [xp.zeros_like(carry[0])] * 3
    before = before + by_i * weights.wci + by_f * weights.wcf
    holes = (by_i * carry, by_f * carry, by_o * cs)
    return before, by_sums, [xp.sum(each, axis=0) for each in holes]


@kernel("LSTMBlockCell")
def lstm_block_cell(
    xp: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> Any:
    """One step of an LSTM."""
    _check_lstm(x.shape, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    inputs, carry, state = (each.astype("float32") for each in (x, cs_prev, h_prev))
    made = _step(xp, inputs, carry, state, weights, _OLDER, forget_bias, cell_clip)
    return tuple(each.astype(x.dtype) for each in made)


@kernel("LSTMBlockCellGrad")
def lstm_block_cell_grad(
    xp: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    *rest: Any,
    use_peephole: bool,
) -> Any:
    """Its gradients, but for the products."""
    _check_lstm(x.shape, cs_prev, h_prev, w, wci, wcf, wco, b)
    if any(each.shape != cs_prev.shape for each in rest):
        raise _refuse(f"gates and gradients of {[list(each.shape) for each in rest]}")
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    *gates, by_cs, by_h = (each.astype("float32") for each in rest)
    carry = cs_prev.astype("float32")
    before, by_sums, holes = _step_back(xp, carry, tuple(gates), by_cs, by_h, weights, _OLDER)
    return tuple(each.astype(x.dtype) for each in (before, by_sums, *holes))


def _over_times(
    xp: Any,
    times: int,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    weights: _Weights,
    order: tuple[int, ...],
    forget_bias: float,
    cell_clip: float,
) -> Any:
    """All outputs of an LSTM over so many times; 0 after the last one."""
    made = [xp.zeros((*x.shape[:2], cs_prev.shape[1]), x.dtype) for _ in range(7)]
    carry, state = cs_prev.astype("float32"), h_prev.astype("float32")
    for time in range(times):
        inputs = x[time].astype("float32")
        now = _step(xp, inputs, carry, state, weights, order, forget_bias, cell_clip)
        for whole, part in zip(made, now, strict=True):
            whole[time] = part.astype(x.dtype)
        carry, state = now[1], now[6]
    return tuple(made)


@kernel("BlockLSTM", host_inputs=("seq_len_max",))
def block_lstm(
    xp: Any,
    seq_len_max: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> Any:
    """An LSTM over all times."""
    times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    return _over_times(xp, times, x, cs_prev, h_prev, weights, _OLDER, forget_bias, cell_clip)


@kernel("BlockLSTMV2", host_inputs=("seq_len_max",))
def block_lstm_v2(
    xp: Any,
    seq_len_max: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> Any:
    """An LSTM over all times, with gates in the newer order and no further bias."""
    times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
    weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
    return _over_times(xp, times, x, cs_prev, h_prev, weights, _NEWER, 0.0, cell_clip)


def _all_times_back(op_type: str, order: tuple[int, ...]) -> None:
    def compute(
        xp: Any,
        seq_len_max: Any,
        x: Any,
        cs_prev: Any,
        h_prev: Any,
        w: Any,
        wci: Any,
        wcf: Any,
        wco: Any,
        b: Any,
        *rest: Any,
        use_peephole: bool,
    ) -> Any:
        times = _times(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
        if any(each.shape != (*x.shape[:2], cs_prev.shape[1]) for each in rest):
            raise _refuse(f"gates and gradients of {[list(each.shape) for each in rest]}")
        weights = _weights(w, wci, wcf, wco, b, peephole=use_peephole)
        *gates, h, cs_grad, h_grad = (each.astype("float32") for each in rest)
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
                tuple(each[time] for each in gates),
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
            holes = [hole + each for hole, each in zip(holes, more, strict=True)]
        found = (by_carry, by_state, by_w, *holes, by_b)
        return by_x, *(each.astype(x.dtype) for each in found)

    compute.__doc__ = "The gradients of an LSTM over all times."
    kernel(op_type, host_inputs=("seq_len_max",))(compute)


_all_times_back("BlockLSTMGrad", _OLDER)
_all_times_back("BlockLSTMGradV2", _NEWER)


@kernel("GRUBlockCell")
def gru_block_cell(xp: Any, x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> Any:
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
    xp: Any,
    x: Any,
    h_prev: Any,
    w_ru: Any,
    w_c: Any,
    b_ru: Any,
    b_c: Any,
    r: Any,
    u: Any,
    c: Any,
    d_h: Any,
) -> Any:
    """Its gradients by inputs, state, and the sums of c and of both gates."""
    _check(x.shape, h_prev, w_ru, b_ru, 2)
    _check(x.shape, h_prev, w_c, b_c, 1)
    if any(each.shape != h_prev.shape for each in (r, u, c, d_h)):
        raise _refuse("gates and gradients that are not like the state")
    size = x.shape[1]
    by_c = d_h * (1 - u) * (1 - c * c)
    by_u = d_h * (h_prev - c) * u * (1 - u)
    of_new = by_c @ w_c.T
    by_r = of_new[:, size:] * h_prev * r * (1 - r)
    by_gates = xp.concatenate([by_r, by_u], axis=1)
    of_gates = by_gates @ w_ru.T
    by_state = of_gates[:, size:] + of_new[:, size:] * r + d_h * u
    return of_gates[:, :size] + of_new[:, :size], by_state, by_c, by_gates
