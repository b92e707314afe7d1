"""Turns: activities that wait for one resource are served in the order in which they began to wait.

WAITING-002: so wait those that take from a queue, a barrier or an accumulator, and those that put
into a queue. WAITING-003: an activity whose run is over has no turn any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from sessrun.spec.model.values import FailedError, WaitsError

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["Turns"]

Progress = TypeVar("Progress")
Result = TypeVar("Result")


class Turns(Generic[Progress]):
    """Those that wait for a resource, each with how far it has come."""

    def __init__(self) -> None:
        self._waiting: dict[Activity, Progress] = {}

    def __bool__(self) -> bool:
        """Whether any activity of a run that goes on waits."""
        return any(not activity.run.is_over for activity in self._waiting)

    def serve(
        self, activity: Activity, start: Progress, operation: Callable[[Progress], Result]
    ) -> Result:
        """What an operation gives, once it is the activity's turn.

        Args:
          activity: who asks.
          start: how far it has come when it asks for the first time.
          operation: what it asks for; takes how far it has come, which it may change, and waits by
            a WaitsError.

        Raises:
          WaitsError: the operation waits, or another activity is first.
          FailedError: the operation fails.

        """
        self.drop_ended(activity)
        progress = self._waiting.setdefault(activity, start)
        if next(iter(self._waiting)) != activity:
            raise WaitsError
        try:
            result = operation(progress)
        except FailedError:
            del self._waiting[activity]
            raise
        del self._waiting[activity]
        return result

    def drop_ended(self, current: Activity) -> list[Progress]:
        """Drop those whose runs are over.

        Args:
          current: the activity that executes, whose run is not.

        Returns:
          How far each of them had come.

        """
        ended = [other for other in self._waiting if other != current and other.run.is_over]
        return [self._waiting.pop(activity) for activity in ended]
