"""The reference, but runs never return, or too late; the argument says which and when.

(none)   every run hangs
probe    those that fetch something
second   every second one
close    none, but closing a session does
slow=N   none, but each takes N seconds
"""

import itertools
import threading
import time
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(argument: str = "") -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace
    manner, _, seconds = argument.partition("=")
    numbers = itertools.count(1)

    def hangs(fetches: Any) -> bool:
        match manner:
            case "":
                return True
            case "probe":
                return fetches != []
            case "second":
                return next(numbers) % 2 == 0
        return False

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            if hangs(fetches):
                threading.Event().wait()
            time.sleep(float(seconds or 0))
            return super().run(fetches, *args, **kwargs)

        def close(self) -> None:
            if manner == "close":
                threading.Event().wait()
            super().close()

    return NamespaceBackend(override(tf, Session=Session), "hanging", "1")
