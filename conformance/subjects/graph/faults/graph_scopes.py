"""Faults of GRAPH: name scopes, control dependencies, groups."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import elements, running
from sessrun.conformance.subjects.graph.faults.graph import StayingBlock
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    Feeds,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)

#: What a `control_dependencies` block lists, and what it should refuse; None ends other blocks.
ControlInputs: TypeAlias = Sequence[Argument] | None


def _scopes(tf: Namespace, change: Callable[[str | None, str], str | None]) -> Namespace:
    """The namespace whose `name_scope(name)` enters `change(name, current scope)` instead."""

    @contextlib.contextmanager
    def name_scope(name: str | None, *args: Argument, **kwargs: Argument) -> Iterator[str]:
        current = tf.get_default_graph().get_name_scope()
        with tf.name_scope(change(name, current), *args, **kwargs) as scope:
            yield scope

    return override(tf, name_scope=name_scope)


def _listed(tf: Namespace, change: Callable[[ControlInputs], ControlInputs]) -> Namespace:
    """The namespace whose `control_dependencies` lists `change(entries)`."""

    def control_dependencies(control_inputs: ControlInputs) -> AbstractContextManager[None]:
        return tf.control_dependencies(change(control_inputs))

    return override(tf, control_dependencies=control_dependencies)


# --- name scopes --------------------------------------------------------------------------


@fault("GRAPH-010", "A scope inside another is joined to it with an underscore.")
def nested_scopes_are_joined(tf: Namespace) -> Namespace:
    """Enter one scope `OUTER_INNER` at the root."""

    def change(name: str | None, current: str) -> str | None:
        if not name or not current or name.endswith("/"):
            return name
        return f"{current}_{name}/"

    return _scopes(tf, change)


@fault("GRAPH-011", "A scope of a name used before goes on with that scope.")
def scopes_go_on(tf: Namespace) -> Namespace:
    """Enter the earlier scope by its full name where it holds an operation."""

    def change(name: str | None, current: str) -> str | None:
        full = f"{current}/{name}/" if current else f"{name}/"
        operations = tf.get_default_graph().get_operations()
        return full if any(op.name.startswith(full) for op in operations) else name

    return _scopes(tf, change)


@fault("GRAPH-012", "A final / of a scope's name is ignored.")
def final_slash_is_ignored(tf: Namespace) -> Namespace:
    """Strip the final / of the name."""
    return _scopes(tf, lambda name, _: name.rstrip("/") if name else name)


@fault("GRAPH-013", "A scope without a name is the current one.")
def nameless_scope_is_the_current(tf: Namespace) -> Namespace:
    """Enter the current scope again."""
    return _scopes(tf, lambda name, current: name or (f"{current}/" if current else name))


@fault("GRAPH-017", "A wrong character in the name of a scope becomes a dot.")
def wrong_scopes_are_mended(tf: Namespace) -> Namespace:
    """Replace wrong characters of the name by dots."""
    return _scopes(tf, lambda name, _: re.sub(r"[^A-Za-z0-9./>_-]|^[_-]", ".", name or ""))


# --- control dependencies -----------------------------------------------------------------


@fault("GRAPH-018", "A constant with a name does not wait in a control_dependencies block.")
def constants_do_not_wait(tf: Namespace) -> Namespace:
    """Build the constant outside of all blocks."""

    def constant(*args: Argument, **kwargs: Argument) -> Tensor:
        if "name" not in kwargs:
            return tf.constant(*args, **kwargs)
        with tf.control_dependencies(None):
            return tf.constant(*args, **kwargs)

    return override(tf, constant=constant)


@fault("GRAPH-019", "The inner of two control_dependencies blocks replaces the outer.")
def inner_block_replaces_the_outer(tf: Namespace) -> Namespace:
    """Leave out the control inputs of the outer blocks."""

    @contextlib.contextmanager
    def control_dependencies(control_inputs: ControlInputs) -> Iterator[None]:
        with tf.control_dependencies(None), tf.control_dependencies(control_inputs):
            yield

    return override(tf, control_dependencies=control_dependencies)


@fault("GRAPH-020", "control_dependencies(None) is an empty list.")
def none_lists_nothing(tf: Namespace) -> Namespace:
    """Keep the outer blocks' control inputs."""
    return _listed(tf, lambda entries: [] if entries is None else entries)


@fault("GRAPH-021", "A control_dependencies block left by an exception goes on.")
def exception_leaves_the_control_inputs(tf: Namespace) -> Namespace:
    """Keep the block open when an exception leaves it."""
    return override(
        tf, control_dependencies=lambda entries: StayingBlock(tf.control_dependencies(entries))
    )


@fault("GRAPH-022", "A tensor used by what waits waits too.")
def used_tensors_wait(tf: Namespace) -> Namespace:
    """Execute what the consumers of a fetched tensor wait for."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        tensors = [e for e in elements(session, fetches) if isinstance(e, tf.Tensor)]
        plain = [t for t in tensors if t.op.type == "Placeholder"]
        waits = [op for t in plain for user in t.consumers() for op in user.control_inputs]
        return base([fetches, waits])[0] if waits else base(fetches)

    return running(tf, change)


@fault("GRAPH-023", "control_dependencies admits no names.")
def control_inputs_have_no_names(tf: Namespace) -> Namespace:
    """Raise TypeError for strings."""

    def change(entries: ControlInputs) -> ControlInputs:
        if any(isinstance(entry, str) for entry in entries or ()):
            raise TypeError("a control input is an operation or a tensor")
        return entries

    return _listed(tf, change)


@fault("GRAPH-024", "control_dependencies ignores what is no graph element.")
def odd_control_inputs_are_ignored(tf: Namespace) -> Namespace:
    """Drop numbers and None."""

    def change(entries: ControlInputs) -> ControlInputs:
        if isinstance(entries, list):
            return [e for e in entries if e is not None and not isinstance(e, int | float)]
        return entries

    return _listed(tf, change)


@fault("GRAPH-025", "control_dependencies ignores what belongs to another graph.")
def foreign_control_inputs_are_ignored(tf: Namespace) -> Namespace:
    """Remove control inputs of other graphs."""

    def change(entries: ControlInputs) -> ControlInputs:
        graph = tf.get_default_graph()
        if isinstance(entries, list):
            return [e for e in entries if getattr(e, "graph", graph) is graph]
        return entries

    return _listed(tf, change)


@fault("GRAPH-026", "A no_op of another graph than the block's is refused.")
def block_holds_for_other_graphs(tf: Namespace) -> Namespace:
    """Remember the graphs of the blocks of this thread."""
    here = threading.local()

    @contextlib.contextmanager
    def control_dependencies(control_inputs: ControlInputs) -> Iterator[None]:
        graphs = here.__dict__.setdefault("graphs", [])
        graphs.append(tf.get_default_graph())
        try:
            with tf.control_dependencies(control_inputs):
                yield
        finally:
            graphs.pop()

    def no_op(name: str | None = None) -> Operation:
        if any(graph is not tf.get_default_graph() for graph in getattr(here, "graphs", ())):
            raise ValueError("the control inputs are of another graph")
        return tf.no_op(name)

    return override(tf, control_dependencies=control_dependencies, no_op=no_op)


@fault("GRAPH-027", "A group leaves out tensors.")
def group_leaves_out_tensors(tf: Namespace) -> Namespace:
    """Group the operations only."""

    def group(*inputs: Element, name: str | None = None) -> Operation:
        return tf.group(*(i for i in inputs if isinstance(i, tf.Operation)), name=name)

    return override(tf, group=group)
