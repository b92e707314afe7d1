"""Kernels of sparse tensors: reordering, serialization of rows, and maps that keep them.

A row is serialized as three messages by Python's protobuf: to write many rows
takes four to thirteen times TensorFlow's time, to read them four to nine times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_proto import string_content
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.encoding import serialize_tensor, tensor_of
from sessrun.reference.kernels.host import HOST, dtype_of, frozen, host_array, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.sparse_parts import Sparse, checked
from sessrun.reference.state.input.sparse_map import SparseMap
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto, TensorShapeProto, foreign

_CPU: Final = ("CPU",)


def _sized(sparse: Sparse) -> Sparse:
    if (sparse.shape < 0).any():
        raise InvalidArgument(f"Shape {sparse.shape.tolist()} has a negative size")
    return sparse


@kernel("SparseReorder", devices=_CPU)
def sparse_reorder(
    xp: ArrayModule, indices: Array, values: Array, shape: Array
) -> tuple[Array, Array]:
    """The elements sorted by their indices, in a stable way."""
    checked(indices, values, shape)
    order = xp.lexsort(indices.T[::-1]) if shape.shape[0] else xp.arange(values.shape[0])
    return indices[order], values[order]


def _rows(sparse: Sparse) -> dict[int, Sparse]:
    """The non-empty rows by number, as sparse tensors of one dimension less.

    Raises:
      InvalidArgument: the rank is below 2, or rows are out of range or out of order.

    """
    if sparse.shape.shape[0] < 2:
        raise InvalidArgument(
            f"Rank of input SparseTensor should be > 1, but saw rank: {sparse.shape.shape[0]}"
        )
    of_row, count = sparse.indices[:, 0], int(sparse.shape[0])
    outside = (of_row < 0) | (of_row >= count)
    if outside.any():
        raise InvalidArgument(f"Received unexpected row {int(of_row[outside.argmax()])} of {count}")
    if (HOST.diff(of_row) < 0).any():
        row = int((HOST.diff(of_row) < 0).argmax()) + 1
        raise InvalidArgument(
            f"indices[{row}] = {bracketed(tuple(sparse.indices[row].tolist()))} is out of order"
        )
    if not len(of_row):
        return {}
    rows, firsts = HOST.unique(of_row, return_index=True)
    ends = [*firsts[1:].tolist(), len(of_row)]
    return {
        row: Sparse(sparse.indices[first:end, 1:], sparse.values[first:end], sparse.shape[1:])
        for row, first, end in zip(rows.tolist(), firsts.tolist(), ends, strict=True)
    }


def _empty_row(sparse: Sparse) -> Sparse:
    return Sparse(sparse.indices[:0, 1:], sparse.values[:0], sparse.shape[1:])


def _stacked(rows: Sequence[Sparse], differs: str = "shape", more: int = 0) -> Sparse:
    """The rows stacked into a sparse tensor, whose sizes are the largest of theirs.

    Args:
      rows: one or more.
      differs: the word for the rank in errors about different ranks.
      more: added to the ranks in errors.

    """
    if not rows:
        raise InvalidArgument("Must have at least 1 serialized SparseTensor, has 0")
    rank = len(rows[0].shape)
    for number, row in enumerate(rows):
        if len(row.shape) != rank:
            raise InvalidArgument(
                f"Inconsistent {differs} across SparseTensors: rank prior to "
                f"SparseTensor[{number}] was: {rank + more} but rank of SparseTensor[{number}] "
                f"is: {len(row.shape) + more}"
            )
    numbers = HOST.repeat(HOST.arange(len(rows)), [len(row.values) for row in rows])
    row_indices = HOST.concatenate([row.indices for row in rows])
    sizes: Array | list[int] = HOST.max([row.shape for row in rows], axis=0) if rank else []
    return Sparse(
        HOST.column_stack([numbers, row_indices]).astype("int64"),
        HOST.concatenate([row.values for row in rows]),
        HOST.concatenate([[len(rows)], sizes]).astype("int64"),
    )


def _bytes(row: Sparse, dtype: str) -> list[bytes]:
    return [
        serialize_tensor(HOST, row.indices, T="int64").item(),
        _string_bytes(row.values)
        if dtype == "string"
        else serialize_tensor(HOST, row.values, T=dtype).item(),
        serialize_tensor(HOST, row.shape, T="int64").item(),
    ]


def _string_bytes(values: Array) -> bytes:
    """The TensorProto of strings in `tensor_content`, unlike SerializeTensor's (TF 2.21)."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=len(values))])
    content = string_content(values.tolist())
    proto = TensorProto(tensor_shape=shape, tensor_content=content)
    proto.dtype = BY_NAME["string"].enum  # type: ignore[assignment]  # a number of the enumeration
    return foreign.serialize(proto)


class _Held:
    """A variant that holds a part of a sparse tensor, an array.

    Args:
      array: the part, which is copied.

    """

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = frozen(array.copy())


def _written(row: Sparse, dtype: str, out_type: str) -> Sequence[bytes | _Held]:
    """The three parts as serialized tensors, or as variants."""
    if out_type == "variant":
        return [_Held(part) for part in row]
    return _bytes(row, dtype)


@kernel("SerializeSparse", devices=_CPU)
def serialize_sparse(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    *,
    T: str,
    out_type: str,
) -> Array:
    """The three parts as serialized tensors, or as variants: a vector of 3 elements."""
    return string_array(_written(checked(indices, values, shape), T, out_type), (3,))


@kernel("SerializeManySparse", devices=_CPU)
def serialize_many_sparse(
    _: ArrayModule,
    indices: Array,
    values: Array,
    shape: Array,
    *,
    T: str,
    out_type: str,
) -> Array:
    """The three parts of all rows as serialized tensors, or as variants: [rows, 3]."""
    sparse = _sized(checked(indices, values, shape))
    rows, empty = _rows(sparse), _written(_empty_row(sparse), T, out_type)
    count = int(shape[0])
    parts = [_written(rows[row], T, out_type) if row in rows else empty for row in range(count)]
    return string_array([part for row in parts for part in row], (count, 3))


def _parsed(triple: Sequence[bytes | _Held], dtype: str, number: int) -> Sparse:
    """A sparse tensor from its parts, serialized or in variants; `number` is for errors."""
    parts = [part.array if isinstance(part, _Held) else tensor_of(part)[1] for part in triple]
    for part, word, kind in zip(parts, Sparse._fields, ("int64", dtype, "int64"), strict=True):
        if part.dtype != dtype_of(kind):
            raise InvalidArgument(
                f"Requested SparseTensor of type {kind} but SparseTensor["
                f"{number}].{word}.dtype() == {part.dtype}"
            )
    return checked(*parts)


def _of_triples(serialized: Array, dtype: str) -> Sparse:
    if not serialized.size:
        raise InvalidArgument(
            "Serialized sparse should have at least 1 serialized tensor, "
            f"but has a zero dimension {bracketed(serialized.shape)}"
        )
    triples = serialized.reshape(-1, 3).tolist()
    return _stacked([_parsed(triple, dtype, number) for number, triple in enumerate(triples)])


@kernel("DeserializeManySparse", devices=_CPU)
def deserialize_many_sparse(_: ArrayModule, serialized: Array, *, dtype: str) -> tuple[Array, ...]:
    """The sparse tensor of serialized rows [rows, 3]."""
    if serialized.ndim != 2 or serialized.shape[1] != 3:
        raise InvalidArgument(
            f"Serialized sparse should have 3 as the last dimension {bracketed(serialized.shape)}"
        )
    return tuple(_of_triples(serialized, dtype))


@kernel("DeserializeSparse", devices=_CPU)
def deserialize_sparse(
    _: ArrayModule,
    serialized: Array,
    *,
    dtype: str,
    Tserialized: str,
) -> tuple[Array, Array, Array]:
    """A sparse tensor from [..., 3] serialized parts; the leading dimensions are stacked."""
    del Tserialized  # the elements show it
    if not serialized.ndim or serialized.shape[-1] != 3:
        raise InvalidArgument(
            f"Serialized sparse should have 3 as the last dimension {bracketed(serialized.shape)}"
        )
    stacked, outer = _of_triples(serialized, dtype), serialized.shape[:-1]
    outer_indices = HOST.array(HOST.unravel_index(stacked.indices[:, 0], outer)) if outer else None
    first = [] if outer_indices is None else [outer_indices.T]
    indices = HOST.concatenate([*first, stacked.indices[:, 1:]], axis=1).astype("int64")
    return indices, stacked.values, host_array([*outer, *stacked.shape[1:].tolist()], "int64")


def _map(bind: Bind, *, make: bool = True) -> SparseMap:
    container = attribute_text(bind.attrs["container"])
    name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
    if not make and bind.resources.get(container, name) is None:
        raise InvalidArgument(f"No sparse tensors are kept under {name!r}")
    return bind.resources.get_or_create(container, name, SparseMap, lambda: SparseMap(name))


def _own(sparse: Sparse) -> Sparse:
    """Read-only copies of the parts, as a map keeps them."""
    return Sparse(*(frozen(part.copy()) for part in sparse))


@kernel("AddSparseToTensorsMap", devices=_CPU)
def add_sparse(bind: Bind, indices: Array, values: Array, shape: Array) -> Array:
    """Keeps a sparse tensor in the map, and returns its number."""
    kept = _own(_sized(checked(indices, values, shape)))
    return host_array([_map(bind).add(kept)], "int64").reshape(())


@kernel("AddManySparseToTensorsMap", devices=_CPU)
def add_many_sparse(bind: Bind, indices: Array, values: Array, shape: Array) -> Array:
    """Keeps the rows in the map; non-empty ones are numbered first, as in TF 2.21."""
    sparse = _own(_sized(checked(indices, values, shape)))
    rows, keeper = _rows(sparse), _map(bind)
    numbers = {row: keeper.add(rows[row]) for row in rows}
    for row in range(int(shape[0])):
        if row not in numbers:
            numbers[row] = keeper.add(_empty_row(sparse))
    return host_array([numbers[row] for row in sorted(numbers)], "int64")


@binder("TakeManySparseFromTensorsMap", devices=_CPU)
def take_many_sparse(bind: Bind) -> KernelFunction:
    """The rows of these numbers as one sparse tensor; the map forgets them."""
    dtype = dtype_of(bind.attrs["dtype"])

    def compute(handles: Array) -> tuple[Array, ...]:
        require_rank(1, sparse_handles=handles)
        rows = _map(bind, make=False).take(handles.tolist())
        for row in rows:
            if row.values.dtype != dtype:
                raise InvalidArgument(
                    f"Requested SparseTensor of type {dtype} but it is of type {row.values.dtype}"
                )
        return tuple(_stacked(rows, "rank", 1))

    return compute
