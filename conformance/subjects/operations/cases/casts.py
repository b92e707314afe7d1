"""Vectors of OPERATIONS: conversion from one dtype to another, of values and of bits."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.edges import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    ends,
    f32,
    f64,
    floats,
    i8,
    i16,
    i64,
    u8,
)
from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.authoring.rows import Rows

_BITS = "OPERATIONS-018"


@engine_case("OPERATIONS-074", title="Floats are cast to integers by dropping their fraction.")
def fractions_are_dropped(c: EngineAuthor) -> None:
    rows = Rows(c)
    for source in FLOATS:
        x = floats(source, [0.0, -0.0, 0.5, 0.99, 1.5, 2.5, 99.75])
        for target in INTEGERS:
            rows.add("Cast", x, DstT=target)
        for target in SIGNED:
            rows.add("Cast", -x, DstT=target)
    rows.add("Cast", f32([16777216.0, -2147483648.0]), DstT="int32")
    rows.add("Cast", f64([2147483647.9, -2147483648.9, 4294967295.0]), DstT="int64")
    rows.run()


@engine_case(
    "OPERATIONS-075",
    title="Integers are cast to narrower or unsigned ones by keeping their low bits.",
)
def low_bits_are_kept(c: EngineAuthor) -> None:
    rows = Rows(c)
    for source in INTEGERS:
        for target in INTEGERS:
            if source != target:
                rows.add("Cast", ends(source), DstT=target)
    rows.run()


@engine_case(
    "OPERATIONS-076",
    title="Numbers are cast to True unless they are zero, NaN and fractions too; True is cast "
    "to 1.",
)
def truth_is_not_zero(c: EngineAuthor) -> None:
    rows = Rows(c)
    for source in FLOATS:
        x = floats(source, [0.0, -0.0, 0.25, -0.5, float("nan"), float("inf")])
        rows.add("Cast", x, DstT="bool")
    for source in INTEGERS:
        rows.add("Cast", ends(source), DstT="bool")
        rows.add("Cast", np.array([True, False]), DstT=source)
    for target in (*FLOATS, *COMPLEX):
        rows.add("Cast", np.array([True, False]), DstT=target)
    rows.run()


@engine_case(
    "OPERATIONS-077",
    title="Numbers are cast to narrower floats by rounding to the nearest, halves to even, and "
    "to infinity beyond the range.",
)
def casts_round_to_nearest(c: EngineAuthor) -> None:
    rows = Rows(c)
    wide = [1 + 2.0**-12, 1 + 3 * 2.0**-12, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-9, 1 / 3]
    more = [65504.0, 65519.0, 65520.0, -1e30, float("inf"), float("nan")]
    for source in ("float32", "float64"):
        for target in ("float16", "bfloat16"):
            rows.add("Cast", floats(source, wide + more), DstT=target)
    rows.add("Cast", f64([1 + 2.0**-24, 1 + 3 * 2.0**-24, 1e39, -1e39, 0.1]), DstT="float32")
    rows.add("Cast", floats("float16", [1 + 2.0**-10, 65504, 1 + 3 * 2.0**-8]), DstT="bfloat16")
    rows.run()


@engine_case(
    "OPERATIONS-079",
    title="Integers are cast to the nearest float, those of the upper half of unsigned dtypes "
    "to positive ones.",
)
def integers_become_the_nearest_float(c: EngineAuthor) -> None:
    rows = Rows(c)
    for source in INTEGERS:
        for target in ("float32", "float64"):
            rows.add("Cast", ends(source), DstT=target)
    for source in ("int32", "uint32", "int64", "uint64"):
        x = np.array([2**24 + 1, 2**24 + 3, 2**31 - 65, 1000], source)
        for target in ("float32", "float64", "bfloat16"):
            rows.add("Cast", x, DstT=target)
        rows.add("Cast", np.array([2049, 2051, 1000], source), DstT="float16")
    for source in UNSIGNED[:2] + SIGNED[:2]:
        rows.add("Cast", np.array([1, 127, 3], source), DstT="float16")
    rows.run()


@engine_case(
    "OPERATIONS-078",
    title="Complex numbers are cast to real ones by their real part, and real ones have no "
    "imaginary part.",
)
def complex_numbers_lose_their_imaginary_part(c: EngineAuthor) -> None:
    rows = Rows(c)
    for source in COMPLEX:
        z = np.array([3 - 4j, -2.5 + 1j, 7j, 0], source)
        for target in ("float32", "float64", "float16", "bool"):
            rows.add("Cast", z, DstT=target)
        for target in ("int32", "int64"):
            rows.add("Cast", z, DstT=target)
        rows.add("Cast", z, DstT="complex128" if source == "complex64" else "complex64")
    for target in COMPLEX:
        rows.add("Cast", f32([1.5, -2]), DstT=target)
        rows.add("Cast", i64([3, -4]), DstT=target)
    rows.run()


@engine_case(
    _BITS,
    title="Bitcast shows the bytes of a number as numbers of another dtype, the lowest byte first.",
)
def bits_are_seen_as_another_dtype(c: EngineAuthor) -> None:
    rows = Rows(c)
    x = f32([1, -2.5, 0, -0.0])
    for target in ("int32", "uint32", "uint8", "int16", "bfloat16"):
        rows.add("Bitcast", x, type=target)
    rows.add("Bitcast", f64([[np.pi, -1], [0.1, 5]]), type="uint64")
    rows.add("Bitcast", f64([[np.pi, -1], [0.1, 5]]), type="int32")
    rows.add("Bitcast", u8([[1, 2, 3, 4], [255, 0, 0, 128]]), type="int32")
    rows.add("Bitcast", i16([[0, 16256]]), type="float32")
    rows.add("Bitcast", i64([1, -1]), type="complex64")
    rows.add("Bitcast", i8([-1, 5]), type="uint8")
    rows.run()
