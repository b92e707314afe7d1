"""Executable definitions: what operations give, in plain numpy, by subject.

A definition says the value of an operation on valid arguments, in the order and the words of
mathematics: slow, without a special case for speed, and independent of every engine. The suite
holds engines to it under the operation's numeric contract; `tests/operations/test_definitions.py`
holds it against TensorFlow. `defined_outputs` is the entry point.
"""

from __future__ import annotations

from sessrun.spec.definitions import (
    activations,
    classes,
    colours,
    comparisons,
    convolutions,
    elementwise,
    equations,
    fourier,
    functions,
    indexing,
    matrices,
    messages,
    normalizations,
    patterns,
    poolings,
    quantized,
    quantizing,
    rearranging,
    recurrent,
    reductions,
    resizing,
    segments,
    sets,
    sounds,
    space,
    sparse,
    special,
    streams,
    strings,
)
from sessrun.spec.definitions.base import DEFINITIONS, Definition, defined_outputs

__all__ = [
    "DEFINITIONS",
    "Definition",
    "activations",
    "classes",
    "colours",
    "comparisons",
    "convolutions",
    "defined_outputs",
    "elementwise",
    "equations",
    "fourier",
    "functions",
    "indexing",
    "matrices",
    "messages",
    "normalizations",
    "patterns",
    "poolings",
    "quantized",
    "quantizing",
    "rearranging",
    "recurrent",
    "reductions",
    "resizing",
    "segments",
    "sets",
    "sounds",
    "space",
    "sparse",
    "special",
    "streams",
    "strings",
]
