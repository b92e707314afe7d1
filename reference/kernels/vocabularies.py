"""Kernels that reorder the rows of a matrix in a checkpoint for a new vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument, Unimplemented
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, host_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.checkpoints.bundle_files import local
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.tables.table_files import LINE_NUMBER, WHOLE_LINE, LineReader
from sessrun.reference.state.tables.table_resource import StaticTable
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.tensor_slices import TensorSlice

_CPU: Final = ("CPU",)


@binder("GenerateVocabRemapping", devices=_CPU)
def remapping(bind: Bind) -> KernelFunction:
    """The old line of each entry of the new vocabulary, -1 for a new one, and their number."""
    first, count, limit = (
        bind.attrs[name] for name in ("new_vocab_offset", "num_new_vocab", "old_vocab_size")
    )

    def compute(new: Array, old: Array) -> tuple[Array, Array]:
        texts = _table(new, "new_vocab_file", -1, ("int64", "string"))
        if first + count > len(texts):
            raise InvalidArgument(
                "lookup table size must be larger than last new vocab entry's line"
            )
        lines = _table(old, "old_vocab_file", limit, ("string", "int64"))
        entries = texts.find(range(first, first + count), itertools.repeat(None))
        old_lines = lines.find(entries, itertools.repeat(-1))
        present = count - old_lines.count(-1)
        return HOST.array(old_lines, dtype="int64"), host_array([present], "int32").reshape(())

    return compute


def _table(path: Array, name: str, limit: int, dtypes: tuple[str, str]) -> StaticTable:
    """A table from a file's line numbers to its lines, or the reverse, by the dtypes."""
    require_rank(0, **{name: path})
    if not path.item():
        raise InvalidArgument("new vocab filename cannot be empty.")
    columns = [LINE_NUMBER if dtype == "int64" else WHOLE_LINE for dtype in dtypes]
    reader = LineReader(local(path.item()), "\t", limit, 0)
    table = StaticTable("", *dtypes)
    table.fill(reader.pairs(columns, dtypes), reader.limit)
    return table


@kernel("LoadAndRemapMatrix", devices=_CPU)
def reordered(
    _: ArrayModule,
    path: Array,
    name: Array,
    rows: Array,
    columns: Array,
    values: Array,
    *,
    num_rows: int,
    num_cols: int,
) -> Array:
    """A matrix of a checkpoint with rows and columns remapped; given values for new ones."""
    size = (num_rows, num_cols)
    old_rows = _old_rows(rows, size[0])
    old_columns = _old_columns(columns, size[1])
    if path.size != 1:
        raise InvalidArgument(
            "The `ckpt_path` tensor must have exactly one element, got tensor of "
            f"shape {bracketed(path.shape)}"
        )
    checkpoint = Checkpoint(local(path.item()))
    shape = _matrix_shape(checkpoint, name.item(), None if old_columns else size[1])
    taken = _rows_up_to(checkpoint, name.item(), max(old_rows, default=-1), shape)
    return _filled(taken, old_rows, old_columns or range(size[1]), values.reshape(-1))


def _old_rows(rows: Array, count: int) -> list[int]:
    require_rank(1, rows=rows)
    if rows.size != count:
        raise InvalidArgument(
            f"Size of row_remapping is {rows.size} instead of being equal to num_rows={count}"
        )
    return _once(rows.tolist())


def _old_columns(columns: Array, count: int) -> list[int]:
    """The old number of each column; empty if columns are not remapped."""
    if columns.size and columns.size != count:
        raise InvalidArgument(
            f"Provided col_remapping, but its size is {columns.size} instead of being "
            f"equal to num_cols={count}"
        )
    return _once(columns.reshape(-1).tolist())


def _once(numbers: list[int]) -> list[int]:
    """The numbers, of which only negative ones may be repeated."""
    new_ids: dict[int, int] = {}
    for new_id, number in enumerate(numbers):
        if number >= 0 and new_ids.setdefault(number, new_id) != new_id:
            raise Unimplemented(
                f"Old ID {number} is mapped to both new ID {new_ids[number]} and "
                f"{new_id}, which is not supported."
            )
    return numbers


def _matrix_shape(checkpoint: Checkpoint, key: bytes, columns: int | None) -> tuple[int, ...]:
    """The shape of the matrix, whose number of columns is checked."""
    name = key.decode(errors="replace")
    dtype, shape = checkpoint.dtype(key), checkpoint.shape(key)
    if dtype != "float32":
        raise InvalidArgument(
            f"Tensor {name} has invalid type {BY_NAME[dtype].opdef} instead of expected type float"
        )
    if len(shape) != 2:
        raise InvalidArgument(
            f"Tensor {name} has shape {bracketed(shape)} of invalid rank {len(shape)} "
            "instead of expected shape of rank 2."
        )
    if columns not in {None, shape[1]}:
        raise InvalidArgument(
            f"Tensor {name} has shape {bracketed(shape)}, where the size of its 2nd "
            f"dimension is {shape[1]} instead of being equal to num_cols={columns}"
        )
    return shape


def _rows_up_to(checkpoint: Checkpoint, key: bytes, last: int, shape: tuple[int, ...]) -> Array:
    """The rows of the matrix up to the last one; none if that is negative."""
    if last >= shape[0]:
        raise Internal(
            f"Extent in dimension 0 out of bounds: shape = {bracketed(shape)}, "
            f"slice = 0,{last + 1}:-"
        )
    if last < 0:
        return HOST.zeros((0, shape[1]), dtype="float32")
    return HOST.asarray(checkpoint.tensor(key, TensorSlice(((0, last + 1), None))))


def _filled(matrix: Array, rows: Sequence[int], columns: Sequence[int], values: Array) -> Array:
    """The wanted rows and columns; elements of negative ones are filled with the values."""
    row, column = HOST.array(rows, dtype="int64"), HOST.array(columns, dtype="int64")
    missing = (row < 0)[:, None] | (column < 0)[None, :]
    wanted = int(missing.sum())
    if wanted > values.size:
        raise InvalidArgument(
            f"initializing_values contained {values.size} elements, but more missing values remain."
        )
    if wanted < values.size:
        raise InvalidArgument(
            f"initializing_values contained {values.size} elements, but only {wanted} "
            "elements were used to fill in missing values."
        )
    result = HOST.zeros(missing.shape, dtype="float32")
    result[missing] = values
    from_row = row >= 0
    from_column = (column >= 0) & (column < matrix.shape[1])
    present = matrix[HOST.ix_(row[from_row], column[from_column])]
    result[HOST.ix_(from_row, from_column)] = present
    return result
