"""PyTorch as a peer of benchmarks: eager, with its own kernels and its own Adam, fused on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from sessrun.adapters.device_clock import DeviceClock
from sessrun.adapters.peer import Peer, Training

__all__ = ["peer"]


def peer(index: int | None) -> Peer:
    """PyTorch on a GPU, or on the CPU.

    Raises:
      LookupError: it has no such GPU.

    """
    if index is not None and index >= torch.cuda.device_count():
        raise LookupError(f"it finds {torch.cuda.device_count()} GPUs")
    torch.backends.cuda.matmul.allow_tf32 = False  # float32 is no TF32
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    return _Torch(torch.device("cpu") if index is None else torch.device("cuda", index))


class _Events:
    """PyTorch's events on the stream where it computes."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def settle(self) -> None:
        """Wait for all streams of the device."""
        torch.cuda.synchronize(self._device)

    def mark(self) -> torch.cuda.Event:
        """An event on the current stream."""
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def seconds(self, first: torch.cuda.Event, last: torch.cuda.Event) -> float:
        """The time between two events in seconds."""
        return float(first.elapsed_time(last)) / 1000


class _Torch:
    """PyTorch on one device."""

    def __init__(self, device: torch.device) -> None:
        self.name = "torch"
        self.version = str(torch.__version__)
        self.clock: DeviceClock | None = _Events(device) if device.type == "cuda" else None
        self._device = device

    def put(self, value: np.ndarray, dtype: str) -> torch.Tensor:
        """An array of the host, converted, on the device."""
        return torch.from_numpy(value).to(self._device, getattr(torch, dtype))

    def get(self, value: torch.Tensor) -> np.ndarray:
        """An array of the device on the host, in float64."""
        array: np.ndarray = value.detach().to("cpu", torch.float64).numpy()
        return array

    def settle(self, value: torch.Tensor) -> None:  # noqa: ARG002 - it waits for all
        """Wait for whatever was computed."""
        if self.clock is not None:
            self.clock.settle()

    def product(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """The product of two matrices."""
        return torch.matmul(left, right)

    def total(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """The sum of two arrays."""
        return torch.add(left, right)

    def training(self, weights: Sequence[np.ndarray], labels: np.ndarray, rate: float) -> Training:
        """Eager steps; images and filters with their channels last, as cuDNN has them fastest."""
        classes = torch.from_numpy(labels).to(self._device, torch.int64)
        parameters = [_parameter(value, self._device) for value in weights]
        optimizer = torch.optim.Adam(parameters, lr=rate, fused=self.clock is not None)

        def advance(images: torch.Tensor | np.ndarray) -> torch.Tensor:
            if isinstance(images, np.ndarray):
                images = torch.from_numpy(images).to(self._device)
            optimizer.zero_grad(set_to_none=True)
            loss = _loss(parameters, images, classes)
            loss.backward()
            optimizer.step()
            return loss.detach()

        def momenta() -> list[np.ndarray]:
            averages = [self.get(optimizer.state[value]["exp_avg"]) for value in parameters]
            return [it.transpose(2, 3, 1, 0) if it.ndim == 4 else it for it in averages]

        return Training(advance, momenta)


def _parameter(value: np.ndarray, device: torch.device) -> torch.Tensor:
    tensor = torch.from_numpy(value.copy()).to(device)
    if tensor.ndim == 4:
        tensor = tensor.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return tensor.requires_grad_()


def _loss(
    weights: Sequence[torch.Tensor], images: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    x = images.permute(0, 3, 1, 2)
    for filters, bias in (weights[:2], weights[2:4]):
        x = functional.relu(functional.conv2d(x, filters, bias, padding=filters.shape[-1] // 2))
        x = functional.max_pool2d(x, 2)
    x = x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)
    x = functional.relu(x @ weights[4] + weights[5])
    return functional.cross_entropy(x @ weights[6] + weights[7], labels)
