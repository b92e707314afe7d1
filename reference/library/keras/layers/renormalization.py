"""Batch renormalization: a batch's moments are corrected towards the moving averages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.layers.normalization import filled_like
from sessrun.reference.library.keras.learning_phases import smart_cond
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["add_variables", "corrections", "limits", "moved_variance"]


def limits(clipping: Mapping[str, float | Tensor] | None) -> dict[str, float | Tensor]:
    """The clipping bounds `rmax`, `rmin`, `dmax`, with defaults filled in.

    Raises:
      ValueError: a key is not `rmax`, `rmin` or `dmax`.

    """
    bounds = dict(clipping or {})
    if bounds.keys() - {"rmax", "rmin", "dmax"}:
        raise bad_value(
            f"Received invalid keys for `renorm_clipping` argument: {clipping}. Supported values: "
            "['rmax', 'rmin', 'dmax']."
        )
    return bounds


class Renormalized(Protocol):
    """The layer of batch normalization whose moments are corrected."""

    epsilon: float
    momentum: float | Tensor
    renorm_momentum: float | Tensor
    renorm_clipping: dict[str, float | Tensor]
    moving_mean: Variable
    moving_variance: Variable
    moving_stddev: Variable
    renorm_mean: Variable
    renorm_stddev: Variable
    moving_mean_initializer: Any
    moving_variance_initializer: Any

    def _moving(self, name: str, initializer: Identifier) -> Variable: ...

    def _moved(self, moving: Variable, value: TensorLike, momentum: float | Tensor) -> Tensor: ...


def add_variables(layer: Renormalized) -> None:
    """Create the variables `moving_stddev`, `renorm_mean` and `renorm_stddev`."""

    def deviation(*args: object, **kwargs: object) -> Tensor:
        return tf.sqrt(layer.moving_variance_initializer(*args, **kwargs))

    def beside(variable: Variable, name: str, initializer: Callable[..., object]) -> Variable:
        with tf.colocate_with(variable):
            return layer._moving(name, initializer)  # noqa: SLF001 - this is a part of the layer

    layer.moving_stddev = beside(layer.moving_variance, "moving_stddev", deviation)
    layer.renorm_mean = beside(layer.moving_mean, "renorm_mean", layer.moving_mean_initializer)
    layer.renorm_stddev = beside(layer.moving_stddev, "renorm_stddev", deviation)


def corrections(
    layer: Renormalized, mean: Tensor, variance: Tensor, training: bool | Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The corrections r and d of a batch, and its moments after the update of the renorm variables.

    Returns:
      A factor, an offset, the mean and the variance.

    """
    stddev = tf.sqrt(variance + layer.epsilon)
    known = tf.maximum(layer.renorm_stddev, tf.sqrt(layer.epsilon))
    r, d = stddev / known, (mean - layer.renorm_mean) / known
    with tf.control_dependencies([r, d]):
        mean, stddev = tf.identity(mean), tf.identity(stddev)
    rmin, rmax, dmax = (layer.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
    if rmin is not None:
        r = tf.maximum(r, rmin)
    if rmax is not None:
        r = tf.minimum(r, rmax)
    if dmax is not None:
        d = tf.minimum(tf.maximum(d, -dmax), dmax)
    factor = smart_cond(training, lambda: r, lambda: filled_like(r, 1))
    offset = smart_cond(training, lambda: d, lambda: filled_like(d, 0))

    def updated(moving: Variable, value: TensorLike) -> Tensor:
        value = tf.identity(value)
        return smart_cond(
            training,
            lambda: layer._moved(moving, value, layer.renorm_momentum),  # noqa: SLF001 - as above
            lambda: tf.identity(moving),
        )

    updates = [updated(layer.renorm_mean, mean), updated(layer.renorm_stddev, stddev)]
    with tf.control_dependencies(updates):
        return factor, offset, tf.identity(mean), tf.identity(variance)


def moved_variance(layer: Renormalized, variance: Tensor) -> Tensor:
    """Update the moving variance through the moving standard deviation."""
    deviation = layer._moved(  # noqa: SLF001 - this is a part of the layer
        layer.moving_stddev, tf.sqrt(variance + layer.epsilon), layer.momentum
    )
    value = tf.nn.relu(deviation * deviation - layer.epsilon)
    with tf.name_scope("AssignNewValue") as scope, tf.colocate_with(layer.moving_variance):
        return tf.assign(layer.moving_variance, value, name=scope)
