"""Bytes and text that are drawn together with the values that parsing them must give."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.conformance.subjects.parsing.example_bytes import example
from sessrun.spec import tensors
from sessrun.spec.forms import Json

__all__ = ["Drawn", "draw_parsing"]

_WORDS: Final = (b"", b"a", b"two words", b"x,y", b'say "so"', b"\xc3\xa4", b"z" * 40)
_LETTERS: Final = b"abcdefgh"
_NUMBERS: Final = (
    "uint8",
    "int8",
    "int16",
    "uint16",
    "int32",
    "int64",
    "float32",
    "float64",
)

#: An element of a field or of a feature.
_Element = bytes | float | int


@dataclass(slots=True)
class Drawn:
    """A batch of strings and what it is parsed to.

    Attributes:
      title: one sentence.
      given: the strings; one only if there is no batch.
      writes: writes the nodes, given the name of the strings' placeholder.
      fetches: what is fetched.
      values: what that is, unless it fails.
      code: of the failure that is expected, or None.
      single: whether the strings are one scalar.

    """

    title: str
    given: list[bytes]
    writes: Callable[[GraphWriter, str], None]
    fetches: list[str] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    code: int | None = None
    single: bool = False


def strings(values: Sequence[_Element], shape: Sequence[int]) -> np.ndarray:
    """A tensor of strings."""
    tensor = np.empty(len(values), object)
    tensor[:] = list(values)
    return tensor.reshape(tuple(shape))


def _constant(writer: GraphWriter, name: str, dtype: str, items: Sequence[_Element]) -> str:
    """Write a constant vector."""
    kind = {
        "string": "stringVal",
        "float32": "floatVal",
        "int64": "int64Val",
        "int32": "intVal",
        "float64": "doubleVal",
    }[dtype]
    if dtype == "string":
        held: list[Json] = tensors.encode(strings(items, [len(items)]))["data"]
    else:
        numbers = [item for item in items if not isinstance(item, bytes)]
        held = [str(item) if dtype.startswith("int") else _real(item) for item in numbers]
    tensor = {
        "dtype": f"DT_{_ENUMS[dtype]}",
        "tensorShape": {"dim": [{"size": str(len(items))}]},
        kind: held,
    }
    return writer.node("Const", [], {"dtype": dtype_attr(dtype), "value": {"tensor": tensor}}, name)


def _real(value: float) -> float | str:
    return value if math.isfinite(value) else "Infinity"


_ENUMS: Final = {
    "string": "STRING",
    "float32": "FLOAT",
    "int64": "INT64",
    "int32": "INT32",
    "float64": "DOUBLE",
}


def draw_parsing(draw: random.Random) -> Drawn:
    """Lines of fields, Examples, or bytes of numbers."""
    return draw.choice((_lines, _lines, _examples, _examples, _examples, _numbers))(draw)


# --- lines of fields ----------------------------------------------------------------------


def _field(draw: random.Random, dtype: str) -> tuple[bytes, _Element]:
    """A field's text and its value."""
    match dtype:
        case "string":
            word = draw.choice(_WORDS[1:])
            return word, word
        case "float32" | "float64":
            value = draw.choice((0.5, -2.0, 1e20, 3.25, float("inf")))
            return repr(value).encode(), value
    bound = 31 if dtype == "int32" else 63
    value = draw.choice((0, -1, 7, 2**bound - 1, -(2**bound), draw.randrange(1000)))
    return draw.choice((b"%d", b" %d ")) % value, value


def _quoted(draw: random.Random, text: bytes, delimiter: bytes) -> bytes:
    if delimiter in text or b'"' in text or draw.random() < 0.2:
        return b'"' + text.replace(b'"', b'""') + b'"'
    return text


def _lines(draw: random.Random) -> Drawn:
    dtypes = [draw.choice(tuple(_ENUMS)) for _ in range(draw.randint(1, 4))]
    rows = draw.randint(1, 9)
    delimiter = draw.choice((b",", b",", b"|", b"\t", b";"))
    defaults = [[_field(draw, dtype)[1]] if draw.random() < 0.6 else [] for dtype in dtypes]
    columns: list[list[_Element]] = [[] for _ in dtypes]
    given, code = [], None
    for _ in range(rows):
        texts = []
        for column_index, dtype in enumerate(dtypes):
            text, value = _field(draw, dtype)
            if defaults[column_index] and draw.random() < 0.2:
                text, value = draw.choice((b"", b"NA")), defaults[column_index][0]
            texts.append(_quoted(draw, text, delimiter) if text else text)
            columns[column_index].append(value)
        given.append(delimiter.join(texts))
    wrong = draw.random()
    if wrong < 0.08:
        given[-1], code = given[-1] + delimiter + b"7", 3
    elif wrong < 0.14 and len(dtypes) > 1 and not all(defaults):
        given[-1], code = delimiter * (len(dtypes) - 1), 3
    if b"" in given:  # an empty line has no field at all
        code = 3
    shown = [
        np.array(column, object if dtype == "string" else dtype)
        for column, dtype in zip(columns, dtypes, strict=True)
    ]

    def writes(writer: GraphWriter, name: str) -> None:
        inputs = [
            _constant(writer, f"d{column_index}", dtype, defaults[column_index])
            for column_index, dtype in enumerate(dtypes)
        ]
        writer.node(
            "DecodeCSV",
            [name, *inputs],
            {
                "OUT_TYPE": {"list": {"type": [dtype_attr(dtype)["type"] for dtype in dtypes]}},
                "field_delim": text_attr(delimiter),
                "use_quote_delim": {"b": True},
                "na_value": text_attr("NA"),
                "select_cols": {"list": {}},
            },
            "csv",
        )

    fetches = [f"csv:{column_index}" for column_index in range(len(dtypes))]
    return Drawn("Lines of fields are their columns.", given, writes, fetches, shown, code)


# --- bytes of numbers ---------------------------------------------------------------------


def _numbers(draw: random.Random) -> Drawn:
    dtype = draw.choice(_NUMBERS)
    little, length, rows = draw.random() < 0.5, draw.randrange(5), draw.randint(1, 9)
    order = np.dtype(dtype).newbyteorder("<" if little else ">")
    held = [[draw.randrange(100) for _ in range(length)] for _ in range(rows)]
    given = [np.array(row, order).tobytes() for row in held]
    code = None
    if rows > 1 and draw.random() < 0.15:
        given[draw.randrange(rows)] += b"\0"
        code = 3

    def writes(writer: GraphWriter, name: str) -> None:
        attrs = {"out_type": dtype_attr(dtype), "little_endian": {"b": little}}
        writer.node("DecodeRaw", [name], attrs, "raw")

    values = [np.array(held, dtype).reshape(rows, length)]
    return Drawn("Bytes are the numbers they were.", given, writes, ["raw:0"], values, code)


# --- Examples -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Feature:
    """How a feature is parsed: as a sparse tensor, as a dense one, or dense and padded."""

    name: str
    dtype: str
    form: str
    size: int
    default: tuple[_Element, ...]

    def draw(self, draw: random.Random) -> list[_Element] | None:
        """Values in an example, or None if it has no such feature."""
        if draw.random() < 0.2:
            return None
        count = self.size if self.form == "dense" else draw.randrange(4)
        return [_value(draw, self.dtype) for _ in range(count)]


def _value(draw: random.Random, dtype: str) -> _Element:
    if dtype == "string":
        return draw.choice(_WORDS)
    if dtype == "float32":
        return draw.choice((0.5, -0.25, 1e20, 7.0))
    return draw.choice((0, -1, 2**62, draw.randrange(50)))


def _features(draw: random.Random) -> list[_Feature]:
    features = []
    for letter in draw.sample(_LETTERS.decode(), draw.randint(1, 4)):
        dtype = draw.choice(("int64", "float32", "string"))
        form = draw.choice(("sparse", "dense", "padded"))
        size = draw.randint(1, 3)
        count = {"sparse": 0, "padded": 1}.get(form, size if draw.random() < 0.7 else 0)
        default = tuple(_value(draw, dtype) for _ in range(count))
        features.append(_Feature(letter, dtype, form, size, default))
    return features


def _examples(draw: random.Random) -> Drawn:
    features = _features(draw)
    rows = [
        {feature.name: feature.draw(draw) for feature in features}
        for _ in range(draw.randint(1, 9))
    ]
    given = [
        example({key: values for key, values in row.items() if values is not None}) for row in rows
    ]
    code = None
    for feature in features:
        if (
            feature.form == "dense"
            and not feature.default
            and any(r[feature.name] is None for r in rows)
        ):
            code = 3
    if draw.random() < 0.06:
        given[-1], code = b"\n\x02\n\0", 3
    # Empty lists are written as integers: of another dtype than was asked for.
    lists = [(feature, row[feature.name]) for row in rows for feature in features]
    if any(values == [] and feature.dtype != "int64" for feature, values in lists):
        code = 3
    sparse = [feature for feature in features if feature.form == "sparse"]
    dense = [feature for feature in features if feature.form != "sparse"]

    def writes(writer: GraphWriter, name: str) -> None:
        _write_parse(writer, name, sparse, dense)

    drawn = Drawn("Examples are their features.", given, writes, code=code)
    for index, feature in enumerate(sparse):
        column = [row[feature.name] or [] for row in rows]
        drawn.fetches += [f"p:{index + part * len(sparse)}" for part in range(3)]
        drawn.values += _sparse(column, feature.dtype)
    for index, feature in enumerate(dense, 3 * len(sparse)):
        drawn.fetches.append(f"p:{index}")
        drawn.values.append(_dense([row[feature.name] for row in rows], feature))
    return drawn


def _write_parse(
    writer: GraphWriter, name: str, sparse: Sequence[_Feature], dense: Sequence[_Feature]
) -> None:
    keys = [
        _constant(writer, word, "string", [feature.name.encode() for feature in group])
        for word, group in (("names", ()), ("sparse", sparse), ("dense", dense), ("ragged", ()))
    ]
    defaults = []
    for feature in dense:
        held = _constant(writer, f"d_{feature.name}", feature.dtype, feature.default)
        if feature.form == "padded":
            shape = _constant(writer, f"s_{feature.name}", "int32", [])
            kinds = {"T": dtype_attr(feature.dtype), "Tshape": dtype_attr("int32")}
            held = writer.node("Reshape", [held, shape], kinds, f"r_{feature.name}")
        defaults.append(held)
    shapes = [
        shape_attr([None] if feature.form == "padded" else [feature.size])["shape"]
        for feature in dense
    ]
    writer.node(
        "ParseExampleV2",
        [name, *keys, *defaults],
        {
            "Tdense": {"list": {"type": [dtype_attr(feature.dtype)["type"] for feature in dense]}},
            "num_sparse": {"i": str(len(sparse))},
            "sparse_types": {
                "list": {"type": [dtype_attr(feature.dtype)["type"] for feature in sparse]}
            },
            "ragged_value_types": {"list": {}},
            "ragged_split_types": {"list": {}},
            "dense_shapes": {"list": {"shape": shapes}},
        },
        "p",
    )


def _array(values: Sequence[_Element], dtype: str, shape: Sequence[int]) -> np.ndarray:
    if dtype == "string":
        return strings(values, shape)
    return np.array(values, dtype).reshape(tuple(shape))


def _sparse(column: Sequence[Sequence[_Element]], dtype: str) -> list[np.ndarray]:
    places = [(row, index) for row, values in enumerate(column) for index in range(len(values))]
    flat = [value for values in column for value in values]
    return [
        np.array(places, np.int64).reshape(-1, 2),
        _array(flat, dtype, [len(flat)]),
        np.array([len(column), max(map(len, column))]),
    ]


def _dense(column: Sequence[list[_Element] | None], feature: _Feature) -> np.ndarray:
    if feature.form == "dense":
        nothing = [b"" if feature.dtype == "string" else 0] * feature.size
        rows = [list(feature.default) or nothing if values is None else values for values in column]
        return _array(
            [value for row in rows for value in row], feature.dtype, [len(rows), feature.size]
        )
    width = max(len(values or ()) for values in column)
    rows = [values or [] for values in column]
    flat = [value for row in rows for value in [*row, *feature.default * (width - len(row))]]
    return _array(flat, feature.dtype, [len(column), width])
