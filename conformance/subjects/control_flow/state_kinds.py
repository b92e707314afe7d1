"""The kinds of state that generated programs change: variables, queues, tables and others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, shape_attr, text_attr
from sessrun.conformance.subjects.control_flow.site import (
    FLOAT,
    INT,
    LONG,
    REF,
    RESOURCE,
    LoopingSite,
    Site,
    list_of,
    scalar,
    waiting,
)
from sessrun.conformance.subjects.control_flow.states import Asked, Doing, RunState, State
from sessrun.spec.forms import Json

__all__ = ["KINDS", "Variable", "draw_states"]

_SCALAR: Final = shape_attr(())
_KEYS: Final = 4
#: The step of every gradient, later than any step of an accumulator: no gradient is stale.
_LATE: Final = 10**6
#: The values of a stack are read as the digits of a number to this base, modulo a prime.
_BASE: Final = 31
_MODULUS: Final = 1009


class Variable(State):
    """An int32 resource variable, which effects add to or set.

    Args:
      name: the prefix of its nodes' names.
      adds: whether an effect adds to the value; otherwise it replaces the value.

    """

    def __init__(self, name: str, *, adds: bool) -> None:
        super().__init__(name)
        self._adds = adds
        self._value = 0

    def make(self, writer: GraphWriter) -> None:
        """Write the variable's handle, an initializer and a read."""
        attrs = {"dtype": INT, "shape": _SCALAR, "shared_name": text_attr(self.name)}
        writer.node("VarHandleOp", (), attrs, self.name)
        zero = writer.constant(scalar(0))
        writer.node("AssignVariableOp", (self.name, zero), {"dtype": INT}, f"{self.name}/init")
        writer.node("ReadVariableOp", (self.name,), {"dtype": INT}, f"{self.name}/read")

    def effect(self, site: Site, doing: Doing) -> str:
        """Write an addition or an assignment."""
        op = "AssignAddVariableOp" if self._adds else "AssignVariableOp"
        handle = site.outside(self.handle, self.kind)
        return site.node(op, (handle, doing.value, *doing.waits), {"dtype": INT})

    def look(self, site: Site, waits: Sequence[str]) -> str:
        """Write a read."""
        handle = site.outside(self.handle, self.kind)
        return site.node("ReadVariableOp", (handle, *waits), {"dtype": INT}, "value")

    def looked(self) -> np.ndarray:
        """The value."""
        return scalar(self._value)

    def happen(self, value: int) -> None:
        """Add to the value, or set it."""
        self._value = self._value + value if self._adds else value

    def initializer(self) -> str:
        """The operation that sets it to zero."""
        return f"{self.name}/init"

    def seen(self) -> list[Asked]:
        """The value."""
        return [Asked(f"{self.name}/read:0", scalar(self._value))]


class Reference(Variable):
    """An int32 reference variable, which effects add to or set."""

    kind = REF
    in_functions = False

    def make(self, writer: GraphWriter) -> None:
        attrs = {"dtype": INT, "shape": _SCALAR, "shared_name": text_attr(self.name)}
        writer.node("VariableV2", (), attrs, self.name)
        zero = writer.constant(scalar(0))
        writer.node("Assign", (self.name, zero), {"T": INT}, f"{self.name}/init")
        writer.node("Identity", (self.name,), {"T": INT}, f"{self.name}/read")

    def effect(self, site: Site, doing: Doing) -> str:
        handle = site.outside(self.handle, self.kind)
        attrs = {"T": INT, "use_locking": {"b": True}}
        return site.node(
            "AssignAdd" if self._adds else "Assign", (handle, doing.value, *doing.waits), attrs
        )

    def look(self, site: Site, waits: Sequence[str]) -> str:
        handle = site.outside(self.handle, self.kind)
        # A plain read may give the variable's own buffer, which changes later in the run.
        return site.node("AddV2", (handle, site.constant(scalar(0)), *waits), {"T": INT}, "z")


class Queue(State):
    """A queue of int32, to which each effect adds its value."""

    def make(self, writer: GraphWriter) -> None:
        writer.node(
            "FIFOQueueV2",
            (),
            {
                "component_types": list_of(INT),
                "shapes": {"list": {"shape": [{}]}},
                "shared_name": text_attr(self.name),
            },
            self.name,
        )
        writer.node("QueueSizeV2", (self.name,), {}, f"{self.name}/size")
        number = writer.placeholder("int32", (), f"{self.name}/number")
        attrs = {"component_types": list_of(INT)}
        writer.node("QueueDequeueManyV2", (self.name, number), attrs, f"{self.name}/all")

    def effect(self, site: Site, doing: Doing) -> str:
        handle = site.outside(self.handle, self.kind)
        attrs = {"Tcomponents": list_of(INT)}
        return site.node("QueueEnqueueV2", (handle, doing.value, *doing.waits), attrs)

    def look(self, site: Site, waits: Sequence[str]) -> str:
        return site.node("QueueSizeV2", (site.outside(self.handle, self.kind), *waits), {}, "size")

    def looked(self) -> np.ndarray:
        return scalar(len(self.effects))

    def seen(self) -> list[Asked]:
        return [Asked(f"{self.name}/size:0", scalar(len(self.effects)))]

    def taken(self) -> list[Asked]:
        wanted = np.array(self.effects, np.int32)
        self.effects.clear()
        return [Asked(f"{self.name}/all:0", wanted, {f"{self.name}/number:0": scalar(len(wanted))})]


class Staging(State):
    """A staging area of int32; its operations have its shared name and take no handle."""

    def make(self, writer: GraphWriter) -> None:
        attrs = self._attrs()
        writer.node("StageSize", (), attrs, f"{self.name}/size")
        index = writer.placeholder("int32", (), f"{self.name}/place")
        writer.node("StagePeek", (writer.constant(scalar(0)),), attrs, f"{self.name}/first")
        writer.node("StagePeek", (index,), attrs, f"{self.name}/last")
        waits = (f"^{self.name}/first", f"^{self.name}/last")
        writer.node("StageClear", waits, attrs, f"{self.name}/clear")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.handle = ""

    def _attrs(self) -> dict[str, Json]:
        return {"dtypes": list_of(INT), "shared_name": text_attr(self.name)}

    def effect(self, site: Site, doing: Doing) -> str:
        return site.node("Stage", (doing.value, *doing.waits), self._attrs())

    def look(self, site: Site, waits: Sequence[str]) -> str:
        return site.node("StageSize", tuple(waits), self._attrs(), "size")

    def looked(self) -> np.ndarray:
        return scalar(len(self.effects))

    def seen(self) -> list[Asked]:
        return [Asked(f"{self.name}/size:0", scalar(len(self.effects)))]

    def taken(self) -> list[Asked]:
        if not self.effects:
            return []
        first, last = scalar(self.effects[0]), scalar(self.effects[-1])
        index = {f"{self.name}/place:0": scalar(len(self.effects) - 1)}
        self.effects.clear()
        return [
            Asked(f"{self.name}/first:0", first),
            Asked(f"{self.name}/last:0", last, index),
            Asked(f"{self.name}/clear", None),
        ]


class Table(State):
    """A table; an effect inserts its value under the key `value % _KEYS`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._held: dict[int, int] = {}

    def make(self, writer: GraphWriter) -> None:
        attrs = {"key_dtype": LONG, "value_dtype": LONG, "shared_name": text_attr(self.name)}
        writer.node("MutableHashTableV2", (), attrs, self.name)
        keys = writer.constant(np.arange(_KEYS, dtype=np.int64))
        none = writer.constant(scalar(-1, "int64"))
        attrs = {"Tin": LONG, "Tout": LONG}
        writer.node("LookupTableFindV2", (self.name, keys, none), attrs, f"{self.name}/held")
        writer.node("LookupTableSizeV2", (self.name,), {}, f"{self.name}/size")

    def effect(self, site: Site, doing: Doing) -> str:
        value = site.node("Cast", (doing.value,), {"SrcT": INT, "DstT": LONG}, "y")
        keys = site.constant(scalar(_KEYS, "int64"))
        key = site.node("FloorMod", (value, keys), {"T": LONG}, "z")
        handle = site.outside(self.handle, self.kind)
        attrs = {"Tin": LONG, "Tout": LONG}
        return site.node("LookupTableInsertV2", (handle, key, value, *doing.waits), attrs)

    def look(self, site: Site, waits: Sequence[str]) -> str:
        keys = site.constant(np.arange(_KEYS, dtype=np.int64))
        none = site.constant(scalar(-1, "int64"))
        inputs = (site.outside(self.handle, self.kind), keys, none, *waits)
        return site.node("LookupTableFindV2", inputs, {"Tin": LONG, "Tout": LONG}, "values")

    def looked(self) -> np.ndarray:
        return np.array([self._held.get(key, -1) for key in range(_KEYS)], np.int64)

    def happen(self, value: int) -> None:
        self._held[value % _KEYS] = value

    def seen(self) -> list[Asked]:
        wanted = self.looked()
        size = scalar(len(self._held), "int64")
        return [Asked(f"{self.name}/held:0", wanted), Asked(f"{self.name}/size:0", size)]


class Accumulator(State):
    """An accumulator that sums the effects; the sum is read by taking the gradient."""

    def make(self, writer: GraphWriter) -> None:
        writer.node(
            "ResourceConditionalAccumulator",
            (),
            {
                "dtype": FLOAT,
                "shape": _SCALAR,
                "shared_name": text_attr(self.name),
                "reduction_type": text_attr("SUM"),
            },
            self.name,
        )
        writer.node("ResourceAccumulatorNumAccumulated", (self.name,), {}, f"{self.name}/number")
        one = writer.constant(scalar(1))
        attrs = {"dtype": FLOAT}
        writer.node("ResourceAccumulatorTakeGradient", (self.name, one), attrs, f"{self.name}/sum")

    def effect(self, site: Site, doing: Doing) -> str:
        number = site.node("Cast", (doing.value,), {"SrcT": INT, "DstT": FLOAT}, "y")
        step = site.constant(scalar(_LATE, "int64"))
        handle = site.outside(self.handle, self.kind)
        inputs = (handle, step, number, *doing.waits)
        return site.node("ResourceAccumulatorApplyGradient", inputs, {"dtype": FLOAT})

    def look(self, site: Site, waits: Sequence[str]) -> str:
        inputs = (site.outside(self.handle, self.kind), *waits)
        return site.node("ResourceAccumulatorNumAccumulated", inputs, {}, "num_accumulated")

    def looked(self) -> np.ndarray:
        return scalar(len(self.effects))

    def seen(self) -> list[Asked]:
        return [Asked(f"{self.name}/number:0", scalar(len(self.effects)))]

    def taken(self) -> list[Asked]:
        total = np.array(sum(self.effects), np.float32)
        asked = [Asked(f"{self.name}/sum:0", total)] if self.effects else []
        self.effects.clear()
        return asked


class Array(RunState):
    """A TensorArray, in which each effect writes the next element."""

    @property
    def flows(self) -> tuple[str, ...]:
        return (f"{self.name}:1",)

    def make(self, writer: GraphWriter) -> None:
        attrs = {"dtype": INT, "dynamic_size": {"b": True}, "element_shape": _SCALAR}
        zero = writer.constant(scalar(0))
        writer.node("TensorArrayV3", (zero,), attrs, self.name)

    def effect(self, site: Site, doing: Doing) -> str:
        handle = site.outside(self.handle, RESOURCE)
        flow = site.outside(f"{self.name}:1", FLOAT)
        inputs = (handle, doing.count, doing.value, flow, *doing.waits)
        return site.node("TensorArrayWriteV3", inputs, {"T": INT}, "flow_out")

    def finish(self, site: LoopingSite, count: str) -> str:
        flow = f"{self.name}:1"
        size = site.node("TensorArraySizeV3", (self.name, flow, waiting(count)))
        zero, one = site.constant(scalar(0)), site.constant(scalar(1))
        indices = site.node("Range", (zero, size, one), {"Tidx": INT})
        attrs = {"dtype": INT, "element_shape": _SCALAR}
        return site.node("TensorArrayGatherV3", (self.name, indices, flow), attrs)

    def shown(self) -> np.ndarray:
        wanted = np.array(self.effects, np.int32)
        self.effects.clear()
        return wanted


class Stack(RunState):
    """A stack on which each effect pushes; the run pops all values and computes one number."""

    def make(self, writer: GraphWriter) -> None:
        size = writer.constant(scalar(-1))
        attrs = {"elem_type": INT, "stack_name": text_attr(self.name)}
        writer.node("StackV2", (size,), attrs, self.name)

    def effect(self, site: Site, doing: Doing) -> str:
        handle = site.outside(self.handle, RESOURCE)
        return site.node("StackPushV2", (handle, doing.value, *doing.waits), {"T": INT})

    def finish(self, site: LoopingSite, count: str) -> str:
        def body(inside: list[str]) -> list[str]:
            (digest,) = inside
            handle = site.outside(self.handle, RESOURCE)
            top = site.node("StackPopV2", (handle, f"^{digest}"), {"elem_type": INT})
            base, modulus = site.constant(scalar(_BASE)), site.constant(scalar(_MODULUS))
            higher = site.node("Mul", (digest, base), {"T": INT})
            added = site.node("AddV2", (higher, top), {"T": INT})
            return [site.node("FloorMod", (added, modulus), {"T": INT})]

        return site.repeat(count, [site.constant(scalar(0))], body)[0]

    def shown(self) -> np.ndarray:
        digest = 0
        for value in reversed(self.effects):
            digest = (digest * _BASE + value) % _MODULUS
        self.effects.clear()
        return scalar(digest)


#: The kinds of state, all of which a program may have.
KINDS: Final[tuple[type[State], ...]] = (
    Variable,
    Reference,
    Queue,
    Staging,
    Table,
    Accumulator,
    Array,
    Stack,
)


def draw_states(draw: random.Random, *, in_functions: bool) -> list[State]:
    """One to three states of different kinds, after a variable that effects add to."""
    kinds = [kind for kind in KINDS if kind.in_functions or not in_functions]
    states: list[State] = [
        (Variable if in_functions else draw.choice((Variable, Reference)))("tally", adds=True)
    ]
    for kind in draw.sample(kinds, draw.randint(1, 3)):
        name = kind.__name__.lower()
        if issubclass(kind, Variable):
            states.append(kind(name, adds=draw.random() < 0.3))
        else:
            states.append(kind(name))
    return states
