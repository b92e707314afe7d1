"""Writes programs as version 2 of control flow does: If and While, whose parts are functions.

Every function of a branch takes the fixed number, all that is carried (the variables, and for each
state the number of its effects so far) and the handles, and gives what is carried. A loop's
functions take the turn and its limit before that, and its body gives all that it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.subjects.control_flow.frames import FIXED
from sessrun.conformance.subjects.control_flow.site import (
    BOOL,
    FLOAT,
    INT,
    RESOURCE,
    Kind,
    list_of,
    scalar,
    waiting,
)
from sessrun.conformance.subjects.control_flow.statements import (
    CYCLES,
    MODULUS,
    VARIABLES,
    Again,
    Choose,
    Effect,
    If,
    Loop,
    Set,
    Statement,
)
from sessrun.conformance.subjects.control_flow.states import Doing, State
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import Json, JsonObject

__all__ = ["Bodies", "Library"]

_INTS: Final = {"T": INT}
#: Operations without effects, of which nothing is executed for their own sake.
_PURE: Final = frozenset(
    {
        "AddV2",
        "Cast",
        "Const",
        "FloorMod",
        "Identity",
        "Less",
        "Minimum",
        "Mul",
        "Sub",
    }
)


def _called(name: str) -> JsonObject:
    return {"func": {"name": name}}


@dataclass(slots=True)
class Library:
    """The functions of a program, and how its branches and loops are to be lowered.

    Attributes:
      states: the states of the program; the first is the tally.
      outside: the tensors that every function takes besides what is carried, with their dtypes.
      lowers: whether branches and loops ask to be made of Switch and Merge.
      functions: what was written so far.

    """

    states: Sequence[State]
    lowers: bool
    outside: list[tuple[str, Kind]] = field(default_factory=lambda: [(FIXED, INT)])
    functions: list[dict[str, Json]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for state in self.states:
            self.outside += [(handle, RESOURCE) for handle in (state.handle,) if handle]
            self.outside += [(flow, FLOAT) for flow in state.flows]

    @property
    def kinds(self) -> list[Kind]:
        """The dtypes of what a branch takes."""
        carried = [INT] * (VARIABLES + len(self.states))
        return [*carried, *(kind for _, kind in self.outside)]

    def add(
        self, body: Bodies, arguments: Sequence[Kind], results: Sequence[tuple[str, Kind]]
    ) -> str:
        """Add a function whose arguments are called a0, a1, ...; its name."""
        name = f"function{len(self.functions)}"
        nodes = body.writer.graph()["node"]
        effects = [node["name"] for node in nodes if node["op"] not in _PURE]
        self.functions.append(
            {
                "signature": {
                    "name": name,
                    "isStateful": True,
                    "inputArg": [
                        {"name": f"a{index}", **kind} for index, kind in enumerate(arguments)
                    ],
                    "outputArg": [
                        {"name": f"r{index}", **kind} for index, (_, kind) in enumerate(results)
                    ],
                    "controlOutput": effects,
                },
                "nodeDef": nodes,
                "controlRet": {effect: effect for effect in effects},
                "ret": {f"r{index}": text for index, (text, _) in enumerate(results)},
            }
        )
        return name


class Bodies:
    """Writes statements into a graph, or into the body of a function.

    Args:
      library: takes the functions that are made on the way.
      writer: the graph, or None for a function.

    """

    def __init__(self, library: Library, writer: GraphWriter | None = None) -> None:
        self.writer = writer or GraphWriter()
        self._library = library
        self._inside = writer is None
        self._outside: dict[str, str] = {}

    def node(
        self,
        op: str,
        inputs: Sequence[str] = (),
        attrs: JsonObject | None = None,
        output: str = "output",
    ) -> str:
        """Write a node; return the name by which nodes here take its first output."""
        name = self.writer.node(op, inputs, attrs)
        return f"{name}:{output}:0" if self._inside else name

    def constant(self, value: Value) -> str:
        """Write a constant."""
        name = self.writer.constant(np.asarray(value))
        return f"{name}:output:0" if self._inside else name

    def outside(self, text: str, kind: Kind) -> str:
        """The name by which nodes here take a tensor of the outer graph."""
        del kind
        return self._outside.get(text, text)

    def takes(self, first: int) -> list[str]:
        """Name the arguments of a function from index `first` on; return what is carried in it."""
        count = VARIABLES + len(self._library.states)
        for index, (text, _) in enumerate(self._library.outside, first + count):
            self._outside[text] = f"a{index}"
        return [self.node("Identity", (f"a{first + index}",), _INTS) for index in range(count)]

    def block(self, statements: Sequence[Statement], values: Sequence[str]) -> list[str]:
        """Write statements; return the tensors that are carried after them."""
        carried = list(values)
        for statement in statements:
            match statement:
                case Set(target, op, left, right):
                    carried[target] = self._reduced(self._ints(op, carried[left], carried[right]))
                case Effect(state, value):
                    count = carried[VARIABLES + state]
                    carried[VARIABLES + state] = self._effect(state, carried[value], count)
                case If():
                    carried = self._branches(statement, carried)
                case Choose():
                    carried = self._chosen(statement, carried)
                case Loop():
                    carried = self._repeated(statement, carried)
                case Again(target, times, parallel):
                    total = self._again(times, parallel)
                    carried[target] = self._reduced(self._ints("AddV2", carried[target], total))
                    tallied = (carried[VARIABLES], waiting(total))
                    carried[VARIABLES] = self.node("Identity", tallied, _INTS)
        return carried

    def _ints(self, op: str, left: str, right: str, *waits: str) -> str:
        return self.node(op, (left, right, *waits), _INTS, "z")

    def _reduced(self, value: str) -> str:
        return self._ints("FloorMod", value, self.constant(scalar(MODULUS)))

    def _effect(self, state: int, value: str, count: str) -> str:
        done = self._library.states[state].effect(self, Doing(value, count, (waiting(count),)))
        return self._ints("AddV2", count, self.constant(scalar(1)), waiting(done))

    def _given(self) -> list[str]:
        """The tensors that every function takes besides what is carried, by their names here."""
        return [self.outside(text, kind) for text, kind in self._library.outside]

    def _results(self, name: str, indices: Sequence[int]) -> list[str]:
        """Int32 outputs of a branch or a loop that was just written.

        Each is handed on by a node that others may wait for: who waits for a branch that is made of
        Switch and Merge waits for its execution, not for all of its values.
        """
        base = name.partition(":")[0]
        output = ":output" if self._inside else ""
        return [self.node("Identity", (f"{base}{output}:{index}",), _INTS) for index in indices]

    def _attrs(self, **attrs: Json) -> dict[str, Json]:
        return {**attrs, "_lower_using_switch_merge": {"b": self._library.lowers}}

    def _branches(self, statement: If, carried: list[str]) -> list[str]:
        then, otherwise = map(self._function, (statement.then, statement.otherwise))
        pred = self._ints("Less", carried[statement.left], carried[statement.right])
        attrs = {"Tcond": BOOL, "then_branch": _called(then), "else_branch": _called(otherwise)}
        return self._one_of("If", pred, carried, attrs)

    def _chosen(self, statement: Choose, carried: list[str]) -> list[str]:
        branches = [{"name": self._function(block)} for block in statement.blocks]
        numbers = self.constant(scalar(len(branches) + 1))
        number = self._ints("FloorMod", carried[statement.by], numbers)
        return self._one_of("Case", number, carried, {"branches": {"list": {"func": branches}}})

    def _function(self, block: Sequence[Statement]) -> str:
        """Write the statements as a function; return its name."""
        body = Bodies(self._library)
        ends = body.block(block, body.takes(0))
        return self._library.add(body, self._library.kinds, [(end, INT) for end in ends])

    def _one_of(
        self, op: str, chooser: str, carried: Sequence[str], branches: JsonObject
    ) -> list[str]:
        """Write an operation that executes one of its branches; return what is carried after it."""
        types = {"Tin": list_of(*self._library.kinds), "Tout": list_of(*[INT] * len(carried))}
        attrs = self._attrs(**types, **branches)
        node = self.node(op, (chooser, *carried, *self._given()), attrs)
        return self._results(node, range(len(carried)))

    def _repeated(self, statement: Loop, carried: list[str]) -> list[str]:
        limit = self._ints("FloorMod", carried[statement.times], self.constant(scalar(CYCLES)))
        if statement.most is not None:
            limit = self._ints("Minimum", limit, self.constant(scalar(statement.most)))
        loop = self._while(limit, carried, statement.asking, statement.body, statement.parallel)
        return self._results(loop, range(2, 2 + len(carried)))

    def _while(
        self,
        limit: str,
        carried: Sequence[str],
        asking: Sequence[Statement],
        block: Sequence[Statement],
        parallel: int,
    ) -> str:
        """Write a loop; its outputs are the turn, the limit, what is carried, functions' inputs."""
        library = self._library
        kinds = [INT, INT, *library.kinds]
        asked = Bodies(library)
        counts = asked.block(asking, asked.takes(2))[VARIABLES:]
        less = asked.node("Less", ("a0", "a1", *map(waiting, counts)), _INTS, "z")
        cond = library.add(asked, kinds, [(less, BOOL)])
        body = Bodies(library)
        ends = body.block(block, body.takes(2))
        turn = body.node("AddV2", ("a0", body.constant(scalar(1))), _INTS, "z")
        given = [*ends, *(body.outside(text, kind) for text, kind in library.outside)]
        results = list(zip((turn, "a1", *given), kinds, strict=True))
        attrs = self._attrs(
            T=list_of(*kinds),
            cond=_called(cond),
            body=_called(library.add(body, kinds, results)),
            parallel_iterations={"i": str(parallel)},
        )
        inputs = (self.constant(scalar(0)), limit, *carried, *self._given())
        return self.node("While", inputs, attrs)

    def _again(self, times: int, parallel: int) -> str:
        """Write an inner loop whose inputs do not change in the outer loop; return its sum."""
        library = self._library
        tally = library.states[0]
        kinds = [INT, INT, INT, INT, RESOURCE]
        asked = Bodies(library)
        less = asked.node("Less", ("a0", "a1"), _INTS, "z")
        cond = library.add(asked, kinds, [(less, BOOL)])
        body = Bodies(library)
        body.rename({FIXED: "a3", tally.handle: "a4"})
        term = body.node("AddV2", ("a3", "a0"), _INTS, "z")
        done = tally.effect(body, Doing(term, "a0"))
        turn = body.node("AddV2", ("a0", body.constant(scalar(1)), waiting(done)), _INTS, "z")
        total = body.node("AddV2", ("a2", term), _INTS, "z")
        results = list(zip((turn, "a1", total, "a3", "a4"), kinds, strict=True))
        attrs = self._attrs(
            T=list_of(*kinds),
            cond=_called(cond),
            body=_called(library.add(body, kinds, results)),
            parallel_iterations={"i": str(parallel)},
        )
        zero, limit = self.constant(scalar(0)), self.constant(scalar(times))
        handle = self.outside(tally.handle, RESOURCE)
        inputs = (zero, limit, zero, self.outside(FIXED, INT), handle)
        return self._results(self.node("While", inputs, attrs), [2])[0]

    def rename(self, names: Mapping[str, str]) -> None:
        """Set the names by which nodes here take tensors of the outer graph."""
        self._outside.update(names)
