"""`BatchNormalization`: batches normalized by batch moments, or by moving moments.

Source: tf_keras 2.21 in graph mode, whose graphs it makes node for node.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import initializers
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.layers import renormalization
from sessrun.reference.library.keras.layers.normalization import (
    axes_argument,
    filled_like,
    known_axes,
)
from sessrun.reference.library.keras.learning_phases import known_choice, learning_phase, smart_cond
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["BatchNormalization"]

#: The format of the fused operation, by its axis and the rank.
_FORMS: Final = {(1, 4): "NCHW", (1, 5): "NCDHW", (3, 4): "NHWC", (4, 5): "NDHWC"}


class BatchNormalization(Layer):
    """gamma * (inputs - mean) / sqrt(variance + epsilon) + beta, for each channel.

    While training, mean and variance are those of the batch, and the moving ones come nearer to
    them by updates, which the layer collects; else they are the moving ones.

    Args:
      axis: the axis of channels, or several.
      momentum: how much of the moving moments stays at an update.
      epsilon: is added to the variance.
      center: whether `beta` is added.
      scale: whether it is multiplied by `gamma`.
      beta_initializer: makes the first values of `beta`.
      gamma_initializer: the initializer of `gamma`.
      moving_mean_initializer: the initializer of the moving mean.
      moving_variance_initializer: the initializer of the moving variance.
      beta_regularizer: a loss of `beta`.
      gamma_regularizer: a loss of `gamma`.
      beta_constraint: what becomes of `beta` after an update.
      gamma_constraint: what becomes of `gamma`.
      renorm: whether the moments of the batch are corrected towards the moving ones.
      renorm_clipping: the limits of that, `rmin`, `rmax` and `dmax`.
      renorm_momentum: the momentum of the moments that correct.
      fused: False to compute with several operations even where a fused one exists.
      trainable: whether `gamma` and `beta` are trained.
      virtual_batch_size: the size of the parts of the batch that are normalized apart.
      adjustment: a function from the inputs' shape to a scale and an offset while training.
      name: the layer's name.
      **kwargs: as for Layer.

    Raises:
      TypeError: `axis` is neither an int nor a list.
      ValueError: a limit has another name; on building: the size of a channel axis is not known.

    """

    _options: tuple[str, ...] = (
        "axis",
        "momentum",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "moving_mean_initializer",
        "moving_variance_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    #: Variables of a layer that renormalizes.
    moving_stddev: Variable
    renorm_mean: Variable
    renorm_stddev: Variable

    def __init__(
        self,
        axis: int = -1,
        momentum: float | Tensor = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        moving_mean_initializer: Identifier = "zeros",
        moving_variance_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, float | Tensor] | None = None,
        renorm_momentum: float | Tensor = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("synchronized", None)
        super().__init__(name=name, **kwargs)
        self.axis = axes_argument(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self._set_rules("beta", beta_initializer, beta_regularizer, beta_constraint)
        self._set_rules("gamma", gamma_initializer, gamma_regularizer, gamma_constraint)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.fused = True if fused is None else fused
        self.supports_masking = True
        # The fused operation gives the variance with Bessel's correction; TensorFlow's own tests
        # turn this off to have it taken out.
        self._bessels_correction_test_only = True
        self.trainable = trainable
        if renorm:
            self.renorm_clipping = renormalization.limits(renorm_clipping)
            self.renorm_momentum = renorm_momentum

    @property
    def _param_dtype(self) -> DTypeLike:
        """The dtype of the variables: float32 for narrower floats."""
        return tf.float32 if self.dtype in {"float16", "bfloat16"} else self.dtype or tf.float32

    def _fused_can_be_used(self) -> bool:
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        return (
            not self.renorm
            and len(axes) == 1
            and axes[0] in {-4, -3, -1, 1, 3, 4}
            and self.virtual_batch_size is None
            and self.adjustment is None
            and self.dtype in {"float16", "bfloat16", "float32", None}
        )

    def _check_virtual_batches(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise bad_value(
                "`virtual_batch_size` must be a positive integer that divides the true batch size "
                f"of the input tensor. Received: virtual_batch_size={self.virtual_batch_size}"
            )
        if 0 in self.axis:
            raise bad_value(
                "When using `virtual_batch_size`, the batch dimension must be 0 and thus axis "
                f"cannot include 0. Received axis={self.axis}"
            )
        if self.adjustment is not None:
            raise bad_value("When using `virtual_batch_size`, adjustment cannot be specified")

    def _choose_form(self, rank: int) -> None:
        """Decide whether FusedBatchNorm can be used, and with which data format."""
        self.fused = bool(self.fused) and rank in {4, 5} and self._fused_can_be_used()
        if not self.fused:
            return
        form = _FORMS.get((self.axis[0], rank))
        if form is None and rank == 4:
            raise bad_value(
                "Unsupported axis. The use of `fused=True` is only possible with `axis=1` or "
                f"`axis=3` for 4D input tensors. Received: axis={tuple(self.axis)}"
            )
        self.fused = form is not None
        self._data_format = form

    def build(self, input_shape: ShapeLike) -> None:
        """Make `gamma`, `beta`, `moving_mean` and `moving_variance`, and more to renormalize."""
        shape = tf.TensorShape(input_shape)
        self.axis = known_axes(self.axis, shape)
        self._check_virtual_batches()
        self._choose_form(shape.rank)
        sizes = {axis: shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise bad_value(
                f"Input has undefined `axis` dimension. Received input with shape {shape} and "
                f"axis={tuple(self.axis)}"
            )
        self.input_spec = InputSpec(ndim=shape.rank, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            own: Any = (sizes[self.axis[0]],)
        else:
            own = [sizes.get(axis, 1) for axis in range(shape.rank)]
            if self.virtual_batch_size is not None:
                own.insert(1, 1)
                self.axis = [axis + 1 for axis in self.axis]  # one more axis, of the parts
        self._param_shape = own
        add = functools.partial(
            self._add_by_rules,
            shape=own,
            dtype=self._param_dtype,
            experimental_autocast=False,
        )
        self.gamma = add("gamma") if self.scale else None
        self.beta = add("beta") if self.center else None
        with self._without_partitioner():
            self.moving_mean = self._moving("moving_mean", self.moving_mean_initializer)
            self.moving_variance = self._moving("moving_variance", self.moving_variance_initializer)
            if self.renorm:
                renormalization.add_variables(self)
        super().build(input_shape)

    @contextmanager
    def _without_partitioner(self) -> Iterator[None]:
        """Disable the partitioner of the variable scope inside the `with`."""
        scope: Any = getattr(self, "_scope", None)
        before = scope.partitioner if scope else None
        if scope:
            scope.set_partitioner(None)
        try:
            yield
        finally:
            if before:
                scope.set_partitioner(before)

    def _moving(self, name: str, initializer: Identifier) -> Any:
        return self.add_weight(
            name=name,
            shape=self._param_shape,
            dtype=self._param_dtype,
            initializer=initializer,
            synchronization=tf.VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=tf.VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    def call(
        self, inputs: Tensor, training: bool | Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """The inputs, normalized.

        Args:
          inputs: a tensor of rank 2 or more.
          training: whether by the batch's own moments: a bool, 0 or 1, or a bool scalar.
          mask: which examples count for the moments; not where one operation computes it.

        """
        inputs = tf.cast(inputs, self.compute_dtype)
        training = learning_phase() if training is None else training
        if self.virtual_batch_size is None:
            if self.fused:
                return self._fused_call(inputs, training)
            return self._call_in_parts(inputs, training, mask)
        flat_shape = tf.shape(inputs)
        flat_shape = tf.concat([tf.constant([-1]), flat_shape[1:]], axis=0)
        virtual_shape = tf.concat(
            [tf.constant([self.virtual_batch_size, -1]), flat_shape[1:]], axis=0
        )
        outputs = self._call_in_parts(tf.reshape(inputs, virtual_shape), training, mask)
        return tf.reshape(outputs, flat_shape)

    def _along_axes(self, vector: Tensor | Variable | None, inputs: Any) -> Any:
        """Reshape per-channel values so that they broadcast over the inputs."""
        rank = inputs.shape.rank
        if vector is None or len(vector.shape) == rank or self.axis == [rank - 1]:
            return vector
        sizes = [1] * rank
        sizes[self.axis[0]] = inputs.shape.as_list()[self.axis[0]]
        return tf.reshape(vector, sizes)

    def _call_in_parts(
        self, inputs: Tensor, training: bool | Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """The normalization in single operations."""
        given = inputs.dtype.base_dtype
        if given in {tf.float16, tf.bfloat16}:
            inputs = tf.cast(inputs, tf.float32)
        scale, offset = (self._along_axes(v, inputs) for v in (self.gamma, self.beta))
        if known_choice(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance = self._chosen_moments(inputs, training, mask)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = tf.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = tf.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = renormalization.corrections(
                    self, new_mean, new_variance, training
                )
                r = self._along_axes(tf.stop_gradient(r, name="renorm_r"), inputs)
                d = self._along_axes(tf.stop_gradient(d, name="renorm_d"), inputs)
                scale, offset = _composed(r, d, scale, offset)
            self._add_updates(new_mean, new_variance, training)
        mean, variance = tf.cast(mean, inputs.dtype), tf.cast(variance, inputs.dtype)
        offset = None if offset is None else tf.cast(offset, inputs.dtype)
        scale = None if scale is None else tf.cast(scale, inputs.dtype)
        outputs = tf.nn.batch_normalization(
            inputs,
            self._along_axes(mean, inputs),
            self._along_axes(variance, inputs),
            offset,
            scale,
            self.epsilon,
        )
        if given in {tf.float16, tf.bfloat16}:
            outputs = tf.cast(outputs, given)
        outputs.set_shape(inputs.shape)
        return outputs

    def _adjusted(
        self, inputs: Tensor, training: bool | Tensor | None, scale: Tensor, offset: Tensor
    ) -> tuple[Tensor, Tensor]:
        more_scale, more_offset = self.adjustment(tf.shape(inputs))  # type: ignore[misc]  # asked before
        more_scale = smart_cond(training, lambda: more_scale, lambda: filled_like(more_scale, 1))
        more_offset = smart_cond(training, lambda: more_offset, lambda: filled_like(more_offset, 0))
        return _composed(more_scale, more_offset, scale, offset)

    def _chosen_moments(
        self, inputs: Any, training: bool | Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The batch's moments in training, else the moving moments."""
        axes = [axis for axis in range(inputs.shape.rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del axes[1]  # each part apart
        keep_dims = self.virtual_batch_size is not None or len(self.axis) > 1
        values = tf.cast(inputs, self._param_dtype)
        if mask is None:
            mean, variance = tf.nn.moments(values, axes, keep_dims=keep_dims)
        else:
            weights = tf.cast(mask, self.compute_dtype, name="mask_weights")
            weights = tf.expand_dims(weights, axis=-1, name="mask_weights_broadcasted")
            mean, variance = tf.nn.weighted_moments(values, axes, weights, keep_dims=keep_dims)
        moving_mean, moving_variance = self.moving_mean, self.moving_variance
        mean = smart_cond(training, lambda: mean, lambda: tf.convert_to_tensor(moving_mean))
        variance = smart_cond(
            training, lambda: variance, lambda: tf.convert_to_tensor(moving_variance)
        )
        return mean, variance

    def _add_updates(self, mean: Tensor, variance: Tensor, training: bool | Tensor | None) -> None:
        def towards(moving: Variable, value: TensorLike) -> Callable[[], Tensor]:
            return lambda: self._moved(moving, value, self.momentum)

        def of_variance() -> Tensor:
            if self.renorm:
                return renormalization.moved_variance(self, variance)
            return self._moved(self.moving_variance, variance, self.momentum)

        self.add_update(
            lambda: smart_cond(training, towards(self.moving_mean, mean), lambda: self.moving_mean)
        )
        self.add_update(lambda: smart_cond(training, of_variance, lambda: self.moving_variance))

    def _moved(self, moving: Variable, value: TensorLike, momentum: float | Tensor) -> Tensor:
        """The update of a moving average by a new value."""
        with tf.name_scope("AssignMovingAvg") as scope, tf.colocate_with(moving):
            decay = tf.convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != moving.dtype.base_dtype:
                decay = tf.cast(decay, moving.dtype.base_dtype)
            delta = (moving - tf.cast(value, moving.dtype)) * decay
            return tf.assign_sub(moving, delta, name=scope)

    def _fused_call(self, inputs: Tensor, training: bool | Tensor | None) -> Tensor:
        """The normalization by FusedBatchNorm, which also returns the batch's moments."""
        beta, gamma = (
            tf.constant(value, dtype=self._param_dtype, shape=self._param_shape)
            if variable is None
            else variable
            for variable, value in ((self.beta, 0.0), (self.gamma, 1.0))
        )

        def normalized(*, is_training: bool) -> tuple[Tensor, Tensor, Tensor]:
            variance = self.moving_variance
            if is_training:
                variance = self._corrected(variance, inputs, remove=False)
            return tf.nn.fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=variance,
                epsilon=self.epsilon,
                is_training=is_training,
                data_format=self._data_format,
            )

        output, mean, variance = smart_cond(
            training, lambda: normalized(is_training=True), lambda: normalized(is_training=False)
        )
        variance = self._corrected(variance, inputs, remove=True)
        known = known_choice(training)
        if known is not False:
            if known is None:
                momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
            else:
                momentum = tf.convert_to_tensor(self.momentum)
            self.add_update(lambda: self._moved(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._moved(self.moving_variance, variance, momentum))
        return output

    def _corrected(self, variance: Tensor, inputs: Tensor, *, remove: bool) -> Tensor:
        """The variance with Bessel's correction added or removed."""
        if self._bessels_correction_test_only:
            return variance
        count = tf.cast(tf.size(inputs) / tf.size(variance), variance.dtype)
        less = count - tf.cast(1.0, variance.dtype)
        return variance * (less / count if remove else count / less)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape

    def get_config(self) -> dict[str, object]:
        """The arguments of the constructor; without `adjustment`, which is a function."""
        config = super().get_config()
        if self.renorm:
            config |= {
                "renorm": True,
                "renorm_clipping": self.renorm_clipping,
                "renorm_momentum": self.renorm_momentum,
            }
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


def _composed(
    scale: Tensor,
    offset: Tensor,
    then_scale: Tensor | Variable | None,
    then_offset: Tensor | Variable | None,
) -> tuple[Tensor, Tensor]:
    """Compose two affine maps (scale, offset) into one."""
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset
