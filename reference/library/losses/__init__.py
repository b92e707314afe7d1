"""`tf.losses`: losses, their weighting and reduction, and the collection of losses.

Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.library.losses.classification import (
    hinge_loss,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from sessrun.reference.library.losses.loss_collections import (
    add_loss,
    get_losses,
    get_regularization_loss,
    get_regularization_losses,
    get_total_loss,
)
from sessrun.reference.library.losses.regression import (
    absolute_difference,
    cosine_distance,
    huber_loss,
    log_loss,
    mean_pairwise_squared_error,
    mean_squared_error,
)
from sessrun.reference.library.losses.weighting import Reduction, compute_weighted_loss

__all__ = [
    "Reduction",
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]
