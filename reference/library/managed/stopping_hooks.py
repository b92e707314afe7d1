"""Hooks that stop a training, wait for its step, feed its runs, or run operations at its end.

Source: TF 2.21.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.api.variables.global_step import needed_global_step_read
from sessrun.reference.base import log_messages
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from sessrun.reference.public import public
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.session import Session

__all__ = [
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "StopAtStepHook",
]

#: The seconds between two reads of the step while waiting, and the steps between two logs.
_LOOK_S: Final = 0.5
_STEPS_PER_MESSAGE: Final = 1000


@public("train.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Requests a stop after a number of steps, or at a step.

    Args:
      num_steps: how many steps to make, counted from the step of the first session.
      last_step: the last step.

    Raises:
      ValueError: both are given, or neither.

    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        """Find the global step.

        Raises:
          RuntimeError: the graph has no global step.

        """
        self._global_step_tensor = needed_global_step_read("StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Compute the last step; a recovered session does not change it."""
        del coord
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step, whose value may be that before or after the run."""
        del run_context
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Request a stop at the last step, after reading the global step again."""
        assert self._last_step is not None
        if run_values.results + 1 < self._last_step:
            return
        if run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


@public("train.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Delays the first run until other workers have reached a step.

    Args:
      wait_until_step: the step to wait for; 0 or less means not to wait.

    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Find the global step.

        Raises:
          RuntimeError: the graph has no global step.

        """
        self._has_started = False
        self._global_step_tensor = needed_global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait, the first time."""
        if self._has_started:
            return
        until = self._wait_until_step
        if until > 0:
            log_messages.info("Waiting for global step %d before starting training.", until)
        said = 0
        while until > 0:
            step = run_context.session.run(self._global_step_tensor)
            if step >= until:
                break
            if step - said > _STEPS_PER_MESSAGE:
                said = step
                text = "Waiting for global step %d before starting training. Current step is %d."
                log_messages.info(text, until, step)
            time.sleep(_LOOK_S)
        self._has_started = True


@public("train.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss of a training is not a number."""

    def __str__(self) -> str:
        """The message, which is always the same."""
        return "NaN loss during training."


@public("train.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Fails or stops when a loss is not a number.

    Args:
      loss_tensor: the loss.
      fail_on_nan_loss: whether to raise an error rather than request a stop.

    """

    def __init__(self, loss_tensor: Tensor, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the loss."""
        del run_context
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Check the loss.

        Raises:
          NanLossDuringTrainingError: the loss is NaN and `fail_on_nan_loss` is set.

        """
        if np.isnan(run_values.results):
            text = "Model diverged with loss = NaN."
            if self._fail_on_nan_loss:
                log_messages.error(text)
                raise NanLossDuringTrainingError
            log_messages.warning(text)
            run_context.request_stop()


@public("train.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs operations at the end of the session.

    Args:
      final_ops: a fetch structure, or None.
      final_ops_feed_dict: the feed_dict for `final_ops`.

    """

    def __init__(
        self, final_ops: Fetches | None, final_ops_feed_dict: Mapping[object, object] | None = None
    ) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values of `final_ops`; None before the end."""
        return self._final_ops_values

    def end(self, session: Session) -> None:
        """Run `final_ops`.

        Raises:
          OutOfRangeError: `final_ops` read input that has ended.

        """
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(
                self._final_ops, feed_dict=self._final_ops_feed_dict
            )
        except (errors.OutOfRangeError, StopIteration):
            log_messages.warning(
                "What FinalOpsHook runs has a dependency back to some input source, which has come "
                "to its end; it should only read variables."
            )
            raise


@public("train.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds each run with the result of a function.

    Args:
      feed_fn: returns the feeds of a run.

    """

    def __init__(self, feed_fn: Callable[[], FeedDict]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Add the feeds of the function to the run."""
        del run_context
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
