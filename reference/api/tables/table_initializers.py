"""Initializers of lookup tables: from tensors, or from a file. Source: TF 2.21."""

from __future__ import annotations

from os import PathLike
from typing import Any, Protocol

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import group, no_op
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state.tables.table_files import LINE_NUMBER, WHOLE_LINE

__all__ = [
    "KeyValueTensorInitializer",
    "KeyedValues",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "initialize_all_tables",
    "tables_initializer",
]


class _Table(Protocol):
    """The table as an initializer sees it: its handle and dtypes."""

    @property
    def resource_handle(self) -> Tensor: ...
    @property
    def key_dtype(self) -> DType: ...
    @property
    def value_dtype(self) -> DType: ...


class KeyedValues:
    """The base of initializers: a dtype of keys and one of values.

    Args:
      key_dtype: the dtype of the keys.
      value_dtype: the dtype of the values.

    """

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype


class TableInitializerBase(KeyedValues):
    """The base of what fills a table.

    Args:
      key_dtype: the dtype of the table's keys.
      value_dtype: the dtype of its values.

    """

    #: The shared name of a table that it fills; empty for one of the table's own.
    _shared_name = ""

    def initialize(self, table: object) -> Operation:
        """The operation that fills the table."""
        raise NotImplementedError

    def _check(self, table: _Table) -> None:
        for word, have, want in (
            ("key", table.key_dtype, self.key_dtype),
            ("value", table.value_dtype, self.value_dtype),
        ):
            if have != want.base_dtype:
                raise TypeError(f"Invalid {word} dtype for table, expected {have} but got {want}.")


def _added(op: Operation) -> Operation:
    """The operation, kept among those that fill tables."""
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
    return op


@public("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with the keys of one tensor and the values of another.

    Args:
      keys: a vector.
      values: a vector of the same length.
      key_dtype: the dtype of the keys, if they are no tensor.
      value_dtype: the dtype of the values, if they are no tensor.
      name: the scope of the operation.

    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """The operation that fills the table.

        Raises:
          TypeError: the table has other dtypes.
          ValueError: there are not as many values as keys.

        """
        self._check(table)
        handle = table.resource_handle
        with name_scope(self._name, values=(handle, self._keys, self._values)):
            inputs = {"table_handle": handle, "keys": self._keys, "values": self._values}
            return _added(apply_op("LookupTableImportV2", inputs, {}))


@public("lookup.TextFileIndex")
class TextFileIndex:
    """The column indices that denote the whole line and the line number."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


@public("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Fills a table with a key and a value for each line of a file.

    Args:
      filename: its name, or a string tensor.
      key_dtype: the dtype of the keys.
      key_index: the column of the keys, or one of `TextFileIndex`.
      value_dtype: the dtype of the values.
      value_index: the column of the values, or one of `TextFileIndex`.
      vocab_size: how many lines are read, None for all.
      delimiter: the character between columns.
      name: the scope of the operation.
      value_index_offset: added to line numbers.

    Raises:
      ValueError: no file is named, or a column cannot be of the dtype of keys or values.

    """

    def __init__(
        self,
        filename: str | bytes | PathLike[str],
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        _check_column("key", key_index, self.key_dtype)
        _check_column("value", value_index, self.value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._attrs = {
            "key_index": key_index,
            "value_index": value_index,
            "vocab_size": -1 if vocab_size is None else vocab_size,
            "delimiter": delimiter,
            "offset": value_index_offset,
        }
        parts = [filename, vocab_size, key_index, value_index, value_index_offset]
        kept = [*parts[:1], *filter(None, parts[1:2]), *parts[2:4], *filter(None, parts[4:])]
        self._shared_name = "_".join(["hash_table", *map(str, kept)])
        self._name = name
        with init_scope(), get_default_graph().device("CPU"):
            self._path = convert_to_tensor(filename, dtype=dtypes.string, name="asset_path")

    def initialize(self, table: Any) -> Operation:
        """The operation that fills the table.

        Raises:
          TypeError: the table has other dtypes.

        """
        self._check(table)
        handle = table.resource_handle
        with name_scope(self._name, "text_file_init", (handle,)):
            inputs = {"table_handle": handle, "filename": self._path}
            op = _added(apply_op("InitializeTableFromTextFileV2", inputs, self._attrs))
        if self._path.op.type == "Const":
            get_default_graph().add_to_collection(GraphKeys.ASSET_FILEPATHS, self._path)
        return op


def _check_column(word: str, column: int, dtype: DType) -> None:
    if column < WHOLE_LINE:
        raise ValueError(f"`{word}_index` should be >= -2, received: {column}.")
    if column == LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(
            f"`{word}_dtype` must be int64 if `{word}_index` is {LINE_NUMBER}, received: {dtype}"
        )
    if column == WHOLE_LINE and not dtype.is_integer and dtype != dtypes.string:
        raise ValueError(
            f"`{word}_dtype` should be either integer or string for `{word}_index` {WHOLE_LINE}, "
            f"received: {dtype}"
        )


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers to lines, or columns of them."""

    def __init__(
        self,
        filename: str | bytes | PathLike[str],
        key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name=name,
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from lines, or columns of them, to line numbers."""

    def __init__(
        self,
        filename: str | bytes | PathLike[str],
        key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = dtypes.string,
    ) -> None:
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            dtypes.int64,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name=name,
        )


@public("initializers.tables_initializer", "tables_initializer")
def tables_initializer(name: str | None = "init_all_tables") -> Operation:
    """An operation that runs all table initializers of the graph; a NoOp without tables."""
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


@public("initialize_all_tables")
def initialize_all_tables(name: str | None = "init_all_tables") -> Operation:
    """The older name of `tables_initializer`."""
    return tables_initializer(name)
