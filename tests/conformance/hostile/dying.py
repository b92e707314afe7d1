"""The reference, but the process dies of SIGSEGV in its Nth run."""

import itertools
import signal
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(last: str = "7") -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace
    numbers = itertools.count(1)

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, *args: Any, **kwargs: Any) -> Any:
            if next(numbers) == int(last):
                signal.raise_signal(signal.SIGSEGV)
            return super().run(*args, **kwargs)

    return NamespaceBackend(override(tf, Session=Session), "dying", "1")
