"""Kernels of sparse tensors: their order, rows and bytes, and what keeps them by number.

A row's bytes are three messages, each of which Python's protobuf makes or reads: to write many rows
takes four to thirteen times TensorFlow's time, to read them four to nine times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.base.tensor_proto import string_content
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.encoding import serialize_tensor, tensor_of
from sessrun.reference.kernels.host import HOST, dtype_of, frozen, host_array, string_array
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.kernels.sparse_parts import Sparse, checked
from sessrun.reference.state.input.sparse_map import SparseMap
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto, TensorShapeProto, foreign

__all__: list[str] = []

_CPU: Final = ("CPU",)


def _sized(sparse: Sparse) -> Sparse:
    if (sparse.shape < 0).any():
        raise InvalidArgument(f"Shape {sparse.shape.tolist()} has a negative size")
    return sparse


@kernel("SparseReorder", devices=_CPU)
def sparse_reorder(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    """The elements in the order of their indices, equal ones as they were."""
    checked(indices, values, shape)
    order = xp.lexsort(indices.T[::-1]) if shape.shape[0] else xp.arange(values.shape[0])
    return indices[order], values[order]


def _rows(whole: Sparse) -> dict[int, Sparse]:
    """The rows that have elements, as sparse tensors of one dimension less.

    Raises:
      InvalidArgument: there is but one dimension, or rows are out of range or of order.

    """
    if whole.shape.shape[0] < 2:
        raise InvalidArgument(
            f"Rank of input SparseTensor should be > 1, but saw rank: {whole.shape.shape[0]}"
        )
    of_row, count = whole.indices[:, 0], int(whole.shape[0])
    outside = (of_row < 0) | (of_row >= count)
    if outside.any():
        raise InvalidArgument(f"Received unexpected row {int(of_row[outside.argmax()])} of {count}")
    if (HOST.diff(of_row) < 0).any():
        row = int((HOST.diff(of_row) < 0).argmax()) + 1
        raise InvalidArgument(f"indices[{row}] = {bracketed(whole.indices[row])} is out of order")
    if not len(of_row):
        return {}
    rows, firsts = HOST.unique(of_row, return_index=True)
    ends = [*firsts[1:].tolist(), len(of_row)]
    return {
        row: Sparse(whole.indices[first:end, 1:], whole.values[first:end], whole.shape[1:])
        for row, first, end in zip(rows.tolist(), firsts.tolist(), ends, strict=True)
    }


def _empty_row(whole: Sparse) -> Sparse:
    return Sparse(whole.indices[:0, 1:], whole.values[:0], whole.shape[1:])


def _stacked(rows: Sequence[Sparse], differs: str = "shape", more: int = 0) -> Sparse:
    """The sparse tensor of these rows, its shape the largest of each dimension.

    Args:
      rows: one or more.
      differs: what errors say that rows of other ranks differ in.
      more: how much larger errors say their ranks are.

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
    places = HOST.concatenate([row.indices for row in rows])
    sizes = HOST.max([row.shape for row in rows], axis=0) if rank else []
    return Sparse(
        HOST.column_stack([numbers, places]).astype("int64"),
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


def _string_bytes(values: Any) -> bytes:
    """Strings in the content, unlike what SerializeTensor makes of them (TF 2.21)."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=len(values))])
    content = string_content(values.tolist())
    proto = TensorProto(tensor_shape=shape, tensor_content=content)
    proto.dtype = BY_NAME["string"].enum  # type: ignore[assignment]  # a number of the enumeration
    return foreign.serialize(proto)


class _Held:
    """A part of a sparse tensor as a variant: the array itself.

    Args:
      array: what is held.

    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = frozen(array.copy())


def _written(row: Sparse, dtype: str, out_type: str) -> list[Any]:
    """The three parts as bytes, or held in variants."""
    if out_type == "variant":
        return [_Held(part) for part in row]
    return _bytes(row, dtype)


@kernel("SerializeSparse", devices=_CPU)
def serialize_sparse(
    _: Any,
    indices: Any,
    values: Any,
    shape: Any,
    *,
    T: str,  # noqa: N803
    out_type: str,
) -> Any:
    """The three parts, each as bytes or as a variant."""
    return string_array(_written(checked(indices, values, shape), T, out_type), (3,))


@kernel("SerializeManySparse", devices=_CPU)
def serialize_many_sparse(
    _: Any,
    indices: Any,
    values: Any,
    shape: Any,
    *,
    T: str,  # noqa: N803
    out_type: str,
) -> Any:
    """Each row's three parts, as bytes or as variants."""
    whole = _sized(checked(indices, values, shape))
    rows, empty = _rows(whole), _written(_empty_row(whole), T, out_type)
    count = int(shape[0])
    parts = [_written(rows[row], T, out_type) if row in rows else empty for row in range(count)]
    return string_array([part for row in parts for part in row], (count, 3))


def _parsed(triple: Sequence[Any], dtype: str, number: int) -> Sparse:
    """The sparse tensor of that number from its parts, which are bytes or held in variants."""
    parts = [part.array if isinstance(part, _Held) else tensor_of(part)[1] for part in triple]
    for part, word, kind in zip(parts, Sparse._fields, ("int64", dtype, "int64"), strict=True):
        if part.dtype != dtype_of(kind):
            raise InvalidArgument(
                f"Requested SparseTensor of type {kind} but SparseTensor["
                f"{number}].{word}.dtype() == {part.dtype}"
            )
    return checked(*parts)


def _of_triples(serialized: Any, dtype: str) -> Sparse:
    if not serialized.size:
        raise InvalidArgument(
            "Serialized sparse should have at least 1 serialized tensor, "
            f"but has a zero dimension {bracketed(serialized.shape)}"
        )
    triples = serialized.reshape(-1, 3).tolist()
    return _stacked([_parsed(triple, dtype, number) for number, triple in enumerate(triples)])


@kernel("DeserializeManySparse", devices=_CPU)
def deserialize_many_sparse(_: Any, serialized: Any, *, dtype: str) -> Any:
    """The sparse tensor of the rows whose bytes they are."""
    if serialized.ndim != 2 or serialized.shape[1] != 3:
        raise InvalidArgument(
            f"Serialized sparse should have 3 as the last dimension {bracketed(serialized.shape)}"
        )
    return tuple(_of_triples(serialized, dtype))


@kernel("DeserializeSparse", devices=_CPU)
def deserialize_sparse(_: Any, serialized: Any, *, dtype: str, Tserialized: str) -> Any:  # noqa: N803 - the attribute's name
    """One sparse tensor, or those of an array of triples stacked as that array is."""
    del Tserialized  # what is written tells
    if not serialized.ndim or serialized.shape[-1] != 3:
        raise InvalidArgument(
            f"Serialized sparse should have 3 as the last dimension {bracketed(serialized.shape)}"
        )
    stacked, outer = _of_triples(serialized, dtype), serialized.shape[:-1]
    places = HOST.array(HOST.unravel_index(stacked.indices[:, 0], outer)) if outer else None
    first = [] if places is None else [places.T]
    indices = HOST.concatenate([*first, stacked.indices[:, 1:]], axis=1).astype("int64")
    return indices, stacked.values, host_array([*outer, *stacked.shape[1:].tolist()], "int64")


def _map(bind: Bind, *, make: bool = True) -> SparseMap:
    container = attribute_text(bind.attrs["container"])
    name = attribute_text(bind.attrs["shared_name"]) or bind.node.name
    if not make and bind.resources.get(container, name) is None:
        raise InvalidArgument(f"No sparse tensors are kept under {name!r}")
    return bind.resources.get_or_create(container, name, SparseMap, lambda: SparseMap(name))


def _own(sparse: Sparse) -> Sparse:
    """The parts as a map keeps them: never the memory of a feed."""
    return Sparse(*(frozen(part.copy()) for part in sparse))


@binder("AddSparseToTensorsMap", devices=_CPU)
def add_sparse(bind: Bind) -> Callable[..., Any]:
    """Keeps it, and gives its number."""

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        kept = _own(_sized(checked(indices, values, shape)))
        return host_array([_map(bind).add(kept)], "int64").reshape(())

    return compute


@binder("AddManySparseToTensorsMap", devices=_CPU)
def add_many_sparse(bind: Bind) -> Callable[..., Any]:
    """Keeps each row. Those with elements are numbered first, as TF 2.21 does."""

    def compute(indices: Any, values: Any, shape: Any) -> Any:
        whole = _own(_sized(checked(indices, values, shape)))
        rows, keeper = _rows(whole), _map(bind)
        numbers = {row: keeper.add(rows[row]) for row in rows}
        for row in range(int(shape[0])):
            if row not in numbers:
                numbers[row] = keeper.add(_empty_row(whole))
        return host_array([numbers[row] for row in sorted(numbers)], "int64")

    return compute


@binder("TakeManySparseFromTensorsMap", devices=_CPU)
def take_many_sparse(bind: Bind) -> Callable[..., Any]:
    """The sparse tensor of the rows of these numbers, which are forgotten."""
    dtype = dtype_of(bind.attrs["dtype"])

    def compute(handles: Any) -> Any:
        if handles.ndim != 1:
            raise InvalidArgument(
                f"sparse_handles should be a vector, has shape {bracketed(handles.shape)}"
            )
        rows = _map(bind, make=False).take(handles.tolist())
        for row in rows:
            if row.values.dtype != dtype:
                raise InvalidArgument(
                    f"Requested SparseTensor of type {dtype} but it is of type {row.values.dtype}"
                )
        return tuple(_stacked(rows, "rank", 1))

    return compute
