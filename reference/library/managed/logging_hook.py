"""`tf.train.LoggingTensorHook`: writes values of tensors to the log now and then.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import log_messages
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.run_hooks import (
    NeverTriggerTimer,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from sessrun.reference.public import public
from sessrun.reference.session.session import Session

__all__ = ["LoggingTensorHook"]


@public("train.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every N runs, every N seconds, or at the end.

    Args:
      tensors: tensors or names, or a dictionary from tags to them.
      every_n_iter: the runs from one time to the next.
      every_n_secs: the seconds from one time to the next.
      at_end: whether to write at the end; then both of these may be None.
      formatter: makes the line of a dictionary from tags to values.

    Raises:
      ValueError: there is not exactly one of the two, or no run from one time to the next.

    """

    def __init__(
        self,
        tensors: Mapping[str, object] | Iterable[object],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[Mapping[str, object]], str] | None = None,
    ) -> None:
        given = [limit for limit in (every_n_iter, every_n_secs) if limit is not None]
        only_at_end = at_end and not given
        if len(given) != 1 and not only_at_end:
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs "
                "must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tag_order = sorted(tensors)
            self._tensors = dict(tensors)
        else:
            self._tag_order = list(tensors)
            self._tensors = {item: item for item in self._tag_order}
        self._formatter = formatter
        self._timer: SecondOrStepTimer | NeverTriggerTimer = NeverTriggerTimer()
        if not only_at_end:
            self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._log_at_end = at_end

    def begin(self) -> None:
        """Find the tensors in the default graph.

        Raises:
          ValueError: a tensor is of another graph, or a name is that of an operation with several.

        """
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: _element(item) for tag, item in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetch the values if the timer is due."""
        del run_context
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        del run_context
        if self._should_trigger:
            self._write(run_values.results)
        self._iter_count += 1

    def end(self, session: Session) -> None:
        """Write the values at the end, if that is wanted."""
        if self._log_at_end:
            self._write(session.run(self._current_tensors))

    def _write(self, values: Mapping[str, object]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                log_messages.info(self._formatter(values))
                return
            line = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order)
            if seconds is None:
                log_messages.info("%s", line)
            else:
                log_messages.info("%s (%.3f sec)", line, seconds)


def _element(item: str | Tensor | Variable | Operation) -> Tensor | Variable | Operation:
    """The tensor or operation of the default graph that an object or a name stands for."""
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(
                f"Passed {item} should have graph attribute that is equal to current graph {graph}."
            )
        return item
    element: Tensor
    if ":" in item:
        element = graph.as_graph_element(item)
        return element
    element = graph.as_graph_element(f"{item}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element
