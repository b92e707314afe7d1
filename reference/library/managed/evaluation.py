"""An evaluation of a checkpoint: a number of runs, then the final values. Source: TF 2.21."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.api.variables.init_ops import Ones, Zeros
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.state_ops import assign_add
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_scopes import get_variable
from sessrun.reference.api.variables.variable_store import AUTO_REUSE
from sessrun.reference.base import log_messages
from sessrun.reference.base.dtypes import int32, int64
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import control_dependencies, get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.monitored_session import MonitoredSession
from sessrun.reference.library.managed.run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.managed.session_creators import ChiefSessionCreator
from sessrun.reference.library.managed.stopping_hooks import FinalOpsHook
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto

__all__ = [
    "MultiStepStopAfterNEvalsHook",
    "StopAfterNEvalsHook",
    "evaluate_once",
    "get_latest_eval_step_value",
    "get_or_create_eval_step",
    "get_or_create_steps_per_run_variable",
]

#: The scope and the name of the variable with the steps of one run, and their collection.
_SCOPE: Final = "hooks"
_STEPS_PER_RUN: Final = "steps_per_run"
_STEPS_KEY: Final = f"{_SCOPE}_{_STEPS_PER_RUN}"
#: Fewer evaluations than this are logged one by one; of more, about this many are logged.
_FEW: Final = 20
_MESSAGES: Final = 10


#: What one evaluation runs besides the count: operations and tensors in a list or a dictionary.
Updates: TypeAlias = "Sequence[Tensor | Operation] | dict[str, Tensor | Operation]"


def get_or_create_eval_step() -> Variable:
    """The local variable of the default graph that counts evaluations.

    Raises:
      ValueError: there are several.

    """
    steps = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(steps) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    eval_step: Variable = (
        steps[0]
        if steps
        else get_variable(
            "eval_step",
            shape=[],
            dtype=int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
        )
    )
    return eval_step


def get_or_create_steps_per_run_variable() -> Variable:
    """The local variable of the default graph with the number of steps of one run.

    Raises:
      RuntimeError: there are several.

    """
    variables: list[Variable] = get_default_graph().get_collection(_STEPS_KEY)
    if len(variables) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if variables:
        return variables[0]
    with variable_scope(_SCOPE, reuse=AUTO_REUSE):
        steps_per_run: Variable = get_variable(
            _STEPS_PER_RUN,
            initializer=Ones(),
            shape=[],
            dtype=int32,
            trainable=False,
            collections=[_STEPS_KEY, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )
        return steps_per_run


def get_latest_eval_step_value(update_ops: Updates) -> Tensor:
    """The number of evaluations after some operations have run."""
    listed = list(update_ops.values()) if isinstance(update_ops, dict) else update_ops
    with control_dependencies(listed):
        return identity(get_or_create_eval_step().read_value())


class _CountsEvals(SessionRunHook):
    """A hook that fetches the number of evaluations, and requests a stop after enough of them."""

    _num_evals: int | None
    _evals_completed: Tensor | None = None

    def _set_evals_completed_tensor(self, updated_eval_step: Tensor) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the number of evaluations."""
        del run_context
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def _stop_after_the_last(self, run_context: SessionRunContext, done: int) -> None:
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()

    def _tell(self, done: int) -> None:
        if self._num_evals is None:
            log_messages.info("Evaluation [%d]", done)
        else:
            log_messages.info("Evaluation [%d/%d]", done, self._num_evals)


class StopAfterNEvalsHook(_CountsEvals):
    """Requests a stop after a number of evaluations.

    Args:
      num_evals: the number; None for no end.
      log_progress: whether the number of evaluations done is logged.

    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._log_progress = log_progress
        is_few = num_evals is None or num_evals < _FEW
        self._every = 1 if is_few else math.floor((num_evals or 0) / _MESSAGES)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log how many evaluations are done, and request a stop after the last."""
        done = run_values.results["evals_completed"]
        if self._log_progress and (done % self._every == 0 or done == self._num_evals):
            self._tell(done)
        self._stop_after_the_last(run_context, done)


class MultiStepStopAfterNEvalsHook(_CountsEvals):
    """As `StopAfterNEvalsHook`, for runs of several evaluations each, set by a variable.

    Args:
      num_evals: the number of evaluations; None for no end.
      steps_per_run: how many one run makes.

    """

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        self._num_evals = num_evals
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Find the variable."""
        self._steps_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Set the steps of the first run."""
        del coord
        self._load(0, session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Set the steps of the next run, and request a stop after the last."""
        done = run_values.results["evals_completed"]
        self._load(done, run_context.session)
        self._tell(done)
        self._stop_after_the_last(run_context, done)

    def _load(self, done: int, session: Session) -> None:
        steps = self._steps_per_run
        if self._num_evals is not None:
            steps = min(self._num_evals - done, steps)
        self._steps_variable.load(steps, session=session)


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Tensor | Operation | Updates | None = None,
    feed_dict: Mapping[object, object] | None = None,
    final_ops: Fetches | None = None,
    final_ops_feed_dict: Mapping[object, object] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: ConfigProto | None = None,
) -> Any:
    """Run an evaluation of a checkpoint until a hook requests a stop; return the final values.

    Args:
      checkpoint_path: the checkpoint.
      master: the target of the session.
      scaffold: what makes the model ready.
      eval_ops: what one evaluation runs.
      feed_dict: the feed_dict for `eval_ops`.
      final_ops: the tensors that are evaluated at the end.
      final_ops_feed_dict: what that is fed.
      hooks: are called around each evaluation.
      config: the configuration of the session.

    """
    eval_step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops = _with_count(eval_ops, eval_step, hooks)
        count = get_latest_eval_step_value(eval_ops)
        for hook in hooks:
            if isinstance(hook, _CountsEvals):
                hook._set_evals_completed_tensor(count)  # noqa: SLF001 - a hook of ours
    log_messages.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    start = time.time()
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    final_hook = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final_hook]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    log_messages.info("Inference Time : %0.5fs", time.time() - start)
    log_messages.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    return final_hook.final_ops_values


def _with_count(
    eval_ops: Tensor | Operation | Updates, eval_step: Any, hooks: Sequence[SessionRunHook]
) -> Updates:
    """The fetches of one evaluation, with the operation that counts it added."""
    steps: int | Tensor = 1
    if any(isinstance(hook, MultiStepStopAfterNEvalsHook) for hook in hooks):
        steps = cast(get_or_create_steps_per_run_variable(), dtype=eval_step.dtype)
    update = assign_add(eval_step, steps, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update
        return eval_ops
    return [*(eval_ops if isinstance(eval_ops, tuple | list) else [eval_ops]), update]
