"""Programs of matrices without rows or columns, and of invalid ones: decompositions, products."""

from __future__ import annotations

import functools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]

_DTYPES = ("float32", "float64", "complex64", "complex128")
_SQUARE = ((0, 0), (2, 0, 0), (0, 2, 2))
_ODD = ((2, 3), (3, 2), (2,), (), (1, 3, 2))


def _of(tf, shape, dtype: str):
    return hidden(tf, np.zeros(shape, dtype))


def _apart(tf):
    raw, of = tf.raw_ops, functools.partial(_of, tf)
    shapes = (*_SQUARE, (3, 0), (0, 3), (2, 0, 3), (2, 3, 0), (0, 3, 2))
    return [
        outcomes_of(
            tf,
            *(
                lambda shape=shape, full=full, dtype=dtype: raw.Qr(
                    input=of(shape, dtype), full_matrices=full
                )
                for shape in shapes
                for full in (False, True)
            ),
            *(
                lambda shape=shape, full=full, both=both, dtype=dtype: raw.Svd(
                    input=of(shape, dtype), full_matrices=full, compute_uv=both
                )[: 3 if both else 1]
                for shape in shapes
                for full, both in ((False, True), (True, True), (True, False))
            ),
            lambda dtype=dtype: raw.Qr(input=of((3,), dtype)),
            lambda dtype=dtype: raw.Svd(input=of((), dtype)),
        )
        for dtype in _DTYPES
    ]


def _square(tf):
    raw, of = tf.raw_ops, functools.partial(_of, tf)

    def values(shape, dtype: str, both: bool):
        double = dtype in {"float64", "complex128"}
        outputs = raw.Eig(
            input=of(shape, dtype), compute_v=both, Tout=tf.complex128 if double else tf.complex64
        )
        return outputs[: 2 if both else 1]  # without `compute_v` the second output is undefined

    return [
        outcomes_of(
            tf,
            *(
                lambda shape=shape, name=name, dtype=dtype: getattr(raw, name)(
                    input=of(shape, dtype)
                )
                for shape in (*_SQUARE, *_ODD)
                for name in (
                    "Cholesky",
                    "MatrixInverse",
                    "MatrixDeterminant",
                    "LogMatrixDeterminant",
                    "Lu",
                    "MatrixSquareRoot",
                    "MatrixLogarithm",
                )
                if name != "MatrixLogarithm" or dtype.startswith("complex")
            ),
            *(
                lambda shape=shape, both=both, dtype=dtype: raw.SelfAdjointEigV2(
                    input=of(shape, dtype), compute_v=both
                )[: 2 if both else 1]
                for shape in (*_SQUARE, *_ODD)
                for both in (False, True)
            ),
            *(
                lambda shape=shape, both=both, dtype=dtype: values(shape, dtype, both)
                for shape in (*_SQUARE, *_ODD)
                for both in (False, True)
            ),
        )
        for dtype in _DTYPES
    ]


def _not_finite(tf):
    raw = tf.raw_ops
    nan, none = [[1.0, 0.0], [float("nan"), 1.0]], [[0.0, 0.0]] * 2
    wrong = raw.Eig(input=tf.constant(none, tf.float64), Tout=tf.complex64)
    return outcomes_of(
        tf,
        lambda: raw.Lu(input=tf.constant(none)),
        *(
            lambda x=x, dtype=dtype: raw.SelfAdjointEigV2(input=tf.constant(x, dtype))
            for x in (nan, none)
            for dtype in _DTYPES[:2]
        ),
        lambda: raw.Lu(input=tf.constant([[[2.0, 1.0], [4.0, 3.0]], none])),
        lambda: raw.Eig(input=tf.constant(nan), Tout=tf.complex64),
        lambda: raw.Eig(input=tf.constant(none), Tout=tf.complex64, compute_v=False)[0],
        lambda: raw.Svd(input=tf.constant(nan), compute_uv=False)[0],
        lambda: wrong,
    )


def _products(tf):
    raw, of = tf.raw_ops, functools.partial(_of, tf)
    pairs = (((0, 2), (2, 3)), ((2, 0), (0, 3)), ((3, 2), (2, 0)), ((2, 3), (2, 3)), ((2,), (2, 2)),
             ((2, 2), (2, 2, 2)), ((), (2, 2)))  # fmt: skip
    batches = (*pairs, ((0, 2, 3), (0, 3, 2)), ((2, 2, 0), (2, 0, 2)), ((2, 2, 3), (3, 3, 2)),
               ((1, 2, 3), (4, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)))  # fmt: skip
    return outcomes_of(
        tf,
        *(
            lambda pair=pair, dtype=dtype: raw.MatMul(a=of(pair[0], dtype), b=of(pair[1], dtype))
            for pair in pairs
            for dtype in ("float64", "int32")
        ),
        *(
            lambda pair=pair, name=name: getattr(raw, name)(
                x=of(pair[0], "float64"), y=of(pair[1], "float64")
            )
            for pair in batches
            for name in ("BatchMatMul", "BatchMatMulV2")
        ),
        *(
            lambda pair=pair: raw.Cross(a=of(pair[0], "float32"), b=of(pair[1], "float32"))
            for pair in (((3,), (3,)), ((2,), (2,)), ((0, 3), (0, 3)), ((3,), (1, 3)), ((), ()))
        ),
        *(
            lambda shape=shape, name=name: getattr(raw, name)(input=of(shape, "float32"))
            for shape in (
                (2, 2),
                (2, 3),
                (2,),
                (),
                (0, 0),
                (2, 3, 2, 3),
                (2, 3, 3, 2),
                (0, 3, 0, 3),
            )
            for name in ("DiagPart", "MatrixDiagPart")
        ),
        *(
            lambda shape=shape, name=name: getattr(raw, name)(diagonal=of(shape, "float32"))
            for shape in ((), (0,), (2,), (2, 0), (1, 2))
            for name in ("Diag", "MatrixDiag")
        ),
        *(
            lambda shape=shape, diagonal=diagonal: raw.MatrixSetDiag(
                input=of(shape, "float32"), diagonal=of(diagonal, "float32")
            )
            for shape, diagonal in (
                ((2, 3), (2,)),
                ((2, 3), (3,)),
                ((2,), (2,)),
                ((0, 2), (0,)),
                ((2, 2, 3), (2,)),
                ((2, 2, 3), (2, 2)),
            )
        ),
        *(
            lambda lower=lower, upper=upper: raw.MatrixBandPart(
                input=tf.reshape(tf.range(1, 13), [3, 4]),
                num_lower=hidden(tf, lower),
                num_upper=hidden(tf, upper),
            )
            for lower, upper in (
                (0, 0),
                (1, 2),
                (3, 4),
                (4, 0),
                (0, 5),
                (-1, 0),
                (0, -1),
                (-2, -3),
                ([1], 1),
                (1, [1]),
            )
        ),
        lambda: raw.MatrixBandPart(input=of((3,), "float32"), num_lower=0, num_upper=0),
    )


BEHAVIOURS = {
    "apart": _apart,
    "square": _square,
    "not finite": _not_finite,
    "products": _products,
}
