"""JAX as a peer of benchmarks: each job one compiled function, as a JAX program has it."""

from __future__ import annotations

import os
from collections.abc import Sequence

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others need memory, too

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from sessrun.adapters.device_clock import DeviceClock
from sessrun.adapters.peer import Peer, Training

__all__ = ["peer"]

_State = tuple[list[jax.Array], list[jax.Array], list[jax.Array], jax.Array]
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8


def peer(index: int | None) -> Peer:
    """JAX on a GPU, or on the CPU.

    Raises:
      RuntimeError: it has no GPU.
      IndexError: it has none of this number.

    """
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")  # float32 is no TF32
    return _Jax(jax.devices("cpu")[0] if index is None else jax.devices("gpu")[index])


class _Jax:
    """JAX on one device; it offers no events of the device."""

    clock: DeviceClock | None = None

    def __init__(self, device: jax.Device) -> None:
        self.name = "jax"
        self.version = jax.__version__
        self._device = device
        self._product = jax.jit(jnp.matmul)
        self._total = jax.jit(jnp.add)

    def put(self, value: np.ndarray, dtype: str) -> jax.Array:
        """An array of the host, converted, on the device."""
        kind: DTypeLike = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        return jax.device_put(value.astype(kind), self._device)

    def get(self, value: jax.Array) -> np.ndarray:
        """An array of the device on the host, in float64."""
        return np.asarray(value).astype(np.float64)

    def settle(self, value: jax.Array) -> None:
        """Wait for a value."""
        jax.block_until_ready(value)

    def product(self, left: jax.Array, right: jax.Array) -> jax.Array:
        """The product of two matrices."""
        return self._product(left, right)

    def total(self, left: jax.Array, right: jax.Array) -> jax.Array:
        """The sum of two arrays."""
        return self._total(left, right)

    def training(self, weights: Sequence[np.ndarray], labels: np.ndarray, rate: float) -> Training:
        """One compiled step, whose state is given on and its memory used again."""
        classes = jax.device_put(labels, self._device)
        speed = jax.device_put(np.float32(rate), self._device)
        start = [jax.device_put(value, self._device) for value in weights]
        step = jax.jit(_step, donate_argnums=0)
        state: list[_State] = [
            (
                start,
                [jnp.zeros_like(value) for value in start],
                [jnp.zeros_like(value) for value in start],
                jax.device_put(np.float32(0), self._device),
            )
        ]

        def advance(images: jax.Array | np.ndarray) -> jax.Array:
            state[0], loss = step(state[0], images, classes, speed)
            return loss

        return Training(advance, lambda: [self.get(value) for value in state[0][1]])


def _loss(weights: list[jax.Array], images: jax.Array, labels: jax.Array) -> jax.Array:
    x = images
    for filters, bias in (weights[:2], weights[2:4]):
        x = jax.lax.conv_general_dilated(
            x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + bias)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    x = jax.nn.relu(x.reshape(x.shape[0], -1) @ weights[4] + weights[5])
    logits = x @ weights[6] + weights[7]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -chosen.mean()


def _step(
    state: _State, images: jax.Array, labels: jax.Array, rate: jax.Array
) -> tuple[_State, jax.Array]:
    """Adam as Kingma and Ba have it, with the bias in the learning rate."""
    weights, first, second, count = state
    loss, gradients = jax.value_and_grad(_loss)(weights, images, labels)
    count = count + 1
    rate = rate * jnp.sqrt(1 - jnp.float32(_BETA_2) ** count) / (1 - jnp.float32(_BETA_1) ** count)
    first = [m + (g - m) * np.float32(1 - _BETA_1) for m, g in zip(first, gradients, strict=True)]
    second = [
        v + (g * g - v) * np.float32(1 - _BETA_2) for v, g in zip(second, gradients, strict=True)
    ]
    moved = [
        w - rate * m / (jnp.sqrt(v) + np.float32(_EPSILON))
        for w, m, v in zip(weights, first, second, strict=True)
    ]
    return (moved, first, second, count), loss
