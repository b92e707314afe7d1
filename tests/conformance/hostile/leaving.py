"""The reference, but the first run leaves a child behind, in a session of its own, pipes and all.

The argument is a file that the child's number is added to.
"""

import os
import time
from pathlib import Path
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(count: str) -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace
    left: list[int] = []

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, *args: Any, **kwargs: Any) -> Any:
            if not left:
                left.append(os.fork())
                if left[0] == 0:
                    os.setsid()
                    time.sleep(600)
                    os._exit(0)
                with Path(count).open("a") as file:
                    file.write(f"{left[0]}\n")
            return super().run(*args, **kwargs)

    return NamespaceBackend(override(tf, Session=Session), "leaving", "1")
