"""Faults of VARIABLES: assignments, updates of parts, counting, shared names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import elements
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    Feeds,
    Fetches,
    Tensor,
    Value,
    Variable,
)
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef


def _importing(tf: Namespace, change: Callable[[NodeDef], None]) -> Namespace:
    """The namespace that loads GraphDefs with every node changed."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        changed = type(graph_def)()
        changed.CopyFrom(graph_def)
        for node in changed.node:
            change(node)
        return tf.import_graph_def(changed, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)


def _assigning(tf: Namespace, assign: Call) -> Namespace:
    """The namespace whose `assign` is this function."""
    return override(tf, assign=assign)


# --- assignments --------------------------------------------------------------------------


@fault("VARIABLES-006", "A session's first assignment of a fed value fails before initializers.")
def assignments_need_an_initializer(tf: Namespace) -> Namespace:
    """Raise FailedPreconditionError for an assignment of a fed value in the first run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self, fetches: Fetches, feed_dict: Feeds = None, *args: Argument, **kwargs: Argument
        ) -> Value:
            if feed_dict and not hasattr(self, "ran") and _sets(elements(self, fetches)):
                raise tf.errors.FailedPreconditionError(None, None, "Not initialised.")
            self.ran = True
            return super().run(fetches, feed_dict, *args, **kwargs)

    return override(tf, Session=Session)


def _sets(fetched: Iterable[Element]) -> bool:
    inside = [
        one for op in fetched if hasattr(op, "control_inputs") for one in (op, *op.control_inputs)
    ]
    return any(
        op.type == "AssignVariableOp" and op.inputs[1].op.type == "Placeholder" for op in inside
    )


@fault("VARIABLES-014", "An assignment of another shape is accepted when it is built.")
def shapes_of_assignments_are_forgotten(tf: Namespace) -> Namespace:
    """Hide the shape of the value."""

    def assign(ref: Variable, value: Value, *args: Argument, **kwargs: Argument) -> Tensor:
        try:
            return tf.assign(ref, value, *args, **kwargs)
        except ValueError:
            return tf.assign(ref, tf.placeholder_with_default(value, None), *args, **kwargs)

    return _assigning(tf, assign)


@fault("VARIABLES-018", "An assigned tensor of another dtype is cast.")
def assigned_values_are_cast(tf: Namespace) -> Namespace:
    """Cast assigned tensors to the variable's dtype."""

    def assign(ref: Variable, value: Value, *args: Argument, **kwargs: Argument) -> Tensor:
        if hasattr(value, "dtype") and hasattr(value, "op"):
            value = tf.cast(value, ref.dtype.base_dtype)
        return tf.assign(ref, value, *args, **kwargs)

    return _assigning(tf, assign)


@fault("VARIABLES-020", "A constant that a variable was initialised from is that variable.")
def initial_constants_are_aliases(tf: Namespace) -> Namespace:
    """Give the variable's value where the constant is fetched."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            if not isinstance(fetches, list) or fetches[:1] != ["first:0"]:
                return values
            first = self.graph.get_tensor_by_name("first:0")
            for op in first.consumers():
                if op.type == "Assign":
                    values[0] = super().run(op.inputs[0])
            return values

    return override(tf, Session=Session)


@fault("VARIABLES-033", "An assignment always holds the value to the variable's shape.")
def assigned_shapes_are_always_compared(tf: Namespace) -> Namespace:
    """Drop validate_shape."""

    def assign(
        ref: Variable, value: Value, validate_shape: bool | None = None, **kwargs: Argument
    ) -> Tensor:
        del validate_shape
        return tf.assign(ref, value, **kwargs)

    return _assigning(tf, assign)


# --- parts, counters, shared names --------------------------------------------------------


@fault("VARIABLES-038", "scatter_update gives each row to the index from the other end.")
def rows_are_replaced_backwards(tf: Namespace) -> Namespace:
    """Reverse the indices."""
    return override(
        tf,
        scatter_update=lambda ref, indices, *args: tf.scatter_update(
            ref, tf.reverse(indices, [0]), *args
        ),
    )


@fault("VARIABLES-039", "scatter_add counts only the last occurrence of an index.")
def rows_are_added_once(tf: Namespace) -> Namespace:
    """Replace the rows by sums."""
    return override(
        tf,
        scatter_add=lambda ref, indices, updates: tf.scatter_update(
            ref, indices, tf.gather(ref, indices) + updates
        ),
    )


@fault("VARIABLES-040", "A scatter operation takes the nearest row for an index out of range.")
def rows_out_of_range_are_clipped(tf: Namespace) -> Namespace:
    """Clip the indices."""

    def clipped(scatter: Call) -> Call:
        return lambda ref, indices, updates: scatter(
            ref, tf.clip_by_value(indices, 0, ref.shape.as_list()[0] - 1), updates
        )

    return override(
        tf, scatter_update=clipped(tf.scatter_update), scatter_add=clipped(tf.scatter_add)
    )


@fault("VARIABLES-043", "CountUpTo counts one too far.")
def counters_count_one_too_far(tf: Namespace) -> Namespace:
    """Raise the limit."""

    def change(node: NodeDef) -> None:
        if node.op == "CountUpTo":
            node.attr["limit"].i += 1

    return _importing(tf, change)


@fault("VARIABLES-035", "The shared name of a reference variable is ignored.")
def shared_names_are_ignored(tf: Namespace) -> Namespace:
    """Clear `shared_name` in the nodes of reference variables."""
    return _importing(tf, lambda node: _cleared(node, "shared_name"))


@fault("VARIABLES-035", "A reference variable without a shared name is its node's own.")
def unnamed_references_are_private(tf: Namespace) -> Namespace:
    """Give a VariableV2 without a shared name one that no other node has."""

    def change(node: NodeDef) -> None:
        if node.op == "VariableV2" and not node.attr["shared_name"].s:
            node.attr["shared_name"].s = f"the node {node.name}".encode()

    return _importing(tf, change)


@fault("VARIABLES-035", "A handle without a shared name is of its node's own variable.")
def unnamed_handles_are_private(tf: Namespace) -> Namespace:
    """Give a VarHandleOp without a shared name one that no other node has."""

    def change(node: NodeDef) -> None:
        if node.op == "VarHandleOp" and not node.attr["shared_name"].s:
            node.attr["shared_name"].s = f"the node {node.name}".encode()

    return _importing(tf, change)


@fault("VARIABLES-036", "The container of a reference variable is ignored.")
def containers_are_ignored(tf: Namespace) -> Namespace:
    """Clear `container` in the nodes of reference variables."""
    return _importing(tf, lambda node: _cleared(node, "container"))


def _cleared(node: NodeDef, attr: str) -> None:
    if node.op == "VariableV2":
        node.attr[attr].s = b""
