"""Sparse tensors that a session stores in a map, by int64 handles.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.sparse_ops import named_parts, of_parts, sparse_input
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.build.build import apply_op
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.default_graph import colocate_with
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "ADDING",
    "add_many_sparse_to_tensors_map",
    "add_sparse_to_tensors_map",
    "take_many_sparse_from_tensors_map",
]

#: The types of the operations that keep sparse tensors.
ADDING: Final = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


def add_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The number, int64 [], that a sparse tensor is kept under.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    return _added(ADDING[0], sp_input, container, shared_name, name)


def add_many_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The numbers, int64 [rows], that the rows of a sparse tensor are kept under.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    return _added(ADDING[1], sp_input, container, shared_name, name)


def _added(
    kind: str, value: SparseTensor, container: str | None, shared_name: str | None, name: str | None
) -> Tensor:
    attrs = {"container": container or "", "shared_name": shared_name or ""}
    handle: Tensor = apply_op(kind, named_parts(sparse_input(value)), attrs, name).outputs[0]
    return handle


def take_many_sparse_from_tensors_map(
    sparse_map_op: Operation,
    sparse_handles: TensorLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensor whose rows are those kept under these numbers, which keeps them no longer.

    Args:
      sparse_map_op: the operation that has stored them; its name identifies the container.
      sparse_handles: the numbers, int64 [rows].
      rank: of the result, if it is known.
      name: the operation's name.

    Raises:
      TypeError: `sparse_map_op` is no such operation.

    """
    if not isinstance(sparse_map_op, Operation):
        raise bad_type("sparse_map_op be an Operation")
    if sparse_map_op.type not in ADDING:
        raise bad_type(
            f"sparse_map_op must be one of {ADDING[0]} or {ADDING[1]}. Instead, found "
            f"`{sparse_map_op.type}`."
        )
    attrs = {
        "dtype": sparse_map_op.get_attr("T"),
        "container": sparse_map_op.get_attr("container"),
        "shared_name": sparse_map_op.get_attr("shared_name") or sparse_map_op.name,
    }
    with colocate_with(sparse_map_op):
        op = apply_op(
            "TakeManySparseFromTensorsMap", {"sparse_handles": sparse_handles}, attrs, name
        )
    return of_parts(op.outputs, rank)
