"""Programs of the nodes that gradients of operations add: functions, sums and products."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.programs.gradient_nodes import alike, gradients_of

__all__ = ["BEHAVIOURS"]

_ROW, _MATRIX, _SQUARE, _TRIPLE = (3,), (2, 3), (3, 3), (2, 3, 3)
_COMPLEX: Final = (2, 3, "complex64")
_PICTURES = (2, 5, 6, 3)

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
    "functions of a number": gradients_of(
        *alike("x", _MATRIX, *_FUNCTIONS),
        *alike("x", _ROW, *_BESSELS),
        *alike("x", _ROW, "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"),
    ),
    "functions of a complex number": gradients_of(
        *alike(
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
        *alike("input", _COMPLEX, "Conj", "Real", "Imag", "Angle", "FFT", "IFFT2D"),
        ("Complex", {"real": _MATRIX, "imag": _ROW}),
        ("Mul", {"x": _COMPLEX, "y": _COMPLEX}),
        ("RealDiv", {"x": _COMPLEX, "y": _COMPLEX}),
        ("Pow", {"x": _COMPLEX, "y": _COMPLEX}),
        ("MatMul", {"a": _COMPLEX, "b": (3, 2, "complex64")}),
    ),
    "functions of two numbers": gradients_of(
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
    "activations": gradients_of(
        *alike(
            "features", _MATRIX, "Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"
        ),
        *alike("logits", _MATRIX, "Softmax", "LogSoftmax"),
        *alike("t", _MATRIX, "L2Loss"),
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
    "sums over axes": gradients_of(
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
    "products": gradients_of(
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
        # At most one label is in one operand only: the order of several varies in TensorFlow.
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
}
