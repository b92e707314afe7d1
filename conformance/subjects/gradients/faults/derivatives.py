"""Faults of GRADIENTS: derivatives that are slightly wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor

Change = Callable[[Any, list[Any], list[Any], dict[str, Any]], list[Any] | None]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _changed(tf: Namespace, change: Change) -> Namespace:
    """The namespace with other gradients of one target.

    Args:
      tf: the namespace.
      change: from `gradients`, the inputs of the target's operation, the sources and the options
        to other gradients, or to None where it leaves them.

    """

    def gradients(
        ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], *args: Any, **options: Any
    ) -> Any:
        targets, sources = _listed(ys), _listed(xs)
        if args:
            options["grad_ys"] = args[0]
        operation = targets[0].op if len(targets) == 1 else None
        other = None if operation is None else change(operation, targets, sources, options)
        return tf.gradients(ys, xs, **options) if other is None else other

    return override(tf, gradients=gradients)


@fault("GRADIENTS-022", "The gradient of a product of matrices is twice what it should be.")
def matrix_gradients_are_doubled(tf: Namespace) -> Namespace:
    """Double them where the target is a product of two matrices."""

    def change(operation: Operation, targets: Sequence[Tensor], sources: Any, options: Any) -> Any:
        if operation.type != "MatMul":
            return None
        gradients = tf.gradients(targets, sources, **options)
        return [None if gradient is None else gradient * 2 for gradient in gradients]

    return _changed(tf, change)


@fault("GRADIENTS-023", "Of equal numbers the second is the larger.")
def second_of_equals_is_larger(tf: Namespace) -> Namespace:
    """Differentiate the maximum of both in the other order."""

    def change(operation: Operation, _: Any, sources: Any, options: Any) -> Any:
        if operation.type != "Maximum":
            return None
        return tf.gradients(tf.maximum(*operation.inputs[::-1]), sources, **options)

    return _changed(tf, change)


@fault("GRADIENTS-024", "A repeated row has the gradient of the first row.")
def repeated_rows_are_not_summed(tf: Namespace) -> Namespace:
    """Give a part of the sum by a row that is added to a matrix."""

    def change(operation: Operation, targets: Sequence[Tensor], sources: Any, options: Any) -> Any:
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

    def change(operation: Operation, _: Any, sources: Any, options: Any) -> Any:
        if operation.type != "Mul" or not operation.inputs[0].dtype.is_complex:
            return None
        given = options.get("grad_ys")
        if given is None:
            return None
        conjugated = [tf.conj(gradient) for gradient in _listed(given)]
        gradients = tf.gradients(operation.outputs, sources, **options | {"grad_ys": conjugated})
        return [None if gradient is None else tf.conj(gradient) for gradient in gradients]

    return _changed(tf, change)
