"""Kernels of lookup tables: a handle is the session's table itself.

Tables are Python dicts of Python numbers and strings, to and from which tensors are converted:
looking up 20,000 integers takes four to five times TensorFlow's time, inserting or exporting three,
looking up rows of 10 floats five. Dense tables probe their buckets in a Python loop, as TensorFlow
orders them: looking up takes fourteen times, inserting ten, exporting buckets thirteen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import dtype_of, full, stacked, string_array
from sessrun.reference.kernels.input_shapes import require_same_shape
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.tables.dense_table import DenseTable
from sessrun.reference.state.tables.table_files import LineReader
from sessrun.reference.state.tables.table_resource import (
    Key,
    LookupTable,
    MutableTable,
    Pair,
    Row,
    StaticTable,
    shown,
)
from sessrun.spec.dtypes import BY_NAME

_CPU: Final = ("CPU",)
#: The prefix of the op types of tables that are not shared.
_ANONYMOUS: Final = "Anonymous"

_NUMBERS: Final = "float32 float64 int32"
#: For each kind of table and dtype of keys, the supported dtypes of values.
_VALUES: Final[dict[str, dict[str, str]]] = {
    "HashTableV2": {
        "int32": f"{_NUMBERS} string",
        "int64": f"{_NUMBERS} int64 string",
        "string": f"{_NUMBERS} int64 string bool",
    },
    "MutableHashTableV2": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 string",
        "string": f"{_NUMBERS} int64 bool",
    },
    "MutableHashTableOfTensorsV2": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 string",
        "string": f"{_NUMBERS} int64 bool",
    },
    "MutableDenseHashTableV2": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 bool",
        "string": f"{_NUMBERS} int64 bool",
    },
}


@binder(
    "HashTableV2",
    "MutableHashTableV2",
    "MutableHashTableOfTensorsV2",
    "AnonymousHashTable",
    "AnonymousMutableHashTable",
    "AnonymousMutableHashTableOfTensors",
    devices=_CPU,
)
def table(bind: Bind) -> KernelFunction:
    """The table with that container and name, created at the first use; or an anonymous one."""
    kind, attrs = _kind(bind), bind.attrs
    dtypes = attrs["key_dtype"], attrs["value_dtype"]

    def make() -> LookupTable:
        if kind == "HashTableV2":
            return StaticTable("HashTable", *dtypes)
        shape = _known(attrs["value_shape"]) if kind == "MutableHashTableOfTensorsV2" else ()
        if kind == "MutableHashTableOfTensorsV2" and len(shape) != 1:
            raise InvalidArgument(f"Default value must be a vector, got shape {shown(shape)}")
        return MutableTable("MutableHashTable", *dtypes, shape)

    return lambda: _kept(bind, make)


@kernel("MutableDenseHashTableV2", "AnonymousMutableDenseHashTable", devices=_CPU)
def dense_table(
    bind: Bind,
    empty_key: Array,
    deleted_key: Array,
    *,
    value_shape: tuple[int | None, ...] | None,
    key_dtype: str,
    value_dtype: str,
    initial_num_buckets: int,
    max_load_factor: float,
) -> LookupTable:
    """The table with that container and name, created at the first use; or an anonymous one."""
    xp = bind.xp

    def make() -> LookupTable:
        require_same_shape(empty_key=empty_key, deleted_key=deleted_key)
        shape = _known(value_shape)
        zero = full(xp, shape, _zero(value_dtype), dtype_of(value_dtype))
        keys = [_keys(key, empty_key.shape)[0] for key in (empty_key, deleted_key)]
        return DenseTable(
            key_dtype,
            value_dtype,
            shape,
            tuple(empty_key.shape),
            reserved=(keys[0], keys[1]),
            zero=_rows(xp, zero, shape)[0],
            buckets=initial_num_buckets,
            max_load=max_load_factor,
        )

    return _kept(bind, make)


def _kind(bind: Bind) -> str:
    """The op type, for anonymous tables that of the shared kind."""
    named = bind.node.type.removeprefix(_ANONYMOUS)
    return named if named == bind.node.type else f"{named}V2"


def _kept(bind: Bind, make: Callable[[], LookupTable]) -> LookupTable:
    attrs, kind = bind.attrs, _kind(bind)
    key_dtype, value_dtype = attrs["key_dtype"], attrs["value_dtype"]
    if value_dtype not in _VALUES[kind].get(key_dtype, "").split():
        raise InvalidArgument(
            f"No OpKernel was registered to support Op '{kind}' with keys of {key_dtype} "
            f"and values of {value_dtype}"
        )
    if bind.node.type.startswith(_ANONYMOUS):
        return make()
    container, name = resource_names(attrs)
    if not name:  # other nodes can only name the table if this one allows it
        name = bind.node.name if attrs["use_node_name_sharing"] else f"_0_{bind.node.name}"
    shared = bind.resources.get_or_create(container, name, LookupTable, make)
    if (shared.key_dtype, shared.value_dtype) != (key_dtype, value_dtype):
        raise InvalidArgument(
            f"Conflicting key/value dtypes {_named(key_dtype)}->{_named(value_dtype)} "
            f"with {_named(shared.key_dtype)}-{_named(shared.value_dtype)} for table {name}"
        )
    return shared


def _named(dtype: str) -> str:
    return BY_NAME[dtype].opdef


def _known(shape: Sequence[int | None] | None) -> tuple[int, ...]:
    sizes = [size for size in shape or () if size is not None]
    if shape is None or len(sizes) != len(shape):
        shown_shape = (
            "<unknown>"
            if shape is None
            else "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"
        )
        raise InvalidArgument(f"Shape {shown_shape} is not fully defined")
    return tuple(sizes)


def _zero(dtype: str) -> bytes | int:
    return b"" if dtype == "string" else 0


def _table_of(handle: object, have: Sequence[str], *, only_keys: bool = False) -> LookupTable:
    """The table of a handle, checked against the dtypes of keys and values."""
    table_ = _checked(handle)
    wanted = (table_.key_dtype,) if only_keys else (table_.key_dtype, table_.value_dtype)
    if tuple(have) != wanted:
        raise InvalidArgument(
            f"Signature mismatch, have: resource, {', '.join(map(_named, have))} "
            f"expected: resource, {', '.join(map(_named, wanted))}"
        )
    return table_


def _checked(handle: object) -> LookupTable:
    if not isinstance(handle, LookupTable):
        raise InvalidArgument(
            "Trying to access a handle's resource using the wrong type: it is no table"
        )
    return handle


def _keys(keys: Array, key_shape: Sequence[int]) -> list[Key]:
    """The keys as Python values, tuples for keys that are not scalars."""
    flat: list[Key] = keys.reshape(-1).tolist()
    if not key_shape:
        return flat
    size = 1
    for extent in key_shape:
        size *= extent
    return [tuple(flat[start : start + size]) for start in range(0, len(flat), size)]


def _rows(xp: ArrayModule, values: Array, value_shape: Sequence[int]) -> list[Row]:
    """The values as Python values, or as copied arrays if they are not scalars."""
    if not value_shape:
        scalars: list[Row] = values.reshape(-1).tolist()
        return scalars
    own = xp.array(values).reshape((-1, *value_shape))
    return list(own)


def _array(
    xp: ArrayModule, rows: Sequence[Any], outer: Sequence[int], inner: Sequence[int], dtype: str
) -> Array:
    """The tensor of these rows, of shape [*outer, *inner]."""
    shape = (*outer, *inner)
    if not rows:
        return full(xp, shape, _zero(dtype), dtype_of(dtype))
    if inner:
        return stacked(xp, rows).reshape(shape)
    if dtype == "string":
        return string_array(rows, shape)
    return xp.asarray(rows, dtype=dtype_of(dtype)).reshape(shape)


def _pairs(
    xp: ArrayModule, target: LookupTable, keys: Array, values: Array, wanted: tuple[int, ...]
) -> list[Pair]:
    """Pairs of keys and values, which must have the wanted shape."""
    if tuple(values.shape) != wanted:
        raise InvalidArgument(
            f"Expected shape {shown(wanted)} for value, got {shown(values.shape)}"
        )
    rows = _rows(xp, values, target.value_shape)
    return list(zip(_keys(keys, target.key_shape), rows, strict=True))


def _exported_inner(source: LookupTable) -> tuple[int, ...]:
    """The shape of a value in exported and imported tensors."""
    return source.value_shape or ((1,) if isinstance(source, DenseTable) else ())


@kernel("LookupTableFindV2", devices=_CPU)
def find(
    xp: ArrayModule, handle: object, keys: Array, default: Array, *, Tin: str, Tout: str
) -> Array:
    """The values of the keys; the default, or defaults, for missing keys."""
    dtypes = (Tin, Tout)
    source = _table_of(handle, dtypes)
    outer = source.outer_shape(keys.shape)
    inner = source.value_shape
    given = tuple(default.shape)
    if given not in {inner, (*outer, *inner)}:
        raise InvalidArgument(
            f"Expected shape {shown(inner)} or {shown((*outer, *inner))} for default "
            f"value, got {shown(given)}"
        )
    defaults = _rows(xp, default, inner)
    if len(defaults) == 1 or source.takes_one_default:
        defaults = defaults[:1] * math.prod(outer)
    rows = source.find(_keys(keys, source.key_shape), defaults)
    return _array(xp, rows, outer, inner, source.value_dtype)


@kernel("LookupTableInsertV2", devices=_CPU)
def insert(
    xp: ArrayModule, handle: object, keys: Array, values: Array, *, Tin: str, Tout: str
) -> None:
    """Inserts keys and values."""
    dtypes = (Tin, Tout)
    target = _table_of(handle, dtypes)
    wanted = (*target.outer_shape(keys.shape), *target.value_shape)
    target.insert(_pairs(xp, target, keys, values, wanted))


@kernel("LookupTableImportV2", devices=_CPU)
def restore(
    xp: ArrayModule, handle: object, keys: Array, values: Array, *, Tin: str, Tout: str
) -> None:
    """Replaces all keys and values."""
    dtypes = (Tin, Tout)
    target = _table_of(handle, dtypes)
    wanted = (*target.imported_outer_shape(keys.shape), *_exported_inner(target))
    target.restore(_pairs(xp, target, keys, values, wanted))


@kernel("LookupTableRemoveV2", devices=_CPU)
def remove(_: ArrayModule, handle: object, keys: Array, *, Tin: str) -> None:
    """Removes keys."""
    dtypes = (Tin,)
    target = _table_of(handle, dtypes, only_keys=True)
    target.outer_shape(keys.shape)
    target.remove(_keys(keys, target.key_shape))


@binder("LookupTableSizeV2", devices=_CPU)
def size(bind: Bind) -> KernelFunction:
    """The number of keys."""
    return lambda handle: bind.xp.int64(len(_checked(handle)))


@kernel("LookupTableExportV2", devices=_CPU)
def export(xp: ArrayModule, handle: object, *, Tkeys: str, Tvalues: str) -> tuple[Array, Array]:
    """All keys and values of the table."""
    dtypes = (Tkeys, Tvalues)
    source = _table_of(handle, dtypes)
    shape, keys, rows = source.exported()
    if source.key_shape:
        keys = [part for key in keys for part in key]
    values = _array(xp, rows, (len(rows),), source.value_shape, source.value_dtype)
    return (
        _array(xp, keys, shape, (), source.key_dtype),
        values.reshape((len(rows), *_exported_inner(source))),
    )


def _fillable(handle: object) -> StaticTable:
    if not isinstance(handle, StaticTable):
        kind = getattr(handle, "kind", "")
        raise InvalidArgument(f"Table localhost {kind} is not initializable")
    return handle


@kernel("InitializeTableV2", devices=_CPU)
def fill(
    xp: ArrayModule, handle: object, keys: Array, values: Array, *, Tkey: str, Tval: str
) -> None:
    """Initializes the table with keys and values."""
    dtypes = (Tkey, Tval)
    target = _fillable(handle)
    _table_of(target, dtypes)
    if len(keys.shape) != 1:
        raise InvalidArgument(f"Keys must be a vector, but received shape{shown(keys.shape)}")
    rows = _rows(xp, values, ())
    if len(rows) != keys.shape[0]:
        raise InvalidArgument(
            f"Keys and values must have the same size {keys.shape[0]} vs {len(rows)}"
        )
    target.fill(zip(_keys(keys, ()), rows, strict=True), len(rows))


@binder("InitializeTableFromTextFileV2", devices=_CPU)
def fill_from_file(bind: Bind) -> KernelFunction:
    """Initializes the table with the lines of a file."""
    attrs = bind.attrs
    columns = (attrs["key_index"], attrs["value_index"])
    options = (attribute_text(attrs["delimiter"]), attrs["vocab_size"], attrs["offset"])

    def compute(handle: object, filename: Array) -> None:
        target = _fillable(handle)
        if filename.reshape(-1).shape != (1,):
            raise InvalidArgument(
                f"filename should be a single string, but got {shown(filename.shape)}"
            )
        path = filename.item().decode(errors="surrogateescape")
        reader = LineReader(path, *options)
        pairs = reader.pairs(columns, (target.key_dtype, target.value_dtype))
        target.fill(pairs, reader.limit)

    return compute
