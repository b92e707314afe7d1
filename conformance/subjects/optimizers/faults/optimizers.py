"""Faults of OPTIMIZERS: the classes of `tf.train`, slots, decays of learning rates, averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.subjects.managed.faults.managed import train
from sessrun.spec.cases.arguments import Argument, TensorLike
from sessrun.spec.cases.library import GradientsAndVariables, Step
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Tensor, Variable

# --- slots --------------------------------------------------------------------------------


@fault("OPTIMIZERS-030", "A slot has the name that the optimizer knows it by.")
def slots_are_named_alone(tf: Namespace) -> Namespace:
    """Name the slot variable after the slot."""

    class MomentumOptimizer(tf.train.MomentumOptimizer):  # type: ignore[misc, name-defined]
        def _create_slots(self, var_list: Sequence[Variable]) -> None:
            for v in var_list:
                self._zeros_slot(v, "momentum", "momentum")

    return train(tf, MomentumOptimizer=MomentumOptimizer)


@fault("OPTIMIZERS-031", "Slots are trainable.")
def slots_are_trainable(tf: Namespace) -> Namespace:
    """Add the slots to TRAINABLE_VARIABLES."""

    class MomentumOptimizer(tf.train.MomentumOptimizer):  # type: ignore[misc, name-defined]
        def _create_slots(self, var_list: Sequence[Variable]) -> None:
            super()._create_slots(var_list)
            for v in var_list:
                slot = self.get_slot(v, "momentum")
                tf.add_to_collection(tf.GraphKeys.TRAINABLE_VARIABLES, slot)

    return train(tf, MomentumOptimizer=MomentumOptimizer)


@fault("OPTIMIZERS-058", "A slot that is not there is KeyError.")
def slots_that_are_not_there_fail(tf: Namespace) -> Namespace:
    """Raise it instead of returning None."""

    class RMSPropOptimizer(tf.train.RMSPropOptimizer):  # type: ignore[misc, name-defined]
        def get_slot(self, var: Any, name: str) -> Any:
            slot = super().get_slot(var, name)
            if slot is None:
                raise KeyError(name)
            return slot

    return train(tf, RMSPropOptimizer=RMSPropOptimizer)


@fault("OPTIMIZERS-057", "The names of slots come in the order in which they were made.")
def names_of_slots_are_not_sorted(tf: Namespace) -> Namespace:
    """Reverse the names of slots."""

    class RMSPropOptimizer(tf.train.RMSPropOptimizer):  # type: ignore[misc, name-defined]
        def get_slot_names(self) -> Sequence[str]:
            return super().get_slot_names()[::-1]

    return train(tf, RMSPropOptimizer=RMSPropOptimizer)


# --- gradients ----------------------------------------------------------------------------


@fault("OPTIMIZERS-033", "The global step counts each variable.")
def each_variable_counts(tf: Namespace) -> Namespace:
    """Add 1 to the global step once more."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def apply_gradients(
            self,
            grads_and_vars: GradientsAndVariables,
            global_step: Step | None = None,
            name: str | None = None,
        ) -> Operation:
            step = super().apply_gradients(grads_and_vars, global_step, name)
            if global_step is None:
                return step
            with tf.control_dependencies([step]):
                return tf.group(tf.assign_add(global_step, 1))

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)


@fault("OPTIMIZERS-034", "Where no variable has a gradient nothing is done.")
def no_gradients_are_no_error(tf: Namespace) -> Namespace:
    """Return a `no_op` instead of raising."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def apply_gradients(
            self, grads_and_vars: GradientsAndVariables, *args: Argument, **kwargs: Argument
        ) -> Operation:
            pairs = list(grads_and_vars)
            if all(gradient is None for gradient, _ in pairs):
                return tf.no_op()
            return super().apply_gradients(pairs, *args, **kwargs)

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)


@fault("OPTIMIZERS-035", "Without a list all variables are optimized.")
def all_variables_are_optimized(tf: Namespace) -> Namespace:
    """Pass all global variables where no list is given."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def compute_gradients(
            self, loss: Tensor, var_list: Sequence[Variable] | None = None, **options: Argument
        ) -> GradientsAndVariables:
            wanted = tf.global_variables() if var_list is None else var_list
            return super().compute_gradients(loss, wanted, **options)

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)


@fault("OPTIMIZERS-036", "Adagrad takes one step for each row of a gradient.")
def equal_rows_are_not_added(tf: Namespace) -> Namespace:
    """Apply repeated rows without adding them up first."""

    class AdagradOptimizer(tf.train.AdagradOptimizer):  # type: ignore[misc, name-defined]
        def _resource_apply_sparse_duplicate_indices(self, *arguments: Argument) -> Operation:
            return self._resource_apply_sparse(*arguments)

    return train(tf, AdagradOptimizer=AdagradOptimizer)


@fault("OPTIMIZERS-037", "Adam moves only rows that have a gradient.")
def adam_is_lazy(tf: Namespace) -> Namespace:
    """Restore the rows that have no gradient after the step."""

    class AdamOptimizer(tf.train.AdamOptimizer):  # type: ignore[misc, name-defined]
        def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Operation:
            before = tf.identity(handle.read_value())
            with tf.control_dependencies([before]):
                step = super()._resource_apply_sparse(grad, handle, indices)
            with tf.control_dependencies([step]):
                moved = tf.gather(handle.read_value(), indices)
                with tf.control_dependencies([moved, handle.assign(before).op]):
                    return handle.scatter_update(tf.IndexedSlices(moved, indices)).op

    return train(tf, AdamOptimizer=AdamOptimizer)


@fault("OPTIMIZERS-038", "The powers of Adam's betas stay.")
def powers_stay(tf: Namespace) -> Namespace:
    """Return from `_finish` without updating the powers."""

    class AdamOptimizer(tf.train.AdamOptimizer):  # type: ignore[misc, name-defined]
        def _finish(self, update_ops: Sequence[Operation], name_scope: str) -> Operation:
            return tf.group(*update_ops, name=name_scope)

    return train(tf, AdamOptimizer=AdamOptimizer)


@fault("OPTIMIZERS-039", "Constraints of variables are forgotten.")
def constraints_are_forgotten(tf: Namespace) -> Namespace:
    """Drop the argument `constraint` of `get_variable`."""

    def get_variable(*args: Argument, **kwargs: Argument) -> Variable:
        kwargs.pop("constraint", None)
        return tf.get_variable(*args, **kwargs)

    return override(tf, get_variable=get_variable)


# --- learning rates -----------------------------------------------------------------------


@fault("OPTIMIZERS-040", "A function that is a learning rate is called at once.")
def functions_are_called_at_once(tf: Namespace) -> Namespace:
    """Call the learning rate in the constructor."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def __init__(
            self,
            learning_rate: TensorLike | Callable[[], TensorLike],
            *args: Argument,
            **kwargs: Argument,
        ) -> None:
            rate = learning_rate() if callable(learning_rate) else learning_rate
            super().__init__(rate, *args, **kwargs)

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)


@fault("OPTIMIZERS-041", "A learning rate stays what it was in the first run.")
def rates_stay(tf: Namespace) -> Namespace:
    """Keep it in a variable."""

    class GradientDescentOptimizer(tf.train.GradientDescentOptimizer):  # type: ignore[misc, name-defined]
        def _prepare(self) -> None:
            super()._prepare()
            rate = vars(self)["_learning_rate_tensor"]
            if rate.op.type != "Placeholder":
                return
            kept = tf.Variable(-1.0, use_resource=True, trainable=False)
            first = tf.where(kept.read_value() < 0, rate, kept.read_value())
            with tf.control_dependencies([kept.assign(first).op]):
                self._learning_rate_tensor = tf.identity(first)

    return train(tf, GradientDescentOptimizer=GradientDescentOptimizer)


@fault("OPTIMIZERS-054", "Exponential decay is never a staircase.")
def decay_is_no_staircase(tf: Namespace) -> Namespace:
    """Forget the argument."""

    def exponential_decay(*args: Argument, staircase: bool = False, **kwargs: Argument) -> Tensor:
        del staircase
        return tf.train.exponential_decay(*args, **kwargs)

    return train(tf, exponential_decay=exponential_decay)


@fault("OPTIMIZERS-053", "Exponential decay is always a staircase.")
def decay_is_always_a_staircase(tf: Namespace) -> Namespace:
    """Go down by whole powers."""

    def exponential_decay(*args: Argument, staircase: bool = False, **kwargs: Argument) -> Tensor:
        del staircase
        return tf.train.exponential_decay(*args, staircase=True, **kwargs)

    return train(tf, exponential_decay=exponential_decay)


@fault("OPTIMIZERS-043", "A boundary belongs to the piece after it.")
def boundaries_are_of_the_piece_after(tf: Namespace) -> Namespace:
    """Add 1 to x."""

    def piecewise_constant(x: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        return tf.train.piecewise_constant(x + 1, *args, **kwargs)

    return train(tf, piecewise_constant=piecewise_constant)


@fault("OPTIMIZERS-056", "Polynomial decay never begins anew.")
def polynomial_decay_has_no_cycle(tf: Namespace) -> Namespace:
    """Forget the argument."""

    def polynomial_decay(*args: Argument, cycle: bool = False, **kwargs: Argument) -> Tensor:
        del cycle
        return tf.train.polynomial_decay(*args, **kwargs)

    return train(tf, polynomial_decay=polynomial_decay)


@fault("OPTIMIZERS-055", "Polynomial decay always begins anew.")
def polynomial_decay_always_has_a_cycle(tf: Namespace) -> Namespace:
    """Decay over multiples of the steps."""

    def polynomial_decay(*args: Argument, cycle: bool = False, **kwargs: Argument) -> Tensor:
        del cycle
        return tf.train.polynomial_decay(*args, cycle=True, **kwargs)

    return train(tf, polynomial_decay=polynomial_decay)


@fault("OPTIMIZERS-045", "Cosine decay goes down to zero.")
def cosine_decay_has_no_alpha(tf: Namespace) -> Namespace:
    """Forget the argument."""

    def cosine_decay(*args: Argument, alpha: float = 0.0, **kwargs: Argument) -> Tensor:
        del alpha
        return tf.train.cosine_decay(*args, **kwargs)

    return train(tf, cosine_decay=cosine_decay)


# --- averages -----------------------------------------------------------------------------


def _averaging(tf: Namespace, **fixed: Argument) -> Namespace:
    """The namespace whose averages have some arguments fixed."""

    class ExponentialMovingAverage(tf.train.ExponentialMovingAverage):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **{**kwargs, **fixed})

    return train(tf, ExponentialMovingAverage=ExponentialMovingAverage)


@fault("OPTIMIZERS-046", "Averages of tensors are always corrected for their start.")
def averages_are_always_corrected(tf: Namespace) -> Namespace:
    """Pass `zero_debias=True`."""
    return _averaging(tf, zero_debias=True)


@fault("OPTIMIZERS-047", "The number of updates does not count.")
def numbers_of_updates_do_not_count(tf: Namespace) -> Namespace:
    """Forget the argument."""
    return _averaging(tf, num_updates=None)


@fault("OPTIMIZERS-048", "All variables are restored under their own names.")
def averages_are_not_restored(tf: Namespace) -> Namespace:
    """Key the variables to restore by their own names."""

    class ExponentialMovingAverage(tf.train.ExponentialMovingAverage):  # type: ignore[misc, name-defined]
        def variables_to_restore(
            self, moving_avg_variables: Sequence[Variable] | None = None
        ) -> dict[str, Variable]:
            variables = super().variables_to_restore(moving_avg_variables)
            return {v.op.name: v for v in variables.values()}

    return train(tf, ExponentialMovingAverage=ExponentialMovingAverage)
