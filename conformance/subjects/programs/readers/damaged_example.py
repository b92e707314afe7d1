"""Programs that parse Examples whose bytes are truncated, unusual or invalid."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BEHAVIOURS"]


def _field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message, of bytes; shorter than 128."""
    return bytes([number << 3 | 2, len(content)]) + content


def _feature(key: bytes, kind: int, values: bytes) -> bytes:
    """An entry of a map of features."""
    return _field(1, _field(1, key) + _field(2, _field(kind, values)))


_WORDS = _feature(b"s", 1, _field(1, b"ab") + _field(1, b""))
_FLOATS = _feature(b"f", 2, _field(1, b"\x00\x00\x80\x3f\x00\x00\x20\xc0"))
_NUMBERS = _feature(b"i", 3, _field(1, b"\x05" + b"\xfe" + b"\xff" * 8 + b"\x01"))
_EXAMPLE = _field(1, _WORDS + _FLOATS + _NUMBERS)


def _parsed(tf, examples: Sequence[bytes]):
    """The values of each example, parsed by itself."""
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string, [])
        features = tf.parse_single_example(
            serialized,
            {
                "s": tf.VarLenFeature(tf.string),
                "f": tf.VarLenFeature(tf.float32),
                "i": tf.VarLenFeature(tf.int64),
            },
        )
        values = {key: features[key].values for key in "sfi"}
        return [_values(tf, session, values, {serialized: example}) for example in examples]


def _values(tf, session, fetches, feeds):
    """The values, or "refused": TensorFlow's message may contain bytes that are not UTF-8."""
    try:
        return session.run(fetches, feeds)
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError):
        return "refused"


def _cut_off(tf):
    return _parsed(tf, [_EXAMPLE[:length] for length in range(len(_EXAMPLE) + 1)])


def _changed(tf):
    """Examples with one changed byte."""
    return [
        _parsed(
            tf,
            [
                _EXAMPLE[:position] + bytes([_EXAMPLE[position] ^ mask]) + _EXAMPLE[position + 1 :]
                for position in range(len(_EXAMPLE))
            ],
        )
        for mask in (0x01, 0x06, 0x80)
    ]


def _surrounded(tf):
    """Unknown fields before and after an Example: complete, truncated, or too long."""
    long = b"\xff" * 10
    strange = [
        b"\x10\x05",
        b"\x10\x80\x01",
        b"\x11" + b"x" * 8,
        b"\x15" + b"x" * 4,
        _field(2, b"xyz"),
        _field(3, _WORDS),
        b"\x1b\x1c",
        b"\x1f",
        b"\x10",
        b"\x11" + b"x" * 7,
        b"\x15" + b"x" * 3,
        b"\x12\x7fxyz",
        b"\x12",
        b"\x00",
        b"\x00\x05",
        b"\x80",
        b"\x80\x80",
        long,
        long + b"\x05",
        long + b"\x05" + b"x" * 8,
        b"\x10" + long,
        b"\x10" + b"\xff" * 9 + b"\x01",
        b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\xf8\xff\xff\xff\x0f\x01",
        b"\xfa\xff\xff\xff\x0f\x01z",
        b"\xfa\xff\xff\xff\xff\x01\x01z",
        b"\x0a\x00",
        b"\x0a",
    ]
    return [
        _parsed(tf, strange),
        _parsed(tf, [field + _EXAMPLE for field in strange]),
        _parsed(tf, [_EXAMPLE + field for field in strange]),
        _parsed(
            tf, [_EXAMPLE + field + _field(1, _feature(b"i", 3, b"\x08\x09")) for field in strange]
        ),
    ]


def _features(tf):
    """Features in other encodings: not packed, twice, without a kind, with additional fields."""
    entries = [
        _feature(b"i", 3, b"\x08\x05\x08\x06"),
        _feature(b"i", 3, b"\x08\x05\x0a\x01\x06"),
        _feature(b"i", 3, b"\x0a\x01\x06\x08\x05"),
        _feature(b"i", 3, b""),
        _feature(b"i", 3, b"\x0a\x00"),
        _feature(b"i", 3, b"\x08"),
        _feature(b"i", 3, b"\x0a\x02\x05"),
        _feature(b"i", 3, _field(1, b"\x80")),
        _feature(b"i", 3, _field(1, b"\xff" * 10)),
        _feature(b"i", 3, _field(1, b"\xff" * 9 + b"\x7f")),
        _feature(b"i", 3, b"\x10\x05"),
        _feature(b"f", 2, b"\x0d\x00\x00\x80\x3f"),
        _feature(b"f", 2, b"\x0d\x00\x00\x80"),
        _feature(b"f", 2, _field(1, b"\x00\x00\x80")),
        _feature(b"f", 2, b"\x08\x05"),
        _feature(b"s", 1, b"\x0a\x02a"),
        _feature(b"s", 1, b"\x12\x01a"),
        _feature(b"s", 1, b""),
        _feature(b"i", 2, b"\x0d\x00\x00\x80\x3f"),
        _feature(b"", 3, b""),
        _field(1, _field(1, b"i")),
        _field(1, _field(1, b"i") + _field(2, b"")),
        _field(1, _field(2, _field(3, b"\x08\x05")) + _field(1, b"i")),
        _field(1, b""),
        _field(1, _field(1, b"i") + _field(2, _field(3, b"\x08\x05")) + _field(3, b"z")),
        _field(2, b"z"),
        b"\x08\x05",
        _field(1, _field(1, b"i") + _field(2, _field(3, b"\x08\x05") + _field(3, b"\x08\x07"))),
        _field(1, _field(1, b"i") + _field(2, _field(3, b"\x08\x05") + _field(2, b""))),
        _field(1, _field(1, b"\xff") + _field(2, _field(3, b"\x08\x05"))),
    ]
    of_no_kind = [_feature(b"i", 4, b""), _field(1, _field(1, b"i") + _field(2, b"\x18\x05"))]
    return [
        _parsed(tf, [_field(1, entry) for entry in entries + of_no_kind]),
        _parsed(tf, [_field(1, _NUMBERS + entry) for entry in entries + of_no_kind]),
        _parsed(tf, [_field(1, entry + _NUMBERS) for entry in entries]),
    ]


def _sequences(tf):
    """SequenceExamples whose context or lists are truncated, or mixed with other fields."""
    step = _field(3, b"\x08\x05")
    lists = _field(1, _field(1, b"l") + _field(2, _field(1, step) + _field(1, b"") * 0))
    sequence = _field(1, _NUMBERS) + _field(2, lists)
    given = [sequence[:length] for length in range(len(sequence) + 1)]
    given += [
        b"\x18\x05" + sequence,
        sequence + b"\x18",
        sequence + _field(3, b"z"),
        sequence * 2,
        _field(1, _NUMBERS) * 2,
        _field(2, lists) * 2,
        sequence + b"\x12\x7f",
        _field(2, _field(1, _field(1, b"l") + _field(2, b"\x12\x00"))),
        _field(2, _field(1, _field(1, b"l") + _field(2, b""))),
        _field(2, _field(1, _field(1, b"l"))),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string, [])
        context, sequences = tf.parse_single_sequence_example(
            serialized, {"i": tf.VarLenFeature(tf.int64)}, {"l": tf.VarLenFeature(tf.int64)}
        )
        values = [context["i"].values, sequences["l"].values, sequences["l"].dense_shape]
        return [_values(tf, session, values, {serialized: example}) for example in given]


BEHAVIOURS = {
    "cut off": _cut_off,
    "changed": _changed,
    "surrounded": _surrounded,
    "features": _features,
    "sequences": _sequences,
}
