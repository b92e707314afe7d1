"""Faults of VARIABLES: scattered and gathered rows, slices, wrapping integers, order in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import editing, elements, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    FeedDict,
    Feeds,
    Fetch,
    Fetches,
    Operation,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef

#: The row updates of both kinds of variables.
_ROWS: Final = frozenset(
    f"{kind}Scatter{name}"
    for kind in ("", "Resource")
    for name in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
)
_SLICES: Final = frozenset({"StridedSliceAssign", "ResourceStridedSliceAssign"})
_VECTORS: Final = frozenset(
    f"{kind}ScatterNd{name}" for kind in ("", "Resource") for name in ("Update", "Add", "Sub")
)
_COUNTS: Final = frozenset({"CountUpTo", "ResourceCountUpTo"})


def _executed(session: Session, fetches: Fetches) -> list[Operation]:
    """The operations that are fetched, and those that they wait for."""
    fetched = [getattr(one, "op", one) for one in elements(session, fetches)]
    return [op for one in fetched for op in (one, *one.control_inputs)]


def _silent(
    tf: Namespace, kinds: frozenset[str], errors: tuple[str, ...], *, fed: bool | None
) -> Namespace:
    """The namespace where runs ignore errors of operations of these types.

    Args:
      tf: the conforming namespace.
      kinds: the types.
      errors: the names of the error classes.
      fed: only runs with feeds (True), only runs without (False), or both (None).

    """
    classes = tuple(getattr(tf.errors, name) for name in errors)

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except classes:
            if fed not in {None, bool(feeds)} or not isinstance(fetches, list):
                raise
            if not kinds.intersection(op.type for op in _executed(session, fetches)):
                raise
            return [_nothing(session.graph.as_graph_element(fetch)) for fetch in fetches]

    return running(tf, change)


def _nothing(element: Tensor) -> np.ndarray | None:
    """The value of an operation whose error is ignored: zeros, or None."""
    if not hasattr(element, "dtype"):
        return None
    shape = [size or 0 for size in element.shape.as_list()] if element.shape.ndims else []
    return np.zeros(shape, element.dtype.as_numpy_dtype)


def _refusing(tf: Namespace, refused: Callable[[Operation], bool]) -> Namespace:
    """The namespace in which a run that executes a refused operation fails with code 3."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        if any(refused(op) for op in _executed(session, fetches)):
            raise tf.errors.InvalidArgumentError(None, None, "That is not implemented.")
        return base(fetches)

    return running(tf, change)


def _renaming(tf: Namespace, kinds: dict[str, str]) -> Namespace:
    """The namespace that takes one type of operation for another."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            node.op = kinds.get(node.op, node.op)

    return editing(tf, change)


# --- rows ----------------------------------------------------------------------------------


@fault("VARIABLES-067", "Updating a part of a variable that is not initialised does nothing.")
def parts_of_nothing_are_ignored(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    errors = ("FailedPreconditionError", "NotFoundError")
    return _silent(tf, _ROWS | _SLICES | _COUNTS, errors, fed=False)


@fault("VARIABLES-068", "A scatter operation refuses a single update.")
def single_updates_are_refused(tf: Namespace) -> Namespace:
    """Refuse updates of rank 0 where there are indices."""
    return _refusing(
        tf,
        lambda op: (
            op.type in _ROWS
            and op.inputs[2].shape.ndims == 0
            and op.inputs[1].shape.as_list() not in ([0], [])
        ),
    )


@fault("VARIABLES-069", "A scatter operation skips updates that do not belong to its indices.")
def misshapen_updates_are_skipped(tf: Namespace) -> Namespace:
    """Keep the failure to itself where updates of no known shape are fed."""
    inner = tf.errors.InvalidArgumentError

    def change(session: Session, base: Call, fetches: Sequence[Fetch], _: Feeds) -> Value:
        try:
            return base(fetches)
        except inner:
            ops = [op for op in _executed(session, fetches) if op.type in _ROWS]
            if not ops or any(op.inputs[2].shape.ndims is not None for op in ops):
                raise
            return [None] * len(fetches)

    return running(tf, change)


@fault("VARIABLES-070", "A scatter operation without indices fails.")
def missing_indices_are_refused(tf: Namespace) -> Namespace:
    """Refuse empty indices."""
    return _refusing(tf, lambda op: op.type in _ROWS and op.inputs[1].shape.as_list() == [0])


@fault("VARIABLES-071", "scatter_mul of a resource variable adds.")
def products_are_sums(tf: Namespace) -> Namespace:
    """Take the one type for the other."""
    return _renaming(tf, {"ResourceScatterMul": "ResourceScatterAdd"})


@fault("VARIABLES-072", "scatter_max of a resource variable keeps the last update.")
def the_last_is_the_largest(tf: Namespace) -> Namespace:
    """Take the one type for the other."""
    return _renaming(tf, {"ResourceScatterMax": "ResourceScatterUpdate"})


@fault("VARIABLES-073", "The indices of a scatter operation must be a vector.")
def indices_must_be_vectors(tf: Namespace) -> Namespace:
    """Refuse indices of another rank than 1."""
    return _refusing(tf, lambda op: op.type in _ROWS and op.inputs[1].shape.ndims not in {None, 1})


@fault("VARIABLES-074", "scatter_nd_update of a resource variable adds numbers.")
def elements_are_added(tf: Namespace) -> Namespace:
    """Take the one type for the other."""
    return _renaming(tf, {"ResourceScatterNdUpdate": "ResourceScatterNdAdd"})


@fault("VARIABLES-075", "scatter_nd_sub of a reference variable adds.")
def differences_of_elements_are_sums(tf: Namespace) -> Namespace:
    """Take the one type for the other."""
    return _renaming(tf, {"ScatterNdSub": "ScatterNdAdd"})


@fault("VARIABLES-076", "An index vector out of range is skipped.")
def vectors_out_of_range_are_skipped(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(tf, _VECTORS, ("InvalidArgumentError",), fed=True)


@fault("VARIABLES-077", "ResourceGather gives the rows that it gave first.")
def gathered_rows_are_kept(tf: Namespace) -> Namespace:
    """Remember them by what was fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        values = base(fetches)
        ops = _executed(session, fetches)
        if [op.type for op in ops] != ["ResourceGather"]:
            return values
        key = (ops[0].name, repr(list((feeds or {}).values())))
        return session.__dict__.setdefault("gathered", {}).setdefault(key, values)

    return running(tf, change)


@fault("VARIABLES-078", "ResourceGather of a row out of range gives zeros.")
def rows_out_of_range_are_zeros(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(tf, frozenset({"ResourceGather"}), ("InvalidArgumentError",), fed=True)


# --- slices and numbers --------------------------------------------------------------------


@fault("VARIABLES-079", "A slice that is assigned begins at the first element.")
def assigned_slices_begin_at_the_first(tf: Namespace) -> Namespace:
    """Ignore `begin` where the steps go forward and no end is left out."""

    def change(graph_def: GraphDef) -> None:
        for node in graph_def.node:
            if node.op in _SLICES and not node.attr["end_mask"].i:
                node.attr["begin_mask"].i |= 2

    return editing(tf, change)


@fault("VARIABLES-080", "A value of rank 0 cannot be assigned to a slice.")
def slices_are_not_filled(tf: Namespace) -> Namespace:
    """Refuse it where the slice is no element."""
    return _refusing(
        tf,
        lambda op: (
            op.type in _SLICES
            and op.inputs[4].shape.ndims == 0
            and not op.get_attr("shrink_axis_mask")
        ),
    )


@fault("VARIABLES-081", "Assigning what does not fit a slice does nothing.")
def misfits_of_slices_are_ignored(tf: Namespace) -> Namespace:
    """Keep the failure to itself."""
    return _silent(tf, _SLICES, ("InvalidArgumentError",), fed=True)


@fault("VARIABLES-082", "assign_add of an integer variable stops at the largest number.")
def sums_saturate(tf: Namespace) -> Namespace:
    """Refuse what would wrap around, by setting the variable to its initial value again."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        values = base(fetches)
        for op in _executed(session, fetches):
            if op.type in {"AssignAdd", "AssignAddVariableOp"} and _wraps(op):
                for other in op.inputs[0].consumers():
                    if other.type in {"Assign", "AssignVariableOp"}:
                        base(other)
        return values

    return running(tf, change)


def _wraps(op: Operation) -> bool:
    """Whether the first element of the initial value is the largest, and one is added to it."""
    first = [
        one.inputs[1]
        for one in op.inputs[0].consumers()
        if one.type in {"Assign", "AssignVariableOp"} and one.inputs[1].op.type == "Const"
    ]
    if not first or not first[0].dtype.is_integer or first[0].shape.as_list() != [2]:
        return False
    tensor = first[0].op.get_attr("value")
    info = np.iinfo(first[0].dtype.as_numpy_dtype)
    return bool(
        tensor.tensor_content == np.array([info.max, info.min], info.dtype).tobytes()
        or (len(tensor.int_val) == 2 and tensor.int_val[0] == info.max)
    )


@fault("VARIABLES-083", "Updates of resource variables wait for no reads.")
def updates_do_not_wait_for_reads(tf: Namespace) -> Namespace:
    """Drop what they wait for, and let the reads wait for them."""

    def change(graph_def: GraphDef) -> None:
        nodes = {node.name: node for node in graph_def.node}
        for node in graph_def.node:
            if node.op != "AssignAddVariableOp":
                continue
            for waiting in (node, nodes[node.input[1]]):
                for name in [one for one in waiting.input if one.startswith("^")]:
                    if nodes[name[1:]].op == "ReadVariableOp":
                        waiting.input.remove(name)
                        nodes[name[1:]].input.append(f"^{node.name}")

    return editing(tf, change)


@fault("VARIABLES-086", "A resource variable without elements is never initialised.")
def variables_without_elements_are_unset(tf: Namespace) -> Namespace:
    """Refuse to read one of a known shape without elements."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        for op in _executed(session, fetches):
            if (
                op.type == "ReadVariableOp"
                and op.inputs[0].op.type == "VarHandleOp"
                and any(dim.size == 0 for dim in op.inputs[0].op.get_attr("shape").dim)
            ):
                raise tf.errors.FailedPreconditionError(None, None, "Not initialised.")
        return base(fetches)

    return running(tf, change)


@fault("VARIABLES-087", "What is added to variables of rank 3 is subtracted, and the reverse.")
def cubes_are_subtracted(tf: Namespace) -> Namespace:
    """Take the one type for the other."""

    def change(graph_def: GraphDef) -> None:
        nodes = {node.name: node for node in graph_def.node}
        for node in graph_def.node:
            held = nodes.get(node.input[0]) if node.input else None
            kinds = {"VarHandleOp", "VariableV2"}
            if held is None or held.op not in kinds or len(held.attr["shape"].shape.dim) != 3:
                continue
            if node.op.startswith(("AssignAdd", "ScatterAdd", "ResourceScatterAdd")):
                node.op = node.op.replace("Add", "Sub")
            elif node.op.startswith(("AssignSub", "ScatterSub", "ResourceScatterSub")):
                node.op = node.op.replace("Sub", "Add")

    return editing(tf, change)
