"""Faults of GRAPH: attributes of operations and graphs, `tf.tuple`, names."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Element,
    Feeds,
    Fetches,
    Graph,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef


def _graph(tf: Namespace, **methods: Argument) -> Namespace:
    """The namespace whose graphs, those made and the default one, have these methods.

    The default graph is one of this class from a thread's first look at it on.
    """
    changed = type("Graph", (tf.Graph,), methods)

    def get_default_graph() -> Graph:
        graph = tf.get_default_graph()
        if type(graph) is tf.Graph:
            graph.__class__ = changed
        return graph

    return override(tf, Graph=changed, get_default_graph=get_default_graph)


@fault("GRAPH-124", "A GraphDef tells no versions.")
def graph_defs_have_no_versions(tf: Namespace) -> Namespace:
    """Clear `versions` of the GraphDef."""

    def as_graph_def(self: Graph, *args: Argument, **kwargs: Argument) -> GraphDef:
        definition = tf.Graph.as_graph_def(self, *args, **kwargs)
        definition.ClearField("versions")
        return definition

    return _graph(tf, as_graph_def=as_graph_def)


@fault("GRAPH-125", "A unique name that was only asked for is taken.")
def names_asked_for_are_taken(tf: Namespace) -> Namespace:
    """Ignore `mark_as_used`."""
    return _graph(
        tf,
        unique_name=lambda self, name, mark_as_used=True: tf.Graph.unique_name(self, name),  # noqa: ARG005
    )


@fault("GRAPH-126", "A final / of an import's name is ignored.")
def final_slashes_of_imports_are_ignored(tf: Namespace) -> Namespace:
    """Strip slashes from the end of the name."""

    def import_graph_def(
        *args: Argument, name: str | None = None, **kwargs: Argument
    ) -> Sequence[Element] | None:
        return tf.import_graph_def(*args, name=name.rstrip("/") if name else name, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


@fault("GRAPH-127", "clear_collection does nothing.")
def collections_are_not_cleared(tf: Namespace) -> Namespace:
    """Replace `clear_collection` by a function that does nothing."""
    return _graph(tf, clear_collection=lambda self, name: None)  # noqa: ARG005 - the method's


@fault("GRAPH-137", "get_attr of an attribute that an operation lacks is None.")
def missing_attributes_are_none(tf: Namespace) -> Namespace:
    """Return None from `get_attr` of constants."""

    def constant(*args: Argument, **kwargs: Argument) -> Tensor:
        tensor = tf.constant(*args, **kwargs)
        kind: Any = type(tensor.op)

        class Operation(kind):  # type: ignore[misc]
            def get_attr(self, name: str) -> Any:
                return super().get_attr(name) if name in self.node_def.attr else None

        tensor.op.__class__ = Operation
        return tensor

    return override(tf, constant=constant)


@fault("GRAPH-136", "get_attr gives a number for a dtype.")
def dtypes_of_attributes_are_numbers(tf: Namespace) -> Namespace:
    """Return the number of the dtype from `get_attr` of products of matrices."""

    def matmul(*args: Argument, **kwargs: Argument) -> Tensor:
        tensor = tf.matmul(*args, **kwargs)
        kind: Any = type(tensor.op)

        class Operation(kind):  # type: ignore[misc]
            def get_attr(self, name: str) -> Any:
                value = super().get_attr(name)
                return value.as_datatype_enum if isinstance(value, tf.DType) else value

        tensor.op.__class__ = Operation
        return tensor

    return override(tf, matmul=matmul)


@fault("GRAPH-129", "tf.tuple gives the tensors without waiting for each other.")
def tuples_do_not_wait(tf: Namespace) -> Namespace:
    """Return identities of the tensors that wait for nothing."""

    def ungated(
        tensors: Sequence[Tensor],
        name: str | None = None,
        control_inputs: Sequence[Element] | None = None,
    ) -> list[Tensor]:
        del control_inputs
        return [tf.identity(tensor, name=name) for tensor in tensors]

    return override(tf, tuple=ungated)


@fault("VARIABLES-065", "A container scope is ignored.")
def container_scopes_are_ignored(tf: Namespace) -> Namespace:
    """Replace `container` by a block that does nothing."""
    return _graph(tf, container=lambda self, name: contextlib.nullcontext(name))  # noqa: ARG005


@fault("GRAPH-130", "A constant made of an array sees what is written into it later.")
def constants_see_their_array(tf: Namespace) -> Namespace:
    """Feed the array to its constant once the array has changed."""
    constants: list[tuple[Tensor, np.ndarray, np.ndarray]] = []

    def constant(value: Value, *args: Argument, **kwargs: Argument) -> Tensor:
        tensor = tf.constant(value, *args, **kwargs)
        if isinstance(value, np.ndarray):
            constants.append((tensor, value, value.copy()))
        return tensor

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            changed = {
                tensor: array
                for tensor, array, before in constants
                if tensor.graph is self.graph and not np.array_equal(array, before)
            }
            if changed:
                feed_dict = changed | dict(feed_dict or {})
            return super().run(fetches, feed_dict, *args, **kwargs)

    return override(tf, constant=constant, Session=Session)
