"""`EagerVariableStore`: variable stores that a program holds, and opens by `with`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_store import STORE_KEY, VariableStore
from sessrun.reference.graph.stacks import get_default_graph

__all__ = ["EagerVariableStore", "with_variable_store"]


@contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Let `get_variable` share the variables of a store, and put new ones there."""
    kept = get_default_graph().get_collection_ref(STORE_KEY)
    before = list(kept)
    kept[:] = [store]
    try:
        yield
    finally:
        kept[:] = before


class EagerVariableStore:
    """Variables that are shared wherever this store is the default one.

    Args:
      store: where the variables are; a new store by default.

    """

    def __init__(self, store: VariableStore | None = None) -> None:
        self._store = VariableStore() if store is None else store

    def as_default(self) -> AbstractContextManager[None]:
        """The `with` in which `get_variable` uses this store."""
        return with_variable_store(self._store)

    def variables(self) -> list[Variable]:
        """All variables, by name."""
        return sorted(self._store.variables_by_name().values(), key=lambda variable: variable.name)

    def trainable_variables(self) -> list[Variable]:
        """The variables that are trained, by name."""
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not trained, by name."""
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self) -> EagerVariableStore:
        """A store with new resource variables that begin with the values of these."""
        store = VariableStore()
        for name, variable in self._store.variables_by_name().items():
            store.put(
                name,
                ResourceVariable(
                    variable.read_value(),
                    name=variable.name.partition(":")[0],
                    trainable=variable.trainable,
                ),
            )
        return EagerVariableStore(store)
