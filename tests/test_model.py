"""The model of the spec: it passes the vectors of what it has, and knows every order of a run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

from sessrun.adapters.model import backend
from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr
from sessrun.conformance.properties import generate
from sessrun.conformance.subjects.readers.files import draw_kind
from sessrun.spec.cases.engine import interpret
from sessrun.spec.cases.judge import Judgement, judge
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import load_vectors
from sessrun.spec.model.machine import (
    FailedError,
    Graph,
    Output,
    Run,
    Session,
    WaitsError,
    perform,
    proceed,
)
from sessrun.spec.model.record_files import records_of
from sessrun.spec.model.run import Choose
from sessrun.spec.model.schedules import every_outcome
from sessrun.spec.proto import GraphDef

#: Steps of several threads, and of partial runs, which the model does not offer.
OTHER_STEPS = {"start", "join", "setup", "partial"}
#: Vectors that the model is not right in, by reason.
NOT_PASSED = {
    "what an operation refuses is no part of its definition": (
        "error-codes/maxima-over-the-batch",
        "error-codes/strings-are-not-cast-to-numbers",
        "indexing/indices-outside-are-refused",
        "indexing/slices-are-partitioned-in-order",
        "indexing/sparse-values-are-written-into-a-default",
        "integers/divisors-of-zero-are-refused",
        "matrices/cross-products-have-their-sign",
        "parsing/bytes-of-no-tensor",
        "parsing/damaged-strings",
        "parsing/padded-strings",
        "segments/negative-segments-are-left-out",
        "segments/numbers-are-counted",
        "segments/unsorted-segments-are-refused",
        "words/bytes-are-read",
        "words/parts-count-bytes-or-characters",
        "words/text-becomes-the-number-it-says",
    ),
    "a read of a reference variable is a copy here, which is allowed": (
        "concurrency/updates-are-seen-through-an-earlier-read",
        "control-flow/a-loop-ends-by-a-variable",
    ),
    "operations that take handles as values": ("queues-shared/a-chosen-queue",),
    "it has no devices, no thread pools and no colocation": (
        "graph-definitions/colocated-with-nothing",
        "tracing/a-missing-thread-pool-is-refused",
    ),
    "it does not check a constant's message, or which variable's shape changes": (
        "graph-values/ill-formed-constant",
        "variable-updates/a-node-that-changes-the-shape",
    ),
}
#: Of each folder of vectors of resources, so many at least are the model's, and it passes them.
PASSED = {
    "accumulators": 21,
    "accumulators-sparse": 11,
    "barriers": 19,
    "queues": 10,
    "queues-counted": 26,
    "queues-kinds": 19,
    "queues-shared": 8,
    "readers": 26,
    "readers-states": 22,
    "staging": 11,
    "staging-maps": 14,
    "tables": 19,
    "tables-changing": 26,
}
#: Properties whose expectations are other models', of statements, truth tables and functions, or
#: those of single resources, which the machine must give as graphs with handles and runs.
PROPERTIES = (
    "accumulators",
    "barriers",
    "dead-values",
    "function-programs",
    "inference-branches",
    "inference-functions",
    "inference-loops",
    "programs",
    "queues",
    "readers",
    "staging",
    "tables",
)


def judged(case: Case) -> Judgement | None:
    """The judgement of the model on a case; None where the case is not for it."""
    others = any(step.get("do") in OTHER_STEPS for step in case.steps)
    if case.surface != "engine" or case.needs or others:
        return None
    judgement = judge(case, interpret(case, backend()))
    return None if judgement.result == "unsupported" else judgement


def test_it_passes_every_vector_of_what_it_has() -> None:
    known = {id_ for ids in NOT_PASSED.values() for id_ in ids}
    passed, wrong = set(), set()
    for id_, case in load_vectors().items():
        try:
            judgement = judged(case)
        except TypeError:  # numpy is given a handle
            judgement = Judgement("fail")
        if judgement is not None:
            (passed if judgement.result == "pass" else wrong).add(id_)
    assert wrong == known
    assert len(passed) >= 670
    folders = Counter(id_.split("/")[0] for id_ in passed)
    assert {name: folders[name] for name in PASSED if folders[name] < PASSED[name]} == {}


@pytest.mark.parametrize("name", PROPERTIES)
def test_it_agrees_with_models_of_other_kinds(name: str) -> None:
    results = [judged(generate(name, 11, index)) for index in range(40)]
    asked = [result for result in results if result is not None]
    assert [result.finding for result in asked if result.result != "pass"] == []
    assert len(asked) >= 5


# --- every order ---------------------------------------------------------------------------


def counter() -> GraphWriter:
    """A graph of a reference variable `v` with the value 1 and nothing else but its kernels."""
    writer = GraphWriter()
    attrs = {"dtype": dtype_attr("int32"), "shape": shape_attr(())}
    writer.node("VariableV2", (), attrs, "v")
    one = writer.constant(np.int32(1), "one")
    writer.node("Assign", ("v", one), {"T": dtype_attr("int32")}, "init")
    writer.node("AssignAdd", ("v", one), {"T": dtype_attr("int32")}, "add")
    writer.node("Identity", ("v",), {"T": dtype_attr("int32")}, "read")
    writer.node("Identity", ("v", "^add"), {"T": dtype_attr("int32")}, "after")
    return writer


def graph_of(writer: GraphWriter) -> Graph:
    return Graph(json_format.ParseDict(writer.graph(), GraphDef()))


def outcomes(writer: GraphWriter, program: Callable[[Session, Choose], Any]) -> set[Any]:
    """What a program gives in every order, each time in a session whose variables are set."""

    def once(choose: Choose) -> Any:
        session = Session(graph_of(writer))
        if "init" in session.graph.nodes:
            perform(session, [], targets=["init"])
        return program(session, choose)

    return set(every_outcome(once))


def fetched(*names: str) -> Callable[[Session, Choose], tuple[int, ...]]:
    def program(session: Session, choose: Choose) -> tuple[int, ...]:
        values = perform(session, [Output(name, 0) for name in names], choose=choose)
        return tuple(int(value) for value in values)

    return program


def begun(session: Session, names: Sequence[str], targets: Sequence[str] = ()) -> Run:
    return Run(session, session.graph, [Output(name, 0) for name in names], targets, {})


def test_what_no_path_orders_happens_in_either_order() -> None:
    assert outcomes(counter(), fetched("read", "add")) == {(1, 2), (2, 2)}


def test_a_control_edge_leaves_one_order() -> None:
    assert outcomes(counter(), fetched("after")) == {(2,)}


def test_overlapping_runs_meet_in_the_variable_only() -> None:
    def program(session: Session, choose: Choose) -> tuple[int, ...]:
        runs = [begun(session, ["after"]) for _ in range(2)]
        proceed(runs, choose)
        return tuple(int(run.values()[0]) for run in runs)

    assert outcomes(counter(), program) == {(2, 3), (3, 2), (3, 3)}


def queue() -> GraphWriter:
    writer = GraphWriter()
    kind = {"list": {"type": ["DT_INT32"]}}
    shapes = {"list": {"shape": [{}]}}
    attrs = {"component_types": kind, "shapes": shapes, "capacity": {"i": "1"}}
    writer.node("FIFOQueueV2", (), attrs, "queue")
    for number in (1, 2):
        value = writer.constant(np.int32(number), f"value{number}")
        writer.node("QueueEnqueueV2", ("queue", value), {"Tcomponents": kind}, f"put{number}")
    writer.node("QueueDequeueV2", ("queue",), {"component_types": kind}, "take")
    return writer


def test_a_run_that_waits_is_served_by_another() -> None:
    def program(session: Session, choose: Choose) -> int:
        taking, putting = begun(session, ["take"]), begun(session, [], ["put1"])
        proceed([taking, putting], choose)
        return int(taking.values()[0])

    assert outcomes(queue(), program) == {1}


#: What became ready first executes next; what became ready last.
ORDERS: tuple[Choose, ...] = (lambda _: 0, lambda count: count - 1)


@pytest.mark.parametrize("choose", ORDERS)
def test_elements_go_one_by_one_where_there_is_no_room_for_all(choose: Choose) -> None:
    writer = queue()
    kind = {"list": {"type": ["DT_INT32"]}}
    rows = writer.constant(np.array([1, 2, 3], np.int32), "rows")
    count = writer.constant(np.int32(3), "count")
    writer.node("QueueEnqueueManyV2", ("queue", rows), {"Tcomponents": kind}, "puts")
    writer.node("QueueDequeueManyV2", ("queue", count), {"component_types": kind}, "takes")
    session = Session(graph_of(writer))
    taking, putting = begun(session, ["takes"]), begun(session, [], ["puts"])
    proceed([taking, putting], choose)
    assert np.array_equal(np.asarray(taking.values()[0]), [1, 2, 3])


def test_a_cancelled_take_gives_back_what_it_had() -> None:
    writer = queue()
    count = writer.constant(np.int32(2), "count")
    kind = {"component_types": {"list": {"type": ["DT_INT32"]}}}
    writer.node("QueueDequeueManyV2", ("queue", count), kind, "takes")
    session = Session(graph_of(writer))
    perform(session, [], targets=["put1"])
    with pytest.raises(WaitsError):
        perform(session, [Output("takes", 0)])
    assert perform(session, [Output("take", 0)]) == [1]


@pytest.mark.parametrize("choose", ORDERS)
def test_a_take_waits_for_gradients(choose: Choose) -> None:
    writer = GraphWriter()
    kind = {"dtype": dtype_attr("float32")}
    writer.node("ResourceConditionalAccumulator", (), {**kind, "shape": shape_attr(())}, "sum")
    step = writer.constant(np.int64(0), "step")
    value = writer.constant(np.float32(3), "value")
    two = writer.constant(np.int32(2), "two")
    writer.node("ResourceAccumulatorApplyGradient", ("sum", step, value), kind, "apply")
    writer.node("ResourceAccumulatorTakeGradient", ("sum", two), kind, "take")
    session = Session(graph_of(writer))
    taking = begun(session, ["take"])
    proceed([taking, *(begun(session, [], ["apply"]) for _ in range(2))], choose)
    assert taking.values() == [3.0]


def test_what_readers_see_in_drawn_files_is_what_was_drawn() -> None:
    draw = random.Random(5)
    kinds = [draw_kind(draw) for _ in range(300)]
    drawn = [(kind, kind.draw_file(draw, "file")) for kind in kinds]
    files = [(kind, file.data, file.records) for kind, file in drawn if file.data is not None]
    assert any(records.is_damaged for _, _, records in files)
    for kind, data, records in files:
        assert records_of(kind.op.removesuffix("V2"), kind.attrs, data) == records


def test_a_run_that_nobody_serves_waits() -> None:
    with pytest.raises(WaitsError):
        perform(Session(graph_of(queue())), [Output("take", 0)])


def test_who_waits_first_is_served_first() -> None:
    session = Session(graph_of(queue()))
    taking = [begun(session, ["take"]) for _ in range(2)]
    for run in taking:
        with pytest.raises(WaitsError):
            proceed([run])
    putting = [begun(session, [], [f"put{number}"]) for number in (1, 2)]
    with pytest.raises(WaitsError):
        proceed([*reversed(taking), putting[0]])
    assert taking[0].is_over
    assert not taking[1].is_over
    proceed([taking[1], putting[1]])
    assert [int(run.values()[0]) for run in taking] == [1, 2]


def test_a_close_waits_for_no_run_that_was_cancelled() -> None:
    writer = queue()
    writer.node("QueueCloseV2", ("queue",), {}, "close")
    session = Session(graph_of(writer))
    perform(session, [], targets=["put1"])
    with pytest.raises(WaitsError):
        perform(session, [], targets=["put2"])  # the room is taken
    perform(session, [], targets=["close"])
    with pytest.raises(FailedError) as raised:
        perform(session, [], targets=["put2"])
    assert raised.value.code == 1


def test_a_dead_operation_without_outputs_is_waited_for_in_vain() -> None:
    writer = counter()
    kind = {"T": dtype_attr("int32")}
    no = writer.constant(np.bool_(0), "no")
    writer.node("Switch", ("one", no), kind, "switch")
    writer.node("Identity", ("switch:1",), kind, "dead")
    writer.node("NoOp", ("^dead",), {}, "nothing")
    writer.node("AssignAdd", ("v", "one", "^nothing"), kind, "behind")
    session = Session(graph_of(writer))
    perform(session, [], targets=["init"])
    perform(session, [], targets=["behind"])
    assert perform(session, [Output("read", 0)]) == [1]


def test_a_failure_leaves_what_was_done_and_nothing_behind_it() -> None:
    writer = counter()
    fails = writer.node("Placeholder", ("^add",), {"dtype": dtype_attr("int32")}, "unfed")
    attrs = {"T": dtype_attr("int32"), "use_locking": {"b": True}}
    writer.node("AssignAdd", ("v", fails), attrs, "behind")
    session = Session(graph_of(writer))
    perform(session, [], targets=["init"])
    with pytest.raises(FailedError) as raised:
        perform(session, [], targets=["behind"])
    assert (raised.value.code, raised.value.node) == (3, "unfed")
    assert perform(session, [Output("read", 0)]) == [2]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([("Placeholder", (), "a"), ("Placeholder", (), "a")], "two operations have one name"),
        ([("Identity", ("nowhere",), "a")], "unknown input"),
        ([("Identity", ("b",), "a"), ("Identity", ("a",), "b")], "cycle"),
        ([("Identity", ("b",), "a"), ("NextIteration", ("a",), "b")], "cycle"),
        ([("Placeholder", (), "a"), ("Identity", ("a:-1",), "b")], "unknown input"),
        ([("Placeholder", (), "a b")], "not allowed as a name"),
        ([("Placeholder", (), "a"), ("LogicalNot", ("a",), "b")], "takes bool"),
        ([("Placeholder", (), "a"), ("Identity", ("a", "a"), "b")], "takes 1 inputs"),
    ],
)
def test_what_is_no_graph_is_refused(
    nodes: Sequence[tuple[str, Sequence[str], str]], message: str
) -> None:
    writer = GraphWriter()
    for op, inputs, name in nodes:
        key = {"Placeholder": "dtype", "Identity": "T", "NextIteration": "T"}.get(op)
        writer.node(op, inputs, {key: dtype_attr("int32")} if key else {}, name)
    with pytest.raises(ValueError, match=message):
        graph_of(writer)
