"""A GPU as cupy shows it to a benchmark: its clock, its name and memory, versions of its libraries.

The array module is handed in by the adapter whose runtime imports cupy, or its stand-in.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from sessrun.spec.forms import JsonObject

__all__ = ["CupyGpu"]

#: Packages of NVIDIA's libraries, as they are called for CUDA 12 and 13.
_PACKAGES: Final = {
    "cudnn": ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12"),
    "cublas": ("nvidia-cublas", "nvidia-cublas-cu12"),
}


class CupyGpu:
    """A GPU, with events on the legacy default stream, where the runtime computes.

    Args:
      xp: cupy, or what stands in for it.
      index: the device's number, by which CUDA knows it.

    """

    def __init__(self, xp: ModuleType, index: int) -> None:
        self.xp: Final = xp
        self.index: Final = index
        self.simulated: Final = str(xp.__version__).endswith("+simulated")
        name = xp.cuda.runtime.getDeviceProperties(index)["name"]
        self.name: Final = name.decode() if isinstance(name, bytes) else str(name)

    @property
    def device(self) -> Any:
        """The device, to make it the current one in a `with`."""
        return self.xp.cuda.Device(self.index)

    def settle(self) -> None:
        """Wait for all streams of the device, whichever library created them."""
        self.device.synchronize()

    def mark(self) -> Any:
        """An event on the legacy default stream."""
        with self.device:
            event = self.xp.cuda.Event()
            event.record(self.xp.cuda.Stream.null)
        return event

    def seconds(self, first: Any, last: Any) -> float:
        """The time between two events in seconds."""
        return float(self.xp.cuda.get_elapsed_time(first, last)) / 1000

    @property
    def free_bytes(self) -> int:
        """Bytes of the device's memory that are free."""
        with self.device:
            return int(self.xp.cuda.runtime.memGetInfo()[0])

    @property
    def cache_bytes(self) -> int:
        """Bytes of the cache that all multiprocessors share; 0 if the device does not tell."""
        return int(self.device.attributes.get("L2CacheSize", 0))

    @property
    def address(self) -> str:
        """Its address on the bus, by which the driver's tools know it too."""
        return str(self.device.pci_bus_id)

    def versions(self) -> dict[str, str]:
        """Versions of cupy, CUDA and the libraries below, of those that can be told."""
        runtime = self.xp.cuda.runtime
        known = {
            "cupy": str(self.xp.__version__),
            "cuda": _dotted(runtime.runtimeGetVersion()),
            "cuda_of_driver": _dotted(runtime.driverGetVersion()),
        }
        if not self.simulated:
            known |= _packages()
            known["cublas"] = str(self._cublas_version() or known.get("cublas", "unknown"))
        return known

    def _cublas_version(self) -> int:
        cublas = self.xp.cuda.cublas
        with self.device:
            return int(cublas.getVersion(self.xp.cuda.device.get_cublas_handle()))

    def kernel(self, source: str, name: str) -> Any:
        """A kernel of CUDA source without arguments; on the stand-in one that does nothing."""
        if self.simulated:
            simulated_gpu = importlib.import_module("sessrun.adapters.fakes.simulated_gpu")
            simulated_gpu.kernel(name, lambda *_: None)
        return self.xp.RawKernel(source, name)

    def counted(self, call: Callable[[], object]) -> JsonObject | None:
        """What one call asks of the device: counted on the stand-in, None on a real GPU."""
        if not self.simulated:
            return None
        simulated_gpu = importlib.import_module("sessrun.adapters.fakes.simulated_gpu")
        self.settle()
        simulated_gpu.reset()
        counters = simulated_gpu.counters(self.index)
        before = counters.peak_bytes
        call()
        names = (
            "launches",
            "synchronizations",
            "hidden_synchronizations",
            "uploads",
            "upload_bytes",
            "downloads",
            "download_bytes",
        )
        counts = {name: getattr(counters, name) for name in names}
        return {"counted_on": "simulated-gpu", **counts, "pool_bytes": counters.peak_bytes - before}


def _dotted(version: int) -> str:
    """CUDA's number of a version in its usual form: 13020 is 13.2."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _packages() -> dict[str, str]:
    """Versions of the libraries that are installed as packages."""
    known = {}
    for library, names in _PACKAGES.items():
        for name in names:
            try:
                known[library] = importlib.metadata.version(name)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return known
