"""`tf.train.SyncReplicasOptimizer`: synchronous updates by the gradients of several replicas.

Gradients go into accumulators; once these have enough, the chief's queue runner applies their mean
and hands out tokens, one for each replica's next step. Here all replicas are threads of one
process. Source: TF 2.21.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from sessrun.reference.api.ops.fill_ops import fill
from sessrun.reference.api.queues.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.api.queues.queue_runner import QueueRunner
from sessrun.reference.api.queues.queues import FIFOQueue
from sessrun.reference.api.variables.state_ops import assign
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_lists import (
    global_variables,
    report_uninitialized_variables,
)
from sessrun.reference.api.variables.variables import create
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.framework_ops import group, no_op
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.graph.default_graph import colocate_with, control_dependencies, device
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.run_hooks import SessionRunHook
from sessrun.reference.library.managed.session_manager import readiness
from sessrun.reference.library.optimizers.averages import ExponentialMovingAverage
from sessrun.reference.library.optimizers.optimizer import Optimizer
from sessrun.reference.public import public
from sessrun.reference.session.session import Session

__all__ = ["SyncReplicasOptimizer"]


@public("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """Averages the gradients of several replicas, and applies them by another optimizer.

    Args:
      opt: the optimizer that applies it.
      replicas_to_aggregate: how many gradients make a step.
      total_num_replicas: how many replicas there are; by default as many.
      variable_averages: an ExponentialMovingAverage that is moved on after each step.
      variables_to_average: of what.
      use_locking: as for every optimizer.
      name: the scope of the operations.

    Attributes:
      local_step_init_op: what a replica runs before its first step.
      chief_init_op: what the chief runs instead.
      ready_for_local_init_op: the names of variables that these wait for.

    """

    local_step_init_op: Tensor | Variable | Operation
    chief_init_op: Operation
    ready_for_local_init_op: Tensor

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Iterable[Variable | Tensor] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        super().__init__(use_locking, name)
        logging.getLogger("sessrun").info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._total_num_replicas = total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._gradients_applied = False
        self._global_step: Variable | Tensor | None = None
        self._sync_token_queue: FIFOQueue | None = None
        self._chief_queue_runner: QueueRunner | None = None
        self._accumulator_list: list[tuple[ConditionalAccumulatorBase, str]] = []

    def compute_gradients(
        self, *args: Any, **kwargs: Any
    ) -> list[tuple[Tensor | IndexedSlices | None, Variable]]:
        """The gradients, computed by the wrapped optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(  # type: ignore[override]  # as TensorFlow's, without aggregation's argument
        self,
        grads_and_vars: Sequence[tuple[Tensor | IndexedSlices | None, Variable]],
        global_step: Variable | Tensor | None = None,
        name: str | None = None,
    ) -> Tensor | Variable:
        """The train op of a replica.

        Raises:
          ValueError: there are no pairs, or no global step, or a gradient of an unknown kind.

        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        del name
        self._global_step = global_step
        anchor = no_op()
        with colocate_with(anchor):
            self._local_step = create(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = assign(self._local_step, global_step)
        begin = [self.local_step_init_op]
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            train_op = self._trained(grads_and_vars, global_step)
            for accumulator, variable_device in self._accumulator_list:
                with device(variable_device):
                    begin.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(*begin)
            self._gradients_applied = True
            return train_op

    def _trained(
        self,
        pairs: Iterable[tuple[Tensor | IndexedSlices | None, Variable]],
        global_step: Variable | Tensor,
    ) -> Tensor | Variable:
        given, means = [], []
        for gradient, var in pairs:
            with device(var.device):
                taken, mean = (None, None) if gradient is None else self._gathered(gradient, var)
            given += [] if taken is None else [taken]
            means.append((mean, var))
        step_device = global_step.device
        with device(step_device), name_scope(""):
            update = self._opt.apply_gradients(means, global_step)
        with device(step_device), name_scope(""):
            tokens = FIFOQueue(
                -1,
                global_step.dtype.base_dtype,
                shapes=(),
                name="sync_token_q",
                shared_name="sync_token_q",
            )
            self._sync_token_queue = tokens
        with device(step_device), name_scope(""):
            with control_dependencies(given):
                token = tokens.dequeue()
            train_op: Tensor | Variable = assign(self._local_step, token)
            with control_dependencies([update]):
                new = fill([self._tokens_per_step], global_step)
                sync = tokens.enqueue_many((new,))
            if self._variable_averages is not None:
                with control_dependencies([sync]), name_scope(""):
                    sync = self._variable_averages.apply(self._variables_to_average)
            self._chief_queue_runner = QueueRunner(tokens, [sync])
        return train_op

    def _gathered(
        self, gradient: Tensor | IndexedSlices | None, var: Variable
    ) -> tuple[Operation, Tensor] | tuple[Operation, IndexedSlices]:
        """The operation that accumulates a gradient, and the averaged gradient."""
        shared, local, count = (
            f"{var.name}/grad_accum",
            self._local_step,
            self._replicas_to_aggregate,
        )
        if isinstance(gradient, Tensor):
            dense = ConditionalAccumulator(
                gradient.dtype, shape=var.get_shape(), shared_name=shared
            )
            self._accumulator_list.append((dense, var.device))
            return dense.apply_grad(gradient, local_step=local), dense.take_grad(count)
        if not isinstance(gradient, IndexedSlices):
            raise ValueError("Unknown grad type!")  # noqa: TRY004 - TensorFlow's class
        rows = SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=shared)
        self._accumulator_list.append((rows, var.device))
        taken = rows.apply_indexed_slices_grad(gradient, local_step=local)
        return taken, rows.take_indexed_slices_grad(count)

    def get_chief_queue_runner(self) -> QueueRunner:
        """The queue runner that applies the averaged gradients; the chief starts it.

        Raises:
          ValueError: no gradients were applied yet.

        """
        if not self._gradients_applied or self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args: Any, **kwargs: Any) -> object:
        """The other optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """The other optimizer's variables."""
        return self._opt.variables()

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The other optimizer's names of slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """The operation that fills the token queue for the first step; the chief runs it once.

        Raises:
          ValueError: no gradients were applied yet, or there would be too few tokens.

        """
        step, queue = self._global_step, self._sync_token_queue
        if not self._gradients_applied or step is None or queue is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        count = self._replicas_to_aggregate if num_tokens == -1 else num_tokens
        if num_tokens != -1 and count < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {count} (given) vs {needed} (needed)"
            )
        if count <= 0:
            return no_op(name="no_init_tokens")
        with device(step.device), name_scope(""):
            return queue.enqueue_many((fill([count], step),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook that initializes a replica, and for the chief starts the queue runner."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Initializes a replica once its session is created."""

    def __init__(
        self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int
    ) -> None:
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens
        self._q_runner: QueueRunner | None = None
        self._init_tokens_op: Operation | None = None

    def begin(self) -> None:
        sync = self._sync_optimizer
        if not sync._gradients_applied:  # noqa: SLF001 - of this module
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._ready_for_local_init_op = sync.ready_for_local_init_op
        self._local_init_op: Tensor | Variable | Operation = sync.local_step_init_op
        if self._is_chief:
            self._local_init_op = sync.chief_init_op
            self._q_runner = sync.get_chief_queue_runner()
            self._init_tokens_op = sync.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        is_ready, reason = readiness(
            self._ready_for_local_init_op,
            session,
            "Model is not ready for SyncReplicasOptimizer local init.",
        )
        if not is_ready:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: {reason}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)
