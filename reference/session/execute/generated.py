"""The second tier of the executor: a signature's run as generated Python code.

The first tier interprets the steps of a plan; a run of a no-op takes it 1 µs and a scalar addition
in a chain 0.08. Code made for one signature takes 0.1 and 0.03, and 10 µs a step to be generated:
that is done once a signature has been run `RUNS_BEFORE` times, and at once for a callable.

Values, errors and effects are those of the first tier: `tests/reference/test_tiers.py` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.public import public
from sessrun.reference.session.execute.compiling import functions_of
from sessrun.reference.session.execute.late_step import LateStep
from sessrun.reference.session.execute.op_errors import line_error
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.source import FIRST_STEP_LINE, write_source
from sessrun.reference.session.execute.steps import STEP_REGISTER
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.resolve.feeds import KernelView
from sessrun.reference.session.resolve.signature import Signature
from sessrun.spec.feeds import StringElementError

__all__ = [
    "GeneratedRun",
    "QuickRun",
    "can_generate",
    "generate",
    "runs_before",
    "set_execution_tier",
]

#: How often a signature runs in the first tier.
RUNS_BEFORE: Final = 20

#: What `set_execution_tier` has set, by tier the runs in the first one.
_NEVER: Final = float("inf")
_RUNS_BEFORE: Final[dict[int | None, float]] = {None: RUNS_BEFORE, 1: _NEVER, 2: 0}
_forced: list[int] = []


@public("experimental.set_execution_tier")
def set_execution_tier(tier: int | None) -> None:
    """Let the sessions that are created from now on execute in one tier alone; to compare them.

    Args:
      tier: 1 for the interpreter of plans, 2 for generated code from the first run on, wherever
        there can be some; None for the choice that a session makes by itself.

    Raises:
      ValueError: there is no such tier.

    """
    if tier not in _RUNS_BEFORE:
        raise ValueError(f"The executor has tiers 1 and 2, not {tier!r}.")
    _forced[:] = [] if tier is None else [tier]


def runs_before() -> float:
    """How often a signature runs in the first tier, in a session that is created now."""
    return _RUNS_BEFORE[_forced[0] if _forced else None]


#: `quick(fetches, feed_dict)`: what is fetched, or `MISSED` if it is no run of these.
QuickRun = Callable[[object, object], Any]


class GeneratedRun(NamedTuple):
    """The functions that are generated for a signature.

    Attributes:
      run: from the values of the feeds, as given, to the structure that is fetched.
      proceed: the same from the converted arrays of the feeds.
      fed: the same from a feed_dict, its second argument, or `MISSED` if that is not one of the
        same keys; the first argument is not looked at.

    """

    run: Callable[..., Any]
    proceed: Callable[..., Any]
    fed: QuickRun


def can_generate(plan: Plan | None, lifetime: Lifetime) -> bool:
    """Whether the run of a plan can be generated code.

    Left to the first tier are plans whose operations fire as their inputs arrive, plans with
    several operations that may wait, plans that are traced or executed in parts (each kind is a
    class derived from Plan), and plans with operations on a GPU. Of those with loops, or with one
    operation that may wait, the ones whose deadline counts from the beginning of the run, too, or
    whose kernels need a `Step` that has begun (a mutex is given up at its end): see `LateStep`.
    """
    return (
        plan is not None
        and (not plan.cancellable or (plan.only_takes and not lifetime.sets_deadlines))
        and plan.can_be_text
    )


def generate(
    plan: Plan,
    signature: Signature,
    lifetime: Lifetime,
    *,
    feed_keys: Sequence[object] = (),
    owner: object = None,
) -> GeneratedRun:
    """Generate the run of a plan that `can_generate` accepts.

    Args:
      plan: the plan.
      signature: the signature that it was made of.
      lifetime: of its session.
      feed_keys: the key of each feed, as given; for a callable none.
      owner: for a callable its session, which it keeps alive and of which `run` checks that it has
        not ended; else the session itself sees to that.

    """
    source = write_source(plan, signature, feed_keys, checks_open=owner is not None)
    names = source.names
    names["owner"] = owner
    failure = _Failure(source.ops, source.devices, lifetime)
    names["failure_of"] = failure.failure_of
    names["check_open"], names["over"] = lifetime.check_not_over, lifetime.over
    if plan.cancellable:
        names[f"c{STEP_REGISTER}"] = LateStep(lifetime)
    for number, tensor in enumerate(signature.fed):
        if tensor.dtype.base_dtype.spec_name == "string":
            names[f"w{number}"] = failure.checked(signature.views[number])
    steps, link = functions_of(source.text, names, "steps", "link")
    return GeneratedRun(*link(steps))


@dataclass(frozen=True, slots=True)
class _Failure:
    """Makes the errors of a generated run, which raises them itself.

    None of the methods is in the traceback of the error that it returns: a frame with the error
    among its variables would keep the error, and the run's tensors, until garbage is collected.

    Attributes:
      ops: the operation that each line of the steps executes.
      devices: the name of its device.
      lifetime: of the session: a run that fails while its session ends is cancelled.

    """

    ops: Sequence[Operation]
    devices: Sequence[str]
    lifetime: Lifetime

    def failure_of(self, error: Exception) -> Exception:
        """The error of a run of which a step has raised this one.

        Raises:
          CancelledError: the session has ended.

        """
        return self._unless_over(line_error(error, FIRST_STEP_LINE, self.ops, self.devices))

    def checked(self, view: KernelView) -> KernelView:
        """The view of a fed string, which refuses elements that are no strings."""

        def checked_view(array: np.ndarray) -> Any:
            try:
                return view(array)
            except StringElementError as error:
                raise self._unless_over(errors.InternalError(None, None, str(error))) from error

        return checked_view

    def _unless_over(self, failure: Exception) -> Exception:
        if isinstance(failure, errors.OpError):
            self.lifetime.check_not_over(failure)
        return failure
