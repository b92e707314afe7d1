"""Random numbers on the device: numpy's generators underneath, so not cupy's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.description import parameters
from sessrun.adapters.fakes.simulated_gpu.launches import compute

__all__ = ["Generator", "functions"]


class Generator:
    """A generator whose methods give device arrays."""

    def __init__(self, source: Any, methods: Mapping[str, str]) -> None:
        self._source = source
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._methods:
            raise AttributeError(f"'Generator' object has no attribute {name!r}")
        return _method(getattr(self._source, name), name, self._methods[name])


def _method(function: Callable[..., Any], name: str, signature: str) -> Callable[..., Any]:
    known = parameters(signature)

    def call(*args: Any, **kwargs: Any) -> Any:
        known.check(name, args, kwargs)
        kwargs = dict(kwargs)
        dtype = kwargs.get("dtype")
        run = function
        if dtype is not None and name not in {
            "random",
            "standard_normal",
            "standard_exponential",
            "integers",
            "randint",
        }:
            kwargs.pop("dtype")

            def run(*low: Any, **named: Any) -> Any:
                return np.asarray(function(*low, **named)).astype(dtype)

        return compute(
            f"random.{name}", lambda *low, **named: np.asarray(run(*low, **named)), args, kwargs
        )

    return call


def functions(names: Mapping[str, str], classes: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The names of the module for random numbers."""
    state = np.random.RandomState(seed)
    methods = classes["cupy.random.Generator"]
    entries: dict[str, Any] = {
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
