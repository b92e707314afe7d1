"""The reference, but runs never return; with the argument `probe` those that fetch nothing do."""

import threading
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(argument: str = "") -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            if argument != "probe" or fetches != []:
                threading.Event().wait()
            return super().run(fetches, *args, **kwargs)

    return NamespaceBackend(override(tf, Session=Session), "hanging", "1")
