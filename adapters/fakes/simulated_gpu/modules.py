"""The modules that stand for cupy's: every described name, and none besides."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from typing import Literal, Never

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import (
    arrays,
    capture,
    devices,
    functions,
    kernels,
    memory,
    pointer_copies,
    random_numbers,
    special_cases,
    streams,
    transfers,
)
from sessrun.adapters.fakes.simulated_gpu.description import description
from sessrun.adapters.fakes.simulated_gpu.host_values import DTypeLike, HostFunction
from sessrun.adapters.fakes.simulated_gpu.machine import RunTimeError, machine
from sessrun.adapters.fakes.simulated_gpu.ufuncs import Ufunc
from sessrun.spec.forms import Json

__all__ = ["built"]

#: Where numpy, or scipy, has the functions of a module.
_SOURCES = {
    "cupy": "numpy",
    "cupy.fft": "numpy.fft",
    "cupy.linalg": "numpy.linalg",
    "cupyx.scipy.special": "scipy.special",
}
#: Modules some of whose functions are written here, not numpy's with checks around.
_WITH_SPECIAL_CASES = {"cupy", "cupy.lib.stride_tricks"}


def built(seed: int) -> dict[str, types.ModuleType]:
    """New modules by name, as `sys.modules` has them."""
    pointer_copies.give_methods()
    pool = memory.MemoryPool()
    pinned = types.SimpleNamespace(
        free_all_blocks=lambda: None,
        n_free_blocks=lambda: 0,
        malloc=lambda size: transfers.PinnedMemoryPointer(max(1, size)),
    )
    machine().allocator = pool.malloc
    described = description()["modules"]
    contents = {name: _contents(name, names) for name, names in described.items()}
    contents["cupy"].update(_top(pool, pinned))
    contents["cupy.cuda"].update(_cuda())
    contents["cupy.cuda.runtime"].update(_runtime())
    contents["cupyx"].update(_cupyx())
    contents["cupy.random"].update(
        random_numbers.functions(described["cupy.random"], description()["classes"], seed)
    )
    contents |= {
        "cupy.cuda.memory": {
            name: getattr(memory, name)
            for name in (
                "MemoryPointer",
                "MemoryPool",
                "OutOfMemoryError",
                "UnownedMemory",
                "set_allocator",
                "using_allocator",
                "get_allocator",
            )
        }
        | {"alloc": memory.allocate},
        "cupy.cuda.stream": {
            name: getattr(streams, name)
            for name in (
                "Stream",
                "Event",
                "ExternalStream",
                "get_current_stream",
                "get_elapsed_time",
            )
        },
        "cupy.cuda.device": {"Device": devices.Device},
        "cupy.lib": {},
        "cupyx.scipy": {},
    }
    modules = {name: _module(name, values) for name, values in contents.items()}
    for name, module in modules.items():
        above, _, last = name.rpartition(".")
        if above:
            setattr(modules[above], last, module)
    arrays.FUNCTIONS.clear()
    arrays.FUNCTIONS.update({n: v for n, v in vars(modules["cupy"]).items() if callable(v)})
    arrays.FUNCTIONS.update(
        _where=_three("_where", np.where),
        _clip=_three("clip", np.clip),
        conj=arrays.FUNCTIONS["conjugate"],
    )
    return modules


def _three(name: str, function: HostFunction) -> Ufunc:
    """A ufunc of three arguments, which cupy has and does not show; it takes any dtype."""
    chars = "?bBhHiIlLqQeEfdFD"
    first = "?" if name == "_where" else None
    loops = " ".join(f"{first or char}{char}{char}->{char}" for char in chars)
    return Ufunc(name.strip("_"), function, {"nin": 3, "nout": 1, "loops": loops, "methods": []})


def _module(name: str, values: Mapping[str, object]) -> types.ModuleType:
    module = types.ModuleType(name, "Simulated: see sessrun.adapters.fakes.simulated_gpu.")
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.__dict__.update(values)
    return module


def _contents(module: str, names: Mapping[str, str]) -> dict[str, object]:
    """The values of a module's described names."""
    ufuncs = description()["ufuncs"]
    source = importlib.import_module(_SOURCES[module]) if module in _SOURCES else None
    values: dict[str, object] = {}
    for name, kind in names.items():
        like = getattr(source, name, None)
        if kind == "numpy" or (kind == "constant" and module == "cupy"):
            values[name] = getattr(np, name, None)
        elif module in _WITH_SPECIAL_CASES and name in special_cases.ALL:
            values[name] = special_cases.ALL[name]
        elif kind == "ufunc" and like is not None:
            values[name] = Ufunc(name, like, ufuncs[f"{module}.{name}"])
        elif kind.startswith("(") and callable(like):
            values[name] = functions.function(module, name, kind, like)
        elif isinstance(like, type) and issubclass(like, Exception):
            values[name] = like
        elif kind == "constant":
            values[name] = 0
        elif kind != "module":
            values[name] = _missing(f"{module}.{name}")
    return values


def _missing(name: str) -> Callable[..., Never]:
    def call(*_: object, **__: object) -> Never:
        raise NotImplementedError(f"cupy has {name}, but the simulated GPU does not compute it")

    return call


def _top(pool: memory.MemoryPool, pinned: types.SimpleNamespace) -> dict[str, object]:
    return {
        "__version__": f"{description()['cupy']}+simulated",
        "ndarray": arrays.ndarray,
        "ufunc": Ufunc,
        "empty": arrays.empty,
        "is_available": lambda: True,
        "get_default_memory_pool": lambda: pool,
        "get_default_pinned_memory_pool": lambda: pinned,
        "RawKernel": kernels.RawKernel,
        "RawModule": kernels.RawModule,
        "ElementwiseKernel": kernels.ElementwiseKernel,
        "ReductionKernel": kernels.ReductionKernel,
    }


def _cuda() -> dict[str, object]:
    return {
        "Device": devices.Device,
        "Event": streams.Event,
        "ExternalStream": streams.ExternalStream,
        "Graph": capture.Graph,
        "MemoryPointer": memory.MemoryPointer,
        "MemoryPool": memory.MemoryPool,
        "PinnedMemoryPointer": transfers.PinnedMemoryPointer,
        "Stream": streams.Stream,
        "UnownedMemory": memory.UnownedMemory,
        "alloc": memory.allocate,
        "alloc_pinned_memory": lambda size: transfers.PinnedMemoryPointer(max(1, size)),
        "get_allocator": memory.get_allocator,
        "get_current_stream": streams.get_current_stream,
        "get_device_id": lambda: machine().local.device,
        "get_elapsed_time": streams.get_elapsed_time,
        "get_local_runtime_version": lambda: 13000,
        "is_available": lambda: True,
        "set_allocator": memory.set_allocator,
        "using_allocator": memory.using_allocator,
    }


def _runtime() -> dict[str, object]:
    return {
        "CUDARuntimeError": RunTimeError,
        "getDevice": lambda: machine().local.device,
        "getDeviceCount": lambda: len(machine().devices),
        "getDeviceProperties": _properties,
        "setDevice": lambda device: devices.Device(device).use(),
        "deviceSynchronize": lambda: devices.Device().synchronize(),
        "deviceCanAccessPeer": lambda device, peer: 0,
        "driverGetVersion": lambda: 13000,
        "runtimeGetVersion": lambda: 13000,
        "memGetInfo": lambda: devices.Device().mem_info,
        "streamCaptureModeGlobal": 0,
        "streamCaptureModeThreadLocal": 1,
        "streamCaptureModeRelaxed": 2,
        "is_hip": False,
    }


def _properties(device: int) -> dict[str, Json]:
    state = machine().devices[devices.Device(device).id]
    return {
        "name": b"Simulated GPU",
        "totalGlobalMem": state.total_bytes,
        "major": 9,
        "minor": 0,
        "multiProcessorCount": 132,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "sharedMemPerBlock": 49152,
    }


@contextlib.contextmanager
def _errstate(*, linalg: str | None = None, **others: object) -> Iterator[None]:
    """`cupyx.errstate`: whether linear algebra looks, and waits, for what the solver says."""
    if others:
        raise NotImplementedError(f"the simulated GPU has no {sorted(others)} of cupyx.errstate")
    local = machine().local
    before = local.linalg
    local.linalg = linalg or before
    try:
        yield
    finally:
        local.linalg = before


def _cupyx() -> dict[str, object]:
    functions_of = arrays.FUNCTIONS
    return {
        "errstate": _errstate,
        "empty_pinned": transfers.empty_pinned,
        "zeros_pinned": _zeros_pinned,
        "empty_like_pinned": lambda a, **_: transfers.empty_pinned(a.shape, a.dtype),
        "zeros_like_pinned": lambda a, **_: _zeros_pinned(a.shape, a.dtype),
        "scatter_add": arrays.ndarray.scatter_add,
        "scatter_max": arrays.ndarray.scatter_max,
        "scatter_min": arrays.ndarray.scatter_min,
        "rsqrt": lambda x: functions_of["reciprocal"](functions_of["sqrt"](x)),
    }


def _zeros_pinned(
    shape: int | Sequence[int], dtype: DTypeLike = float, order: Literal["C", "F"] = "C"
) -> np.ndarray:
    array = transfers.empty_pinned(shape, dtype, order)
    array[...] = 0
    return array


def is_simulated(module: types.ModuleType | None) -> bool:
    """Whether a module that is imported is one of these."""
    return str(getattr(module, "__version__", "")).endswith("+simulated")


def imported() -> types.ModuleType | None:
    """The cupy that is imported, whichever it is, or None."""
    return sys.modules.get("cupy")
