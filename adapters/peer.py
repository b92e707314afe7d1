"""Peers: libraries of arrays that benchmarks time beside the backends, each on the same jobs.

A peer runs no graphs of TensorFlow's and no case of the suite; it computes a few jobs in its own
way, so that a backend's time has something to be held to on the same device in the same run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from sessrun.adapters.device_clock import DeviceClock
from sessrun.adapters.errors import AdapterError

__all__ = ["PEERS", "Peer", "Training", "load_peer"]

#: Name to the module that imports the library, the library's own name, and what installs it.
PEERS: Final = {
    "jax": ("sessrun.adapters.jax.peer", "JAX", "sessrun[jax]"),
    "torch": ("sessrun.adapters.torch", "PyTorch", "torch"),
}


@dataclass(frozen=True, slots=True)
class Training:
    """A network in training: `step` makes one step of Adam with images of the host or the device.

    Attributes:
      step: from images to the loss before the step, on the device.
      momenta: the averages of the gradients so far, in the order of the weights, on the host.

    """

    step: Callable[[Any], Any]
    momenta: Callable[[], list[np.ndarray]]


class Peer(Protocol):
    """A library on one device; arrays are its own, floats in products as exact as their dtype."""

    name: str
    version: str
    clock: DeviceClock | None

    def put(self, value: np.ndarray, dtype: str) -> Any:
        """An array of the host, converted, on the device."""

    def get(self, value: Any) -> np.ndarray:
        """An array of the device on the host, in float64; it waits."""

    def settle(self, value: Any) -> None:
        """Wait for the value that was computed last."""

    def product(self, left: Any, right: Any) -> Any:
        """The product of two matrices."""

    def total(self, left: Any, right: Any) -> Any:
        """The sum of two arrays, element by element."""

    def training(self, weights: Sequence[np.ndarray], labels: np.ndarray, rate: float) -> Training:
        """The network of `sessrun.conformance.benchmarks.training` with these weights.

        Args:
          weights: filters (rows, columns, in, out) and biases of two convolutions of the same size
            with relu and a maximum of 2 by 2 after each; matrices and biases of two dense
            layers, relu between.
          labels: the classes, int64, of (batch,).
          rate: the learning rate.

        """


def load_peer(name: str, index: int | None) -> Peer:
    """A peer on a device.

    Args:
      name: a key of `PEERS`.
      index: the number of the GPU, None for the CPU.

    Raises:
      AdapterError: the library is not installed, or has no such device.

    """
    module, library, package = PEERS[name]
    peer: Peer
    try:
        peer = importlib.import_module(module).peer(index)
    except ImportError as error:
        raise AdapterError(
            f"{library} is not installed: pip install '{package}' ({error})"
        ) from error
    except (LookupError, RuntimeError) as error:
        where = "the CPU" if index is None else f"GPU {index}"
        raise AdapterError(f"{library} cannot compute on {where}: {error}") from error
    return peer
