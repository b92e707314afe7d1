"""Shape rules of cells of recurrent networks."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Dim, Shape, rule, with_rank

__all__: list[str] = []


def _of_step(x: Shape, state: Shape) -> tuple[Dim, Dim]:
    """A row of the state's size for each example."""
    return with_rank(x, 2)[0], with_rank(state, 2)[1]


@rule
def lstm_step(x: Shape, state: Shape) -> list[Shape]:
    """Seven rows of the state's size for each example."""
    return [_of_step(x, state)] * 7


@rule
def lstm_step_gradient(x: Shape, state: Shape) -> list[Shape]:
    """The state's, four gates' side by side, and the three peepholes'."""
    batch, size = _of_step(x, state)
    gates = None if size is None else 4 * size
    return [(batch, size), (batch, gates), (size,), (size,), (size,)]


@rule
def lstm_times(x: Shape, bias: Shape) -> list[Shape]:
    """For each time seven rows of a quarter of the bias for each example."""
    time, batch, _ = with_rank(x, 3)
    (gates,) = with_rank(bias, 1)
    return [(time, batch, None if gates is None else gates // 4)] * 7


@rule
def lstm_times_gradient(x: Shape, *inputs: Shape) -> list[Shape]:
    """The shapes of what is given for each time, two states, the weights, and four vectors."""
    ranks = (2, 2, 2, 1, 1, 1, 1)
    return [with_rank(x, 3), *map(with_rank, inputs, ranks)]


@rule
def gru_step(x: Shape, state: Shape) -> list[Shape]:
    """Four rows of the state's size for each example."""
    return [_of_step(x, state)] * 4


@rule
def gru_step_gradient(x: Shape, state: Shape, gates: Shape) -> list[Shape]:
    """The inputs', the state's, one of its size, and one of both gates side by side."""
    row = _of_step(x, state)
    return [with_rank(x, 2), row, row, (with_rank(x, 2)[0], with_rank(gates, 2)[1])]
