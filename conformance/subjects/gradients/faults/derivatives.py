"""Faults of GRADIENTS: derivatives that are slightly wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Unpack

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.gradients.faults.gradients import (
    Options,
    Tensors,
    gradients_given,
    listed,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor

#: From the operation of a target, targets, sources and options to gradients, or to None.
Change: TypeAlias = Callable[
    [Operation, list[Tensor], list[Tensor], Options], list[Tensor | None] | None
]


def _changed(tf: Namespace, change: Change) -> Namespace:
    """The namespace with other gradients of one target.

    Args:
      tf: the namespace.
      change: from the operation of the only target, the targets, the sources and the options to
        other gradients; None leaves the gradients as they are.

    """

    def gradients(
        ys: Tensors,
        xs: Tensors,
        *args: Tensor | list[Tensor | None],
        **options: Unpack[Options],
    ) -> Sequence[Tensor | None]:
        targets, sources = listed(ys), listed(xs)
        if args:
            options["grad_ys"] = args[0]
        operation = targets[0].op if len(targets) == 1 else None
        other = None if operation is None else change(operation, targets, sources, options)
        return tf.gradients(ys, xs, **options) if other is None else other

    return override(tf, gradients=gradients)


@fault("GRADIENTS-022", "The gradient of a product of matrices is twice what it should be.")
def matrix_gradients_are_doubled(tf: Namespace) -> Namespace:
    """Double them where the target is a product of two matrices."""

    def change(
        operation: Operation,
        targets: list[Tensor],
        sources: list[Tensor],
        options: Options,
    ) -> list[Tensor | None] | None:
        if operation.type != "MatMul":
            return None
        gradients = tf.gradients(targets, sources, **options)
        return [None if gradient is None else gradient * 2 for gradient in gradients]

    return _changed(tf, change)


def _with_gradient(
    tf: Namespace, op_type: str, gradient: Callable[[Operation, Tensor], Tensor]
) -> Namespace:
    """The namespace where `gradient(operation, output)` is an operation's by its first input."""

    def change(operation: Operation, targets: Sequence[Tensor], sources: Any, options: Any) -> Any:
        if operation.type != op_type or options or list(sources) != [operation.inputs[0]]:
            return None
        return [gradient(operation, targets[0])]

    return _changed(tf, change)


@fault("GRADIENTS-028", "Each of equal largest elements has all of the gradient.")
def equal_largest_do_not_share(tf: Namespace) -> Namespace:
    """Give 1 for every element that equals the maximum of all."""

    def equal(operation: Operation, output: Tensor) -> Tensor:
        x = operation.inputs[0]
        return tf.cast(tf.equal(x, tf.reduce_max(output)), x.dtype)

    return _with_gradient(tf, "Max", equal)


@fault("GRADIENTS-029", "The gradient of a rectifier at zero is one.")
def rectifiers_pass_zero(tf: Namespace) -> Namespace:
    """Give 1 for every number that is not negative."""

    def passed(operation: Operation, output: Tensor) -> Tensor:
        x = operation.inputs[0]
        return tf.cast(tf.greater_equal(x, tf.zeros_like(output)), x.dtype)

    return _with_gradient(tf, "Relu", passed)


@fault("GRADIENTS-030", "The gradient of a product is the product divided by the element.")
def products_are_divided(tf: Namespace) -> Namespace:
    """Divide, which is no number where the element is zero."""

    def divided(operation: Operation, _: Tensor) -> Tensor:
        x, axes = operation.inputs
        return tf.raw_ops.Prod(input=x, axis=axes, keep_dims=True) / x

    return _with_gradient(tf, "Prod", divided)


@fault("GRADIENTS-031", "Of equal largest elements of a window the last has the gradient.")
def the_last_of_a_window(tf: Namespace) -> Namespace:
    """Pool the image turned round, where it is one window."""

    def turned(operation: Operation, output: Tensor) -> Tensor:
        x = operation.inputs[0]
        if output.shape.as_list()[1:3] != [1, 1]:
            return tf.gradients(output, x)[0]
        attrs = {name: operation.get_attr(name) for name in ("ksize", "strides", "padding")}
        pooled = tf.raw_ops.MaxPool(input=tf.reverse(x, [1, 2]), **attrs)
        return tf.gradients(pooled, x)[0]

    return _with_gradient(tf, "MaxPool", turned)


@fault("GRADIENTS-032", "An element that equals a bound has no gradient.")
def bounds_have_no_gradient(tf: Namespace) -> Namespace:
    """Give 1 strictly between the bounds."""

    def between(operation: Operation, _: Tensor) -> Tensor:
        x, low, high = operation.inputs
        return tf.cast(tf.logical_and(x > low, x < high), x.dtype)

    return _with_gradient(tf, "ClipByValue", between)


@fault("GRADIENTS-033", "The gradient of a leaky rectifier at zero is one.")
def leaky_rectifiers_pass_zero(tf: Namespace) -> Namespace:
    """Give 1 for every number that is not negative."""

    def passed(operation: Operation, _: Tensor) -> Tensor:
        x = operation.inputs[0]
        slopes = tf.fill(tf.shape(x), tf.constant(operation.get_attr("alpha"), x.dtype))
        return tf.where(x >= 0, tf.ones_like(x), slopes)

    return _with_gradient(tf, "LeakyRelu", passed)


@fault("GRADIENTS-027", "Of equal numbers the second is the larger.")
def second_of_equals_is_larger(tf: Namespace) -> Namespace:
    """Differentiate the maximum with its operands exchanged."""

    def change(
        operation: Operation,
        _: list[Tensor],
        sources: list[Tensor],
        options: Options,
    ) -> list[Tensor | None] | None:
        if operation.type != "Maximum":
            return None
        return tf.gradients(tf.maximum(*operation.inputs[::-1]), sources, **options)

    return _changed(tf, change)


@fault("GRADIENTS-024", "A repeated row has the gradient of the first row.")
def repeated_rows_are_not_summed(tf: Namespace) -> Namespace:
    """Halve the gradient of a row that is added to a matrix."""

    def change(
        operation: Operation,
        targets: list[Tensor],
        sources: list[Tensor],
        options: Options,
    ) -> list[Tensor | None] | None:
        shapes = [tensor.shape.rank for tensor in operation.inputs]
        if operation.type != "AddV2" or shapes != [2, 1]:
            return None
        gradients = tf.gradients(targets, sources, **options)
        return [
            gradient if source.shape.rank != 1 or gradient is None else gradient / 2
            for source, gradient in zip(sources, gradients, strict=True)
        ]

    return _changed(tf, change)


@fault("GRADIENTS-025", "The derivative of a product of complex numbers is not conjugated.")
def complex_derivatives_are_not_conjugated(tf: Namespace) -> Namespace:
    """Differentiate the product of the conjugates, where it is one of complex numbers."""

    def change(
        operation: Operation,
        _: list[Tensor],
        sources: list[Tensor],
        options: Options,
    ) -> list[Tensor | None] | None:
        if operation.type != "Mul" or not operation.inputs[0].dtype.is_complex:
            return None
        given = gradients_given(options)
        if not given:
            return None
        conjugated = [tf.conj(gradient) for gradient in given]
        gradients = tf.gradients(operation.outputs, sources, **options | {"grad_ys": conjugated})
        return [None if gradient is None else tf.conj(gradient) for gradient in gradients]

    return _changed(tf, change)
