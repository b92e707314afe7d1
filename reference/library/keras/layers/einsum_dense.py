"""`tf.keras.layers.EinsumDense`: a dense layer of any axes. Source: tf_keras 2.21."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.layer_options import NamedOptions
from sessrun.reference.library.keras.object_configs import Config, Identifier

__all__ = ["EinsumDense"]

#: Equations: without an ellipsis, with one before the named axes, with one behind them.
_FORMS = (
    re.compile(r"(?P<given>[a-zA-Z]+),(?P<weight>[a-zA-Z]+)->(?P<result>[a-zA-Z]+)"),
    re.compile(r"\.{3}(?P<given>[a-zA-Z]+),(?P<weight>[a-zA-Z]+)->\.{3}(?P<result>[a-zA-Z]+)"),
    re.compile(r"(?P<given>[a-zA-Z]{2,})\.{3},(?P<weight>[a-zA-Z]+)->(?P<result>[a-zA-Z]+)\.{3}"),
)


class EinsumDense(Layer):
    """activation(einsum(inputs, kernel) + bias).

    Args:
      equation: what is multiplied and summed: `ab,bc->ac`, `...ab,bc->...ac` or `ab...,bc->ac...`.
      output_shape: the sizes of the result's named axes but for the batch; None for those of the
        inputs.
      activation: a function or its name.
      bias_axes: the letters of the result's axes over which the bias differs; None for no bias.
      kernel_initializer: makes the first values of the kernel.
      bias_initializer: makes those of the bias.
      kernel_regularizer: a loss of the kernel.
      bias_regularizer: a loss of the bias.
      activity_regularizer: not used, nor is it by Keras.
      kernel_constraint: what becomes of the kernel after an update.
      bias_constraint: what becomes of the bias.
      **kwargs: those of Layer.

    Raises:
      ValueError: on building: the equation has another form, an axis has no size, or two.

    """

    def __init__(
        self,
        equation: str,
        output_shape: Any,
        activation: Identifier = None,
        bias_axes: str | None = None,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(**kwargs)
        del activity_regularizer
        self.equation = equation
        is_one = isinstance(output_shape, int)
        self.partial_output_shape = [output_shape] if is_one else list(output_shape)
        self.bias_axes = bias_axes
        self.activation = activations.get(activation)
        self._set_rules("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_rules("bias", bias_initializer, bias_regularizer, bias_constraint)

    _options = (
        "equation",
        "activation",
        "bias_axes",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
    )

    def build(self, input_shape: ShapeLike) -> None:
        """Make `kernel` and `bias`."""
        axes = _read(self.equation, tf.TensorShape(input_shape).as_list())
        self.full_output_shape = axes.output_shape(self.partial_output_shape)
        self.kernel = self._add_by_rules("kernel", axes.kernel_shape(self.full_output_shape))
        self.bias = None
        if self.bias_axes is not None:
            shape = axes.bias_shape(self.bias_axes, self.full_output_shape)
            self.bias = self._add_by_rules("bias", shape)
        super().build(input_shape)

    def call(self, inputs: TensorLike) -> Tensor:
        """The einsum of inputs and kernel, plus the bias."""
        outputs = tf.einsum(self.equation, inputs, self.kernel)
        if self.bias is not None:
            outputs += self.bias
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs, once the layer is built."""
        del input_shape
        return tf.TensorShape(self.full_output_shape)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {**super().get_config(), "output_shape": self.partial_output_shape}


class _Axes(NamedTuple):
    """The axes of an equation, by letter, and the shape of the inputs."""

    given: str
    weight: str
    result: str
    sizes: list[int | None]
    #: How many axes the ellipsis stands for, and whether it comes first.
    elided: int
    is_left: bool

    def output_shape(self, partial: list[int | None]) -> list[int | None]:
        """The shape of the result, with the batch and what the ellipsis stands for."""
        shape = [self.sizes[0], *partial]
        if self.elided > 0 and self.is_left:
            shape[1:1] = reversed(self.sizes[1 : self.elided])
        elif self.elided > 0:
            shape += self.sizes[len(self.sizes) - self.elided :]
        self._check(shape)
        return shape

    def _before(self) -> int:
        return self.elided if self.is_left else 0

    def _given_size(self, letter: str) -> int | None:
        return self.sizes[self.given.index(letter) + self._before()]

    def _result_size(self, letter: str, shape: list[int | None]) -> int | None:
        return shape[self.result.index(letter) + self._before()]

    def _check(self, shape: list[int | None]) -> None:
        for letter in self.given:
            size = self._result_size(letter, shape) if letter in self.result else None
            if size is not None and size != self._given_size(letter):
                raise bad_value(
                    "Input shape and output shape do not match at shared dimension "
                    f"'{letter}'. Input shape is {self._given_size(letter)}, and output shape is "
                    f"{size}."
                )
        for letter in self.result:
            if letter not in self.given and letter not in self.weight:
                raise bad_value(
                    f"Dimension '{letter}' was specified in the output '{self.result}' but has no "
                    f"corresponding dim in the input spec '{self.given}' or weight spec "
                    f"'{self.weight}'"
                )

    def kernel_shape(self, shape: list[int | None]) -> list[int | None]:
        """The shape of the kernel, for a result of this shape."""
        sizes = []
        for letter in self.weight:
            if letter in self.given:
                sizes.append(self._given_size(letter))
            elif letter in self.result:
                sizes.append(self._result_size(letter, shape))
            else:
                raise bad_value(
                    f"Weight dimension '{letter}' did not have a match in either the input spec "
                    f"'{self.given}' or the output spec '{self.result}'. For this layer, the "
                    "weight must be fully specified."
                )
        return sizes

    def bias_shape(self, letters: str, shape: list[int | None]) -> list[int | None]:
        """The shape of a bias that differs over these axes of the result."""
        for letter in letters:
            if letter not in self.result:
                raise bad_value(
                    f"Bias dimension '{letter}' was requested, but is not part of the output spec "
                    f"'{self.result}'"
                )
        first = min(self.result.index(letter) for letter in letters)
        behind = 0 if self.is_left else self.elided
        return [
            self._result_size(letter, shape) if letter in letters else 1
            for letter in self.result[first:]
        ] + [1] * behind


def _read(equation: str, sizes: list[int | None]) -> _Axes:
    """The axes of an equation, for inputs of this shape."""
    for form in _FORMS:
        match = form.match(equation)
        if match:
            elided = len(sizes) - len(match["given"])
            is_left = equation.startswith("...")
            return _Axes(match["given"], match["weight"], match["result"], sizes, elided, is_left)
    raise bad_value(
        f"Invalid einsum equation '{equation}'. Equations must be in the form [X],[Y]->[Z], "
        "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]...."
    )
