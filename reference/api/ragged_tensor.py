"""RaggedTensor: rows of different lengths, as values and row splits.

Fetched as a RaggedTensorValue. Here are the tensors themselves, and what makes them of others; of
operations, those that take any structure of tensors take them. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import after
from sessrun.reference.api.ops import assertions
from sessrun.reference.api.ops.array_ops import concat, expand_dims, gather, reshape, shape, stack
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.fill_ops import fill, ones_like, zeros
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.reduce_ops import reduce_max
from sessrun.reference.api.ragged_values import RaggedTensorValue, Rows
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.expansions import register_session_run_conversion_functions
from sessrun.reference.build.generated import less, scatter_nd
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["RaggedTensor", "RaggedTensorValue", "is_ragged"]

_INVALID: Final = "Arguments to {} do not form a valid RaggedTensor:"


@public("RaggedTensor")
class RaggedTensor(Rows, CompositeTensor):
    """Rows of different lengths; created by the class methods `from_...`.

    Args:
      values: a tensor, or another RaggedTensor: the concatenated rows.
      row_splits: where the rows begin, and the last one ends: int32 or int64, shape [rows + 1].

    """

    _is_tensor_like = True  # for `tf.is_tensor`

    def __init__(self, values: Any, row_splits: Tensor) -> None:
        self._values = values
        self._row_splits = row_splits

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows by where they begin and end.

        Args:
          values: a tensor of at least rank 1, or a RaggedTensor.
          row_splits: int32 or int64, a vector: 0, ascending, then how many values there are.
          name: the operations' scope.
          validate: whether assertions check them in every run.

        Raises:
          ValueError: `row_splits` is not a vector, of another dtype, or empty.
          TypeError: `validate` is not a bool.

        """
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must have type bool. Received {validate}.")
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [row_splits]):
            splits = _partition(row_splits, "row_splits")
            values = _values(values)
            if validate:
                splits = _held(splits, values, _INVALID.format("from_row_splits"))
            return cls(values, splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: TensorLike,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows by their lengths; otherwise as `from_row_splits`."""
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            lengths = _partition(row_lengths, "row_lengths")
            splits = concat([zeros([1], lengths.dtype), _summed(lengths)], axis=0)
            return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: TensorLike,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows by the row index of every value, ascending.

        Args:
          values: as for `from_row_splits`.
          value_rowids: the numbers, a vector.
          nrows: the number of rows; by default the last row number plus 1.
          name: the operations' scope.
          validate: as for `from_row_splits`.

        """
        with name_scope(name, "RaggedFromValueRowIds", [value_rowids, nrows]):
            ids = _partition(value_rowids, "value_rowids")
            if nrows is None:
                last = concat([-ones_like(ids[:1]), ids], axis=0)[-1]
                rows = last + 1
            else:
                rows = convert_to_tensor(nrows, ids.dtype)
            lengths = scatter_nd(expand_dims(ids, 1), ones_like(ids), expand_dims(rows, 0))
            return cls.from_row_lengths(values, lengths, validate=validate)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows within rows: by the splits of every ragged dimension, outermost first.

        Raises:
          TypeError: the splits are one tensor.
          ValueError: as `from_row_splits`.

        """
        if isinstance(nested_row_splits, Tensor):
            raise TypeError(
                f"Argument `nested_row_splits` must be a list of Tensors. Received "
                f"{nested_row_splits}."
            )
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            ragged = flat_values
            for splits in reversed(nested_row_splits):
                ragged = cls.from_row_splits(ragged, splits, validate=validate)
            return ragged  # type: ignore[no-any-return]  # there is at least one

    @classmethod
    def from_value(cls, value: RaggedTensorValue) -> RaggedTensor:
        """A constant of a RaggedTensorValue."""
        return cls.from_nested_row_splits(
            value.flat_values, value.nested_row_splits, validate=False
        )

    @classmethod
    def from_tensor(cls, tensor: Tensor) -> RaggedTensor:
        """The rows of a tensor of at least rank 2, all of one length."""
        sizes = shape(tensor, out_type=dtypes.int64)
        splits = range_(sizes[0] + 1) * sizes[1]
        values = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
        values.set_shape(TensorShape([None]).concatenate(tensor.shape[2:]))
        return cls(values, splits)

    @classmethod
    def from_sparse_rows(cls, sparse: SparseTensor) -> RaggedTensor:
        """The rows of a sparse matrix, whose values are at the beginnings of rows."""
        ids, rows = sparse.indices[:, 0], sparse.dense_shape[0]
        return cls.from_value_rowids(sparse.values, ids, rows, validate=False)

    def parts(self) -> tuple[Any, Tensor]:
        """The values and the splits."""
        return self._values, self._row_splits

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, or a RaggedTensor."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """The row splits: the starts of the rows, then the end of the last one."""
        return self._row_splits

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the innermost values."""
        dtype: dtypes.DType = self.flat_values.dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged dimensions are None."""
        splits = self._row_splits.shape
        count = None if splits.rank is None else splits.as_list()[0]
        first = TensorShape([None if count is None else count - 1, None])
        return first.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The static shape, as `shape`."""
        return self.shape

    def row_starts(self) -> Tensor:
        """The start of every row in the values."""
        with name_scope(None, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """The end of every row in the values."""
        with name_scope(None, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]

    def row_lengths(self) -> Tensor:
        """The length of each row."""
        return self._row_splits[1:] - self._row_splits[:-1]

    def nrows(self) -> Tensor:
        """How many rows there are."""
        splits = self._row_splits
        count = splits.shape.as_list()[0]
        with name_scope(None, "RaggedNRows", [splits]):
            if count is not None:
                return constant(count - 1, splits.dtype)
            return shape(splits, out_type=splits.dtype)[0] - 1

    def value_rowids(self) -> Tensor:
        """The row index of every value."""
        with name_scope(None, "RaggedValueRowIds", [self._row_splits]):
            return cast(one("Where", {"input": self._mask()})[:, 0], self._row_splits.dtype)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Rows of the same lengths with other values."""
        return RaggedTensor(_values(new_values), self._row_splits)

    def with_flat_values(self, new_values: object) -> RaggedTensor:
        """A ragged tensor with the same row splits and other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def to_tensor(self, default_value: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The rows as one tensor, short ones filled up.

        Args:
          default_value: the padding of short rows, a scalar; 0, False or "" by default.
          name: the operations' scope.

        """
        with name_scope(name, "RaggedToTensor", [default_value, *self.parts()]):
            rows = self._values
            if isinstance(rows, RaggedTensor):
                rows = rows.to_tensor(default_value)
            if default_value is None:
                missing = zeros([1], rows.dtype)[0]
            else:
                missing = convert_to_tensor(default_value, rows.dtype)
            blank = fill(concat([[1], shape(rows)[1:]], axis=0), missing)
            mask, starts = self._mask(), cast(self.row_starts(), dtypes.int64)
            columns = range_(shape(mask, out_type=dtypes.int64)[1])
            places = expand_dims(starts, 1) + expand_dims(columns, 0)
            absent = shape(rows, out_type=dtypes.int64)[0]
            chosen = cast(mask, dtypes.int64)
            padded = gather(concat([rows, blank], axis=0), places * chosen + absent * (1 - chosen))
            return reshape(padded, concat([shape(mask), shape(rows)[1:]], axis=0))

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The values as a sparse tensor with the same rows.

        Raises:
          NotImplementedError: the innermost values are of a rank above 1.

        """
        if self.flat_values.shape.rank != 1:
            raise NotImplementedError("Only ragged tensors of scalars are made sparse.")
        with name_scope(name, "RaggedToSparse", list(self.parts())):
            rows, starts = self.value_rowids(), self.row_starts()
            columns = range_(shape(rows, out_type=rows.dtype)[0]) - gather(starts, rows)
            places = cast(stack([rows, columns], axis=1), dtypes.int64)
            sizes = cast(stack(list(_extent(self))), dtypes.int64)
            if not isinstance(self._values, RaggedTensor):
                return SparseTensor(places, self._values, sizes)
            inner = self._values.to_sparse()
            places = concat([gather(places, inner.indices[:, 0]), inner.indices[:, 1:]], axis=1)
            return SparseTensor(
                places, inner.values, concat([sizes, inner.dense_shape[1:]], axis=0)
            )

    def _mask(self) -> Tensor:
        """Whether a row has a column: bool, shape [rows, length of the longest]."""
        _, longest = _extent(self)
        return less(expand_dims(range_(longest), 0), expand_dims(self.row_lengths(), 1))

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


def is_ragged(value: TensorLike) -> bool:
    """Whether a value is a RaggedTensor, or what a fetch of one gives."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def _extent(ragged: RaggedTensor) -> tuple[Tensor, Tensor]:
    """How many rows there are, and how long the longest is."""
    lengths = ragged.row_lengths()
    return ragged.nrows(), reduce_max(concat([zeros([1], lengths.dtype), lengths], axis=0))


def _values(values: TensorLike) -> Tensor | RaggedTensor:
    if isinstance(values, RaggedTensorValue):
        return RaggedTensor.from_value(values)
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values, name="values")


def _partition(value: TensorLike, name: str) -> Tensor:
    """A vector that defines the rows: row splits, lengths, numbers, starts or limits.

    Raises:
      ValueError: the tensor is not a vector, or has another dtype.

    """
    partition = convert_to_tensor(value, preferred_dtype=dtypes.int64, name=name)
    if partition.dtype not in {dtypes.int32, dtypes.int64}:
        raise ValueError(f"{name} must have dtype int32 or int64")
    partition.shape.assert_has_rank(1)
    return partition


def _summed(lengths: Tensor) -> Tensor:
    """The sums of the first lengths."""
    return one("Cumsum", {"x": lengths, "axis": 0}, exclusive=False, reverse=False)


def _held(splits: Tensor, values: TensorLike, message: str) -> Tensor:
    """The splits, once it is held that they are some of these values."""
    # Assertions are conditionals, which take structures of such tensors.
    if isinstance(values, RaggedTensor):
        count = values.nrows()
    else:
        count = shape(values, out_type=splits.dtype)[0]
    checks = [
        assertions.assert_equal(splits[0], convert_to_tensor(0, splits.dtype), message=message),
        assertions.assert_non_negative(splits[1:] - splits[:-1], message=message),
        assertions.assert_equal(splits[-1], cast(count, splits.dtype), message=message),
    ]
    return after(checks, splits)


def _fetched(parts: Sequence[Any]) -> Any:
    """The value of flat values and of splits, outermost first."""
    ragged = parts[0]
    for splits in reversed(parts[1:]):
        ragged = RaggedTensorValue(ragged, splits)
    return ragged


def _flat(ragged: RaggedTensor) -> list[Tensor]:
    return [ragged.flat_values, *ragged.nested_row_splits]


register_session_run_conversion_functions(
    RaggedTensor,
    lambda ragged: (_flat(ragged), _fetched),
    lambda ragged, value: list(
        zip(_flat(ragged), [value.flat_values, *value.nested_row_splits], strict=True)
    ),
    _flat,
)


public("ragged.RaggedTensorValue")(RaggedTensorValue)
