"""Vectors of QUEUES: histories of calls that overlap, and every element accounted for."""

from __future__ import annotations

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.spec.forms import Json, JsonObject

_NOTHING_WRONG = {"lost": 0, "doubled": 0, "invented": 0, "disordered": 0}


def _check(c: EngineAuthor, name: str, facts: JsonObject, **args: Json) -> None:
    name = f"sessrun.conformance.checks.queue_histories.{name}"
    c.step("check", name=name, args=args, expect={"facts": facts})


@engine_case("QUEUES-065", title="Calls on a FIFOQueue that overlap could have been made in a row.")
def histories_of_a_fifo_queue(c: EngineAuthor) -> None:
    _check(c, "linearizable", {"broken": []}, kind="fifo", histories=4, calls=50, seed=1)


@engine_case("QUEUES-065", title="So could those on a PaddingFIFOQueue.")
def histories_of_a_padding_queue(c: EngineAuthor) -> None:
    _check(c, "linearizable", {"broken": []}, kind="padding", histories=4, calls=50, seed=2)


@engine_case("QUEUES-065", title="So could those on a PriorityQueue.")
def histories_of_a_priority_queue(c: EngineAuthor) -> None:
    _check(c, "linearizable", {"broken": []}, kind="priority", histories=4, calls=50, seed=3)


@engine_case("QUEUES-065", title="So could those on a RandomShuffleQueue.")
def histories_of_a_shuffle_queue(c: EngineAuthor) -> None:
    _check(c, "linearizable", {"broken": []}, kind="shuffle", histories=4, calls=50, seed=4)


@engine_case("QUEUES-066", title="Sixteen threads lose, double and reorder nothing.")
def elements_of_sixteen_threads(c: EngineAuthor) -> None:
    for kind in ("fifo", "padding", "priority", "shuffle"):
        _check(c, "conserved", _NOTHING_WRONG, kind=kind, threads=16, elements=400, seed=5)


@engine_case("QUEUES-066", title="Nor do they where a close cancels what waits.")
def elements_cut_short(c: EngineAuthor) -> None:
    for kind in ("fifo", "shuffle"):
        options = {"threads": 8, "elements": 400, "seed": 6, "cut": True}
        _check(c, "conserved", _NOTHING_WRONG, kind=kind, **options)
