"""Vectors of TRACING: how often operations of loops and branches are listed."""

from __future__ import annotations

from sessrun.conformance.authoring.record import ApiAuthor, api_case
from sessrun.conformance.subjects.control_flow.state_kinds import Variable
from sessrun.conformance.subjects.control_flow.statements import Effect, If, Loop, Set
from sessrun.conformance.subjects.tracing.traced import Traced

#: The folder of vectors, which this module shares with another.
VECTORS = "tracing"


@api_case("TRACING-031", title="An operation of a loop is listed once for each iteration.")
def iterations_are_listed(c: ApiAuthor) -> None:
    body = (Set(1, "AddV2", 1, 2), Effect(0, 1))
    loop = Loop(times=0, most=None, parallel=10, asking=(), body=body)
    program = Traced([loop], [Variable("tally", adds=True)])
    for times in (3, 1, 0):
        program.run([times, 4, 5], 0, "SOFTWARE_TRACE")
    program.run([2, 4, 5], 0, "FULL_TRACE")
    program.check(c)


@api_case("TRACING-032", title="The operations of a branch that is not taken are not listed.")
def other_branches_are_not_listed(c: ApiAuthor) -> None:
    branch = If(0, 1, (Set(2, "Mul", 0, 1), Effect(0, 2)), (Set(2, "Sub", 0, 1),))
    program = Traced([branch], [Variable("tally", adds=True)])
    for first in (3, 9):
        program.run([first, 5, 2], 0, "SOFTWARE_TRACE")
    program.run([3, 5, 2], 0, "FULL_TRACE")
    program.check(c)
