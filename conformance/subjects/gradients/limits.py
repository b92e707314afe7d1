"""Gradients that are not drawn, because TensorFlow refuses them or does not determine them.

docs/findings/tensorflow.md describes what is wrong or undetermined in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sessrun.conformance.subjects.gradients.calls import Call
from sessrun.conformance.subjects.gradients.functions import OF_DOUBLES, ONCE
from sessrun.spec.rules.domains import Arguments
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "OF_CONSTANTS",
    "OF_KNOWN_SHAPE",
    "has_corners",
    "has_differences",
    "is_drawn",
    "is_drawn_twice",
    "settled",
    "without",
]

#: Operations whose gradients are only built where the shapes of their inputs are known.
OF_KNOWN_SHAPE: Final = frozenset(
    {
        "BatchToSpaceND",
        "ExtractImagePatches",
        "ExtractVolumePatches",
        "FractionalAvgPool",
        "FractionalMaxPool",
        "IRFFT",
        "IRFFT2D",
        "ImageProjectiveTransformV2",
        "ImageProjectiveTransformV3",
        "IsotonicRegression",
        "MatrixSolveLs",
        "Qr",
        "RFFT",
        "RFFT2D",
        "SpaceToBatchND",
        "Svd",
    }
)
#: Operations whose static shapes are wrong unless their integer inputs are constants.
OF_CONSTANTS: Final = frozenset({"MatrixDiagV2", "MatrixDiagV3", "SplitV"})
#: Operations whose second gradients do not exist, are None, are not determined, or cost much.
_ONCE: Final = frozenset(
    {
        "BandedTriangularSolve",
        "BlockLSTM",
        "BlockLSTMV2",
        "CTCLoss",
        "Ceil",
        "CropAndResize",
        "Dilation2D",
        "Eig",
        "FakeQuantWithMinMaxArgs",
        "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxVarsPerChannel",
        "Floor",
        "FloorDiv",
        "FractionalAvgPool",
        "FractionalMaxPool",
        "Igamma",
        "Igammac",
        "ImageProjectiveTransformV2",
        "ImageProjectiveTransformV3",
        "IsotonicRegression",
        "LRN",
        "MatrixSquareRoot",
        "MaxPool",
        "MaxPoolGradV2",
        "MaxPoolWithArgmax",
        "QuantizeAndDequantizeV4",
        "RGBToHSV",
        "ResizeBicubic",
        "ResizeBilinear",
        "ResizeNearestNeighbor",
        "Rint",
        "Round",
        "Svd",
        "ScaleAndTranslate",
        "SelfAdjointEigV2",
        "Sign",
        "Softsign",
        "SparseAdd",
        "SparseFillEmptyRows",
        "SparseSegmentMean",
        "SparseSegmentMeanWithNumSegments",
        "SparseSegmentSqrtN",
        "SparseSegmentSqrtNWithNumSegments",
        "SparseSegmentSum",
        "SparseSegmentSumWithNumSegments",
        "SparseSlice",
        "SparseSoftmax",
        "StatelessParameterizedTruncatedNormal",
        "StatelessRandomGammaV2",
        "StatelessRandomGammaV3",
    }
)
_BFLOAT16: Final = frozenset({"bfloat16"})
_NARROW: Final = frozenset({"bfloat16", "float16"})
#: Operations whose value near 0 is rounded to 0 where a dtype has few digits.
_ROUNDED_TO_ZERO: Final = frozenset({"Elu", "nn.elu"})
#: The gradient of a tiling is a sum over an array of twice its dimensions, and the gradient of that
#: sum a BroadcastTo, for which every release of TensorFlow has five at most ("not supported yet").
_TILINGS: Final = frozenset({"Tile", "tile"})
_TILED_RANK: Final = 2
_COMPLEX: Final = frozenset({"complex64", "complex128"})
#: Dtypes that have no gradient, or one that ends TensorFlow's process.
_WITHOUT: Final[Mapping[str, frozenset[str]]] = {
    "ClipByValue": _COMPLEX,
    **dict.fromkeys(
        ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MaxPool3D"), _BFLOAT16
    ),
    **dict.fromkeys(("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"), _BFLOAT16),
    "ScaleAndTranslate": frozenset({"bfloat16", "float16", "float64"}),
    **dict.fromkeys(
        (
            "Digamma",
            "IsotonicRegression",
            "Selu",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
        ),
        _NARROW,
    ),
}
#: Operations with singular points, at which engines may give infinity or NaN as they choose.
_SINGULAR: Final = frozenset(
    {
        "BesselI0",
        "BesselI0e",
        "BesselI1",
        "BesselI1e",
        "BesselJ0",
        "BesselJ1",
        "BesselK0",
        "BesselK0e",
        "BesselK1",
        "BesselK1e",
        "BesselY0",
        "BesselY1",
        "Betainc",
        "Digamma",
        "Expint",
        "Igamma",
        "Igammac",
        "Lgamma",
        "Polygamma",
        "RandomGamma",
        "Spence",
        "StatelessRandomGammaV2",
        "StatelessRandomGammaV3",
        "Zeta",
    }
)
#: Operations that have such points for complex numbers.
_SINGULAR_COMPLEX: Final = frozenset(
    {
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Div",
        "DivNoNan",
        "Inv",
        "InvGrad",
        "Log",
        "Log1p",
        "Pow",
        "RealDiv",
        "Reciprocal",
        "ReciprocalGrad",
        "Rsqrt",
        "RsqrtGrad",
        "Sqrt",
        "SqrtGrad",
        "Tan",
        "Xdivy",
        "Xlog1py",
        "Xlogy",
    }
)
#: Operations for which it depends on TensorFlow's build which of equal elements is the largest, or
#: whether a rounded sum is beyond its bound.
_UNDECIDED: Final = frozenset(
    {
        "BlockLSTM",
        "BlockLSTMV2",
        "MaxPool3D",
        "MaxPool3DGrad",
    }
)


def _is_undilated(given: Arguments) -> bool:
    return all(rate == 1 for rate in given.attrs.get("dilations", ()))


#: Operations whose gradients differ from slopes: they are not continuous, round to another dtype,
#: have gradients for some inputs only, need an input that another operation computed from a second
#: one, or read one triangle of a matrix.
_NO_DIFFERENCES: Final = frozenset(
    {
        "Cast",
        "CTCLoss",
        "Cholesky",
        "ClipByValue",
        "Complex",
        "Eig",
        "MaxPoolGrad",
        "MaxPoolGradGrad",
        "MaxPoolGradV2",
        "PadV2",
        "Polygamma",
        "QuantizeAndDequantizeV2",
        "QuantizeAndDequantizeV3",
        "QuantizeAndDequantizeV4",
        "RFFT",
        "RFFT2D",
        "ResizeBicubic",
        "ResizeBilinear",
        "SoftmaxCrossEntropyWithLogits",
        "SparseAdd",
        "StatelessParameterizedTruncatedNormal",
        "StatelessRandomGammaV2",
        "StatelessRandomGammaV3",
        "Zeta",
    }
)


def _is_not_a_broadcast_of_halves(given: Arguments) -> bool:
    """False for a product of float16 batches of which one is broadcast to the other.

    On CPUs that compute in float16 TensorFlow since 2.20 gives wrong values where the first matrix
    is transposed and has one column: docs/findings/tensorflow.md, "Values that depend on the
    machine".
    """
    x, y = given.inputs["x"], given.inputs["y"]
    return bool(x.dtype.name != "float16" or x.shape[:-2] == y.shape[:-2])


def _is_of_one_dtype(given: Arguments) -> bool:
    return len({value.dtype.name for value in given.inputs.values()}) == 1


def _is_not_empty(given: Arguments) -> bool:
    return all(np.asarray(value).size > 0 for value in given.inputs.values())


def _is_ungrouped(given: Arguments) -> bool:
    """Whether a convolution sees all channels of its input at once."""
    depth = given.inputs["input"].shape[given.attrs["data_format"].index("C")]
    return _is_undilated(given) and bool(given.inputs["filter"].shape[-2] == depth)


def _is_band_inside(given: Arguments) -> bool:
    """Whether the diagonals lie within the matrix that they make."""
    low, high = np.ravel(given.inputs["k"])[[0, -1]]
    length = given.inputs["diagonal"].shape[-1]
    rows, columns = (int(given.inputs[name]) for name in ("num_rows", "num_cols"))
    rows = length - min(high, 0) if rows == -1 else rows
    columns = length + max(low, 0) if columns == -1 else columns
    return bool(low > -rows and high < columns)


def _has_narrow_axes(given: Arguments) -> bool:
    return bool(given.inputs["reduction_indices"].dtype.name == "int32")


def _is_one_diagonal(given: Arguments) -> bool:
    """Whether there is one diagonal: TensorFlow's gradient aligns several in another way."""
    low, high = np.ravel(given.inputs["k"])[[0, -1]]
    return bool(low == high)


def _is_multiplied(given: Arguments) -> bool:
    """Whether the gradient of SparseMatMul supports the dtypes of both matrices."""
    attrs = given.attrs
    is_sparse = attrs["a_is_sparse"] and attrs["b_is_sparse"]
    return bool(is_sparse or attrs["Ta"] == attrs["Tb"] == "float32")


def _is_of_probabilities(given: Arguments) -> bool:
    """Whether all x are in (0, 1), where Betainc has a value, and a and b have one shape."""
    x = given.inputs["x"].astype(np.float64)
    is_inside = bool(((x > 0) & (x < 1)).all())
    return is_inside and given.inputs["a"].shape == given.inputs["b"].shape


def _is_of_elements(given: Arguments) -> bool:
    """Whether the gradient of GatherNd supports the ranks and dtypes, and nothing is empty."""
    params, indices = given.inputs["params"], given.inputs["indices"]
    is_of_rows = params.ndim > 0 and indices.ndim > 1
    return is_of_rows and _is_not_empty(given) and indices.dtype.name in {"int32", "int64"}


#: Operations whose gradients for empty inputs end TensorFlow's process or are not determined.
_NOT_EMPTY: Final = frozenset(
    {
        "AvgPool",
        "AvgPoolGrad",
        "MatrixSquareRoot",
        "MaxPool",
        "MaxPool3D",
        "MaxPoolV2",
        "SparseSegmentMean",
        "SparseSegmentMeanWithNumSegments",
        "SparseSegmentSqrtN",
        "SparseSegmentSqrtNWithNumSegments",
        "SparseSegmentSum",
        "SparseSegmentSumWithNumSegments",
    }
)
#: By operation, which arguments have a gradient; others are refused once it is built or run.
_DRAWN: Final[Mapping[str, Callable[[Arguments], bool]]] = {
    **dict.fromkeys(
        (
            "Conv2DBackpropFilter",
            "Conv2DBackpropInput",
            "Conv3D",
            "Conv3DBackpropInputV2",
            "DepthwiseConv2dNative",
            "DepthwiseConv2dNativeBackpropFilter",
            "DepthwiseConv2dNativeBackpropInput",
        ),
        _is_undilated,
    ),
    "Conv3DBackpropFilterV2": lambda given: _is_undilated(given) and _is_not_empty(given),
    "BatchMatMulV2": _is_not_a_broadcast_of_halves,
    "BatchMatMulV3": _is_of_one_dtype,
    "Betainc": _is_of_probabilities,
    **dict.fromkeys(_NOT_EMPTY, _is_not_empty),
    **dict.fromkeys(("MatrixDiagPartV2", "MatrixSetDiagV2"), _is_one_diagonal),
    "MatrixDiagV2": lambda given: _is_one_diagonal(given) and _is_band_inside(given),
    "MatrixDiagV3": _is_band_inside,
    "ConcatV2": lambda given: given.inputs["axis"].dtype.name == "int32",
    "Conv2D": _is_ungrouped,
    **dict.fromkeys(("EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _has_narrow_axes),
    "GatherNd": _is_of_elements,
    "GatherV2": lambda given: given.inputs["indices"].dtype.name in {"int32", "int64"},
    **dict.fromkeys(("IRFFT", "IRFFT2D"), lambda given: given.inputs["input"].shape[-1] > 1),
    "IsotonicRegression": lambda given: given.inputs["input"].ndim == 2 and _is_not_empty(given),
    "MatrixSolveLs": lambda given: bool(given.attrs["fast"]),
    "MaxPoolGrad": lambda given: given.attrs["padding"] != "EXPLICIT",
    "MaxPoolWithArgmax": lambda given: given.attrs["Targmax"] == "int64",
    "BandedTriangularSolve": lambda given: (
        given.inputs["matrix"].shape[:-2] == given.inputs["rhs"].shape[:-2]
        and given.inputs["matrix"].shape[-2] > 1
    ),
    "SparseMatMul": _is_multiplied,
    "SparseToDense": lambda given: given.inputs["sparse_values"].ndim == 1,
    "TopKV2": lambda given: given.attrs["index_type"] == "int32",
    "StridedSlice": lambda given: given.inputs["begin"].dtype.name in {"int32", "int64"},
}


def without(operation: str) -> frozenset[str]:
    """The dtypes in which no gradient of an operation is drawn."""
    return _WITHOUT.get(operation, frozenset())


def is_drawn(operation: str, given: Arguments) -> bool:
    """Whether these arguments have a gradient."""
    admits = _DRAWN.get(operation)
    return admits is None or admits(given)


def has_corners(operation: str, array: np.ndarray) -> bool:
    """Whether gradients at the ties, zeros and bounds of an operation are determined."""
    is_complex = array.dtype.kind == "c"
    return operation not in _SINGULAR | _UNDECIDED and not (
        is_complex and operation in _SINGULAR_COMPLEX
    )


def has_differences(name: str) -> bool:
    """Whether gradients can be compared with the slope of a small step in float64.

    Args:
      name: an operation's or a function's.

    """
    operation = OPERATIONS.get(name)
    if operation is None or name in OF_DOUBLES:
        return name in OF_DOUBLES
    inputs = [operation.attr(arg.type_attr) for arg in operation.inputs if arg.type_attr]
    takes_doubles = any(
        attr is not None and (not attr.allowed or "float64" in attr.allowed) for attr in inputs
    )
    return takes_doubles and name not in _NO_DIFFERENCES and "float64" not in without(name)


def is_drawn_twice(call: Call) -> bool:
    """Whether the gradients of a call's gradients are drawn."""
    is_rounded = call.name in _ROUNDED_TO_ZERO and not _NARROW.isdisjoint(call.dtypes)
    is_summed = call.name in _TILINGS and call.points[0][0].ndim > _TILED_RANK
    return call.name not in _ONCE | ONCE and not is_rounded and not is_summed


#: By operation, the `fft_length` that has a gradient, from the shape of the input.
_LENGTHS: Final[Mapping[str, Callable[[tuple[int, ...]], list[int]]]] = {
    "RFFT": lambda shape: [shape[-1]],
    "RFFT2D": lambda shape: list(shape[-2:]),
    "IRFFT": lambda shape: [2 * (shape[-1] - 1)],
    "IRFFT2D": lambda shape: [shape[-2], 2 * (shape[-1] - 1)],
}


def settled(operation: str, given: Arguments) -> Arguments:
    """The arguments, with an `fft_length`, `thresh` (0) or `full_matrices` that has a gradient."""
    if operation == "SparseAdd":
        thresh = np.zeros_like(given.inputs["thresh"])
        return Arguments({**given.inputs, "thresh": thresh}, given.attrs)
    if operation == "Qr":
        rows, columns = given.inputs["input"].shape[-2:]
        is_full = given.attrs["full_matrices"] and rows <= columns
        return Arguments(given.inputs, {**given.attrs, "full_matrices": is_full})
    if operation not in _LENGTHS:
        return given
    shape = given.inputs["input"].shape
    lengths = np.array(_LENGTHS[operation](shape), np.int32)
    return Arguments({**given.inputs, "fft_length": lengths}, given.attrs)
