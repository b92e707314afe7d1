"""Kernels of CUDA source: there is no compiler here, so Python functions stand for them by name.

    simulated_gpu.kernel("scale", lambda grid, block, x, factor, n: np.multiply(x, factor, out=x))

A function gets the launch's grid and block, then the arguments with host arrays in place of
device arrays, and writes into those. Order, devices and captures are checked as of any launch,
with every array both read and written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.host_values import HostFunction, HostValue
from sessrun.adapters.fakes.simulated_gpu.launches import compute, lowered_in
from sessrun.adapters.fakes.simulated_gpu.machine import machine
from sessrun.adapters.fakes.simulated_gpu.values import DeviceArray, Value

__all__ = ["ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "kernel"]

_PYTHON: Final[dict[str, HostFunction]] = {}


def kernel(name: str, function: HostFunction) -> None:
    """Let a Python function stand for the kernel of this name."""
    _PYTHON[name] = function


def _function(name: str) -> HostFunction:
    if name not in _PYTHON:
        raise NotImplementedError(
            f"the simulated GPU compiles no CUDA source: give it a Python function for the kernel "
            f"{name!r} by simulated_gpu.kernel({name!r}, function)"
        )
    return _PYTHON[name]


def _compile(*source: str) -> None:
    """Count the compilation of a source that is new to the current device."""
    now = machine()
    key: tuple[int | str, ...] = (now.local.device, *source)
    if key not in now.compiled:
        now.compiled.add(key)
        now.device.counters.compilations += 1
        now.record("compilation", source[-1])


class RawKernel:
    """A kernel of CUDA source, by its name."""

    def __init__(self, code: str, name: str, *_: object, **__: object) -> None:
        self.code = code
        self.name = name

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: Sequence[Value],
        *,
        shared_mem: int = 0,
        **_: object,
    ) -> None:
        """Launch it."""
        function = _function(self.name)
        _check_arguments(args)
        _compile(self.code, self.name)
        compute(
            self.name,
            lambda *low: function(grid, block, *low),
            args,
            {},
            writes=lowered_in(args, {}),
            returns=False,
        )

    def compile(self, log_stream: object = None) -> None:
        """Nothing but counted; a kernel that nothing stands for is refused here."""
        _function(self.name)
        _compile(self.code, self.name)


def _check_arguments(args: Sequence[Value]) -> None:
    for value in args:
        if not isinstance(value, DeviceArray | int | float | complex | np.generic):
            raise TypeError(f"Unsupported type {type(value)}")


class RawModule:
    """A module of CUDA source."""

    def __init__(self, *, code: str | None = None, path: str | None = None, **_: object) -> None:
        if (code is None) == (path is None):
            raise TypeError("exactly one of `code` and `path` must be given")
        self.code = code or ""

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name."""
        return RawKernel(self.code, name)

    def compile(self, log_stream: object = None) -> None:
        """Nothing is compiled."""


class _Formula:
    """A kernel of a formula: a Python function of the same name gets arrays and gives arrays."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, *more: object, **named: object
    ) -> None:
        self.name = str(
            named.get("name")
            or next((it for it in reversed(more) if isinstance(it, str)), "kernel")
        )
        self.nin = len([part for part in in_params.split(",") if part.strip()])
        self.nout = len([part for part in out_params.split(",") if part.strip()])
        self.nargs = self.nin + self.nout
        self.source = in_params, out_params, operation

    def __call__(self, *args: Value, size: int | None = None, **named: Value) -> Value:
        function = _function(self.name)
        _check_arguments(args)
        _compile(*self.source, *(str(it.host.dtype) for it in lowered_in(args, {})), self.name)
        outs = lowered_in(args[self.nin :], {})
        if not outs:
            return compute(self.name, function, args[: self.nin], named)

        def write(low_outs: Sequence[np.ndarray], *low: HostValue) -> HostValue:
            results = function(*low)
            if self.nout == 1:
                results = [results]
            assert isinstance(results, Sequence | np.ndarray)
            for out, value in zip(low_outs, results, strict=True):
                out[...] = value
            return low_outs[0] if self.nout == 1 else tuple(low_outs)

        return compute(self.name, write, ([*outs], *args[: self.nin]), named, writes=outs)


class ElementwiseKernel(_Formula):
    """A kernel for each element."""


class ReductionKernel(_Formula):
    """A kernel that reduces."""
