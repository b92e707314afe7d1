"""A model of a monitored session: which hook is called when, and how the session ends.

It takes the plans that the check `managed.life` takes and says what that must write down. A run
that fails for a lost task is made again in a new session, whose counter begins anew; every other
error goes to who called, and the session stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sessrun.conformance.subjects.managed.checks.managed import HookPlan

__all__ = ["LOST", "expected"]

#: Errors that mean that a task of the cluster was lost.
LOST: Final = ("AbortedError", "UnavailableError")
#: Errors that end a `with` as planned.
_CLEAN: Final = ("OutOfRangeError", "StopIteration")
_STEP: Final = 1000


class _Raised(Exception):  # noqa: N818 - stands for any error
    """An error that the program or a hook raises; `kind` is the name of its class."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class _Session:
    """What a session knows: its counter, and whether it was asked to stop."""

    def __init__(self) -> None:
        self.counter = 0
        self.should_stop = False


class _Life:
    """A monitored session with planned hooks."""

    def __init__(self, hooks: Sequence[HookPlan], *, recovers: bool) -> None:
        self.log: list[str] = []
        self._hooks = hooks
        self._recovers = recovers
        self._calls: Counter[tuple[str, str]] = Counter()
        self._session: _Session | None = None
        self._closed = False
        self._asked = False

    def _call(self, method: str, plan: HookPlan, more: str = "") -> None:
        key = (plan["name"], method)
        self._calls[key] += 1
        self.log.append(f"{plan['name']}.{method}{more}")
        if [method, self._calls[key]] in plan.get("stops", ()):
            self._asked = True
        for where, count, kind in plan.get("raises", ()):
            if (where, count) == (method, self._calls[key]):
                raise _Raised(str(kind))

    def begin(self) -> None:
        for plan in self._hooks:
            self._call("begin", plan)
        self._make()

    def _make(self) -> None:
        while True:
            session = _Session()
            try:
                for plan in self._hooks:
                    self._call("created", plan, " 0")
            except _Raised as error:
                if self._recovers and error.kind in LOST:
                    continue
                raise
            self._session = session
            return

    def run(self, fed: int | None) -> int:
        while True:
            try:
                if self._session is None:
                    self._make()
                return self._hooked(fed)
            except _Raised as error:
                if not (self._recovers and error.kind in LOST):
                    raise
                self._session = None

    def _hooked(self, fed: int | None) -> int:
        session = self._session
        assert session is not None
        if session.should_stop:
            raise _Raised("RuntimeError")
        self._asked = False
        feeds = [] if fed is None else [fed]
        conflict = False
        seen = 0
        for plan in self._hooks:
            self._call("before", plan)
            if "feeds" in plan:
                seen += 1
                if seen > 1:
                    raise _Raised("RuntimeError")
                feeds.append(plan["feeds"])
        conflict = len(feeds) > 1
        if conflict:
            raise _Raised("RuntimeError")
        value = feeds[0] if feeds else 0
        session.counter += 1
        for plan in self._hooks:
            self._call("after", plan, f" {value}" if plan.get("fetches") else "")
        session.should_stop = session.should_stop or self._asked
        return session.counter * _STEP + value

    @property
    def should_stop(self) -> bool:
        return self._closed or self._session is None or self._session.should_stop

    def close(self, *, failed: bool) -> None:
        """End the hooks unless something failed; closing twice is an error."""
        was_closed = self._closed
        self._closed = True
        try:
            if not failed:
                for plan in self._hooks:
                    self._call("end", plan, " closed" if was_closed else " 0")
        finally:
            if was_closed:
                raise _Raised("RuntimeError")
            self._session = None

    def do(self, action: str) -> None:
        word, _, more = action.partition(" ")
        if word == "try":
            try:
                self.do(more)
            except _Raised as error:
                self.log.append(f"caught {error.kind}")
        elif word == "step":
            self.log.append(f"ran {self.run(int(more) if more else None)}")
        elif word == "stop?":
            self.log.append(f"stop {self.should_stop}")
        elif word == "raise":
            raise _Raised(more)
        else:
            self.close(failed=False)

    def leave(self, kind: str | None) -> None:
        """The end of the `with`, after an error or none."""
        failed = kind is not None and kind not in _CLEAN
        try:
            self.close(failed=failed)
            self.log.append(f"raised {kind}" if failed else "left")
        except _Raised as error:
            self.log.append(f"raised {error.kind}")


def expected(
    hooks: Sequence[HookPlan],
    body: Sequence[str],
    kind: str = "MonitoredSession",
    finalized: bool | None = None,
) -> list[str]:
    """What the check `managed.life` must write down."""
    life = _Life(hooks, recovers=kind == "MonitoredSession")
    try:
        life.begin()
    except _Raised as error:
        return [*life.log, f"refused {error.kind}"]
    if finalized is not None:
        life.log.append("final True")
    raised = None
    try:
        for action in body:
            life.do(action)
    except _Raised as error:
        raised = error.kind
    life.leave(raised)
    life.log.append("stop True")
    if finalized is not None:
        life.log.append(f"final {finalized}")
    return life.log
