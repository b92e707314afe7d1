"""Random numbers on the device: numpy's generators underneath, so not cupy's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.description import parameters
from sessrun.adapters.fakes.simulated_gpu.host_values import HostFunction, HostValue
from sessrun.adapters.fakes.simulated_gpu.launches import compute
from sessrun.adapters.fakes.simulated_gpu.values import Value

__all__ = ["Generator", "functions"]


#: Methods of numpy's generators that take a dtype.
_WITH_DTYPE: Final = frozenset(
    {"random", "standard_normal", "standard_exponential", "integers", "randint"}
)


class Generator:
    """A generator whose methods give device arrays."""

    def __init__(
        self, source: np.random.Generator | np.random.RandomState, methods: Mapping[str, str]
    ) -> None:
        self._source = source
        self._methods = methods

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name.startswith("_") or name not in self._methods:
            raise AttributeError(f"'Generator' object has no attribute {name!r}")
        return _method(getattr(self._source, name), name, self._methods[name])


def _method(function: HostFunction, name: str, signature: str) -> Callable[..., Value]:
    known = parameters(signature)

    def call(*args: Value, **kwargs: Value) -> Value:
        known.check(name, args, kwargs)
        kwargs = dict(kwargs)
        run = function
        if kwargs.get("dtype") is not None and name not in _WITH_DTYPE:
            dtype = kwargs.pop("dtype")
            assert isinstance(dtype, str | type | np.dtype)

            def run(*low: HostValue, **named: HostValue) -> np.ndarray:
                return np.asarray(function(*low, **named)).astype(dtype)

        return compute(
            f"random.{name}", lambda *low, **named: np.asarray(run(*low, **named)), args, kwargs
        )

    return call


def functions(
    names: Mapping[str, str], classes: Mapping[str, Mapping[str, str]], seed: int
) -> dict[str, object]:
    """The names of the module for random numbers."""
    state = np.random.RandomState(seed)
    methods = classes["cupy.random.Generator"]
    entries: dict[str, object] = {
        "default_rng": lambda seed=None: Generator(np.random.default_rng(seed), methods),
        "Generator": Generator,
        "RandomState": lambda seed=None, method=100: Generator(
            np.random.RandomState(seed),
            classes["cupy.random.RandomState"],
        ),
        "seed": state.seed,
    }
    for name, signature in names.items():
        function = getattr(state, name, None)
        if name not in entries and callable(function) and signature.startswith("("):
            entries[name] = _method(function, name, signature)
    return entries
