"""One namespace, driven in this process and behind the protocol: the two must not differ."""

import contextlib
import importlib.util
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from adapter_graphs import ADD, node, placeholder

from sessrun.adapters.backend import CAPABILITIES, Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.adapters.registry import load
from sessrun.conformance.observe import observe
from sessrun.spec.cases import engine
from sessrun.spec.cases.expressions import ExpressionError
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.proto import ConfigProto, GraphDef

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
NAMESPACES = [
    "reference",
    pytest.param("tensorflow#oracle", marks=pytest.mark.tensorflow),
]

pytestmark = pytest.mark.filterwarnings("ignore")  # TensorFlow's own, when it is imported


@pytest.fixture(scope="module", params=NAMESPACES)
def name(request: pytest.FixtureRequest) -> str:
    spec: str = request.param
    if spec.startswith("tensorflow") and importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs the [tensorflow] extra")
    return spec


@pytest.fixture(scope="module", params=["in this process", "behind the protocol"])
def backend(request: pytest.FixtureRequest, name: str) -> Iterator[Backend]:
    made: Backend = load(name) if request.param == "in this process" else spawn(name)
    yield made
    made.shutdown()


def opened(outcome: Outcome) -> str:
    assert isinstance(outcome, Opened), outcome
    return outcome.handle


def values(outcome: Outcome) -> list[Any]:
    assert isinstance(outcome, Fetched), outcome
    return [value if value is None else np.asarray(value).tolist() for value in outcome.values]


def failure(outcome: Outcome) -> tuple[str, int]:
    assert isinstance(outcome, Failure), outcome
    return outcome.call, outcome.code


def test_it_describes_itself(backend: Backend, name: str) -> None:
    description = backend.describe()
    assert description.name == name.partition("#")[0]
    assert description.capabilities == CAPABILITIES
    assert CPU in description.devices


def test_a_run_gives_values_in_fetch_order(backend: Backend) -> None:
    session = opened(backend.open(ADD, {}))
    feeds = {"x:0": np.array([1, 2], np.float32), "y:0": np.float32(3)}
    assert values(backend.run(session, ["d:0", "s", "s:0"], feeds, {})) == [[16, 25], None, [4, 5]]
    assert values(backend.run(session, ["d:0"], {"s:0": np.float32(3)}, {})) == [9]
    assert backend.close(session) == Done()


def test_errors_are_failures_with_their_codes(backend: Backend) -> None:
    session = opened(backend.open(ADD, {}))
    missing = backend.run(session, ["s:0"], {"x:0": np.float32(1)}, {})
    assert failure(missing) == ("run", 3)
    assert isinstance(missing, Failure)
    assert missing.node == "y"
    assert failure(backend.run(session, ["nope:0"], {}, {})) == ("run", 3)
    assert failure(backend.open({"node": [node("a", "NoSuchOp")]}, {})) == ("open", 5)
    assert isinstance(backend.open({"nodes": []}, {}), Failure)
    assert failure(backend.run("no such session", [], {}, {})) == ("run", 5)
    backend.close(session)
    closed = backend.run(session, ["s:0"], {}, {})
    assert failure(closed) == ("run", 9)
    assert isinstance(closed, Failure)
    assert closed.classes[0] == "RuntimeError"
    assert backend.close(session) == Done()


def test_options_and_configurations_are_protobufs_in_json(backend: Backend) -> None:
    session = opened(backend.open(ADD, {"deviceCount": {"CPU": 1}}))
    options = {"traceLevel": "NO_TRACE", "timeoutInMs": "5000"}
    assert values(backend.run(session, ["d:0"], {"s:0": np.float32(2)}, options)) == [4]
    assert failure(backend.run(session, [], {}, {"noSuchOption": 1}))[0] == "run"


def test_a_partial_run_goes_on_where_it_stopped(backend: Backend) -> None:
    if "partial_runs" not in backend.describe().capabilities:
        pytest.skip("the backend does not declare partial runs")
    session = opened(backend.open(ADD, {}))
    run = opened(backend.setup(session, ["s:0", "d:0"], ["x:0", "y:0"]))
    feeds = {"x:0": np.float32(1), "y:0": np.float32(2)}
    assert values(backend.partial(session, run, ["s:0"], feeds)) == [3]
    assert values(backend.partial(session, run, ["d:0"], {})) == [9]


def test_a_callable_takes_its_feeds_in_order(backend: Backend) -> None:
    session = opened(backend.open(ADD, {}))
    call = opened(backend.callable(session, ["s:0", "d"], ["x:0", "y:0"]))
    assert values(backend.call(session, call, [np.float32(1), np.float32(2)])) == [3, None]


def test_nodes_added_later_may_use_the_older_ones(backend: Backend) -> None:
    session = opened(backend.open(ADD, {}))
    more = {"node": [node("e", "AddV2", "d", "x:0", "^y", T={"type": "DT_FLOAT"})]}
    assert backend.extend(session, more) == Done()
    feeds = {"x:0": np.float32(1), "s:0": np.float32(2), "y:0": np.float32(0)}
    assert values(backend.run(session, ["e:0"], feeds, {})) == [5]
    unknown = {"node": [node("f", "Mul", "nope", "x", T={"type": "DT_FLOAT"})]}
    assert failure(backend.extend(session, unknown)) == ("extend", 3)


def test_a_control_input_from_a_node_without_outputs_is_unsupported(backend: Backend) -> None:
    session = opened(backend.open({"node": [node("n", "NoOp")]}, {}))
    more = {"node": [node("m", "NoOp", "^n")]}
    assert isinstance(backend.extend(session, more), Unsupported)


def test_devices_and_reset(backend: Backend) -> None:
    session = opened(backend.open(ADD, {}))
    assert backend.devices(session) == Done({"devices": list(backend.describe().devices)})
    assert backend.reset([]) == Done()
    assert failure(backend.run(session, ["d:0"], {"s:0": np.float32(1)}, {})) == ("run", 1)
    again = opened(backend.open(ADD, {}))
    assert values(backend.run(again, ["d:0"], {"s:0": np.float32(1)}, {})) == [1]


def test_a_scalar_string_keeps_its_final_nuls(backend: Backend) -> None:
    tensor = {"dtype": "DT_STRING", "tensorShape": {}, "stringVal": ["YQAA"]}  # b"a\0\0"
    graph = {
        "node": [
            node("c", "Const", dtype={"type": "DT_STRING"}, value={"tensor": tensor}),
            node("i", "Identity", "c", T={"type": "DT_STRING"}),
        ]
    }
    session = opened(backend.open(graph, {}))
    assert values(backend.run(session, ["i:0"], {}, {})) == [b"a\0\0"]


QUEUE = {
    "node": [
        node(
            "q",
            "FIFOQueueV2",
            component_types={"list": {"type": ["DT_FLOAT"]}},
            capacity={"i": "10"},
        ),
        node("take", "QueueDequeueV2", "q", component_types={"list": {"type": ["DT_FLOAT"]}}),
        placeholder("x"),
        node("put", "QueueEnqueueV2", "q", "x", Tcomponents={"list": {"type": ["DT_FLOAT"]}}),
    ]
}


def test_a_blocked_run_lets_another_one_through(backend: Backend) -> None:
    session = opened(backend.open(QUEUE, {}))
    taken: list[Outcome] = []
    thread = threading.Thread(target=lambda: taken.append(backend.run(session, ["take:0"], {}, {})))
    thread.start()
    time.sleep(0.1)
    assert not taken
    assert values(backend.run(session, ["put"], {"x:0": np.float32(4)}, {})) == [None]
    thread.join(10)
    assert values(taken[0]) == [4]


def test_an_engine_case_is_judged(backend: Backend) -> None:
    three = {"$array": {"dtype": "float32", "shape": [], "data": "AABAQA=="}}
    one = {"dtype": "float32", "shape": [], "data": "AACAPw=="}
    two = {"dtype": "float32", "shape": [], "data": "AAAAQA=="}
    run = {"do": "run", "session": "s", "fetches": ["s:0"], "feeds": {"x:0": one, "y:0": two}}
    form = {
        "id": "test/add",
        "title": "A sum is a sum.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "graphs": {"g": ADD},
        "steps": [
            {"do": "open", "session": "s", "graph": "g"},
            {**run, "expect": {"values": [three]}},
            {"do": "close", "session": "s"},
        ],
    }
    case = Case.from_json(form, "a test")
    assert judge(case, engine.interpret(case, backend)).result == "pass"


def test_an_api_case_is_interpreted_where_the_namespace_lives(backend: Backend) -> None:
    constant = {"$call": "tf.constant", "args": [{"$float": "2.0"}]}
    form = {
        "id": "test/api",
        "title": "A constant is itself.",
        "surface": "api",
        "clauses": ["RUN-001"],
        "steps": [
            {"do": "eval", "expr": constant, "as": "c"},
            {"do": "eval", "expr": {"$call": "tf.Session"}, "as": "s"},
            {"do": "eval", "expr": {"$call": "s.run", "args": [[{"$": "c"}]]}},
            {"do": "eval", "expr": {"$call": "s.run", "args": ["nope:0"]}},
        ],
    }
    seen = observe(backend, Case.from_json(form, "a test"), 30.0)
    assert [entry["outcome"] for entry in seen] == ["value", "failure"]
    assert seen[0]["value"] == [{"$scalar": {"dtype": "float32", "shape": [], "data": "AAAAQA=="}}]
    assert seen[1]["classes"][0] == "ValueError"


def test_an_ill_formed_case_is_the_cases_own_fault(backend: Backend) -> None:
    case = Case("a/b", "t", "api", ("RUN-001",), ({"do": "eval", "expr": {"$": "unbound"}},))
    with pytest.raises(ExpressionError, match="unbound"):
        observe(backend, case, 30.0)
    if isinstance(backend, ProcessBackend):
        assert backend.alive


class Broken:
    """A namespace whose every attribute raises what no backend should."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)


def test_whatever_a_namespace_raises_becomes_a_failure() -> None:
    outcome = NamespaceBackend(Broken(), "broken", "0").open({}, {})
    assert isinstance(outcome, Failure)
    assert (outcome.call, outcome.code, outcome.classes[0]) == ("open", 2, "SystemExit")


class Hollow:
    """A namespace that has what `open` and `close` touch, and nothing in it."""

    GraphDef = GraphDef
    ConfigProto = ConfigProto

    class Graph:
        def as_default(self) -> Any:
            return contextlib.nullcontext()

    class Session:
        def __init__(self, **_: Any) -> None:
            """Open nothing."""

        def close(self) -> None:
            """Close nothing."""

    def import_graph_def(self, *_: Any, **__: Any) -> None:
        """Import nothing."""


def test_sessions_closed_long_ago_are_forgotten() -> None:
    backend = NamespaceBackend(Hollow(), "hollow", "0")
    sessions = [opened(backend.open({}, {})) for _ in range(200)]
    for session in sessions:
        assert backend.close(session) == Done()
    assert backend.close(sessions[-1]) == Done()
    assert failure(backend.close(sessions[0])) == ("close", 5)
    assert len(backend._sessions) == 64


@pytest.mark.tensorflow
def test_the_oracle_does_not_share_a_process_with_another_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", Broken())
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    with pytest.raises(AdapterError, match="process of its own"):
        load("tensorflow#oracle")


def test_a_missing_tensorflow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(AdapterError, match=r"pip install 'sessrun\[tensorflow\]'"):
        load("tensorflow")
