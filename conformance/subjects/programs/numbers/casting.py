"""Programs of `tf.cast` between all dtypes, and of `tf.bitcast`."""

from __future__ import annotations

import itertools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

_NUMBERS = [
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
_NARROW = ["float8_e5m2", "float8_e4m3fn", "int4", "uint4"]
_QUANTIZED = ["qint8", "quint8", "qint16", "quint16", "qint32"]


def _of(tf, dtype: str):
    """Small numbers of a dtype, by the conversion from another one that exists."""
    if dtype == "string":
        return tf.constant(["1", "0", "3"])
    if dtype in {"int4", "uint4"}:
        return tf.cast(tf.constant([0, 1, 3], tf.int8), getattr(tf.dtypes, dtype, dtype))
    if dtype in _QUANTIZED:
        plain = getattr(tf, dtype.replace("q", "", 1))
        return tf.bitcast(tf.constant([0, 1, 3], plain), dtype)
    if dtype in _NARROW:
        return tf.cast(tf.constant([0.0, 1.0, 3.0]), dtype)
    return tf.cast(tf.constant([0.0, 1.0, 3.5]), dtype)


def _every_pair(tf):
    """Casts between all dtypes, those to narrow ones cast on to a wider one; or the errors."""
    names = [*_NUMBERS, *_NARROW, "string"]
    with tf.Session() as session:
        sources = {name: _of(tf, name) for name in names}
        ways = []
        for source, target in itertools.product(names, repeat=2):
            there = tf.cast(sources[source], target)
            ways.append(tf.cast(there, _wide(target)) if target in _NARROW else there)
        return attempt(*(lambda way=way: session.run(way) for way in ways))


def _wide(name: str) -> str:
    return "int8" if name in {"int4", "uint4"} else "float32"


def _of_halves(tf):
    """Casts of fractions, negative and complex numbers to integers and to narrow floats."""
    x = np.array([-2.5, -1.0, -0.5, 0.5, 1.5, 100.75])
    signed = ["int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "complex64"]
    sources = [tf.cast(tf.constant(x), name) for name in ("float16", "bfloat16", "float32")]
    sources += [tf.constant(x), tf.constant(x + 2j), tf.cast(tf.constant(x + 2j), tf.complex64)]
    casts = [tf.cast(source, target) for source in sources for target in (*signed, "bool")]
    narrow = [
        tf.cast(tf.cast(source, target), tf.float32)
        for source in sources[:4]
        for target in _NARROW[:2]
    ]
    with tf.Session() as session:
        return [session.run(casts), session.run(narrow)]


def _truncated(tf):
    """Casts to narrow floats, rounded to nearest or, with `Truncate`, towards zero."""
    x = np.array(
        [
            1.0008,
            1.01171875,
            -1.01171875,
            1 + 2**-24 + 2**-26,
            3e38,
            65519.9,
            0.1,
            -65530,
            float("inf"),
            float("-inf"),
            0.0,
            -3.999999999,
        ]
    )
    sources = "float64", "float32", "complex64", "complex128", "float16", "bfloat16"
    targets = "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "complex64", "int8"
    with tf.Session() as session:
        return [
            session.run(
                tf.cast(
                    tf.raw_ops.Cast(
                        x=tf.cast(tf.constant(x[-1] if target == "int8" else x), source),
                        DstT=tf.as_dtype(target),
                        Truncate=truncate,
                    ),
                    tf.complex128,
                )
            )
            for source, target in itertools.product(sources, targets)
            # complex numbers are not cast to narrow floats; TensorFlow breaks float64 to complex64
            if not (source.startswith("complex") and target in _NARROW)
            and (source, target) != ("float64", "complex64")
            for truncate in (False, True)
        ]


def _bytes_seen(tf):
    """Bitcasts to dtypes of the same, of a larger and of a smaller size."""
    names = [*_NUMBERS[1:], *_QUANTIZED]
    data = np.arange(16, dtype=np.uint8)
    sources = [
        data.view(kind).reshape(-1, length // np.dtype(kind).itemsize)
        for kind in ("uint8", "int16", "float32", "complex64")
        for length in (2, 4, 8, 16)
        if length >= np.dtype(kind).itemsize
    ]
    with tf.Session() as session:

        def seen(source: np.ndarray, target: str):
            there = tf.bitcast(tf.constant(source), target)
            return there, session.run(tf.bitcast(there, tf.uint8))

        pairs = itertools.product(sources, names)
        return attempt(*(lambda pair=pair: seen(*pair) for pair in pairs))


BEHAVIOURS = {
    "every pair": _every_pair,
    "of halves": _of_halves,
    "truncated": _truncated,
    "bytes seen": _bytes_seen,
}
