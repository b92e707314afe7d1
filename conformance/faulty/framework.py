"""How a faulty backend is written and loaded.

    @fault("FETCH-004", "A list fetch comes back as a tuple.")
    def list_comes_back_as_tuple(tf: Namespace) -> Namespace:
        class Session(tf.Session):
            def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
                values = super().run(fetches, feed_dict, options, run_metadata)
                return tuple(values) if isinstance(fetches, list) else values
        return override(tf, Session=Session)

A fault takes a conforming namespace and gives one that differs in one behaviour. The engine
surface of a namespace is `import_graph_def` and `Session.run`, so that cases of both surfaces see
the fault. Where the faulty namespace has `declared_operations`, the backend declares these only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.registry import AdapterError, load
from sessrun.conformance.subjects import load_modules
from sessrun.spec.cases.namespace import Namespace

__all__ = ["FAULTS", "Fault", "Overlay", "backend", "fault", "override"]


#: From a conforming namespace to a faulty one.
Change = Callable[[Namespace], Namespace]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its name, the clause it breaks, one sentence, and the change."""

    name: str
    clause: str
    summary: str
    change: Change


#: Every fault by name.
FAULTS: dict[str, Fault] = {}


def fault(clause: str, summary: str) -> Callable[[Change], Change]:
    """Register a function from a conforming namespace to a faulty one."""

    def decorate(change: Change) -> Change:
        name = change.__name__.replace("_", "-")
        if name in FAULTS:
            raise ValueError(f"two faults are called {name}")
        FAULTS[name] = Fault(name, clause, summary, change)
        return change

    return decorate


class Overlay:
    """A namespace with the attributes of another one, except those that are given."""

    def __init__(self, base: Namespace, changes: dict[str, Any]) -> None:
        self._base = base
        self.__dict__.update(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def override(namespace: Namespace, **changes: Any) -> Namespace:
    """The namespace with these attributes replaced.

    A replaced `Session` stands for `InteractiveSession` too where the fault gives one; names
    inside groups (`tf.errors`) are replaced by giving an overlay of the group.
    """
    return Overlay(namespace, changes)


def load_all() -> dict[str, Fault]:
    """Every fault by name, from the modules of all subjects."""
    load_modules("faults")
    return FAULTS


def backend(argument: str | None = None) -> NamespaceBackend:
    """The backend of `NAME` or `NAME@BASE`, BASE any adapter with a namespace.

    Raises:
      AdapterError: there is no such fault, or the base has no namespace.

    """
    name, _, base = (argument or "").partition("@")
    faults = load_all()
    if name not in faults:
        raise AdapterError(f"no fault is called {name!r}; `sessrun selfcheck --list` lists them")
    inner = load(base or "reference")
    if not isinstance(inner, NamespaceBackend):
        raise AdapterError(f"{base!r} has no namespace that a fault could change")
    changed = faults[name].change(inner.namespace)
    operations = getattr(changed, "declared_operations", None)
    return NamespaceBackend(
        changed, f"faulty {name}", inner.version, details=inner.details, operations=operations
    )
