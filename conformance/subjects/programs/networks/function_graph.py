"""Programs of the nodes that functions of networks and of linear algebra build."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain, Program

__all__ = ["BEHAVIOURS"]

#: The number or the hash in a function's name, which depends on the process.
_COUNTED: Final = re.compile(r'(?<=CustomGradient-)\d+|(?<=_)[A-Za-z0-9]{11}(?=(?:_Wrapper)?")')
#: A call: a name of the namespace, and the arguments; tuples of sizes stand for placeholders.
Call = tuple[Plain, ...]
_X, _UNKNOWN, _SQUARE, _TALL = (2, 3), (None, None), (2, 3, 3), (2, 4, 3)
_FREE, _PICTURES = (None, None, None), (2, 5, 6, 3)


def _built(tf, name: str, *arguments):
    """What a function returns for placeholders, and the nodes."""
    named = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}

    def value(given):
        if not isinstance(given, tuple):
            return given
        dtype = given[-1] if given and isinstance(given[-1], str) else "float32"
        sizes = [size for size in given if not isinstance(size, str)]
        return tf.placeholder(dtype, None if sizes == [Ellipsis] else sizes)

    with tf.Graph().as_default() as graph:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        positional = arguments[:-1] if named else arguments
        options = {key: value(argument) for key, argument in named.items()}
        outputs = function(*map(value, positional), **options)
        return outputs, [_COUNTED.sub("N", line) for line in nodes(graph)]


def _of(*calls: Call) -> Program:
    """A program of what these calls build, each in a graph of its own."""

    def program(tf):
        return attempt(*(lambda call=call: _built(tf, *call) for call in calls))

    return program


_LABELS: Final = np.array([[1, 2, 0], [3, 0, 0]])
_BANDS: Final = (2, 3, 4)

BEHAVIOURS = {
    "classification of sequences": _of(
        ("nn.ctc_loss_v2", _LABELS, _FREE, [2, 1], [4, 3]),
        ("nn.ctc_loss_v2", (None, None, "int32"), _FREE, (None, "int32"), (None, "int32")),
        (
            "nn.ctc_loss_v2",
            _LABELS,
            (5, 2, 4),
            [2, 1],
            [4, 3],
            {"logits_time_major": False, "blank_index": 3, "name": "n"},
        ),
        ("nn.ctc_loss_v2", _LABELS, (5, 2, 4), [2, 1], [4, 3], {"blank_index": -1}),
        ("nn.ctc_unique_labels", (2, None, "int64")),
        ("nn.collapse_repeated", _LABELS, [3, 1]),
    ),
    "matrices of three diagonals": _of(
        *(
            ("linalg.tridiagonal_solve", diagonals, rhs, {"diagonals_format": form, **options})
            for form, diagonals in (
                ("matrix", (2, 4, 4)),
                ("compact", _BANDS),
                ("matrix", _FREE),
                ("matrix", (2, 4, 5)),
                ("other", _BANDS),
                ("compact", (3,)),
            )
            for rhs, options in (
                ((2, 4, 5), {}),
                ((2, 4), {"conjugate_rhs": True}),
                ((2, 5, 4), {"transpose_rhs": True, "name": "s"}),
                ((2, 4, 5), {"partial_pivoting": False}),
                (_FREE, {"transpose_rhs": True, "conjugate_rhs": True}),
            )
        ),
        *(
            ("linalg.tridiagonal_solve", np.ones((3, 4), np.float32) * [[1], [5], [2]], rhs)
            for rhs in ((4, 1, "float64"), (4, "float64"), (5, "float64"), (2, 4, 1, "float64"))
        ),
        *(
            ("linalg.tridiagonal_matmul", diagonals, (2, 4, 5), {"diagonals_format": form})
            for form, diagonals in (
                ("matrix", (2, 4, 4)),
                ("compact", _BANDS),
                ("matrix", _FREE),
                ("other", _BANDS),
            )
        ),
    ),
    "matrices": _of(
        *(
            (f"linalg.{name}", shape)
            for shape in (_SQUARE, _TALL, _FREE)
            for name in (
                "trace",
                "logdet",
                "slogdet",
                "adjoint",
                "matrix_transpose",
                "eigvalsh",
                "pinv",
                "matrix_rank",
                "norm",
                "expm",
                "lu",
                "logm",
                "diag_part",
                "diag",
                "tensor_diag",
                "det",
                "inv",
                "eigh",
                "svd",
                "qr",
                "cholesky",
            )
        ),
        *(
            ("norm", shape, {"ord": order, "axis": axis, "keepdims": kept})
            for shape in (_SQUARE, _UNKNOWN)
            for order, axis, kept in (
                ("euclidean", None, False),
                (1, -1, True),
                (np.inf, [0, 1], False),
                (2, [0, 1], True),
                ("fro", [-2, -1], False),
                (3.5, 0, False),
                (2, 0, True),
                (1, [1, 0], True),
                ("nuc", [0, 1], False),
                (0, None, False),
            )
        ),
        *(
            ("linalg.lstsq", a, b, 0.5, {"fast": fast})
            for fast in (True, False)
            for a, b in (((4, 3), (4, 2)), ((3, 4), (3, 2)), (_FREE, _FREE))
        ),
        ("linalg.triangular_solve", _SQUARE, (2, 3, 1), {"lower": False, "adjoint": True}),
        ("linalg.cholesky_solve", _SQUARE, (2, 3, 1)),
        ("linalg.solve", _SQUARE, (2, 3, 1)),
        ("linalg.matvec", _TALL, (2, 3)),
        ("linalg.matvec", _TALL, (2, 4), {"transpose_a": True}),
        ("linalg.eye", 3, {"num_columns": 2, "batch_shape": [4], "dtype": "int32"}),
        ("linalg.eye", ("int32",), ("int32",), {"batch_shape": (None, "int32")}),
        ("linalg.band_part", _TALL, 1, -1),
        ("linalg.set_diag", _SQUARE, (2, 3)),
        ("linalg.set_diag", _TALL, (2, 2, 3), {"k": [0, 1]}),
        ("linalg.cross", (4, 3), (4, 3)),
        ("linalg.l2_normalize", _X, 1),
        ("linalg.l2_normalize", _UNKNOWN, [0, 1], 0.5),
        ("linalg.tensordot", _TALL, (3, 5), 1),
        ("linalg.tensordot", _TALL, (5, 3), [[2], [1]]),
        ("linalg.tensordot", _FREE, (5, None), [[2], [1]]),
        ("tensordot", (...,), (3,), 1),
        ("linalg.tensordot", (2, None, 4), (4, None), [[2, 1], [0, 1]]),
        ("linalg.lu_solve", _SQUARE, (2, 3, "int32"), (2, 3, 1)),
        ("linalg.lu_reconstruct", _SQUARE, (2, 3, "int32")),
        ("linalg.lu_matrix_inverse", _SQUARE, (2, 3, "int32")),
    ),
    "networks": _of(
        *(
            ("nn.moments", shape, axes, {"keepdims": kept})
            for shape, axes, kept in (
                (_PICTURES, [0, 1, 2], False),
                (_UNKNOWN, [1], True),
                ((2, 3, "float16"), [0], False),
            )
        ),
        ("nn.weighted_moments", _X, [0], (2, 1)),
        ("nn.weighted_moments", _X, [0, 1], _X, {"keep_dims": True}),
        ("nn.sufficient_statistics", _X, [0], {"shift": 2.0}),
        ("nn.sufficient_statistics", _UNKNOWN, [1], {"keepdims": True}),
        *(("nn.normalize_moments", 2.0, (3,), (3,), shift) for shift in (1.5, None)),
        ("nn.batch_normalization", _X, (3,), (3,), None, (3,), 0.5),
        ("nn.batch_normalization", _X, (3,), (3,), (3,), None, 0.5, "n"),
        ("nn.batch_norm_with_global_normalization", _PICTURES, (3,), (3,), (3,), (3,), 0.5, True),
        ("nn.log_poisson_loss", _X, _X, {"compute_full_loss": True}),
        ("nn.sigmoid_cross_entropy_with_logits", {"labels": _X, "logits": _X}),
        ("nn.weighted_cross_entropy_with_logits", {"labels": _X, "logits": _X, "pos_weight": 3.0}),
        (
            "nn.softmax_cross_entropy_with_logits_v2",
            {"labels": _SQUARE, "logits": _SQUARE, "axis": 1},
        ),
        ("nn.softmax_cross_entropy_with_logits", {"labels": _UNKNOWN, "logits": _UNKNOWN}),
        (
            "nn.sparse_softmax_cross_entropy_with_logits",
            {"labels": (2, 3, "int32"), "logits": (2, 3, 4)},
        ),
        (
            "nn.sparse_softmax_cross_entropy_with_logits",
            {"labels": (None, "int64"), "logits": (None, None, "float16")},
        ),
        ("nn.softmax", _SQUARE, {"axis": 1}),
        ("nn.log_softmax", _FREE, {"axis": 0}),
        ("nn.softmax", (...,)),
        ("nn.swish", _X),
        ("nn.leaky_relu", _X, 0.3),
        ("nn.crelu", _X, {"axis": 0}),
        ("nn.relu_layer", _X, (3, 4), (4,)),
        ("nn.xw_plus_b", _X, (3, 4), (4,), "named"),
        ("nn.l2_normalize", _X, 1, 0.25),
        ("nn.zero_fraction", _X, "int32"),
        ("nn.dropout", _X, {"rate": 0.25, "seed": 3, "noise_shape": [2, 1]}),
        ("nn.dropout", _UNKNOWN, (), {"seed": 3}),
        ("nn.dropout", _X, {"rate": 0.0}),
        ("nn.bias_add", (2, 3, 5), (3,), {"data_format": "N...C"}),
        ("nn.bias_add", (2, 3, 5), (5,)),
        ("nn.in_top_k", _X, (2, "int32"), 1),
        ("nn.top_k", _X, 2, {"sorted": False}),
        ("nn.local_response_normalization", _PICTURES, 2, 0.5, 1.5, 0.75),
        ("nn.depthwise_conv2d", _PICTURES, (2, 2, 3, 4), [1, 1, 1, 1], "SAME", [2, 1]),
        ("nn.separable_conv2d", _PICTURES, (2, 2, 3, 4), (1, 1, 12, 5), [1, 2, 2, 1], "VALID"),
        ("nn.erosion2d", _PICTURES, (2, 2, 3), [1] * 4, [1, 2, 1, 1], "SAME"),
        ("nn.dilation2d", _PICTURES, (2, 2, 3), [1] * 4, [1, 2, 1, 1], "VALID"),
        ("nn.atrous_conv2d", _PICTURES, (2, 2, 3, 4), 2, "SAME"),
        ("nn.atrous_conv2d_transpose", (2, 5, 6, 4), (2, 2, 3, 4), [2, 5, 6, 3], 2, "SAME"),
        ("nn.embedding_lookup", (7, 3), (2, None, "int32"), {"max_norm": 2.0}),
        (
            "nn.embedding_lookup",
            [np.ones((4, 3)), np.ones((3, 3))],
            (None, "int32"),
            {"partition_strategy": "div"},
        ),
        (
            "nn.nce_loss",
            (7, 3),
            (7,),
            (2, 1, "int64"),
            _X,
            4,
            7,
            {
                "sampled_values": [
                    np.array([1, 2]),
                    np.ones((2, 1), np.float32),
                    np.ones(2, np.float32),
                ],
                "remove_accidental_hits": True,
            },
        ),
        (
            "nn.sampled_softmax_loss",
            (7, 3),
            (7,),
            (2, 2, "int64"),
            _X,
            4,
            7,
            {
                "num_true": 2,
                "sampled_values": [
                    np.array([1, 2]),
                    np.ones((2, 2), np.float32),
                    np.ones(2, np.float32),
                ],
            },
        ),
    ),
}
