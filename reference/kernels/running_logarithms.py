"""The kernel of running logarithms of sums of exponentials."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.host import scalar_int
from sessrun.reference.kernels.reductions import axis_of
from sessrun.reference.kernels.registry import kernel


# cupy's logaddexp does not accumulate.
@kernel("CumulativeLogsumexp", devices=("CPU",), host_inputs=("axis",))
@widened
def cumulative_logsumexp(
    xp: ArrayModule, x: Array, axis: Array, *, exclusive: bool, reverse: bool
) -> Array:
    """The running log-sum-exp along an axis, without overflow.

    If exclusive of the element itself, the first result is minus infinity.
    """
    if not x.ndim:
        return x
    along = xp.moveaxis(x, axis_of(scalar_int(axis), x.ndim), -1)
    along = along[..., ::-1] if reverse else along
    running = xp.logaddexp.accumulate(along, axis=-1) if x.size else along
    if exclusive:
        lowest = xp.full((*along.shape[:-1], 1), -xp.inf, dtype=x.dtype)
        running = xp.concatenate([lowest, running], axis=-1)[..., : along.shape[-1]]
    running = running[..., ::-1] if reverse else running
    return xp.moveaxis(running, -1, axis_of(scalar_int(axis), x.ndim)).astype(x.dtype)
