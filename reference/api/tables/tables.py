"""Lookup tables: `tf.lookup.StaticHashTable` and its kin. Source: TF 2.21."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.saving.saveables import SaveableObject, SaveSpec
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.tables.table_initializers import KeyedValues
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.composites import CompositeTensor
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["DenseHashTable", "LookupInterface", "MutableHashTable", "StaticHashTable"]


class LookupInterface(KeyedValues):
    """The base of all tables.

    Args:
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.

    """

    _resource_handle: Tensor

    @property
    def name(self) -> str:
        """The name of its operation, without scopes."""
        return self._resource_handle.op.name.rpartition("/")[2]

    @property
    def resource_handle(self) -> Tensor:
        """Its resource tensor."""
        return self._resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """How many keys it has: a scalar int64 tensor."""
        handle = self.resource_handle
        with name_scope(name, f"{self.name}_Size", [handle]):
            return apply_op("LookupTableSizeV2", {"table_handle": handle}, {}).outputs[0]

    def lookup(self, keys: TensorLike | CompositeTensor, name: str | None = None) -> Any:
        """Look up keys: their values."""
        raise NotImplementedError

    def __getitem__(self, keys: TensorLike | CompositeTensor) -> Any:
        return self.lookup(keys)

    def _exported(self) -> tuple[Tensor, Tensor]:
        attrs = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        op = apply_op("LookupTableExportV2", {"table_handle": self.resource_handle}, attrs)
        keys, values = op.outputs
        return keys, values


@public("lookup.StaticHashTable")
class StaticHashTable(LookupInterface):
    """A table that is filled once, when `tables_initializer` or its `initializer` is run.

    Args:
      initializer: what fills it.
      default_value: a scalar, the value of a key that it has not.
      name: the operation's name.
      experimental_is_anonymous: whether every run creates a separate table.

    Raises:
      TypeError: the default value is of another dtype.
      ValueError: the default value is not a scalar.

    """

    def __init__(
        self,
        initializer: Any,
        default_value: TensorLike,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with(TensorShape([]))
        attrs: dict[str, object] = {
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
        }
        op_type = "AnonymousHashTable"
        if not experimental_is_anonymous:
            op_type = "HashTableV2"
            attrs["shared_name"] = initializer._shared_name or f"hash_table_{uuid.uuid4()}"  # noqa: SLF001 - so named
        with init_scope():
            op = apply_op(op_type, {}, attrs, name or "hash_table")
        self._resource_handle = op.outputs[0]
        self._is_anonymous = experimental_is_anonymous
        self._initializer: Operation = initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of a key that it has not."""
        return self._default_value

    @property
    def initializer(self) -> Operation:
        """The operation that fills it."""
        return self._initializer

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Look up keys: their values, the default value for unknown ones.

        Args:
          keys: a tensor or sparse tensor.
          name: the scope of the operation.

        Returns:
          A Tensor or SparseTensor, as `keys` is.

        Raises:
          TypeError: the keys are of another dtype.

        """
        tensor = keys.values if isinstance(keys, SparseTensor) else keys
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}"
            )
        inputs = {
            "table_handle": self._resource_handle,
            "keys": tensor,
            "default_value": self._default_value,
        }
        with name_scope(name, f"{self.name}_Lookup", tuple(inputs.values())):
            values = apply_op("LookupTableFindV2", inputs, {}).outputs[0]
        values.set_shape(tensor.shape)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        with name_scope(name, f"{self.name}_Export", [self._resource_handle]):
            keys, values = self._exported()
        values.set_shape(keys.shape.concatenate(self._default_value.shape))
        return keys, values


class _Changing(LookupInterface):
    """A mutable table; subclasses build its operation.

    Args:
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.
      default_value: the value of a key that it has not, of the shape of all its values.
      handle: its resource tensor.
      checkpoint: whether its content is saved with the variables.

    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: Tensor,
        handle: Tensor,
        *,
        name: str,
        checkpoint: bool,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = default_value
        self._resource_handle = handle
        if checkpoint:
            graph = get_default_graph()
            graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _Saved(self, name))

    def size(self, name: str | None = None) -> Tensor:
        """How many keys it has: a scalar int64 tensor."""
        with get_default_graph().colocate_with(self._resource_handle):
            return super().size(name)

    def lookup(  # type: ignore[override]  # the second argument is TensorFlow's
        self,
        keys: TensorLike,
        dynamic_default_values: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The value of each key, or its default.

        Args:
          keys: a tensor of keys, or a value that is converted to one.
          dynamic_default_values: defaults for the keys, or one for all; the table's if None.
          name: the scope of the operation.

        Raises:
          TypeError: the keys are of another dtype.

        """
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        values = (self._resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_find", values):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            return self._done("LookupTableFindV2", keys=keys, default_value=default).outputs[0]

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Put keys in, with their values, over those that they had.

        Raises:
          TypeError: keys or values are of other dtypes.

        """
        given = [self._resource_handle, keys, values]
        with name_scope(name, f"{self.name}_lookup_table_insert", given):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            values = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            return self._done("LookupTableInsertV2", keys=keys, values=values)

    def remove(self, keys: Tensor, name: str | None = None) -> Operation:
        """Take keys out, those that are in.

        Raises:
          TypeError: `keys` has another dtype.

        """
        if keys.dtype != self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}"
            )
        values = (self._resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_remove", values):
            inputs = {"table_handle": self._resource_handle, "keys": keys}
            return apply_op("LookupTableRemoveV2", inputs, {})

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, in no order."""
        scope = f"{self.name}_lookup_table_export_values"
        handle = self._resource_handle
        with name_scope(name, scope, [handle]), get_default_graph().colocate_with(handle):
            return self._exported()

    def _done(self, op_type: str, **inputs: object) -> Operation:
        """An operation beside the table."""
        with get_default_graph().colocate_with(self._resource_handle):
            return apply_op(op_type, {"table_handle": self._resource_handle, **inputs}, {})


class _Saved(SaveableObject):
    """The SaveableObject of a mutable table: its keys and values."""

    def __init__(self, table: _Changing, name: str) -> None:
        parts = zip(table.export(), ("-keys", "-values"), strict=True)
        super().__init__(table, [SaveSpec(part, "", name + end) for part, end in parts], name)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorLike] | None
    ) -> Operation:
        """Build the operation that restores keys and values."""
        del restored_shapes
        keys, values = restored_tensors
        handle = self.op.resource_handle
        inputs = {"table_handle": handle, "keys": keys, "values": values}
        with (
            name_scope(f"{self.name}_table_restore"),
            get_default_graph().colocate_with(handle),
        ):
            return apply_op("LookupTableImportV2", inputs, {})


def _shared_or_not(
    op_type: str, attrs: dict[str, object], checkpoint: bool, anonymous: bool
) -> str:
    """The type of the table's operation; its attributes are completed."""
    if anonymous:
        return f"Anonymous{op_type}"
    attrs["use_node_name_sharing"] = checkpoint
    return f"{op_type}V2"


@public("lookup.experimental.MutableHashTable")
class MutableHashTable(_Changing):
    """A table that changes.

    Args:
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.
      default_value: the value of a key that it has not: a scalar or a vector, as all values are.
      name: the operation's name.
      checkpoint: whether its content is saved with the variables.
      experimental_is_anonymous: whether every run creates a separate table.

    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        default = convert_to_tensor(default_value, dtype=value_dtype)
        attrs: dict[str, object] = {"key_dtype": key_dtype, "value_dtype": value_dtype}
        op_type = "MutableHashTable"
        if default.shape.ndims != 0:
            op_type = "MutableHashTableOfTensors"
            attrs["value_shape"] = default.shape
        op_type = _shared_or_not(op_type, attrs, checkpoint, experimental_is_anonymous)
        handle = apply_op(op_type, {}, attrs, name).outputs[0]
        super().__init__(key_dtype, value_dtype, default, handle, name=name, checkpoint=checkpoint)
        self._is_anonymous = experimental_is_anonymous


@public("lookup.experimental.DenseHashTable")
class DenseHashTable(_Changing):
    """A table that changes, kept as buckets; two keys are reserved.

    Args:
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.
      default_value: the value of a key that it has not.
      empty_key: a key that is never used.
      deleted_key: another.
      initial_num_buckets: a power of 2, at least 4.
      name: the operation's name.
      checkpoint: whether its content is saved with the variables.
      experimental_is_anonymous: whether every run creates a separate table.

    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        default = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        inputs = {
            word: convert_to_tensor(key, dtype=key_dtype, name=word)
            for word, key in (("empty_key", empty_key), ("deleted_key", deleted_key))
        }
        attrs: dict[str, object] = {"value_dtype": value_dtype, "value_shape": default.shape}
        if initial_num_buckets is not None:
            attrs["initial_num_buckets"] = initial_num_buckets
        op_type = "MutableDenseHashTable"
        op_type = _shared_or_not(op_type, attrs, checkpoint, experimental_is_anonymous)
        handle = apply_op(op_type, inputs, attrs, name).outputs[0]
        super().__init__(key_dtype, value_dtype, default, handle, name=name, checkpoint=checkpoint)
        self._is_anonymous = experimental_is_anonymous

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:  # type: ignore[override]  # it takes no defaults
        """Look up keys: their values, the default value for unknown ones."""
        return super().lookup(keys, name=name)

    def insert_or_assign(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """As `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Tensor, name: str | None = None) -> Operation:
        """As `remove`."""
        return self.remove(keys, name)
