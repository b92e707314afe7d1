"""The reference, but floats come back in double precision: right values, wrong dtypes."""

from typing import Any

import numpy as np

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def widened(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float32:
        return value.astype(np.float64)
    if type(value) in {list, tuple}:
        return type(value)(widened(item) for item in value)
    return value


def backend() -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, *args: Any, **kwargs: Any) -> Any:
            return widened(super().run(*args, **kwargs))

    return NamespaceBackend(override(tf, Session=Session), "wrong dtypes", "1")
