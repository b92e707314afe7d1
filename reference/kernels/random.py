"""Kernels of random numbers: with seeds a node's stream is the same in every session.

The numbers are not TensorFlow's: its streams are Philox counters, of which only the dtype, the
shape, the range and the distribution are required.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import dtype_of, scalar_int
from sessrun.reference.kernels.registry import Bind, KernelError, binder

__all__: list[str] = []

#: Draws beyond this many deviations are drawn again by the truncated normal distribution.
_CUT = 2.0


def _generator(bind: Bind) -> Any:
    """The node's generator: one for the life of the session, whatever plans are made of it."""
    return bind.resources.get_or_create(
        "random streams", bind.node.name, object, lambda: _new_generator(bind)
    )


def _new_generator(bind: Bind) -> Any:
    """A generator of the array module, seeded by the node's seeds; without them by the system."""
    seeds = bind.seeds
    if seeds == (0, 0):
        return bind.xp.random.default_rng(random.SystemRandom().getrandbits(63))
    digest = hashlib.sha256(repr(seeds).encode()).digest()
    return bind.xp.random.default_rng(int.from_bytes(digest[:8], "little") >> 1)


def _continuous(op_type: str, draw: Callable[[Any, Any, tuple[int, ...]], Any]) -> None:
    def bind(bind: Bind) -> Callable[..., Any]:
        xp, generator, dtype = bind.xp, _generator(bind), dtype_of(bind.attrs["dtype"])
        return lambda shape: draw(xp, generator, checked_shape(shape)).astype(dtype)

    binder(op_type, host_inputs=("shape",))(bind)


def _truncated(xp: Any, generator: Any, shape: tuple[int, ...]) -> Any:
    values = generator.standard_normal(shape)
    while True:
        far = xp.absolute(values) > _CUT
        if not xp.any(far):
            return values
        values = xp.where(far, generator.standard_normal(shape), values)


_continuous("RandomStandardNormal", lambda _, generator, shape: generator.standard_normal(shape))
_continuous("TruncatedNormal", _truncated)


@binder("RandomUniform", host_inputs=("shape",))
def random_uniform(bind: Bind) -> Callable[..., Any]:
    """Numbers in [0, 1): as many random bits as the dtype's fraction holds."""
    xp, generator, dtype = bind.xp, _generator(bind), dtype_of(bind.attrs["dtype"])
    steps = 2.0 ** {"float16": 10, "bfloat16": 7, "float32": 23}.get(bind.attrs["dtype"], 52)
    return lambda shape: (
        xp.floor(generator.random(checked_shape(shape)) * steps) / steps
    ).astype(dtype)


@binder("RandomUniformInt", host_inputs=("shape", "minval", "maxval"))
def random_uniform_int(bind: Bind) -> Callable[..., Any]:
    """Integers in [minval, maxval)."""
    generator, dtype = _generator(bind), dtype_of(bind.attrs["Tout"])

    def compute(shape: Any, minval: Any, maxval: Any) -> Any:
        low, high = scalar_int(minval), scalar_int(maxval)
        dims = checked_shape(shape)
        if low >= high:
            raise KernelError(3, f"Need minval < maxval, got {low} >= {high}")
        return generator.integers(low, high, size=dims, dtype=dtype)

    return compute


@binder("RandomShuffle")
def random_shuffle(bind: Bind) -> Callable[..., Any]:
    """The rows in a random order."""
    generator = _generator(bind)
    return lambda x: x if x.ndim == 0 else x[generator.permutation(x.shape[0]), ...]


@binder("Multinomial", host_inputs=("num_samples",))
def multinomial(bind: Bind) -> Callable[..., Any]:
    """Classes drawn by the largest of logits plus Gumbel noise."""
    xp, generator, dtype = bind.xp, _generator(bind), dtype_of(bind.attrs["output_dtype"])

    def compute(logits: Any, num_samples: Any) -> Any:
        count = scalar_int(num_samples)
        if logits.ndim != 2 or count < 0:
            raise KernelError(3, f"logits must be 2D and num_samples >= 0: {logits.shape}, {count}")
        batch, classes = logits.shape
        if classes == 0 and batch and count:
            raise KernelError(3, "num_classes should be positive")
        if not batch * count:
            return xp.zeros((batch, count), dtype=dtype)
        noise = -xp.log(-xp.log(1.0 - generator.random((batch, count, classes))))
        return xp.argmax(logits.astype("float64")[:, None, :] + noise, axis=-1).astype(dtype)

    return compute
