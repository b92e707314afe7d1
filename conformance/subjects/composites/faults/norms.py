"""Faults of COMPOSITES: clipping, norms, and sums of exponentials that are wrong at some corner."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.programs.faults.programs import replaced
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor


@fault("COMPOSITES-016", "NaN is clipped to the upper bound.")
def no_number_is_clipped(tf: Namespace) -> Namespace:
    """Replace NaN in the result by the upper bound."""

    def clipped(usual: Call) -> Call:
        def clip_by_value(
            t: Tensor,
            clip_value_min: Tensor | float,
            clip_value_max: Tensor | float,
            name: str | None = None,
        ) -> Tensor:
            values = usual(t, clip_value_min, clip_value_max, name)
            return tf.where(tf.is_nan(values), tf.zeros_like(values) + clip_value_max, values)

        return clip_by_value

    return replaced(tf, "clip_by_value", clipped)


@fault("COMPOSITES-017", "Zeros that are clipped by their norm are no numbers.")
def clipped_zeros_are_no_numbers(tf: Namespace) -> Namespace:
    """Divide by the norm, which is zero for a tensor of zeros."""

    def clip_by_norm(
        t: Tensor,
        clip_norm: Tensor | float,
        axes: int | Sequence[int] | None = None,
        name: str | None = None,
    ) -> Tensor:
        del name
        if isinstance(t, tf.IndexedSlices):
            return tf.clip_by_norm(t, clip_norm, axes)
        norm = tf.sqrt(tf.reduce_sum(t * t, axes, keepdims=True))
        return t / norm * tf.minimum(norm, tf.cast(clip_norm, norm.dtype))

    return replaced(tf, "clip_by_norm", lambda _: clip_by_norm)


@fault("COMPOSITES-018", "Each tensor is clipped by its own norm.")
def tensors_are_clipped_each(tf: Namespace) -> Namespace:
    """Call `clip_by_norm` for each tensor."""

    def clip_by_global_norm(
        t_list: Sequence[Tensor | None], clip_norm: Tensor | float, *_: Argument, **__: Argument
    ) -> tuple[list[Tensor | None], Tensor]:
        return (
            [t if t is None else tf.clip_by_norm(t, clip_norm) for t in t_list],
            tf.global_norm(t_list),
        )

    return replaced(tf, "clip_by_global_norm", lambda _: clip_by_global_norm)


@fault("COMPOSITES-019", "An average norm is not averaged.")
def average_norms_are_norms(tf: Namespace) -> Namespace:
    """Call `clip_by_norm`, which does not divide the norm by the number of elements."""
    return replaced(tf, "clip_by_average_norm", lambda _: tf.clip_by_norm)


@fault(
    "COMPOSITES-020", "The norm of infinite order is the greatest number, not the greatest size."
)
def infinite_norms_have_signs(tf: Namespace) -> Namespace:
    """Take the maximum of the elements instead of their absolute values."""

    def signed(usual: Call) -> Call:
        def norm(
            tensor: Tensor,
            ord: float | str = "euclidean",  # noqa: A002
            axis: int | Sequence[int] | None = None,
            **options: Argument,
        ) -> Tensor:
            if ord == float("inf"):
                return tf.reduce_max(tensor, axis, options.get("keepdims"))
            return usual(tensor, ord, axis, **options)

        return norm

    return replaced(tf, "norm", signed)


@fault("COMPOSITES-034", "The squared difference of complex numbers is the product with itself.")
def squared_differences_are_complex(tf: Namespace) -> Namespace:
    """Multiply the difference by itself, not by its conjugate."""

    def multiplied(usual: Call) -> Call:
        def squared_difference(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
            if not tf.convert_to_tensor(x).dtype.is_complex:
                return usual(x, y, name)
            return tf.square(tf.subtract(x, y))

        return squared_difference

    changed = replaced(tf, "squared_difference", multiplied)
    return replaced(changed, "math.squared_difference", multiplied)


@fault("COMPOSITES-021", "The logarithm of a sum of exponentials takes nothing off first.")
def sums_of_exponentials_overflow(tf: Namespace) -> Namespace:
    """Take the logarithm of the plain sum of exponentials."""

    def reduce_logsumexp(
        input_tensor: Tensor,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Tensor:
        del name
        return tf.log(tf.reduce_sum(tf.exp(input_tensor), axis, keepdims=keepdims))

    return replaced(
        replaced(tf, "reduce_logsumexp", lambda _: reduce_logsumexp),
        "math.reduce_logsumexp",
        lambda _: reduce_logsumexp,
    )
