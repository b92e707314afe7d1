"""The reference, but every fetched tensor is zero."""

from typing import Any

import numpy as np

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import load


def backend() -> NamespaceBackend:
    inner: Any = load("reference")
    return Zeros(inner.namespace, "zeros", "1")


class Zeros(NamespaceBackend):
    """The engine surface answers with zeros; the API surface is refused."""

    def describe(self) -> Any:
        told = super().describe()
        capabilities = told.capabilities - {"api"}
        return type(told)(told.name, told.version, capabilities, told.devices)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        outcome = super().run(*args, **kwargs)
        if not hasattr(outcome, "values"):
            return outcome
        return type(outcome)(
            tuple(v if v is None else np.zeros_like(np.asarray(v)) for v in outcome.values)
        )
