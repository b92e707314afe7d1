"""Faults of FETCH: fetches that should be refused, and runs that should fail as a whole."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.fetch.faults.fetch import (
    changing_fetches,
    element_of,
    is_tensor,
    mapped,
)
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetch, Fetches, Session, Value


def skipping(tf: Namespace, skip: Callable[[Session, Fetch], bool]) -> Namespace:
    """The namespace whose sessions give None for the fetches that `skip(session, fetch)` names."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            kept = mapped(fetches, fetches, lambda f, _: [] if skip(self, f) else f)
            values = super().run(kept, *args, **kwargs)
            return mapped(fetches, values, lambda f, v: None if skip(self, f) else v)

    return override(tf, Session=Session)


def lacks(session: Session, fetch: Fetch) -> bool:
    """Whether a fetch is a name whose operation the session's graph does not have."""
    operation = fetch.partition(":")[0] if isinstance(fetch, str) else None
    return operation is not None and element_of(session, operation) is None


@fault("FETCH-012", "An output of an operation that the graph lacks comes back as None.")
def unknown_outputs_are_none(tf: Namespace) -> Namespace:
    """Give None for names with an index whose operation the graph lacks."""
    return skipping(tf, lambda session, fetch: lacks(session, fetch) and ":" in str(fetch))


@fault("FETCH-013", "An operation that the graph lacks is taken for one that does nothing.")
def unknown_operations_are_none(tf: Namespace) -> Namespace:
    """Give None for bare names of operations that the graph lacks."""
    return skipping(tf, lambda session, fetch: lacks(session, fetch) and ":" not in str(fetch))


@fault("FETCH-014", "An output index beyond the last output means the last one.")
def indices_are_clamped(tf: Namespace) -> Namespace:
    """Clamps the index, as array accesses of some languages do."""

    def clamped(session: Session, fetch: Fetch) -> Fetch:
        name, _, index = fetch.partition(":") if isinstance(fetch, str) else ("", "", "")
        outputs = getattr(element_of(session, name), "outputs", ())
        beyond = index.isdigit() and outputs and int(index) >= len(outputs)
        return outputs[len(outputs) - 1] if beyond else fetch

    return changing_fetches(tf, clamped)


@fault("FETCH-015", "A set of fetches is taken as a list.")
def sets_are_lists(tf: Namespace) -> Namespace:
    """Fetches the members of a set in whatever order they have."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches | set[Fetch] | frozenset[Fetch],
            *args: Argument,
            **kwargs: Argument,
        ) -> Value:
            listed = list(fetches) if isinstance(fetches, set | frozenset) else fetches
            return super().run(listed, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FETCH-016", "A tensor of another graph is looked up by its name.")
def foreign_tensors_go_by_name(tf: Namespace) -> Namespace:
    """Fetch tensors of other graphs by their names."""

    def named(session: Session, fetch: Fetch) -> Fetch:
        if not is_tensor(fetch) or getattr(fetch, "graph", None) is session.graph:
            return fetch
        return fetch if element_of(session, fetch.name) is None else fetch.name

    return changing_fetches(tf, named)


@fault("FETCH-017", "The valid fetches are run before an invalid one is noticed.")
def valid_fetches_run_first(tf: Namespace) -> Namespace:
    """Run the valid fetches of a list that has invalid ones, too."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            flat = fetches if isinstance(fetches, list) else []
            valid = [fetch for fetch in flat if element_of(self, fetch) is not None]
            invalid = [fetch for fetch in flat if isinstance(fetch, str | int | None)]
            if valid and any(element_of(self, fetch) is None for fetch in invalid):
                super().run(valid, *args, **kwargs)
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("FETCH-020", "What could be computed comes back, with None for a variable without value.")
def the_rest_comes_back(tf: Namespace) -> Namespace:
    """Runs the tensors of a list one by one where the first try met an uninitialised variable."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.FailedPreconditionError:
                if not isinstance(fetches, list) or len(fetches) < 2:
                    raise
                if not all(is_tensor(element_of(self, fetch)) for fetch in fetches):
                    raise
                return [self._alone(fetch, *args, **kwargs) for fetch in fetches]

        def _alone(self, fetch: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(fetch, *args, **kwargs)
            except tf.errors.FailedPreconditionError:
                return None

    return override(tf, Session=Session)
