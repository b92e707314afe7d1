"""Programs of accumulators of every dtype, with invalid steps, counts and shapes.

A gradient or a result of another dtype than the accumulator's crashes TensorFlow.
"""

from __future__ import annotations

import functools

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _dense(tf, dtype, resource: bool = False, **how) -> tuple[Tensor, str]:
    prefix = "Resource" if resource else ""
    kind = getattr(tf.raw_ops, f"{prefix}ConditionalAccumulator")
    how = {"shape": [2], "shared_name": "acc", **how}
    return kind(dtype=dtype, **how), f"{prefix}Accumulator"


def _dense_dtypes(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)

    def taken(dtype, resource: bool):
        handle, prefix = _dense(tf, dtype, resource)
        gradients = [tf.cast(of(value), dtype) for value in ([1.0, 5.0], [2.0, 9.0])]
        with tf.control_dependencies(
            [
                getattr(raw, f"{prefix}ApplyGradient")(
                    handle=handle, local_step=of(0, tf.int64), gradient=gradient
                )
                for gradient in gradients
            ]
        ):
            take = getattr(raw, f"{prefix}TakeGradient")
            average = take(handle=handle, num_required=of(2), dtype=dtype)
        with tf.control_dependencies([average]):
            return [average, getattr(raw, f"{prefix}NumAccumulated")(handle=handle)]

    dtypes = tf.float32, tf.float64, tf.float16, tf.int32, tf.bfloat16
    return outcomes_of(
        tf,
        *(
            lambda dtype=dtype, resource=resource: taken(dtype, resource)
            for resource in (False, True)
            for dtype in dtypes
        ),
    )


def _arguments(tf):
    """Steps and counts that are not scalars, and gradients of other shapes."""
    raw, of = tf.raw_ops, functools.partial(hidden, tf)

    def applied(gradient, step=0, required=1, **how):
        handle, _ = _dense(tf, tf.float32, **how)
        apply = raw.AccumulatorApplyGradient(
            handle=handle, local_step=of(step, tf.int64), gradient=of(gradient, tf.float32)
        )
        with tf.control_dependencies([apply]):
            return raw.AccumulatorTakeGradient(
                handle=handle, num_required=of(required), dtype=tf.float32
            )

    def moved(step, local: int):
        handle, _ = _dense(tf, tf.float32)
        move = raw.AccumulatorSetGlobalStep(handle=handle, new_global_step=of(step, tf.int64))
        with tf.control_dependencies([move]):
            apply = raw.AccumulatorApplyGradient(
                handle=handle, local_step=of(local, tf.int64), gradient=of([1.0, 2.0])
            )
        with tf.control_dependencies([apply]):
            return raw.AccumulatorNumAccumulated(handle=handle)

    return outcomes_of(
        tf,
        lambda: applied([3.0, 4.0]),
        lambda: applied([3.0]),
        lambda: applied([[3.0, 4.0]]),
        lambda: applied([3.0, 4.0], [0]),
        lambda: applied([3.0, 4.0], 0, 0),
        lambda: applied([3.0, 4.0], 0, -1),
        lambda: applied(3.0, shape=[]),
        lambda: applied([3.0, 4.0], shape=None),
        lambda: applied([3.0, 4.0], shape=[None]),
        lambda: applied([3.0, 4.0], shape=[None, 2]),
        lambda: applied([3.0, 4.0], reduction_type="SUM"),
        lambda: applied([3.0, 4.0], reduction_type="MAX"),
        lambda: moved(3, 2),
        lambda: moved(3, 3),
        lambda: moved(3, 4),
        lambda: moved([3], 4),
    )


def _sparse(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)

    def taken(
        dtype,
        given,
        wanted,
        shape=(4, 2),
        gradient_shape=None,
        indices=(3, 1),
        **how,
    ):
        handle = raw.SparseConditionalAccumulator(
            dtype=dtype, shape=shape, shared_name="sparse", **how
        )
        apply = raw.SparseAccumulatorApplyGradient(
            handle=handle,
            local_step=of(0, tf.int64),
            gradient_indices=of(indices, tf.int64),
            gradient_values=tf.cast(of([[1.0, 2.0], [5.0, 7.0]]), given),
            gradient_shape=of([] if gradient_shape is None else gradient_shape, tf.int64),
            has_known_shape=gradient_shape is not None,
        )
        with tf.control_dependencies([apply]):
            return raw.SparseAccumulatorTakeGradient(
                handle=handle, num_required=of(1), dtype=wanted
            )

    single, double = tf.float32, tf.float64
    return outcomes_of(
        tf,
        lambda: taken(single, single, single),
        lambda: taken(double, double, double),
        lambda: taken(single, single, single, gradient_shape=[4, 2]),
        lambda: taken(single, single, single, gradient_shape=[5, 2]),
        lambda: taken(single, single, single, gradient_shape=[4, 3]),
        lambda: taken(single, single, single, shape=(None, 2), gradient_shape=[9, 2]),
        lambda: taken(single, single, single, shape=None),
        lambda: taken(single, single, single, (4, 3)),
        lambda: taken(single, single, single, indices=(3, 1, 0)),
        lambda: taken(single, single, single, reduction_type="SUM"),
        lambda: taken(tf.int32, tf.int32, tf.int32),
    )


BEHAVIOURS = {"dense dtypes": _dense_dtypes, "arguments": _arguments, "sparse": _sparse}
