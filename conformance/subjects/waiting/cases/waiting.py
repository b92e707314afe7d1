"""Vectors of WAITING: histories, waiters that begin one after another, and what ends them."""

from __future__ import annotations

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.spec.forms import Json, JsonObject


def _check(c: EngineAuthor, name: str, facts: JsonObject, **args: Json) -> None:
    name = f"sessrun.conformance.checks.waiting.{name}"
    c.step("check", name=name, args=args, expect={"facts": facts})


def _row(c: EngineAuthor, resource: str, action: str, waiters: int, *late: int) -> None:
    facts: JsonObject = {"wrong": []} if late else {"wrong": [], "in_order": True}
    args: dict[str, Json] = {
        "resource": resource,
        "action": action,
        "waiters": waiters,
        "late": list(late),
    }
    _check(c, "in_a_row", facts, **args)


def _ends(c: EngineAuthor, resource: str, action: str, by: str) -> None:
    args: dict[str, Json] = {"resource": resource, "action": action, "waiters": 3, "by": by}
    _check(c, "ends", {"wrong": []}, **args)


@engine_case("WAITING-001", title="Calls that overlap and time out could have been made in a row.")
def histories_with_timeouts(c: EngineAuthor) -> None:
    for resource in ("queue", "barrier", "accumulator"):
        for number in range(3):
            _check(c, "explained", {"broken": []}, resource=resource, seed=f"vector {number}")


@engine_case("WAITING-001", title="So could those on staging areas and staged maps.")
def histories_of_staging(c: EngineAuthor) -> None:
    for resource in ("staging", "map"):
        for number in range(3):
            _check(c, "explained", {"broken": []}, resource=resource, seed=f"vector {number}")


@engine_case("WAITING-002", title="Four runs that wait for elements are served in their order.")
def elements_are_served_in_order(c: EngineAuthor) -> None:
    for resource in ("queue", "barrier", "accumulator"):
        _row(c, resource, "take", 4)


@engine_case("WAITING-002", title="Four runs that wait for room are served in their order.")
def room_is_served_in_order(c: EngineAuthor) -> None:
    _row(c, "queue", "put", 4)


@engine_case("WAITING-003", title="Of four runs that wait for elements the second times out.")
def a_timed_out_take_takes_nothing(c: EngineAuthor) -> None:
    for resource in ("queue", "barrier", "accumulator"):
        _row(c, resource, "take", 4, 1)


@engine_case("WAITING-003", title="Of four runs that wait for room the third times out.")
def a_timed_out_put_puts_nothing_in(c: EngineAuthor) -> None:
    _row(c, "queue", "put", 4, 2)


@engine_case("WAITING-004", title="Three runs that wait for staged elements are served once.")
def waiters_for_staging_are_served_once(c: EngineAuthor) -> None:
    for resource, action in (("staging", "take"), ("staging", "put"), ("map", "take")):
        args: dict[str, Json] = {"resource": resource, "action": action, "waiters": 3, "late": []}
        _check(c, "in_a_row", {"wrong": []}, **args)


@engine_case("WAITING-005", title="A cancelling close ends three runs that wait.")
def a_close_ends_three_runs(c: EngineAuthor) -> None:
    for resource, action in (("queue", "take"), ("queue", "put"), ("barrier", "take")):
        _ends(c, resource, action, "close")


@engine_case("WAITING-006", title="The close of the session ends three runs that wait.")
def the_sessions_close_ends_three_runs(c: EngineAuthor) -> None:
    for resource in ("queue", "barrier", "accumulator"):
        _ends(c, resource, "take", "session")
    _ends(c, "queue", "put", "session")
