"""The reference, but every run fails, whatever is asked, with the error of the argument's class."""

from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load
from sessrun.conformance.faulty.framework import override


def backend(name: str = "InvalidArgumentError") -> NamespaceBackend:
    inner: Any = load("reference")
    tf = inner.namespace
    error = getattr(tf.errors, name)

    class Session(tf.Session):  # type: ignore[misc]
        def run(self, *_: Any, **__: Any) -> Any:
            raise error(None, None, "something went wrong")

    return NamespaceBackend(override(tf, Session=Session), "one error", "1")
