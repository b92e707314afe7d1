"""Vectors of what is told of composites' results before a run: names, dtypes, static shapes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, api_case


def _static(c: ApiAuthor, tensors: Recordable, *want: tuple[str, str, str]) -> None:
    """The tensors must have these names, dtypes and static shapes."""
    c.named_check("static.told", [list(row) for row in want], tensors=tensors)


@api_case("COMPOSITES-027", title="Cross entropies and moments keep what is known of a shape.")
def shapes_of_composites(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    y = c.tf.placeholder(c.tf.float32, [4, None])
    entropies = c.tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
    _static(c, entropies, ("softmax_cross_entropy_with_logits/Reshape_2:0", "float32", "(4,)"))
    moments = c.tf.nn.moments(x, [1], keepdims=True)
    _static(
        c,
        moments,
        ("moments/mean:0", "float32", "(?, 1)"),
        ("moments/variance:0", "float32", "(?, 1)"),
    )


@api_case("LOSSES-020", title="Losses of labels and predictions of which each lacks a dimension.")
def shapes_of_losses(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    y = c.tf.placeholder(c.tf.float32, [4, None])
    losses = c.tf.losses.absolute_difference(y, x, reduction="none")
    _static(c, losses, ("absolute_difference/Mul:0", "float32", "(4, 3)"))
    _static(c, c.tf.losses.log_loss(y, x), ("log_loss/value:0", "float32", "()"))


@api_case("LOSSES-020", title="Weights give a loss the dimension that its arguments lack.")
def shapes_of_weighted_losses(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    ones, column = np.ones((1, 1), np.float32), np.ones((4, 1), np.float32)
    losses = c.tf.losses
    for name, last in (("mean_squared_error", "Mul"), ("huber_loss", "Mul_3")):
        function = getattr(losses, name)
        loss = function(x, x, column, reduction="none")
        _static(c, loss, (f"{name}/{last}:0", "float32", "(4, 3)"))
        loss = function(x, x, ones, reduction="none")
        _static(c, loss, (f"{name}_1/{last}:0", "float32", "(?, 3)"))
        _static(c, function(x, x), (f"{name}_2/value:0", "float32", "()"))


@api_case("METRICS-021", title="A mean and a recall have a value and an update in their scopes.")
def shapes_of_metrics(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    _static(
        c,
        c.tf.metrics.mean(x, name="average"),
        ("average/value:0", "float32", "()"),
        ("average/update_op:0", "float32", "()"),
    )
    _static(
        c,
        c.tf.metrics.recall(x, x),
        ("recall/value:0", "float32", "()"),
        ("recall/update_op:0", "float32", "()"),
    )


@api_case("METRICS-021", title="So have the other metrics that are sums and counts.")
def shapes_of_other_metrics(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    metrics = c.tf.metrics
    for name, metric in (
        ("a", metrics.mean_absolute_error(x, x, name="a")),
        ("s", metrics.mean_squared_error(x, x, name="s")),
        ("r", metrics.mean_relative_error(x, x, x, name="r")),
        ("c", metrics.accuracy(x, x, name="c")),
        ("p", metrics.precision(x, x, name="p")),
        ("b", metrics.percentage_below(x, 0.5, name="b")),
    ):
        want = [(f"{name}/{what}:0", "float32", "()") for what in ("value", "update_op")]
        _static(c, metric, *want)


@api_case("OPTIMIZERS-052", title="A rate of doubles decays to a double that is named for it.")
def shapes_of_decays(c: ApiAuthor) -> None:
    rate = c.tf.constant(0.5, c.tf.float64)
    _static(
        c,
        c.tf.train.exponential_decay(rate, 3, 10, 0.5),
        ("ExponentialDecay:0", "float64", "()"),
    )
    step = c.tf.constant(3, c.tf.int64)
    decayed = c.tf.train.cosine_decay(0.5, step, 10, name="slow")
    _static(c, decayed, ("slow/Mul_3:0", "float32", "()"))


@api_case("GRADIENTS-026", title="Gradients of a product by factors that lack a dimension.")
def shapes_of_gradients(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [None, 3])
    y = c.tf.placeholder(c.tf.float32, [3, 2])
    gradients = c.tf.gradients(c.tf.matmul(x, y), [x, y])
    _static(
        c,
        gradients,
        ("gradients/MatMul_grad/MatMul:0", "float32", "(?, 3)"),
        ("gradients/MatMul_grad/MatMul_1:0", "float32", "(3, 2)"),
    )
