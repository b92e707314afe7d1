"""Value domains of what tensors are written as and read from: messages, lines, JSON, templates."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.proto import TensorProto
from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.domains.sparse import draw_places, draw_sparse
from sessrun.spec.rules.domains.strings import drawn_texts, text_tensor

__all__ = ["message"]


def message(array: np.ndarray, dtype: str) -> bytes:
    """The bytes of a TensorProto of the array, whose elements are of the dtype of that name."""
    proto = TensorProto()
    proto.dtype = BY_NAME[dtype].enum  # type: ignore[assignment]  # a number of the enumeration
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if dtype == "string":
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = array.tobytes()
    return proto.SerializeToString()


@domain
def tensor_message(draw: Draw, x: str) -> Arguments:
    """The bytes of a tensor of the wanted dtype."""
    dtype = draw.attrs["out_type"]
    content = message(draw.values(dtype, draw.shape()), dtype)
    return draw.arguments(**{x: text_tensor([content], ())})


@domain
def sparse_parts(draw: Draw, indices: str, values: str, shape: str, least: int = 1) -> Arguments:
    """A sparse tensor of a rank of at least so much, to be written as strings."""
    draw.attrs["out_type"] = "string"
    sizes = [draw.dim(1, 4) for _ in range(draw.rank(least, 4))]
    return draw.arguments(**draw_sparse(draw, (indices, values, shape), sizes))


@domain
def sparse_messages(draw: Draw, x: str, stacked: str = "") -> Arguments:
    """The messages of sparse tensors of one rank: three in each row of a matrix, or `stacked`."""
    if stacked:
        draw.attrs["Tserialized"] = "string"
    dtype, rank = draw.attrs["dtype"], draw.rank(1, 3)
    outer = draw.shape(0, 2, 1) if stacked else (draw.dim(1, 3),)
    texts: list[bytes] = []
    for _ in range(int(np.prod(outer, dtype=np.int64))):
        sizes = [draw.dim(1, 3) for _ in range(rank)]
        places = draw_places(draw, sizes, 4)
        texts += [
            message(places, "int64"),
            message(draw.values(dtype, (len(places),)), dtype),
            message(np.array(sizes, np.int64), "int64"),
        ]
    return draw.arguments(**{x: text_tensor(texts, (*outer, 3))})


_FIELDS = {
    "float32": (b"1.5", b"-2e3", b" 7 ", b"0.25"),
    "float64": (b"1.5", b"-2e300", b"0"),
    "int32": (b"7", b"-12", b" 3 ", b"2147483647"),
    "int64": (b"9223372036854775807", b"0"),
    "string": (b"plain", b'"quoted"', b'"a,""b"', b" x "),
}


@domain
def lines_of_fields(draw: Draw, records: str, defaults: str) -> Arguments:
    """Lines with a field for each column, some of them empty where there is a default."""
    types = tuple(draw.random.choice(list(_FIELDS)) for _ in range(draw.random.randint(1, 4)))
    filled = [draw.chance(0.6) for _ in types]
    draw.attrs |= {"OUT_TYPE": types, "use_quote_delim": True, "na_value": "NA"}

    def field(dtype: str, *, is_filled: bool) -> bytes:
        if is_filled and draw.chance(0.3) and len(types) > 1:
            return draw.random.choice((b"", b"NA"))
        return draw.random.choice(_FIELDS[dtype])

    shape = draw.shape(0, 2)
    lines = [
        b",".join(field(dtype, is_filled=more) for dtype, more in zip(types, filled, strict=True))
        for _ in range(int(np.prod(shape, dtype=np.int64)))
    ]
    return draw.arguments(
        **{
            records: text_tensor(lines, shape),
            defaults: [
                draw.values(dtype, (1 if more else 0,), "small")
                for dtype, more in zip(types, filled, strict=True)
            ],
        }
    )


@domain
def json_examples(draw: Draw, x: str) -> Arguments:
    """Texts of Examples of one feature of strings, or of none.

    Left out: more features, whose order is the writer's own affair, and numbers, since they may be
    packed or not.
    """
    features: tuple[dict[str, Any], ...] = (
        {},
        {"a": {"bytesList": {"value": ["YWI=", ""]}}},
        {"b": {"bytesList": {}}},
    )
    texts = [json.dumps({"features": {"feature": feature}}).encode() for feature in features]
    return draw.arguments(**{x: drawn_texts(draw, [*texts, b"{}"], draw.shape(0, 3))})


@domain
def template_texts(draw: Draw, inputs: str) -> Arguments:
    """Tensors to show, and a template with a place for each."""
    types = tuple(
        draw.random.choice(("int32", "int64", "uint8", "bool", "string"))
        for _ in range(draw.random.randint(0, 3))
    )
    mark = draw.random.choice(("%s", "{}"))
    draw.attrs |= {
        "T": types,
        "placeholder": mark,
        "summarize": draw.random.choice((-1, 1, 3)),
        "template": " and ".join(["it is", *[mark] * len(types)]),
    }
    tensors = [draw.values(dtype, draw.shape(0, 3), "any") for dtype in types]
    return draw.arguments(**{inputs: tensors})
