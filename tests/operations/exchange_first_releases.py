"""Graphs of the first releases, whose operations later ones do not have, and others beside them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.proto.input_pb2 import Example

__all__ = ["FIRST_RELEASES"]

F32 = dtype_attr("float32")
SHAPE2 = {"shape": {"dim": [{"size": "2"}, {"size": "2"}]}}


def _eigen(w: GraphWriter) -> None:
    """The values and vectors of a diagonal matrix, without the vectors' signs."""
    w.constant(np.array([[[2, 0], [0, 5]], [[7, 0], [0, 3]]], np.float32), "matrices")
    for op in ("SelfAdjointEig", "BatchSelfAdjointEig"):
        w.node(op, ("matrices",), {"T": F32}, op)
        w.node("Abs", (op,), {"T": F32}, f"{op}_plain")


def _sounds(w: GraphWriter) -> None:
    w.constant(np.array(b"tag", object), "tag")
    w.constant(np.array([[0.5, -0.5, 0.25]], np.float32), "sounds")
    w.node(
        "AudioSummary",
        ("tag", "sounds"),
        {"sample_rate": {"f": 8.0}, "max_outputs": {"i": "3"}},
        "heard",
    )
    w.node("PlaceholderV2", (), {"dtype": F32, "shape": SHAPE2}, "fed")


def _example(w: GraphWriter) -> None:
    example = Example()
    example.features.feature["several"].int64_list.value.extend([3, 1])
    example.features.feature["one"].float_list.value.append(2.5)
    w.constant(np.array(example.SerializeToString(), object), "data")
    w.constant(np.array([], np.float32), "none")
    w.node(
        "ParseSingleExample",
        ("data", "none"),
        {
            "num_sparse": {"i": "1"},
            "sparse_keys": {"list": {"s": ["c2V2ZXJhbA=="]}},
            "dense_keys": {"list": {"s": ["b25l"]}},
            "sparse_types": {"list": {"type": ["DT_INT64"]}},
            "Tdense": {"list": {"type": ["DT_FLOAT"]}},
            "dense_shapes": {"list": {"shape": [{}]}},
        },
        "parsed",
    )


def _gradients(w: GraphWriter) -> None:
    """What a debugger puts in the way of gradients, and the check that tells infinities apart."""
    empty = {"s": ""}
    w.node(
        "VariableV2",
        (),
        {"dtype": F32, "shape": SHAPE2, "container": empty, "shared_name": empty},
        "v",
    )
    w.constant(np.array([[1, 2], [3, 4]], np.float32), "begin")
    w.node(
        "Assign",
        ("v", "begin"),
        {"T": F32, "use_locking": {"b": True}, "validate_shape": {"b": True}},
        "init",
    )
    w.node("DebugGradientRefIdentity", ("v",), {"T": F32}, "same")
    w.node("AssignAdd", ("same", "begin"), {"T": F32, "use_locking": {"b": False}}, "twice")
    w.node("CheckNumericsV2", ("begin",), {"T": F32, "message": {"s": "bQ=="}}, "checked")


Build = Callable[[GraphWriter], None]
#: What each covers, how it is built, its runs.
FIRST_RELEASES: tuple[tuple[str, Build, tuple[tuple[str, ...], ...]], ...] = (
    (
        "SelfAdjointEig BatchSelfAdjointEig",
        _eigen,
        (("SelfAdjointEig_plain:0", "BatchSelfAdjointEig_plain:0"),),
    ),
    ("AudioSummary PlaceholderV2", _sounds, (("heard:0",),)),
    ("ParseSingleExample", _example, (tuple(f"parsed:{place}" for place in range(4)),)),
    (
        "DebugGradientRefIdentity CheckNumericsV2",
        _gradients,
        (("init",), ("twice:0", "checked:0"), ("v:0",)),
    ),
)
