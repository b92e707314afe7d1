"""What a device reaches at most, measured in the same process: products, copies, launches.

On a CPU by numpy. On a GPU by cupy, with random numbers, the best of several tries between two
events: a ceiling is to be one. What cannot be measured is left out, and it is said why.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from sessrun.adapters.cupy_gpu import CupyGpu
from sessrun.conformance.benchmarks.measured_device import MeasuredDevice
from sessrun.conformance.benchmarks.resident import numbers

__all__ = ["ceilings"]

_TRIES: Final = 5
#: Rows of a product, bytes of a copy, on a GPU and on a stand-in.
_ROWS: Final = (8192, 64)
_COPIED: Final = (2**30, 2**16)
#: Launches that are timed together.
_LAUNCHES: Final = 1000
#: cuBLAS' numbers of types and of arithmetic (its reference, cublasGemmEx).
_FLOAT32, _BFLOAT16 = 0, 14
_COMPUTE_FLOAT32, _COMPUTE_TF32 = 68, 77
_EMPTY_KERNEL: Final = 'extern "C" __global__ void sessrun_nothing() {}'


def ceilings(target: MeasuredDevice) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """The device's maximum of each quantity, and why others cannot be measured."""
    if target.index is None:
        return _of_host(), []
    if target.gpu is None:
        return {}, [("all", "no backend of this run shows the GPU")]
    reached, left_out = {}, []
    with target.gpu.device:
        for name, measure in _OF_GPU.items():
            try:
                reached[name] = measure(target.gpu)
            except Exception as error:  # noqa: BLE001 - a library may be missing, or too old
                left_out.append((name, f"{type(error).__name__}: {error}"))
    return reached, left_out


def _of_host() -> dict[str, float]:
    """What numpy reaches: float32 FLOP/s (1024²) and copied bytes/s (64 MB)."""
    left = np.ones((1024, 1024), np.float32)
    source, target = np.ones(2**24, np.float32), np.empty(2**24, np.float32)
    matmul = min(_seconds(lambda: left @ left) for _ in range(_TRIES))
    copy = min(_seconds(lambda: np.copyto(target, source)) for _ in range(_TRIES))
    return {"flops": 2 * 1024**3 / matmul, "bytes": source.nbytes / copy}


def _seconds(call: Callable[[], Any]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _best(gpu: CupyGpu, call: Callable[[], Any]) -> float:
    """Seconds of a call between two events: the least of several, after two that warm up."""
    call()
    call()
    times = []
    for _ in range(_TRIES):
        gpu.settle()
        first = gpu.mark()
        call()
        last = gpu.mark()
        gpu.settle()
        times.append(gpu.seconds(first, last))
    return max(min(times), 1e-9)


def _matrices(gpu: CupyGpu, dtype: DTypeLike) -> tuple[int, Any, Any]:
    rows = _ROWS[gpu.simulated]
    values = gpu.xp.asarray(numbers(rows, rows)).astype(dtype)
    return rows, values, values.copy()


def _product(dtype: str) -> Callable[[CupyGpu], float]:
    def measure(gpu: CupyGpu) -> float:
        rows, left, right = _matrices(gpu, dtype)
        out = gpu.xp.empty((rows, rows), dtype)
        return float(2 * rows**3 / _best(gpu, lambda: gpu.xp.matmul(left, right, out=out)))

    return measure


def _tensor_cores(dtype: DTypeLike, kind: int, arithmetic: int) -> Callable[[CupyGpu], float]:
    """A product that cuBLAS may do on tensor cores, its sums in float32."""

    def measure(gpu: CupyGpu) -> float:
        rows, left, right = _matrices(gpu, dtype)
        out = gpu.xp.empty((rows, rows), dtype)
        one, zero = np.ones((), np.float32), np.zeros((), np.float32)
        cublas, handle = gpu.xp.cuda.cublas, gpu.xp.cuda.device.get_cublas_handle()

        def call() -> None:
            cublas.gemmEx(
                handle,
                0,
                0,
                rows,
                rows,
                rows,
                one.ctypes.data,
                left.data.ptr,
                kind,
                rows,
                right.data.ptr,
                kind,
                rows,
                zero.ctypes.data,
                out.data.ptr,
                kind,
                rows,
                arithmetic,
                -1,
            )

        return float(2 * rows**3 / _best(gpu, call))

    return measure


def _copy(gpu: CupyGpu) -> float:
    """Bytes read and written a second."""
    source = gpu.xp.zeros(_COPIED[gpu.simulated], gpu.xp.uint8)
    target = gpu.xp.empty_like(source)
    return float(2 * source.nbytes / _best(gpu, lambda: gpu.xp.copyto(target, source)))


def _transfer(direction: str) -> Callable[[CupyGpu], float]:
    """Bytes a second between the device and pinned memory."""

    def measure(gpu: CupyGpu) -> float:
        count = _COPIED[gpu.simulated] // 4
        pinned = np.frombuffer(gpu.xp.cuda.alloc_pinned_memory(count), np.uint8, count)
        pinned[...] = 1
        array = gpu.xp.zeros(count, gpu.xp.uint8)
        if direction == "up":
            return float(count / _best(gpu, lambda: array.set(pinned)))
        return float(count / _best(gpu, lambda: array.get(out=pinned)))

    return measure


def _launch(gpu: CupyGpu) -> float:
    """Seconds of one launch of an empty kernel in a row of many."""
    kernel = gpu.kernel(_EMPTY_KERNEL, "sessrun_nothing")

    def call() -> None:
        for _ in range(_LAUNCHES):
            kernel((1,), (1,), ())

    return _best(gpu, call) / _LAUNCHES


def _graph_node(gpu: CupyGpu) -> float:
    """Seconds of one empty kernel in a captured graph of many."""
    kernel = gpu.kernel(_EMPTY_KERNEL, "sessrun_nothing")
    kernel((1,), (1,), ())  # compiled before the capture
    stream = gpu.xp.cuda.Stream()  # a blocking one: the events' stream waits for it
    with stream:
        stream.begin_capture()
        for _ in range(_LAUNCHES):
            kernel((1,), (1,), ())
        graph = stream.end_capture()
    return _best(gpu, lambda: graph.launch(stream)) / _LAUNCHES


_OF_GPU: Final[dict[str, Callable[[CupyGpu], float]]] = {
    "flops": _product("float32"),
    "flops_tf32": _tensor_cores("float32", _FLOAT32, _COMPUTE_TF32),
    "flops_bfloat16": _tensor_cores(ml_dtypes.bfloat16, _BFLOAT16, _COMPUTE_FLOAT32),
    "flops_float64": _product("float64"),
    "bytes": _copy,
    "launch_seconds": _launch,
    "graph_node_seconds": _graph_node,
    "upload_bytes": _transfer("up"),
    "download_bytes": _transfer("down"),
}
