"""Faults of LAYERS: batch normalization, its moving moments and their updates."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor


def _calling(tf: Namespace, change: Call) -> Namespace:
    """The namespace whose function of batch normalization is `change(function, inputs, ...)`."""
    function = tf.layers.batch_normalization

    def batch_normalization(inputs: Tensor, **kwargs: Argument) -> Tensor:
        return change(function, inputs, **kwargs)

    return override(tf, layers=override(tf.layers, batch_normalization=batch_normalization))


@fault("LAYERS-020", "The moving variance begins with zeros.")
def moving_variances_begin_with_zeros(tf: Namespace) -> Namespace:
    """Pass zeros as `moving_variance_initializer` where the caller gives no options."""

    def change(function: Call, inputs: Tensor, **kwargs: Argument) -> Tensor:
        if not kwargs:
            kwargs["moving_variance_initializer"] = tf.zeros_initializer()
        return function(inputs, **kwargs)

    return _calling(tf, change)


@fault("LAYERS-021", "Inference is by the batch's moments too.")
def inference_is_by_the_batch(tf: Namespace) -> Namespace:
    """Call the function with `training` set, and remove its updates from the collection."""

    def change(function: Call, inputs: Tensor, **kwargs: Argument) -> Tensor:
        if kwargs.get("training", False) is not False:
            return function(inputs, **kwargs)
        result = function(inputs, **{**kwargs, "training": True})
        del tf.get_collection_ref("update_ops")[-2:]
        return result

    return _calling(tf, change)


@fault("LAYERS-022", "Epsilon is added to the root of the variance.")
def epsilon_is_added_to_the_root(tf: Namespace) -> Namespace:
    """Compute the formula from gamma, beta and the moments where epsilon is 0.1 or more."""

    def change(
        function: Call, inputs: Tensor, epsilon: float = 0.001, **kwargs: Argument
    ) -> Tensor:
        result = function(inputs, epsilon=epsilon, **kwargs)
        if kwargs.get("training") is not True or epsilon < 0.1:
            return result
        gamma, beta = tf.trainable_variables()[-2:]
        mean, variance = tf.nn.moments(inputs, [0])
        return gamma * (inputs - mean) / (tf.sqrt(variance) + epsilon) + beta

    return _calling(tf, change)


@fault("LAYERS-023", "One of the updates is not collected.")
def updates_are_not_collected(tf: Namespace) -> Namespace:
    """Remove the last update from the collection where `training` is the only option."""

    def change(function: Call, inputs: Tensor, **kwargs: Argument) -> Tensor:
        result = function(inputs, **kwargs)
        if kwargs.keys() == {"training"}:
            del tf.get_collection_ref("update_ops")[-1:]
        return result

    return _calling(tf, change)


@fault("LAYERS-024", "Outputs update the moving moments by themselves.")
def outputs_update_the_moments(tf: Namespace) -> Namespace:
    """Make the outputs wait for the updates."""

    def change(function: Call, inputs: Tensor, **kwargs: Argument) -> Tensor:
        result = function(inputs, **kwargs)
        with tf.control_dependencies(tf.get_collection("update_ops")):
            return tf.identity(result)

    return _calling(tf, change)


@fault("LAYERS-025", "Momentum is the share that the batch has.")
def momentum_is_the_batch_share(tf: Namespace) -> Namespace:
    """Pass 1 - momentum."""

    def change(
        function: Call, inputs: Tensor, momentum: float = 0.99, **kwargs: Argument
    ) -> Tensor:
        return function(inputs, momentum=1 - momentum, **kwargs)

    return _calling(tf, change)


@fault("LAYERS-026", "By a bool scalar batch normalization always trains.")
def a_fed_bool_always_trains(tf: Namespace) -> Namespace:
    """Pass True as `training` for anything but False."""

    def change(
        function: Call, inputs: Tensor, training: Tensor | bool = False, **kwargs: Argument
    ) -> Tensor:
        return function(inputs, training=training is not False, **kwargs)

    return _calling(tf, change)
