"""Partial runs: one execution whose feeds are given, and fetches taken, call by call.

What depends on no feed runs when the run is set up, anything else once every feed it depends on
has been given; each operation runs once. An operation that may wait (a queue's) runs only when
a fetch needs it, or at the end: nothing runs between the calls. Clauses: PARTIAL-RUN.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels import registry
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Value
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.resolve.feeds import kernel_view
from sessrun.reference.session.resolve.set_up import PartialCall, SetUp
from sessrun.reference.session.resolve.unpacking import fetched_value
from sessrun.reference.state.resources import ResourceStore
from sessrun.reference.state.steps import Step

__all__ = ["PartialRun", "PartialRuns"]


class PartialRuns:
    """The partial runs of a session by handle; safe for threads.

    Args:
      lifetime: the session's.

    """

    def __init__(self, lifetime: Lifetime) -> None:
        self._lifetime = lifetime
        self._runs: dict[str, PartialRun] = {}
        self._count = 0
        self._lock = threading.Lock()

    def begin(self, set_up: SetUp, plan: Plan) -> str:
        """Begin a run, and return its handle.

        Raises:
          RuntimeError: the session was closed in the meantime.

        """
        run = PartialRun(plan, set_up.tensors, set_up.fed)
        with self._lifetime.step() as step:
            run.start(step)
        with self._lock:
            self._lifetime.check_open()
            handle = f"{set_up.label};{self._count}"
            self._count += 1
            self._runs[handle] = run
        return handle

    def proceed(self, handle: str, call: PartialCall) -> list[Value]:
        """The values of what a call fetches.

        Raises:
          CancelledError: the session was closed or reset.
          InvalidArgumentError: the run has ended, or as `PartialRun.proceed`.
          OpError: an operation failed; the run is over.

        """
        run = self._runs.get(handle)
        self._lifetime.check_not_over()  # after the look-up: a close forgets the runs
        if run is None:
            raise errors.bad_argument("Must run 'setup' before performing partial runs!")
        try:
            with self._lifetime.step() as step:
                return run.proceed(call.arrays, call.tensors, step)
        except errors.OpError as error:
            self._lifetime.check_not_over(error)
            raise
        finally:
            if run.is_over:
                self._runs.pop(handle, None)

    def clear(self) -> None:
        """Forget all runs."""
        with self._lock:
            self._runs = {}


class PartialRun:
    """A partial run from its set-up to its last fetch.

    Args:
      plan: compiled so that every value keeps its register.
      fetched: the tensors that may be fetched, in the order of the plan's.
      fed: the tensors that may be fed, in the order of the plan's.

    Attributes:
      is_over: whether it failed, or has got all its feeds and returned all its fetches.

    """

    def __init__(self, plan: Plan, fetched: Sequence[Tensor], fed: Sequence[Tensor]) -> None:
        self._plan = plan
        self._registers = plan.template.copy()
        self._resources = ResourceStore()
        self._feeds = dict(zip(fed, plan.feeds, strict=True))
        self._fetches = dict(zip(fetched, plan.fetches, strict=True))
        self._needs = _Needs(frozenset(fed))
        self._given: set[Tensor] = set()
        self._taken: set[Tensor] = set()
        self._left = list(range(len(plan.steps)))
        self._failure: errors.OpError | None = None
        self._lock = threading.Lock()
        self.is_over = False

    def start(self, step: Step) -> None:
        """Run the steps that depend on no feed; `proceed` raises their failure."""
        try:
            self._advance(step, None)
        except errors.OpError as error:
            self._failure = error

    def proceed(
        self, feeds: Mapping[Tensor, np.ndarray], fetches: Sequence[Tensor], step: Step
    ) -> list[Value]:
        """Take in the arrays of some feeds, and return the values of some fetches.

        Raises:
          InvalidArgumentError: a feed was given, or a fetch taken, before, or was not named in
            the set-up, or a fetch needs a feed that was not given; the run can be continued.
          OpError: an operation failed; the run is over.

        """
        with self._lock:
            self._check(feeds, fetches)
            for tensor, array in feeds.items():
                # A copy: the caller may write to the array before the next call.
                self._registers[self._feeds[tensor]] = kernel_view(tensor)(np.array(array))
            self._given.update(feeds)
            self._taken.update(fetches)
            self.is_over = True  # unless it is seen not to be
            if self._failure is not None:
                raise self._failure
            self._advance(step, None if self._is_complete() else fetches)
            self.is_over = self._is_complete()
            return [_copied(self._registers[self._fetches[tensor]]) for tensor in fetches]

    def _is_complete(self) -> bool:
        return len(self._given) == len(self._feeds) and len(self._taken) == len(self._fetches)

    def _check(self, feeds: Iterable[Tensor], fetches: Iterable[Tensor]) -> None:
        for what, tensors, known, used, verb in (
            ("feed", feeds, self._feeds, self._given, "fed"),
            ("fetch", fetches, self._fetches, self._taken, "fetched"),
        ):
            for tensor in tensors:
                name = f"The {what} {tensor.name}"
                if tensor not in known:
                    raise errors.bad_argument(f"{name} was not specified in partial_run_setup.")
                if tensor in used:
                    raise errors.bad_argument(f"{name} has already been {verb}.")
        given = self._given.union(feeds)
        for tensor in fetches:
            missing = self._needs.of(tensor.op) - given
            if missing:
                names = ", ".join(sorted(feed.name for feed in missing))
                raise errors.bad_argument(
                    f"Fetch {tensor.name} can't be computed from the feeds that have "
                    f"been fed so far: it needs {names}."
                )

    def _advance(self, step: Step, wanted: Sequence[Tensor] | None) -> None:
        """Run what has all its feeds.

        Args:
          step: the running step.
          wanted: the fetches for which alone an operation may wait; None at the set-up, where
            none may, and at the end, where every one may.

        """
        at_end = wanted is None and self._is_complete()
        allowed = self._needs.ancestors(tensor.op for tensor in wanted or ())
        ready: list[int] = []
        left: list[int] = []
        for index in self._left:
            op = self._plan.ops[index]
            may_run = at_end or op in allowed or not self._needs.waits(op)
            (ready if may_run and self._needs.of(op) <= self._given else left).append(index)
        self._left = left
        step.share(self._resources)
        self._registers[STEP_REGISTER] = step
        self._plan.run_some(self._registers, ready)


class _Needs:
    """The dependencies of operations, direct and indirect ones, where some tensors are fed."""

    def __init__(self, fed: frozenset[Tensor]) -> None:
        self._fed = fed
        self._feeds: dict[Operation, frozenset[Tensor]] = {}
        self._waits: dict[Operation, bool] = {}

    def of(self, op: Operation) -> frozenset[Tensor]:
        """The feeds that an operation depends on."""
        self._visit(op)
        return self._feeds[op]

    def waits(self, op: Operation) -> bool:
        """Whether it, or a step that it depends on, may wait for something outside the run."""
        self._visit(op)
        return self._waits[op]

    def ancestors(self, ops: Iterable[Operation]) -> set[Operation]:
        """The operations and all that they depend on."""
        visited: set[Operation] = set()
        pending = list(ops)
        while pending:
            op = pending.pop()
            if op not in visited:
                visited.add(op)
                pending.extend(self._before(op))
        return visited

    def _before(self, op: Operation) -> list[Operation]:
        return [t.op for t in op.inputs if t not in self._fed] + op.control_inputs

    def _visit(self, op: Operation) -> None:
        pending = [op]
        while pending:
            last = pending[-1]
            unknown = (
                []
                if last in self._feeds
                else [other for other in self._before(last) if other not in self._feeds]
            )
            if unknown:
                pending.extend(unknown)
                continue
            pending.pop()
            if last not in self._feeds:
                self._settle(last)

    def _settle(self, op: Operation) -> None:
        """Set the feeds that an operation depends on, from those of its producers."""
        before = self._before(op)
        # A fed placeholder counts as run, for who waits for it, once it is fed.
        own = [t for t in op.outputs if t in self._fed] if op.type == "Placeholder" else []
        read = [t for t in op.inputs if t in self._fed]
        self._feeds[op] = frozenset().union(own, read, *(self._feeds[other] for other in before))
        entry = registry.lookup(op.kernel_type, "CPU")
        self._waits[op] = (entry is not None and entry.may_wait) or any(
            self._waits[other] for other in before
        )


def _copied(value: Value) -> Value:
    """The value that a call gives of a register, which later calls may read again."""
    fetched = fetched_value(value)
    return fetched.copy() if isinstance(fetched, np.ndarray) else fetched
