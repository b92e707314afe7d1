"""Faults of OPTIMIZERS that steps of the classes show."""

from __future__ import annotations

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.subjects.managed.faults.managed import train
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import GradientsAndVariables, Step
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor, Variable


@fault("OPTIMIZERS-049", "Momentum is used before the gradient is added to it.")
def momentum_is_used_before(tf: Namespace) -> Namespace:
    """Step by the slot as it was, and by the gradient, decayed in the wrong order."""

    class MomentumOptimizer(tf.train.MomentumOptimizer):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **options: Argument) -> None:
            options["use_nesterov"] = False
            super().__init__(*args, **options)

    return train(tf, MomentumOptimizer=MomentumOptimizer)


@fault("OPTIMIZERS-049", "The variables of Adam share the slots of the first.")
def adam_shares_its_slots(tf: Namespace) -> Namespace:
    """Give a variable the slots of the first variable of its shape."""

    class AdamOptimizer(tf.train.AdamOptimizer):  # type: ignore[misc, name-defined]
        def get_slot(self, var: Variable, name: str) -> Variable | None:
            for other in tf.trainable_variables():
                slot = super().get_slot(other, name)
                if slot is not None and other.shape == var.shape:
                    return slot
            return super().get_slot(var, name)

    return train(tf, AdamOptimizer=AdamOptimizer)


@fault("OPTIMIZERS-050", "A row without a gradient goes on by its momentum.")
def rows_go_on_by_momentum(tf: Namespace) -> Namespace:
    """Make a whole gradient of the rows."""

    class MomentumOptimizer(tf.train.MomentumOptimizer):  # type: ignore[misc, name-defined]
        def apply_gradients(
            self, grads_and_vars: GradientsAndVariables, *args: Argument, **options: Argument
        ) -> Operation:
            pairs = [
                (tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g, v)
                for g, v in grads_and_vars
            ]
            return super().apply_gradients(pairs, *args, **options)

    return train(tf, MomentumOptimizer=MomentumOptimizer)


@fault("OPTIMIZERS-051", "What minimizes a loss does not count its steps.")
def minimizing_counts_no_steps(tf: Namespace) -> Namespace:
    """Forget the global step."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def minimize(
            self, loss: Tensor, global_step: Step | None = None, **options: Argument
        ) -> Operation:
            del global_step
            return super().minimize(loss, **options)

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)
