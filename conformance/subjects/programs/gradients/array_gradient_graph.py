"""Programs of the nodes that gradients of operations add: arrays, matrices, sparse tensors."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.programs.gradient_nodes import alike, gradients_of

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `gradient_graph`.
TOPIC = "gradient_graph"

_ROW, _MATRIX, _SQUARE, _TRIPLE = (3,), (2, 3), (3, 3), (2, 3, 3)
_COMPLEX: Final = (2, 3, "complex64")

BEHAVIOURS = {
    "shapes": gradients_of(
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
    "matrices": gradients_of(
        *alike(
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
    "diagonals": gradients_of(
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
        knowledge=(True,),  # with unknown sizes TensorFlow mistakes one of them for another
    ),
    "sparse tensors": gradients_of(
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
