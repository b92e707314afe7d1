"""What runs may wait for: the graph of each kind of resource, and its calls as runs.

Every element is a number from 0 to 51, so that an accumulator can add powers of two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.conformance.generators.resource_histories import text
from sessrun.conformance.subjects.queues.histories.history import Planned
from sessrun.spec.cases.outcomes import Fetched
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json, JsonObject

__all__ = ["CONFIG", "MOST", "RESOURCES", "Resource", "Run"]

#: How many elements there may be in all.
MOST: Final = 52
#: A staging area holds on to a thread of TensorFlow's while it waits: a session needs others.
CONFIG: Final[JsonObject] = {
    "usePerSessionThreads": True,
    "interOpParallelismThreads": 10,
}

#: The fetch of a call and what is fed.
Run = tuple[str, dict[str, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of resource.

    Attributes:
      name: its name.
      write: writes its nodes, given how many elements it has room for (0 for any number).
      put: the run that puts an element in.
      take: the run of a call that takes.
      elements: the elements in what such a run fetched.
      timed: whether a run that waits for it ends at its timeout.
      bounded: whether histories limit what it has room for; a map that is full of others' keys
        would never have one's own.

    The nodes are called `put`, `take`, `size` and, where there is one, `close`; `waited_put` and
    `waited_take` are like the first two and put a token into a queue before; `arrived` takes one,
    `waiting` is how many there are.

    """

    name: str
    write: Callable[[GraphWriter, int], None]
    put: Callable[[int], dict[str, np.ndarray]]
    take: Callable[[Planned], Run]
    elements: Callable[[np.ndarray], tuple[int, ...]]
    timed: bool = True
    bounded: bool = False

    def graph(self, capacity: int = 0) -> dict[str, Json]:
        """The GraphDef of one such resource."""
        writer = GraphWriter()
        token = _tokens(writer)
        self.write(writer, capacity)
        for node in ("put", "take"):
            writer.wait(f"waited_{node}", token)
        return writer.graph()

    def run(self, call: Planned, *, waited: bool = False) -> Run:
        """A call as the fetch and the feeds of a run."""
        before = "waited_" if waited else ""
        match call.action:
            case "put":
                return f"{before}put", self.put(call.values[0])
            case "take":
                fetch, feeds = self.take(call)
                return f"{before}{fetch}", feeds
            case "size":
                return "size:0", {}
        return call.action, {}

    def result(self, call: Planned, outcome: Fetched) -> tuple[int, ...]:
        """What a call gave: the elements taken, or the size."""
        if call.action == "take":
            return self.elements(np.asarray(outcome.values[0]))
        return (int(np.asarray(outcome.values[0])),) if call.action == "size" else ()


def _tokens(writer: GraphWriter) -> str:
    attrs: dict[str, Json] = {
        "component_types": {"list": {"type": ["DT_INT32"]}},
        "shapes": {"list": {"shape": [shape_attr(())["shape"]]}},
    }
    tokens = writer.node("FIFOQueueV2", (), attrs, "tokens")
    types = {"list": {"type": ["DT_INT32"]}}
    zero = writer.constant(np.array(0, np.int32))
    writer.node("QueueDequeueV2", [tokens], {"component_types": types}, "arrived")
    writer.node("QueueSizeV2", [tokens], {}, "waiting")
    return writer.node("QueueEnqueueV2", [tokens, zero], {"Tcomponents": types}, "token")


def _twice(
    writer: GraphWriter, op: str, inputs: list[str], attrs: Mapping[str, Json], name: str
) -> None:
    """A node, and another one that is made to wait for a token."""
    for before in ("", "waited_"):
        writer.node(op, inputs, attrs, f"{before}{name}")


def _integers(value: np.ndarray) -> tuple[int, ...]:
    return tuple(np.ravel(np.asarray(value)).astype(np.int64).tolist())


def _queue(writer: GraphWriter, capacity: int) -> None:
    types = {"list": {"type": [BY_NAME["int64"].enum]}}
    attrs: dict[str, Json] = {
        "component_types": types,
        "capacity": {"i": str(capacity or MOST)},
        "shapes": {"list": {"shape": [shape_attr(())["shape"]]}},
    }
    queue = writer.node("FIFOQueueV2", (), attrs, "queue")
    x, n = writer.placeholder("int64", (), "x"), writer.placeholder("int32", (), "n")
    _twice(writer, "QueueEnqueueV2", [queue, x], {"Tcomponents": types}, "put")
    _twice(writer, "QueueDequeueManyV2", [queue, n], {"component_types": types}, "take")
    writer.node("QueueSizeV2", [queue], {}, "size")
    writer.node("QueueCloseV2", [queue], {"cancel_pending_enqueues": {"b": True}}, "close")


def _barrier(writer: GraphWriter, _: int) -> None:
    types = {"list": {"type": [BY_NAME["int64"].enum]}}
    shapes = {"list": {"shape": [shape_attr(())["shape"]]}}
    barrier = writer.node("Barrier", (), {"component_types": types, "shapes": shapes}, "barrier")
    keys = writer.placeholder("string", None, "keys")
    xs, n = writer.placeholder("int64", None, "x"), writer.placeholder("int32", (), "n")
    attrs: dict[str, Json] = {"T": dtype_attr("int64"), "component_index": {"i": "0"}}
    _twice(writer, "BarrierInsertMany", [barrier, keys, xs], attrs, "put")
    _twice(writer, "BarrierTakeMany", [barrier, n], {"component_types": types}, "take")
    writer.node("BarrierReadySize", [barrier], {}, "size")
    writer.node("BarrierClose", [barrier], {"cancel_pending_enqueues": {"b": True}}, "close")


def _accumulator(writer: GraphWriter, _: int) -> None:
    dtype = {"dtype": dtype_attr("float64")}
    attrs = {**dtype, "shape": shape_attr(()), "reduction_type": text_attr("SUM")}
    accumulator = writer.node("ResourceConditionalAccumulator", (), attrs, "accumulator")
    step = writer.constant(np.array(1000, np.int64))
    x, n = writer.placeholder("float64", (), "x"), writer.placeholder("int32", (), "n")
    _twice(writer, "ResourceAccumulatorApplyGradient", [accumulator, step, x], dtype, "put")
    _twice(writer, "ResourceAccumulatorTakeGradient", [accumulator, n], dtype, "take")
    writer.node("ResourceAccumulatorNumAccumulated", [accumulator], {}, "size")


def _bits(value: np.ndarray) -> tuple[int, ...]:
    """The exponents of the powers of two that a number is the sum of; itself if it is none."""
    total = float(np.asarray(value))
    if not 0 <= total < 2**MOST or total != int(total):
        return (-1,)
    return tuple(bit for bit in range(MOST) if int(total) >> bit & 1)


def _staging(writer: GraphWriter, capacity: int) -> None:
    attrs: dict[str, Json] = {
        "shared_name": text_attr("area"),
        "capacity": {"i": str(capacity)},
        "dtypes": {"list": {"type": [BY_NAME["int64"].enum]}},
    }
    _twice(writer, "Stage", [writer.placeholder("int64", (), "x")], attrs, "put")
    _twice(writer, "Unstage", [], attrs, "take")
    writer.node("StageSize", (), attrs, "size")


def _map(writer: GraphWriter, capacity: int) -> None:
    attrs: dict[str, Json] = {
        "shared_name": text_attr("area"),
        "capacity": {"i": str(capacity)},
        "dtypes": {"list": {"type": [BY_NAME["int64"].enum]}},
    }
    key, x = writer.placeholder("int64", (), "key"), writer.placeholder("int64", (), "x")
    places = writer.constant(np.array([0], np.int32))
    fake = {"fake_dtypes": attrs["dtypes"]}
    _twice(writer, "MapStage", [key, places, x], attrs | fake, "put")
    _twice(writer, "MapUnstage", [key, places], attrs, "take")
    writer.node("MapSize", (), attrs, "size")


def _counted(output: str = "take:0") -> Callable[[Planned], Run]:
    return lambda call: (output, {"n:0": np.array(call.wanted, np.int32)})


#: Every kind by name.
RESOURCES: Final[Mapping[str, Resource]] = {
    resource.name: resource
    for resource in (
        Resource(
            "queue",
            _queue,
            lambda v: {"x:0": np.array(v, np.int64)},
            _counted(),
            _integers,
            bounded=True,
        ),
        Resource(
            "barrier",
            _barrier,
            lambda v: {"keys:0": text([b"%d" % v]), "x:0": np.array([v], np.int64)},
            _counted("take:2"),
            _integers,
        ),
        Resource(
            "accumulator", _accumulator, lambda v: {"x:0": np.array(2.0**v)}, _counted(), _bits
        ),
        Resource(
            "staging",
            _staging,
            lambda v: {"x:0": np.array(v, np.int64)},
            lambda _: ("take:0", {}),
            _integers,
            timed=False,
            bounded=True,
        ),
        Resource(
            "map",
            _map,
            lambda v: {"key:0": np.array(v, np.int64), "x:0": np.array(v, np.int64)},
            lambda call: ("take:0", {"key:0": np.array(call.values[0], np.int64)}),
            _integers,
            timed=False,
        ),
    )
}
