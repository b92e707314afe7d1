"""Faults of LAYERS: dense and convolutional layers, dropout, flattening, pooling, and scopes."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor


def _changed(tf: Namespace, **changes: Argument) -> Namespace:
    """The namespace with other functions and classes in `tf.layers`."""
    return override(tf, layers=override(tf.layers, **changes))


def _calling(tf: Namespace, name: str, change: Call) -> Namespace:
    """The namespace with a function of layers that is `change(function, inputs, ...)`."""
    function = getattr(tf.layers, name)

    def compute(inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        return change(function, inputs, *args, **kwargs)

    return _changed(tf, **{name: compute})


def _without(argument: str) -> Call:
    """A change that drops one keyword argument."""

    def change(function: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        kwargs.pop(argument, None)
        return function(*args, **kwargs)

    return change


@fault("LAYERS-001", "The matrix of a dense layer is called weights.")
def kernels_are_called_weights(tf: Namespace) -> Namespace:
    """Rename the variable `kernel` of layers that are called at the root with a name only."""

    def getter(get: Call, name: str, *args: Argument, **kwargs: Argument) -> Tensor:
        return get(name.replace("/kernel", "/weights"), *args, **kwargs)

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        scope = tf.get_variable_scope()
        if scope.name or kwargs.keys() != {"name"}:
            return dense(*args, **kwargs)
        with tf.variable_scope(scope, custom_getter=getter, auxiliary_name_scope=False):
            return dense(*args, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-002", "A dense layer leaves its activation out.")
def activations_are_left_out(tf: Namespace) -> Namespace:
    """Call `dense` without `activation`."""
    return _calling(tf, "dense", _without("activation"))


@fault("LAYERS-003", "A bias is made though none is wanted.")
def biases_are_always_made(tf: Namespace) -> Namespace:
    """Call `dense` without `use_bias`."""
    return _calling(tf, "dense", _without("use_bias"))


@fault("LAYERS-041", "A bias begins with ones.")
def biases_begin_with_ones(tf: Namespace) -> Namespace:
    """Pass ones as `bias_initializer` where the only option is `kernel_initializer`."""

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        if kwargs.keys() == {"kernel_initializer"}:
            kwargs["bias_initializer"] = tf.ones_initializer()
        return dense(*args, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-042", "A given initializer of a kernel is ignored.")
def given_kernels_are_ignored(tf: Namespace) -> Namespace:
    """Drop `kernel_initializer` where `use_bias` is the only other option."""

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        if kwargs.keys() == {"kernel_initializer", "use_bias"}:
            del kwargs["kernel_initializer"]
        return dense(*args, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-005", "A kernel never begins as the variable scope says.")
def scopes_initialize_no_kernels(tf: Namespace) -> Namespace:
    """Pass glorot_uniform_initializer where the caller gives no initializer."""

    def change(
        dense: Call, *args: Argument, kernel_initializer: Call | None = None, **kwargs: Argument
    ) -> Tensor:
        initializer = kernel_initializer or tf.glorot_uniform_initializer()
        return dense(*args, kernel_initializer=initializer, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-006", "Layers without a name are numbered from 1 on.")
def layers_are_numbered_from_one(tf: Namespace) -> Namespace:
    """Name layers `dense_1`, `dense_2`, … that are called at the root without options."""

    def change(dense: Call, inputs: Tensor, units: int, **kwargs: Argument) -> Tensor:
        if not kwargs and not tf.get_variable_scope().name:
            kwargs["name"] = f"dense_{len(tf.global_variables()) // 2 + 1}"
        return dense(inputs, units, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-007", "A layer leaves the variable scope around it.")
def layers_leave_their_scope(tf: Namespace) -> Namespace:
    """Call `dense` in the root scope."""

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        scope = tf.get_variable_scope()
        if not scope.name or scope.initializer is not None:
            return dense(*args, **kwargs)
        with tf.variable_scope(tf.VariableScope(False, name=""), auxiliary_name_scope=False):
            return dense(*args, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-008", "A name that is taken is shared without being asked.")
def names_are_shared_unasked(tf: Namespace) -> Namespace:
    """Pass AUTO_REUSE where a name is given."""

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        return dense(*args, **{"reuse": tf.AUTO_REUSE if "name" in kwargs else None, **kwargs})

    return _calling(tf, "dense", change)


@fault("LAYERS-009", "Reuse makes variables by a new name.")
def reuse_makes_variables(tf: Namespace) -> Namespace:
    """Append `_again` to the name where variables are to be reused."""

    def change(
        dense: Call,
        *args: Argument,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Argument,
    ) -> Tensor:
        if not reuse or "kernel_regularizer" in kwargs:
            return dense(*args, name=name, reuse=reuse, **kwargs)
        return dense(*args, name=f"{name}_again", **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-010", "A layer object makes variables at each call.")
def objects_make_variables_again(tf: Namespace) -> Namespace:
    """Call a new layer with the same arguments from the second call on."""

    class Dense(tf.layers.Dense):  # type: ignore[misc, name-defined]  # the namespace is untyped
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            self._arguments = args, kwargs

        def __call__(self, inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
            if not self.built or "activity_regularizer" in self._arguments[1]:
                return super().__call__(inputs, *args, **kwargs)
            arguments, options = self._arguments
            return tf.layers.Dense(*arguments, **options)(inputs, *args, **kwargs)

    return _changed(tf, Dense=Dense)


@fault("LAYERS-011", "Variables are trained, whatever is said.")
def all_variables_are_trained(tf: Namespace) -> Namespace:
    """Call `dense` without `trainable`."""
    return _calling(tf, "dense", _without("trainable"))


@fault("LAYERS-012", "A shared kernel's loss is collected again.")
def shared_losses_are_collected_again(tf: Namespace) -> Namespace:
    """Add the loss of the kernel to the collection once more where `reuse` is set."""

    def change(dense: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        result = dense(*args, **kwargs)
        if kwargs.get("reuse") and kwargs.get("kernel_regularizer"):
            losses = tf.get_collection_ref("regularization_losses")
            losses.append(losses[0] + 0.0)
        return result

    return _calling(tf, "dense", change)


@fault("LAYERS-013", "A loss of outputs is that of the batch.")
def losses_of_outputs_are_not_shared_out(tf: Namespace) -> Namespace:
    """Multiply the losses that a call adds by the size of the batch."""

    class Dense(tf.layers.Dense):  # type: ignore[misc, name-defined]  # the namespace is untyped
        def __call__(self, inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
            losses = tf.get_collection_ref("regularization_losses")
            before = len(losses)
            result = super().__call__(inputs, *args, **kwargs)
            size = tf.cast(tf.shape(inputs)[0], tf.float32)
            losses[before:] = [loss * size for loss in losses[before:]]
            return result

    return _changed(tf, Dense=Dense)


@fault("LAYERS-014", "An unknown last size is refused as InternalError.")
def unknown_sizes_are_internal_errors(tf: Namespace) -> Namespace:
    """Raise InternalError where the last dimension is unknown."""

    def change(dense: Call, inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        if inputs.shape[-1].value is None:
            raise tf.errors.InternalError(None, None, "the last size is not known")
        return dense(inputs, *args, **kwargs)

    return _calling(tf, "dense", change)


@fault("LAYERS-015", "Dropout scales its inputs where it does not train.")
def idle_dropout_scales(tf: Namespace) -> Namespace:
    """Scale the inputs by 1 - rate where `training` is False."""

    def change(dropout: Call, inputs: Tensor, rate: float = 0.5, **kwargs: Argument) -> Tensor:
        if kwargs.get("training", False) is False and 0 <= rate <= 1:
            inputs *= 1 - rate
        return dropout(inputs, rate, **kwargs)

    return _calling(tf, "dropout", change)


@fault("LAYERS-016", "What dropout keeps stays as it is.")
def kept_elements_are_not_scaled(tf: Namespace) -> Namespace:
    """Multiply the result by 1 - rate where `training` is True."""

    def change(dropout: Call, inputs: Tensor, rate: float = 0.5, **kwargs: Argument) -> Tensor:
        dropped = dropout(inputs, rate, **kwargs)
        return dropped * (1 - rate) if kwargs.get("training") is True else dropped

    return _calling(tf, "dropout", change)


@fault("LAYERS-017", "Dropout by a bool scalar always drops.")
def a_fed_bool_always_drops(tf: Namespace) -> Namespace:
    """Pass True as `training` for anything but False."""

    def change(
        dropout: Call, *args: Argument, training: Tensor | bool = False, **kwargs: Argument
    ) -> Tensor:
        return dropout(*args, training=training is not False, **kwargs)

    return _calling(tf, "dropout", change)


@fault("LAYERS-018", "A rate is cut at 0 and 1.")
def dropout_rates_are_cut(tf: Namespace) -> Namespace:
    """Clip the rate to 0 and 1."""
    return _calling(
        tf,
        "dropout",
        lambda dropout, inputs, rate=0.5, **kwargs: dropout(
            inputs, min(max(rate, 0.0), 1.0), **kwargs
        ),
    )


@fault("LAYERS-019", "Flattening takes the axes in the other order.")
def flattening_turns_axes(tf: Namespace) -> Namespace:
    """Transpose the last two axes before `flatten`."""

    def change(flatten: Call, inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        return flatten(tf.transpose(inputs, [0, 2, 1]), *args, **kwargs)

    return _calling(tf, "flatten", change)


@fault("LAYERS-027", "A convolution flips its kernel.")
def kernels_are_flipped(tf: Namespace) -> Namespace:
    """Flip the images before and after the convolution, where nothing is padded."""

    def change(conv2d: Call, inputs: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        known = inputs.shape.is_fully_defined() and "padding" not in kwargs
        if not known:
            return conv2d(inputs, *args, **kwargs)
        return tf.reverse(conv2d(tf.reverse(inputs, [1, 2]), *args, **kwargs), [1, 2])

    return _calling(tf, "conv2d", change)


@fault("LAYERS-028", "A convolution with strides counts whole windows only.")
def strided_windows_are_whole(tf: Namespace) -> Namespace:
    """Pass the padding `valid` where strides are not 1."""

    def change(conv2d: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        if kwargs.get("strides", 1) != 1:
            kwargs["padding"] = "valid"
        return conv2d(*args, **kwargs)

    return _calling(tf, "conv2d", change)


@fault("LAYERS-029", "Unknown channels are taken for one.")
def unknown_channels_are_one(tf: Namespace) -> Namespace:
    """Set the number of channels to 1 where it is unknown."""

    def change(conv2d: Call, inputs: Any, *args: Argument, **kwargs: Argument) -> Tensor:
        if inputs.shape[-1].value is None:
            inputs.set_shape([None, None, None, 1])
        return conv2d(inputs, *args, **kwargs)

    return _calling(tf, "conv2d", change)


@fault("LAYERS-030", "The mean of a window counts what was padded.")
def padding_counts_for_means(tf: Namespace) -> Namespace:
    """Pad the images with zeros, and average over whole windows."""

    def change(pool: Call, inputs: Tensor, size: int, strides: int, **kwargs: Argument) -> Tensor:
        if kwargs.get("padding", "valid") != "same":
            return pool(inputs, size, strides, **kwargs)
        margin = [0, inputs.shape[1].value % strides]
        padded = tf.pad(inputs, [[0, 0], margin, margin, [0, 0]])
        return pool(padded, size, strides)

    return _calling(tf, "average_pooling2d", change)
