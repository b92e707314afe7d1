"""Programs of the graphs that gradients of single operations are: their nodes, one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

#: The arguments of an operation: a tuple is a placeholder of this shape, of floats or of the dtype
#: that it ends with, a list of tuples a list of such; anything else is what it is.
Arguments = Mapping[str, Any]
_ROW, _MATRIX, _SQUARE, _TRIPLE = (3,), (2, 3), (3, 3), (2, 3, 3)
_COMPLEX: Final = (2, 3, "complex64")
_PICTURES, _FILTERS, _VOLUMES = (2, 5, 6, 3), (3, 2, 3, 4), (1, 4, 5, 4, 2)
_STEPS: Final = {"strides": [1, 2, 1, 1], "padding": "SAME"}
_WINDOW: Final = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "VALID"}
_WINDOW_OF_VOLUMES: Final = {
    "ksize": [1, 2, 3, 2, 1],
    "strides": [1, 2, 1, 2, 1],
    "padding": "SAME",
}


def _is_fed(value) -> bool:
    return isinstance(value, tuple) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], tuple)
    )


def _placed(tf, value, *, known: bool):
    """A placeholder for a shape, with sizes known or not; a list of them for a list of shapes."""
    if isinstance(value, list):
        return [_placed(tf, item, known=known) for item in value]
    dtype = value[-1] if value and isinstance(value[-1], str) else "float32"
    sizes = [size for size in value if not isinstance(size, str)]
    return tf.placeholder(dtype, sizes if known else [None] * len(sizes))


def _built(tf, name: str, arguments: Arguments, *, known: bool):
    """The gradients of an operation by all that is fed, and the nodes that they add."""
    with tf.Graph().as_default() as graph:
        fed = {
            key: _placed(tf, value, known=known)
            for key, value in arguments.items()
            if _is_fed(value)
        }
        outputs = tf.nest.flatten(getattr(tf.raw_ops, name)(**{**arguments, **fed}))
        before = len(nodes(graph))
        sources = tf.nest.flatten(fed)
        targets = [
            output for output in outputs if output.dtype.is_floating or output.dtype.is_complex
        ]
        gradients = [
            tf.gradients(some, sources, grad_ys=some) for some in (targets, targets[1:]) if some
        ]
        return gradients, nodes(graph)[before:]


def _of(
    *rows: tuple[str, Arguments], knowledge: tuple[bool, ...] = (True, False)
) -> Callable[[Any], Any]:
    """A program of the gradients of operations, with known shapes and with unknown sizes."""

    def program(tf):
        return attempt(
            *(
                lambda row=row, known=known: _built(tf, *row, known=known)
                for row in rows
                for known in knowledge
            )
        )

    return program


def _alike(argument: str, shape: tuple[Any, ...], *names: str) -> list[tuple[str, Arguments]]:
    """Operations of one input, all of it fed."""
    return [(name, {argument: shape}) for name in names]


_FUNCTIONS = (
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Erfinv",
    "Exp",
    "Expm1",
    "Inv",
    "Lgamma",
    "Log",
    "Log1p",
    "Ndtri",
    "Neg",
    "Reciprocal",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "Tan",
    "Tanh",
    "Digamma",
    "Floor",
    "Rint",
)
_BESSELS = tuple(
    f"Bessel{kind}"
    for kind in (
        "I0",
        "I0e",
        "I1",
        "I1e",
        "J0",
        "J1",
        "K0",
        "K0e",
        "K1",
        "K1e",
        "Y0",
        "Y1",
    )
)
_PAIRS = (
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "Div",
    "RealDiv",
    "DivNoNan",
    "MulNoNan",
    "Maximum",
    "Minimum",
    "Pow",
    "SquaredDifference",
    "Xdivy",
    "Xlogy",
    "Xlog1py",
    "Atan2",
    "FloorMod",
    "FloorDiv",
)

BEHAVIOURS = {
    "functions of a number": _of(
        *_alike("x", _MATRIX, *_FUNCTIONS),
        *_alike("x", _ROW, *_BESSELS),
        *_alike("x", _ROW, "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"),
    ),
    "functions of a complex number": _of(
        *_alike(
            "x",
            _COMPLEX,
            "Acos",
            "Asin",
            "Atan",
            "Atanh",
            "Cos",
            "Cosh",
            "Exp",
            "Expm1",
            "Inv",
            "Log",
            "Log1p",
            "Neg",
            "Rsqrt",
            "Sigmoid",
            "Sign",
            "Sin",
            "Sinh",
            "Sqrt",
            "Square",
            "Tan",
            "Tanh",
            "Acosh",
            "Asinh",
            "Reciprocal",
            "ComplexAbs",
        ),
        *_alike("input", _COMPLEX, "Conj", "Real", "Imag", "Angle", "FFT", "IFFT2D"),
        ("Complex", {"real": _MATRIX, "imag": _ROW}),
        ("Mul", {"x": _COMPLEX, "y": _COMPLEX}),
        ("RealDiv", {"x": _COMPLEX, "y": _COMPLEX}),
        ("Pow", {"x": _COMPLEX, "y": _COMPLEX}),
        ("MatMul", {"a": _COMPLEX, "b": (3, 2, "complex64")}),
    ),
    "functions of two numbers": _of(
        *((name, {"x": _MATRIX, "y": _MATRIX}) for name in _PAIRS),
        *((name, {"x": _MATRIX, "y": _ROW}) for name in _PAIRS),
        *((name, {"x": (), "y": _MATRIX}) for name in _PAIRS),
        ("Mul", {"x": _MATRIX, "y": 2.0}),
        ("Mul", {"x": 3.0, "y": _MATRIX}),
        ("Sub", {"x": _MATRIX, "y": 2.0}),
        ("Pow", {"x": _MATRIX, "y": 2.0}),
        ("Igamma", {"a": _ROW, "x": _MATRIX}),
        ("Igammac", {"a": _MATRIX, "x": _ROW}),
        ("Betainc", {"a": _ROW, "b": _ROW, "x": _ROW}),
        ("Zeta", {"x": _ROW, "q": _ROW}),
        ("Polygamma", {"a": _ROW, "x": _ROW}),
        ("Cross", {"a": _MATRIX, "b": _MATRIX}),
        ("ClipByValue", {"t": _MATRIX, "clip_value_min": (), "clip_value_max": _ROW}),
        ("Select", {"condition": (2, "bool"), "x": _MATRIX, "y": _MATRIX}),
        ("SelectV2", {"condition": (2, 1, "bool"), "t": _ROW, "e": _MATRIX}),
        ("Cast", {"x": _ROW, "DstT": "float64"}),
        *(("NextAfter", {"x1": one, "x2": _MATRIX}) for one in (_MATRIX, _ROW)),
    ),
    "activations": _of(
        *_alike(
            "features", _MATRIX, "Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"
        ),
        *_alike("logits", _MATRIX, "Softmax", "LogSoftmax"),
        *_alike("t", _MATRIX, "L2Loss"),
        *(
            (f"{name}Grad", {"gradients": _MATRIX, "features": _MATRIX})
            for name in ("Relu", "Relu6", "Softplus", "LeakyRelu")
        ),
        *((f"{name}Grad", {"gradients": _MATRIX, "outputs": _MATRIX}) for name in ("Elu", "Selu")),
        *(
            (f"{name}Grad", {"y": _MATRIX, "dy": _MATRIX})
            for name in ("Sigmoid", "Tanh", "Inv", "Reciprocal", "Rsqrt", "Sqrt")
        ),
        ("BiasAdd", {"value": _PICTURES, "bias": _ROW}),
        ("BiasAdd", {"value": (2, 3, 5, 6), "bias": _ROW, "data_format": "NCHW"}),
        ("BiasAddV1", {"value": _MATRIX, "bias": _ROW}),
        ("BiasAddGrad", {"out_backprop": _MATRIX}),
        ("SoftmaxCrossEntropyWithLogits", {"features": _MATRIX, "labels": _MATRIX}),
        ("SparseSoftmaxCrossEntropyWithLogits", {"features": _MATRIX, "labels": (2, "int32")}),
        ("LRN", {"input": _PICTURES}),
        ("CheckNumerics", {"tensor": _ROW, "message": "m"}),
        ("TopKV2", {"input": _MATRIX, "k": 2}),
        ("NthElement", {"input": _MATRIX, "n": 1}),
    ),
    "sums over axes": _of(
        *(
            (name, {"input": _MATRIX, "axis": axis, "keep_dims": kept})
            for name in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm")
            for axis, kept in ((1, False), ([0, 1], True), ((2, "int32"), False), ([], False))
        ),
        *(
            (name, {"x": _MATRIX, "axis": 1, "exclusive": exclusive, "reverse": True})
            for name in ("Cumsum", "Cumprod", "CumulativeLogsumexp")
            for exclusive in (False, True)
        ),
        *(
            (f"Segment{kind}", {"data": _MATRIX, "segment_ids": (2, "int32")})
            for kind in ("Sum", "Mean", "Prod", "Max", "Min")
        ),
        *(
            (
                f"UnsortedSegment{kind}",
                {"data": _MATRIX, "segment_ids": (2, "int32"), "num_segments": 4},
            )
            for kind in ("Sum", "Prod", "Max", "Min")
        ),
        *(
            (
                f"SparseSegment{kind}",
                {"data": _MATRIX, "indices": (3, "int32"), "segment_ids": (3, "int32")},
            )
            for kind in ("Sum", "Mean", "SqrtN")
        ),
        *(
            (
                f"SparseSegment{kind}WithNumSegments",
                {
                    "data": _MATRIX,
                    "indices": (3, "int32"),
                    "segment_ids": (3, "int32"),
                    "num_segments": 5,
                },
            )
            for kind in ("Sum", "Mean", "SqrtN")
        ),
    ),
    "products": _of(
        *(
            ("MatMul", {"a": _MATRIX, "b": (3, 4), "transpose_a": a, "transpose_b": b})
            for a, b in ((False, False),)
        ),
        ("MatMul", {"a": (3, 2), "b": (3, 4), "transpose_a": True}),
        ("MatMul", {"a": (2, 3), "b": (4, 3), "transpose_b": True}),
        ("MatMul", {"a": (3, 2), "b": (4, 3), "transpose_a": True, "transpose_b": True}),
        *(
            (name, {"x": (5, 2, 3), "y": (5, 4, 3), "adj_y": True})
            for name in ("BatchMatMul", "BatchMatMulV2")
        ),
        *(
            (name, {"x": (5, 3, 2), "y": (5, 3, 4), "adj_x": True})
            for name in ("BatchMatMul", "BatchMatMulV2")
        ),
        ("BatchMatMulV2", {"x": (5, 2, 3), "y": (3, 4)}),
        ("BatchMatMulV2", {"x": (5, 2, 3), "y": (1, 4, 2), "adj_x": True, "adj_y": True}),
        # One label at most is summed over alone: of several TensorFlow takes any first.
        *(
            ("Einsum", {"inputs": [_MATRIX], "equation": equation})
            for equation in ("ab->ba", "ab->a", "ab->b", "...b->b...", "...b->...", "a...->...")
        ),
        *(
            ("Einsum", {"inputs": [_SQUARE], "equation": equation})
            for equation in ("aa->a", "aa->", "aa...->a...")
        ),
        *(
            ("Einsum", {"inputs": [_TRIPLE, other], "equation": equation})
            for equation, other in (
                ("abc,cd->abd", (3, 4)),
                ("abc,acd->abd", (2, 3, 4)),
                ("abc,d->ba", (4,)),
                ("...bc,cd->...bd", (3, 4)),
                ("...bc,...cd->...bd", (1, 3, 4)),
                ("a...,ad->...d", (2, 4)),
                ("abc,dd->cab", _SQUARE),
                ("abc,abc->", _TRIPLE),
                ("abb,bc->ac", (3, 4)),
            )
        ),
        ("SparseMatMul", {"a": _MATRIX, "b": (3, 4)}),
        ("SparseMatMul", {"a": (3, 2), "b": (4, 3), "transpose_a": True, "transpose_b": True}),
    ),
    "shapes": _of(
        ("Reshape", {"tensor": _MATRIX, "shape": [3, 2]}),
        ("ExpandDims", {"input": _ROW, "axis": 0}),
        ("Squeeze", {"input": (2, 1, 3), "axis": [1]}),
        ("Transpose", {"x": _MATRIX, "perm": [1, 0]}),
        ("ConjugateTranspose", {"x": _COMPLEX, "perm": [1, 0]}),
        ("Tile", {"input": _MATRIX, "multiples": [2, 3]}),
        ("BroadcastTo", {"input": _ROW, "shape": [2, 3]}),
        ("Pad", {"input": _MATRIX, "paddings": [[1, 0], [2, 3]]}),
        ("PadV2", {"input": _MATRIX, "paddings": [[1, 0], [2, 3]], "constant_values": ()}),
        ("MirrorPad", {"input": _MATRIX, "paddings": [[1, 0], [1, 2]], "mode": "REFLECT"}),
        ("MirrorPadGrad", {"input": _MATRIX, "paddings": [[1, 0], [1, 0]], "mode": "SYMMETRIC"}),
        ("Slice", {"input": _MATRIX, "begin": [0, 1], "size": [2, 2]}),
        ("StridedSlice", {"input": _MATRIX, "begin": [0, 2], "end": [2, 0], "strides": [1, -1]}),
        (
            "StridedSliceGrad",
            {"shape": [2, 3], "begin": [0, 0], "end": [2, 2], "strides": [1, 1], "dy": (2, 2)},
        ),
        ("Reverse", {"tensor": _MATRIX, "dims": [False, True]}),
        ("ReverseV2", {"tensor": _MATRIX, "axis": [1]}),
        ("ReverseSequence", {"input": _MATRIX, "seq_lengths": (2, "int32"), "seq_dim": 1}),
        ("Split", {"axis": 1, "value": (2, 6), "num_split": 3}),
        ("SplitV", {"axis": 1, "value": (2, 6), "size_splits": [1, 5], "num_split": 2}),
        ("Unpack", {"value": _MATRIX, "num": 3, "axis": 1}),
        ("Fill", {"dims": [2, 3], "value": ()}),
        ("Pack", {"values": [_MATRIX, _MATRIX], "axis": 1}),
        ("Concat", {"concat_dim": 1, "values": [_MATRIX, (2, 4)]}),
        ("ConcatV2", {"values": [_MATRIX, (2, 4), (2, 1)], "axis": -1}),
        ("DynamicStitch", {"indices": [(2, "int32"), (1, "int32")], "data": [_MATRIX, (1, 3)]}),
        ("IdentityN", {"input": [_MATRIX, (2, "int32"), _ROW]}),
        ("AddN", {"inputs": [_MATRIX, _MATRIX, _MATRIX]}),
        ("Gather", {"params": _MATRIX, "indices": (4, "int32")}),
        ("GatherV2", {"params": _MATRIX, "indices": (4, "int32"), "axis": 1}),
        ("GatherV2", {"params": _TRIPLE, "indices": (2, 4, "int32"), "axis": 2, "batch_dims": 1}),
        ("GatherNd", {"params": _MATRIX, "indices": (4, 1, "int32")}),
        ("GatherNd", {"params": _MATRIX, "indices": (4, 2, "int32")}),
        ("ScatterNd", {"indices": (4, 1, "int32"), "updates": (4, 3), "shape": [5, 3]}),
        (
            "ScatterNdNonAliasingAdd",
            {"input": _MATRIX, "indices": (4, 1, "int32"), "updates": (4, 3)},
        ),
        *(
            (
                f"TensorScatter{kind}",
                {"tensor": _MATRIX, "indices": (1, 1, "int32"), "updates": (1, 3)},
            )
            for kind in ("Add", "Sub", "Update", "Max", "Min")
        ),
        (
            "TensorStridedSliceUpdate",
            {"input": _MATRIX, "begin": [0, 1], "end": [2, 3], "strides": [1, 1], "value": (2, 2)},
        ),
        ("DynamicPartition", {"data": _MATRIX, "partitions": (2, "int32"), "num_partitions": 3}),
        ("Diag", {"diagonal": _ROW}),
        ("DiagPart", {"input": _SQUARE}),
        ("DepthToSpace", {"input": (1, 2, 2, 4), "block_size": 2}),
        ("SpaceToDepth", {"input": (1, 2, 4, 3), "block_size": 2, "data_format": "NHWC"}),
        ("SpaceToBatch", {"input": (1, 2, 4, 3), "paddings": [[0, 0], [0, 2]], "block_size": 2}),
        ("BatchToSpace", {"input": (4, 2, 2, 3), "crops": [[0, 0], [0, 1]], "block_size": 2}),
        (
            "SpaceToBatchND",
            {"input": (1, 2, 4, 3), "paddings": [[0, 0], [0, 2]], "block_shape": [2, 3]},
        ),
        (
            "BatchToSpaceND",
            {"input": (6, 2, 2, 3), "crops": [[0, 0], [0, 1]], "block_shape": [2, 3]},
        ),
    ),
    "matrices": _of(
        *_alike(
            "input",
            _TRIPLE,
            "Cholesky",
            "MatrixDeterminant",
            "MatrixInverse",
            "LogMatrixDeterminant",
            "MatrixDiagPart",
            "Svd",
            "Qr",
            "SelfAdjointEigV2",
            "MatrixSquareRoot",
        ),
        ("Svd", {"input": (3, 2), "compute_uv": False}),
        ("Svd", {"input": (3, 2)}),
        ("Svd", {"input": (2, 3)}),
        ("Svd", {"input": (3, 2), "full_matrices": True}),
        ("Qr", {"input": (3, 2)}),
        ("Qr", {"input": (2, 3)}),
        ("SelfAdjointEigV2", {"input": _SQUARE, "compute_v": False}),
        *(
            ("Eig", {"input": (3, 3, "complex64"), "Tout": "complex64", "compute_v": with_vectors})
            for with_vectors in (True, False)
        ),
        *(
            (name, {"matrix": _TRIPLE, "rhs": (2, 3, 4), "adjoint": adjoint})
            for name in ("MatrixSolve", "MatrixTriangularSolve")
            for adjoint in (True, False)
        ),
        ("MatrixTriangularSolve", {"matrix": _SQUARE, "rhs": (2, 3, 4), "lower": False}),
        ("BandedTriangularSolve", {"matrix": (2, 3), "rhs": (3, 4)}),
        ("MatrixSolveLs", {"matrix": (4, 3), "rhs": (4, 2), "l2_regularizer": ("float64",)}),
        ("MatrixSolveLs", {"matrix": (3, 4), "rhs": (3, 2), "l2_regularizer": ("float64",)}),
        ("TridiagonalSolve", {"diagonals": (2, 3, 4), "rhs": (2, 4, 5)}),
        (
            "TridiagonalMatMul",
            {"superdiag": (2, 1, 4), "maindiag": (2, 1, 4), "subdiag": (2, 1, 4), "rhs": (2, 4, 5)},
        ),
        ("MatrixDiag", {"diagonal": _MATRIX}),
        ("MatrixBandPart", {"input": _SQUARE, "num_lower": 1, "num_upper": 0}),
    ),
    "diagonals": _of(
        ("MatrixDiagPartV3", {"input": _MATRIX, "k": [-1, 1], "padding_value": ()}),
        (
            "MatrixDiagV3",
            {
                "diagonal": _MATRIX,
                "k": [-1, 0],
                "num_rows": -1,
                "num_cols": -1,
                "padding_value": (),
            },
        ),
        ("MatrixSetDiag", {"input": _SQUARE, "diagonal": _ROW}),
        ("MatrixSetDiagV3", {"input": _SQUARE, "diagonal": (2, 3), "k": [0, 1]}),
        knowledge=(True,),  # else TensorFlow takes their numbers for what they are not
    ),
    "windows": _of(
        ("Conv2D", {"input": _PICTURES, "filter": _FILTERS, **_STEPS}),
        (
            "Conv2D",
            {
                "input": _PICTURES,
                "filter": _FILTERS,
                "strides": [1, 1, 1, 1],
                "padding": "EXPLICIT",
                "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
                "dilations": [1, 1, 2, 1],
            },
        ),
        (
            "Conv2DBackpropInput",
            {
                "input_sizes": [2, 5, 6, 3],
                "filter": _FILTERS,
                "out_backprop": (2, 3, 6, 4),
                **_STEPS,
            },
        ),
        (
            "Conv2DBackpropFilter",
            {
                "input": _PICTURES,
                "filter_sizes": [3, 2, 3, 4],
                "out_backprop": (2, 3, 6, 4),
                **_STEPS,
            },
        ),
        (
            "Conv3D",
            {"input": _VOLUMES, "filter": (2, 1, 2, 2, 3), "strides": [1] * 5, "padding": "VALID"},
        ),
        (
            "Conv3DBackpropInputV2",
            {
                "input_sizes": [1, 4, 5, 4, 2],
                "filter": (2, 1, 2, 2, 3),
                "out_backprop": (1, 3, 5, 3, 3),
                "strides": [1] * 5,
                "padding": "VALID",
            },
        ),
        (
            "Conv3DBackpropFilterV2",
            {
                "input": _VOLUMES,
                "filter_sizes": [2, 1, 2, 2, 3],
                "out_backprop": (1, 3, 5, 3, 3),
                "strides": [1] * 5,
                "padding": "VALID",
            },
        ),
        *(
            (f"DepthwiseConv2dNative{kind}", {**given, "strides": [1, 1, 1, 1], "padding": "SAME"})
            for kind, given in (
                ("", {"input": _PICTURES, "filter": (3, 2, 3, 2)}),
                (
                    "BackpropInput",
                    {
                        "input_sizes": [2, 5, 6, 3],
                        "filter": (3, 2, 3, 2),
                        "out_backprop": (2, 5, 6, 6),
                    },
                ),
                (
                    "BackpropFilter",
                    {
                        "input": _PICTURES,
                        "filter_sizes": [3, 2, 3, 2],
                        "out_backprop": (2, 5, 6, 6),
                    },
                ),
            )
        ),
        ("MaxPool", {"input": _PICTURES, **_WINDOW}),
        ("AvgPool", {"value": _PICTURES, **_WINDOW}),
        ("MaxPool3D", {"input": _VOLUMES, **_WINDOW_OF_VOLUMES}),
        ("AvgPool3D", {"input": _VOLUMES, **_WINDOW_OF_VOLUMES}),
        (
            "MaxPoolV2",
            {"input": _PICTURES, "ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},
        ),
        ("MaxPoolWithArgmax", {"input": _PICTURES, **_WINDOW}),
        *(
            (name, {"orig_input": _PICTURES, "orig_output": (2, 2, 4, 3), "grad": grad, **_WINDOW})
            for name, grad in (("MaxPoolGrad", (2, 2, 4, 3)), ("MaxPoolGradGrad", _PICTURES))
        ),
        ("AvgPoolGrad", {"orig_input_shape": [2, 5, 6, 3], "grad": (2, 2, 4, 3), **_WINDOW}),
        ("FractionalMaxPool", {"value": _PICTURES, "pooling_ratio": [1.0, 1.5, 1.2, 1.0]}),
        (
            "FractionalAvgPool",
            {"value": _PICTURES, "pooling_ratio": [1.0, 1.5, 1.2, 1.0], "overlapping": True},
        ),
        (
            "Dilation2D",
            {
                "input": _PICTURES,
                "filter": (2, 2, 3),
                "strides": [1, 1, 2, 1],
                "rates": [1, 2, 1, 1],
                "padding": "SAME",
            },
        ),
        (
            "ExtractImagePatches",
            {
                "images": _PICTURES,
                "ksizes": [1, 2, 3, 1],
                "strides": [1, 2, 1, 1],
                "rates": [1, 1, 1, 1],
                "padding": "VALID",
            },
        ),
    ),
    "pictures": _of(
        *(
            (f"Resize{kind}", {"images": _PICTURES, "size": [4, 7], "half_pixel_centers": True})
            for kind in ("Bicubic", "Bilinear", "NearestNeighbor")
        ),
        (
            "ScaleAndTranslate",
            {"images": _PICTURES, "size": [4, 7], "scale": (2,), "translation": (2,)},
        ),
        (
            "CropAndResize",
            {"image": _PICTURES, "boxes": (1, 4), "box_ind": (1, "int32"), "crop_size": [2, 3]},
        ),
        ("RGBToHSV", {"images": _MATRIX}),
        (
            "ImageProjectiveTransformV2",
            {
                "images": _PICTURES,
                "transforms": (1, 8),
                "output_shape": [3, 4],
                "interpolation": "NEAREST",
            },
        ),
    ),
    "normalizations": _of(
        *(
            (
                "FusedBatchNormV3",
                {
                    "x": _PICTURES,
                    "scale": _ROW,
                    "offset": _ROW,
                    "mean": _ROW,
                    "variance": _ROW,
                    "epsilon": 0.5,
                    "is_training": training,
                },
            )
            for training in (True, False)
        ),
        (
            "FusedBatchNorm",
            {
                "x": (2, 3, 5, 6),
                "scale": _ROW,
                "offset": _ROW,
                "mean": [],
                "variance": [],
                "data_format": "NCHW",
            },
        ),
        ("FakeQuantWithMinMaxArgs", {"inputs": _MATRIX, "min": -2.0, "num_bits": 4}),
        ("FakeQuantWithMinMaxVars", {"inputs": _MATRIX, "min": (), "max": ()}),
        (
            "FakeQuantWithMinMaxVarsPerChannel",
            {"inputs": _MATRIX, "min": _ROW, "max": _ROW, "narrow_range": True},
        ),
        ("QuantizeAndDequantizeV2", {"input": _MATRIX, "input_min": (), "input_max": ()}),
        (
            "QuantizeAndDequantizeV4",
            {"input": _MATRIX, "input_min": (), "input_max": (), "axis": -1},
        ),
        ("RandomGamma", {"shape": [2], "alpha": _ROW, "seed": 1, "seed2": 2}),
        (
            "CTCLoss",
            {
                "inputs": (4, 2, 3),
                "labels_indices": [[0, 0]],
                "labels_values": [1],
                "sequence_length": (2, "int32"),
            },
        ),
        ("RFFT", {"input": (2, 6), "fft_length": [6]}),
        ("IRFFT", {"input": (2, 4, "complex64"), "fft_length": [6]}),
        ("RFFT2D", {"input": (4, 6), "fft_length": [4, 6]}),
    ),
    "sparse tensors": _of(
        (
            "SparseTensorDenseMatMul",
            {"a_indices": (2, 2, "int64"), "a_values": (2,), "a_shape": [3, 4], "b": (4, 2)},
        ),
        (
            "SparseTensorDenseMatMul",
            {
                "a_indices": (2, 2, "int64"),
                "a_values": (2,),
                "a_shape": [4, 3],
                "b": (2, 4),
                "adjoint_a": True,
                "adjoint_b": True,
            },
        ),
        (
            "SparseTensorDenseAdd",
            {"a_indices": (2, 2, "int64"), "a_values": (2,), "a_shape": [2, 3], "b": _MATRIX},
        ),
        (
            "SparseReduceSum",
            {
                "input_indices": (2, 2, "int64"),
                "input_values": (2,),
                "input_shape": [2, 3],
                "reduction_axes": [1],
            },
        ),
        *(
            (
                f"SparseDenseCwise{kind}",
                {
                    "sp_indices": (2, 2, "int64"),
                    "sp_values": (2,),
                    "sp_shape": [2, 3],
                    "dense": (2, 3),
                },
            )
            for kind in ("Add", "Mul", "Div")
        ),
        ("SparseSoftmax", {"sp_indices": (2, 2, "int64"), "sp_values": (2,), "sp_shape": [2, 3]}),
        (
            "SparseReorder",
            {"input_indices": (2, 2, "int64"), "input_values": (2,), "input_shape": [2, 3]},
        ),
        (
            "SparseSlice",
            {
                "indices": (2, 2, "int64"),
                "values": (2,),
                "shape": [2, 3],
                "start": [0, 1],
                "size": [2, 2],
            },
        ),
        (
            "SparseAdd",
            {
                "a_indices": (2, 2, "int64"),
                "a_values": (2,),
                "a_shape": [2, 3],
                "b_indices": (1, 2, "int64"),
                "b_values": (1,),
                "b_shape": [2, 3],
                "thresh": 0.5,
            },
        ),
        (
            "SparseFillEmptyRows",
            {
                "indices": (2, 2, "int64"),
                "values": (2,),
                "dense_shape": [4, 3],
                "default_value": (),
            },
        ),
        (
            "SparseToDense",
            {
                "sparse_indices": (2, 2, "int64"),
                "output_shape": [2, 3],
                "sparse_values": (2,),
                "default_value": (),
            },
        ),
        (
            "SparseSparseMaximum",
            {
                "a_indices": (2, 2, "int64"),
                "a_values": (2,),
                "a_shape": [2, 3],
                "b_indices": (1, 2, "int64"),
                "b_values": (1,),
                "b_shape": [2, 3],
            },
        ),
    ),
}
