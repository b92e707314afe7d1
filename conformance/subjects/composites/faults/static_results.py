"""Faults in the static types of composites' results; the values of runs stay right."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.programs.faults.programs import replaced
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor


@fault("COMPOSITES-027", "The static shape of a cross entropy is unknown.")
def shapes_are_forgotten(tf: Namespace) -> Namespace:
    """Pass the losses through a placeholder of any shape."""

    def forgetting(usual: Call) -> Call:
        return lambda *args, **options: tf.placeholder_with_default(usual(*args, **options), None)

    return replaced(tf, "nn.softmax_cross_entropy_with_logits_v2", forgetting)


@fault("LOSSES-020", "Every loss is called `loss`.")
def losses_share_a_name(tf: Namespace) -> Namespace:
    """Build each loss in the scope `loss`."""

    def named(usual: Call) -> Call:
        return lambda *args, **options: usual(*args, **{**options, "scope": "loss"})

    return replaced(tf, "losses.absolute_difference", named)


@fault("METRICS-021", "The update of a mean is a copy outside of its scope.")
def updates_stand_outside(tf: Namespace) -> Namespace:
    """Give an Identity of the update, built outside the metric's scope."""

    def copied(usual: Call) -> Call:
        def mean(*args: Argument, **options: Argument) -> tuple[Tensor, Tensor]:
            value, update = usual(*args, **options)
            return value, tf.identity(update)

        return mean

    return replaced(tf, "metrics.mean", copied)


@fault("OPTIMIZERS-052", "A decayed learning rate is named for its last operation.")
def rates_are_named_for_operations(tf: Namespace) -> Namespace:
    """Give an Identity of the rate."""

    def copied(usual: Call) -> Call:
        return lambda *args, **options: tf.identity(usual(*args, **options))

    return replaced(tf, "train.exponential_decay", copied)


@fault("GRADIENTS-026", "The static shapes of gradients are unknown.")
def shapes_of_gradients_are_forgotten(tf: Namespace) -> Namespace:
    """Pass dense gradients through placeholders of any shape."""

    def forgetting(usual: Call) -> Call:
        def gradients(*args: Argument, **options: Argument) -> list[Tensor | None]:
            return [
                tf.placeholder_with_default(gradient, None)
                if isinstance(gradient, tf.Tensor)
                else gradient
                for gradient in usual(*args, **options)
            ]

        return gradients

    return replaced(tf, "gradients", forgetting)
