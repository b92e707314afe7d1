"""Dense layers, activations, dropout, embeddings and functions as layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.engine.base_layer import Layer, RandomLayer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions, NamedOptions
from sessrun.reference.library.keras.learning_phases import learning_phase, smart_cond
from sessrun.reference.library.keras.object_configs import Identifier
from sessrun.reference.library.keras.settings import floatx

__all__ = ["Activation", "Dense", "Dropout", "Embedding", "Identity", "Masking"]


class Dense(Layer):
    """activation(inputs @ kernel + bias), along the last axis.

    Args:
      units: the last size of the outputs.
      activation: a function or its name.
      use_bias: whether a vector is added.
      kernel_initializer: makes the first values of the matrix `[inputs, units]`.
      bias_initializer: the initializer of the bias, a vector [units].
      kernel_regularizer: a loss of the matrix.
      bias_regularizer: a loss of the vector.
      activity_regularizer: a loss of the outputs.
      kernel_constraint: what becomes of the matrix after an update.
      bias_constraint: what becomes of the vector.
      **kwargs: as for Layer.

    Raises:
      ValueError: `units` is negative; on building: the last size of the inputs is not known.
      TypeError: on building: the dtype is neither float nor complex; on calling: the inputs are
        of another float dtype than those that the layer was built for. TensorFlow casts them.

    """

    _options: tuple[str, ...] = (
        "units",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
    )

    def __init__(
        self,
        units: int,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        if self.units < 0:
            raise bad_value(f"`units` must be positive. Received: units={units}")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._set_rules("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_rules("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True
        self._is_dtype_given = self.dtype is not None

    def build(self, input_shape: ShapeLike) -> None:
        """Make `kernel` and `bias`."""
        dtype = tf.as_dtype(self.dtype or floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise bad_type(
                f"A Dense layer can only be built with a floating-point dtype. Received: {dtype}"
            )
        size = _last_size(tf.TensorShape(input_shape))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self._add_by_rules("kernel", [size, self.units])
        self.bias = self._add_by_rules("bias", [self.units]) if self.use_bias else None
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """The outputs, of the inputs' shape but for the last size."""
        inputs = self._in_own_dtype(inputs)
        rank = inputs.shape.rank
        if isinstance(inputs, tf.SparseTensor) and rank in {2, None}:
            outputs = self._of_sparse(inputs)
        elif rank in {2, None}:
            outputs = tf.matmul(inputs, self.kernel)
        else:
            outputs = tf.tensordot(inputs, self.kernel, [[rank - 1], [0]])
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def _of_sparse(self, inputs: SparseTensor) -> Tensor:
        """The product of a sparse matrix and the kernel, as an embedding lookup."""
        inputs, _ = tf.sparse.fill_empty_rows(inputs, 0)
        columns = tf.SparseTensor(inputs.indices, inputs.indices[:, 1], inputs.dense_shape)
        return tf.nn.embedding_lookup_sparse(self.kernel, columns, inputs, combiner="sum")

    def _in_own_dtype(self, inputs: Tensor) -> Tensor:
        kind = self._compute_dtype_object
        if kind is None or inputs.dtype.base_dtype == kind:
            return inputs
        if inputs.dtype.is_floating and not self._is_dtype_given:
            raise bad_type(
                f"Layer {self.name} was built for inputs of {kind.name} and is called with inputs "
                f"of {inputs.dtype.base_dtype.name}: cast them, or give the layer a `dtype`"
            )
        return tf.cast(inputs, kind)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The inputs' shape with `units` as the last size."""
        shape = tf.TensorShape(input_shape).with_rank_at_least(2)
        _last_size(shape)
        return shape[:-1].concatenate(self.units)


def _last_size(shape: TensorShape) -> int:
    size = tf.dimension_value(shape[-1])
    if size is None:
        raise bad_value(
            "The last dimension of the inputs to a Dense layer should be defined. Found None. "
            f"Full input shape received: {shape}"
        )
    return int(size)


class Activation(Layer):
    """A function of each input.

    Args:
      activation: a function or its name.
      **kwargs: as for Layer.

    """

    _options = ("activation",)

    def __init__(self, activation: Identifier, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: TensorLike) -> Tensor:
        """The function's value."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape


class Dropout(RandomLayer):
    """In training, sets a random share of the elements to 0 and scales up the others.

    Args:
      rate: the share of elements that become 0, a number or a tensor.
      noise_shape: the shape of the random mask; None for a size of the inputs. An axis of size 1
        shares the mask.
      seed: the operation's seed.
      **kwargs: as for Layer.

    Raises:
      ValueError: the rate is not between 0 and 1.

    """

    _options = ("rate", "noise_shape", "seed")

    def __init__(
        self,
        rate: TensorLike,
        noise_shape: Any = None,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        if isinstance(rate, int | float) and not 0 <= rate <= 1:
            raise bad_value(
                f"Invalid value {rate} received for `rate`, expected a value between 0 and 1."
            )
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> TensorLike | None:
        """The shape of the random mask; None: the inputs' shape."""
        if self.noise_shape is None:
            return None
        sizes = tf.shape(inputs)
        chosen = [
            sizes[axis] if size is None else size for axis, size in enumerate(self.noise_shape)
        ]
        return tf.convert_to_tensor(chosen)

    def call(self, inputs: Tensor, training: bool | Tensor | None = None) -> Tensor:
        """The inputs, with dropout applied if `training`."""
        if isinstance(self.rate, numbers.Real) and self.rate == 0:
            return tf.identity(inputs)

        def dropped() -> Tensor:
            shape = self._get_noise_shape(inputs)
            seed = self._seed_of_operation()
            return tf.nn.dropout(inputs, rate=self.rate, noise_shape=shape, seed=seed)

        training = learning_phase() if training is None else training
        return smart_cond(training, dropped, lambda: tf.identity(inputs))

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape


class Embedding(Layer):
    """Looks up rows of a matrix by integer indices.

    Args:
      input_dim: how many rows there are.
      output_dim: how long one is.
      embeddings_initializer: makes the first values of the matrix.
      embeddings_regularizer: a loss of the matrix.
      activity_regularizer: a loss of the outputs.
      embeddings_constraint: what becomes of the matrix after an update.
      mask_zero: whether number 0 means that there is nothing, and is masked.
      input_length: how many numbers there are in each example, where that is always the same.
      **kwargs: as for Layer.

    Raises:
      ValueError: a size is not positive.

    """

    _options: tuple[str, ...] = (
        "input_dim",
        "output_dim",
        "embeddings_initializer",
        "embeddings_regularizer",
        "activity_regularizer",
        "embeddings_constraint",
        "mask_zero",
        "input_length",
    )

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Identifier = "uniform",
        embeddings_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        embeddings_constraint: Identifier = None,
        mask_zero: bool = False,
        input_length: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        if input_dim <= 0 or output_dim <= 0:
            raise bad_value(
                "Both `input_dim` and `output_dim` should be positive, Received input_dim = "
                f"{input_dim} and output_dim = {output_dim}"
            )
        own = (None, input_length or None)
        is_shape_given = bool({"input_shape", "batch_input_shape"} & kwargs.keys())
        kwargs.setdefault("dtype", floatx())
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if not is_shape_given:
            self._batch_input_shape = own
        self._is_held_to_shape = self._batch_input_shape != own
        self.input_dim = input_dim
        self.output_dim = output_dim
        self._set_rules(
            "embeddings", embeddings_initializer, embeddings_regularizer, embeddings_constraint
        )
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def _check_declared_shape(self, inputs: Structure) -> None:
        if self._is_held_to_shape:
            super()._check_declared_shape(inputs)

    def build(self, input_shape: ShapeLike = None) -> None:
        """Make `embeddings`."""
        self.embeddings = self._add_by_rules("embeddings", (self.input_dim, self.output_dim))
        super().build(input_shape)

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Tensor | None:
        """True where the number is not 0, if 0 is masked."""
        del mask
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Tensor) -> Tensor:
        """The rows at the indices: the inputs' shape plus [output_dim]."""
        if inputs.dtype.base_dtype not in {tf.int32, tf.int64}:
            inputs = tf.cast(inputs, tf.int32)
        return tf.nn.embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape [batch, *input_length, output_dim].

        Raises:
          ValueError: the inputs' shape is not that of `input_length`.

        """
        shape = tuple(tf.TensorShape(input_shape).as_list())
        if self.input_length is None:
            return tf.TensorShape((*shape, self.output_dim))
        given = self.input_length
        lengths = list(given) if isinstance(given, list | tuple) else [given]
        if not tf.TensorShape(lengths).is_compatible_with(shape[1:]):
            raise bad_value(f'"input_length" is {given}, but received input has shape {shape}')
        known = tf.TensorShape(lengths).merge_with(shape[1:]).as_list()
        return tf.TensorShape((shape[0], *known, self.output_dim))


class Masking(Layer):
    """Masks time steps whose elements all equal `mask_value`, and sets them to 0.

    Args:
      mask_value: the number that means that there is nothing.
      **kwargs: as for Layer.

    """

    _options = ("mask_value",)

    def __init__(self, mask_value: float = 0.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Tensor:
        """True for the steps with an element other than `mask_value`."""
        del mask
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, masked steps set to 0."""
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(kept, inputs.dtype)
        outputs._keras_mask = tf.squeeze(kept, axis=-1)  # noqa: SLF001 - as masks are handed on
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape


class Identity(Layer):
    """Returns the inputs through `tf.identity`."""

    def call(self, inputs: TensorLike) -> Tensor:
        """The inputs."""
        return tf.nest.map_structure(tf.identity, inputs)
