"""Kernels of lookup tables: a handle is the session's table itself.

Tables are Python's dicts, of Python's numbers and strings, which tensors are made into and of:
20,000 integers are found in four to five times TensorFlow's time, put in or given out in three,
rows of 10 floats found in five. Dense tables probe their buckets in a Python loop, as TensorFlow
orders them: finding takes fourteen times, putting in ten, giving out lists of buckets thirteen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import dtype_of, full, stacked, string_array
from sessrun.reference.kernels.registry import Bind, binder
from sessrun.reference.state.tables.dense_table import DenseTable
from sessrun.reference.state.tables.table_files import LineReader
from sessrun.reference.state.tables.table_resource import (
    LookupTable,
    MutableTable,
    StaticTable,
    shown,
)
from sessrun.spec.dtypes import BY_NAME

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: What the types of tables begin with that one run makes for itself.
_ANONYMOUS: Final = "Anonymous"

_NUMBERS: Final = "float32 float64 int32"
#: For each kind of table and dtype of keys, the dtypes that values may have.
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
def table(bind: Bind) -> Callable[..., Any]:
    """The table of that container and name, made if there is none; or a new one."""
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


@binder("MutableDenseHashTableV2", "AnonymousMutableDenseHashTable", devices=_CPU)
def dense_table(bind: Bind) -> Callable[..., Any]:
    """The table of that container and name, made if there is none; or a new one."""
    attrs = bind.attrs

    def compute(empty_key: Any, deleted_key: Any) -> LookupTable:
        def make() -> LookupTable:
            if empty_key.shape != deleted_key.shape:
                raise InvalidArgument(
                    "Empty and deleted keys must have same shape, got shapes: "
                    f"{shown(empty_key.shape)} and {shown(deleted_key.shape)}"
                )
            shape = _known(attrs["value_shape"])
            zero = full(bind.xp, shape, _zero(attrs["value_dtype"]), dtype_of(attrs["value_dtype"]))
            keys = [_keys(key, empty_key.shape)[0] for key in (empty_key, deleted_key)]
            return DenseTable(
                attrs["key_dtype"],
                attrs["value_dtype"],
                shape,
                tuple(empty_key.shape),
                reserved=(keys[0], keys[1]),
                zero=_rows(bind.xp, zero, shape)[0],
                buckets=attrs["initial_num_buckets"],
                max_load=attrs["max_load_factor"],
            )

        return _kept(bind, make)

    return compute


def _kind(bind: Bind) -> str:
    """The type of the operation, or of the one that keeps what this one does not."""
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
    if not name:  # another node can only name the table if this one lets it
        name = bind.node.name if attrs["use_node_name_sharing"] else f"_0_{bind.node.name}"
    found = bind.resources.get_or_create(container, name, LookupTable, make)
    if (found.key_dtype, found.value_dtype) != (key_dtype, value_dtype):
        raise InvalidArgument(
            f"Conflicting key/value dtypes {_named(key_dtype)}->{_named(value_dtype)} "
            f"with {_named(found.key_dtype)}-{_named(found.value_dtype)} for table {name}"
        )
    return found


def _named(dtype: str) -> str:
    return BY_NAME[dtype].opdef


def _known(shape: Sequence[int | None] | None) -> tuple[int, ...]:
    sizes = [size for size in shape or () if size is not None]
    if shape is None or len(sizes) != len(shape):
        told = (
            "<unknown>"
            if shape is None
            else "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"
        )
        raise InvalidArgument(f"Shape {told} is not fully defined")
    return tuple(sizes)


def _zero(dtype: str) -> Any:
    return b"" if dtype == "string" else 0


def _table_of(handle: Any, have: Sequence[str], *, only_keys: bool = False) -> LookupTable:
    """The table behind a handle, if it is of these dtypes of keys and values."""
    found = _checked(handle)
    wanted = (found.key_dtype,) if only_keys else (found.key_dtype, found.value_dtype)
    if tuple(have) != wanted:
        raise InvalidArgument(
            f"Signature mismatch, have: resource, {', '.join(map(_named, have))} "
            f"expected: resource, {', '.join(map(_named, wanted))}"
        )
    return found


def _checked(handle: Any) -> LookupTable:
    if not isinstance(handle, LookupTable):
        raise InvalidArgument(
            "Trying to access a handle's resource using the wrong type: it is no table"
        )
    return handle


def _keys(keys: Any, key_shape: Sequence[int]) -> list[Any]:
    """The keys as the table has them."""
    flat: list[Any] = keys.reshape(-1).tolist()
    if not key_shape:
        return flat
    size = 1
    for extent in key_shape:
        size *= extent
    return [tuple(flat[start : start + size]) for start in range(0, len(flat), size)]


def _rows(xp: Any, values: Any, value_shape: Sequence[int]) -> list[Any]:
    """The values as the table has them; never the memory of a feed."""
    if not value_shape:
        scalars: list[Any] = values.reshape(-1).tolist()
        return scalars
    own = xp.array(values).reshape((-1, *value_shape))
    return list(own)


def _array(
    xp: Any, rows: Sequence[Any], outer: Sequence[int], inner: Sequence[int], dtype: str
) -> Any:
    """The tensor of these rows."""
    shape = (*outer, *inner)
    if not rows:
        return full(xp, shape, _zero(dtype), dtype_of(dtype))
    if inner:
        return stacked(xp, rows).reshape(shape)
    if dtype == "string":
        return string_array(rows, shape)
    return xp.asarray(rows, dtype=dtype_of(dtype)).reshape(shape)


def _pairs(
    xp: Any, target: LookupTable, keys: Any, values: Any, wanted: tuple[int, ...]
) -> list[tuple[Any, Any]]:
    """Keys and rows, one for each key; the values must be of that shape."""
    if tuple(values.shape) != wanted:
        raise InvalidArgument(
            f"Expected shape {shown(wanted)} for value, got {shown(values.shape)}"
        )
    rows = _rows(xp, values, target.value_shape)
    return list(zip(_keys(keys, target.key_shape), rows, strict=True))


def _exported_inner(source: LookupTable) -> tuple[int, ...]:
    """The shape of a row where the whole table is a tensor."""
    return source.value_shape or ((1,) if isinstance(source, DenseTable) else ())


@binder("LookupTableFindV2", devices=_CPU)
def find(bind: Bind) -> Callable[..., Any]:
    """The value of each key, or its default, or the one default."""
    dtypes = bind.attrs["Tin"], bind.attrs["Tout"]

    def compute(handle: Any, keys: Any, default: Any) -> Any:
        source = _table_of(handle, dtypes)
        outer = source.outer_shape(keys.shape)
        inner = source.value_shape
        given = tuple(default.shape)
        if given not in {inner, (*outer, *inner)}:
            raise InvalidArgument(
                f"Expected shape {shown(inner)} or {shown((*outer, *inner))} for default "
                f"value, got {shown(given)}"
            )
        defaults = _rows(bind.xp, default, inner)
        if len(defaults) == 1 or source.takes_one_default:
            defaults = defaults[:1] * math.prod(outer)
        rows = source.find(_keys(keys, source.key_shape), defaults)
        return _array(bind.xp, rows, outer, inner, source.value_dtype)

    return compute


@binder("LookupTableInsertV2", devices=_CPU)
def insert(bind: Bind) -> Callable[..., Any]:
    """Puts keys and values in."""
    dtypes = bind.attrs["Tin"], bind.attrs["Tout"]

    def compute(handle: Any, keys: Any, values: Any) -> None:
        target = _table_of(handle, dtypes)
        wanted = (*target.outer_shape(keys.shape), *target.value_shape)
        target.insert(_pairs(bind.xp, target, keys, values, wanted))

    return compute


@binder("LookupTableImportV2", devices=_CPU)
def restore(bind: Bind) -> Callable[..., Any]:
    """Puts keys and values in place of all others."""
    dtypes = bind.attrs["Tin"], bind.attrs["Tout"]

    def compute(handle: Any, keys: Any, values: Any) -> None:
        target = _table_of(handle, dtypes)
        wanted = (*target.imported_outer(keys.shape), *_exported_inner(target))
        target.restore(_pairs(bind.xp, target, keys, values, wanted))

    return compute


@binder("LookupTableRemoveV2", devices=_CPU)
def remove(bind: Bind) -> Callable[..., Any]:
    """Takes keys out."""
    dtypes = (bind.attrs["Tin"],)

    def compute(handle: Any, keys: Any) -> None:
        target = _table_of(handle, dtypes, only_keys=True)
        target.outer_shape(keys.shape)
        target.remove(_keys(keys, target.key_shape))

    return compute


@binder("LookupTableSizeV2", devices=_CPU)
def size(bind: Bind) -> Callable[..., Any]:
    """How many keys it has."""
    return lambda handle: bind.xp.int64(len(_checked(handle)))


@binder("LookupTableExportV2", devices=_CPU)
def export(bind: Bind) -> Callable[..., Any]:
    """Its keys and values."""
    dtypes = bind.attrs["Tkeys"], bind.attrs["Tvalues"]

    def compute(handle: Any) -> Any:
        source = _table_of(handle, dtypes)
        shape, keys, rows = source.exported()
        if source.key_shape:
            keys = [part for key in keys for part in key]
        values = _array(bind.xp, rows, (len(rows),), source.value_shape, source.value_dtype)
        return (
            _array(bind.xp, keys, shape, (), source.key_dtype),
            values.reshape((len(rows), *_exported_inner(source))),
        )

    return compute


def _fillable(handle: Any) -> StaticTable:
    if not isinstance(handle, StaticTable):
        kind = getattr(handle, "kind", "")
        raise InvalidArgument(f"Table localhost {kind} is not initializable")
    return handle


@binder("InitializeTableV2", devices=_CPU)
def fill(bind: Bind) -> Callable[..., Any]:
    """Fills it with keys and values."""
    dtypes = bind.attrs["Tkey"], bind.attrs["Tval"]

    def compute(handle: Any, keys: Any, values: Any) -> None:
        target = _fillable(handle)
        _table_of(target, dtypes)
        if len(keys.shape) != 1:
            raise InvalidArgument(f"Keys must be a vector, but received shape{shown(keys.shape)}")
        rows = _rows(bind.xp, values, ())
        if len(rows) != keys.shape[0]:
            raise InvalidArgument(
                f"Keys and values must have the same size {keys.shape[0]} vs {len(rows)}"
            )
        target.fill(zip(_keys(keys, ()), rows, strict=True), len(rows))

    return compute


@binder("InitializeTableFromTextFileV2", devices=_CPU)
def fill_from_file(bind: Bind) -> Callable[..., Any]:
    """Fills it with the lines of a file."""
    attrs = bind.attrs
    columns = (attrs["key_index"], attrs["value_index"])
    options = (attribute_text(attrs["delimiter"]), attrs["vocab_size"], attrs["offset"])

    def compute(handle: Any, filename: Any) -> None:
        target = _fillable(handle)
        if filename.reshape(-1).shape != (1,):
            raise InvalidArgument(
                f"filename should be a single string, but got {shown(filename.shape)}"
            )
        path = filename.reshape(-1)[0].decode(errors="surrogateescape")
        reader = LineReader(path, *options)
        pairs: Iterator[Any] = reader.pairs(columns, (target.key_dtype, target.value_dtype))
        target.fill(pairs, reader.limit)

    return compute
