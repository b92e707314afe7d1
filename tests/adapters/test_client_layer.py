"""The client layer over an engine that records what it is asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import (
    ClientLayer,
    Endpoint,
    EngineError,
    EngineSession,
    NotOfferedError,
    TensorFacts,
)
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Unsupported
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions

X, Y = Endpoint("x", 0), Endpoint("y", 0)
ONE = np.ones((2, 3), np.float32)


class Recorder(EngineSession):
    """Knows `x` of shape (?, 3), `y` of any shape, and operations of these names."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.open = True
        self.freed = 0
        self.dtype = "float32"
        self.broken = False
        self.gate: threading.Event | None = None
        self.entered: threading.Event | None = None

    def has_operation(self, name: str) -> bool:
        return name in {"x", "y"}

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        known = {X: TensorFacts("float32", (None, 3)), Y: TensorFacts(self.dtype)}
        return known.get(tensor)

    def run(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        options: RunOptions,
    ) -> Sequence[np.ndarray]:
        if self.broken:
            raise KeyError("a mistake")
        if self.gate is not None and self.entered is not None:
            self.entered.set()
            self.gate.wait(10)
        if options.timeout_in_ms:
            raise EngineError(4, "too late", "y")
        self.asked.append((list(fetches), dict(feeds), list(targets)))
        return [np.float32(number) for number in range(len(fetches))]

    def close(self) -> None:
        self.open = False

    def forget(self) -> None:
        self.freed += 1


class Engine:
    """Opens one session."""

    def __init__(self) -> None:
        self.session = Recorder()

    def describe(self) -> Description:
        return Description("recorder", "1", frozenset())

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        if config.log_device_placement:
            raise NotOfferedError("config", "log_device_placement")
        self.graph = graph
        return self.session

    def reset(self, containers: Sequence[str]) -> None:
        raise EngineError(12, f"no containers: {containers}")


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def layer(engine: Engine) -> ClientLayer:
    return ClientLayer(engine)


def opened(layer: ClientLayer, graph: Mapping[str, Any] | None = None) -> str:
    outcome = layer.open(graph or {"node": [{"name": "x"}]}, {})
    assert isinstance(outcome, Opened)
    return outcome.handle


def test_each_tensor_and_operation_is_asked_once(engine: Engine, layer: ClientLayer) -> None:
    fetched = layer.run(opened(layer), ["y:0", "x", "x:0", "y:0", "x"], {}, {})
    assert engine.session.asked == [([Y, X], {}, ["x"])]
    assert fetched == Fetched((np.float32(0), None, np.float32(1), np.float32(0), None))


def test_what_is_fed_is_handed_through(engine: Engine, layer: ClientLayer) -> None:
    session = opened(layer)
    fetched = layer.run(session, ["x:0"], {"x:0": ONE}, {})
    assert isinstance(fetched, Fetched)
    assert np.array_equal(fetched.values[0], ONE)
    assert engine.session.asked == [], "there was nothing to ask"
    assert layer.run(session, [], {"x:0": ONE}, {}) == Fetched(())
    layer.run(session, ["x:0", "y:0"], {"x:0": ONE}, {})
    assert engine.session.asked[0][0] == [Y]


def test_feeds_are_converted(engine: Engine, layer: ClientLayer) -> None:
    layer.run(opened(layer), ["y:0"], {"x:0": np.ones((1, 3), np.int8)}, {})
    assert engine.session.asked[0][1][X].dtype == np.float32


@pytest.mark.parametrize(
    ("fetches", "feeds", "cls"),
    [
        (["nope:0"], {}, "ValueError"),
        (["nope"], {}, "ValueError"),
        (["x:1"], {}, "ValueError"),
        (["x:"], {}, "ValueError"),
        ([":0"], {}, "ValueError"),
        (["y:0"], {"nope:0": ONE}, "TypeError"),
        (["nope:0"], {"nope:0": ONE}, "TypeError"),
        (["y:0"], {"x": ONE}, "TypeError"),
        (["y:0"], {"x:0": ONE[0]}, "ValueError"),
        (["y:0"], {"x:0": ONE[:, :2]}, "ValueError"),
        (["y:0"], {"x:0": np.array(["a"], object)}, "ValueError"),
    ],
)
def test_what_the_client_refuses_never_reaches_the_engine(
    fetches: list[str], feeds: dict[str, Any], cls: str, engine: Engine, layer: ClientLayer
) -> None:
    failure = layer.run(opened(layer), fetches, feeds, {})
    assert isinstance(failure, Failure)
    assert (failure.call, failure.classes[0], failure.code) == ("run", cls, 3)
    assert engine.session.asked == []


def test_a_callable_is_a_run_by_its_feeds_in_order(engine: Engine, layer: ClientLayer) -> None:
    session = opened(layer)
    callable_ = layer.callable(session, ["x:0", "y:0", "y"], ["x:0"])
    assert isinstance(callable_, Opened)
    fetched = layer.call(session, callable_.handle, [ONE, "left over"])
    assert isinstance(fetched, Fetched)
    assert np.array_equal(fetched.values[0], ONE)
    assert engine.session.asked[0][::2] == ([Y], ["y"])
    wrong = layer.call(session, callable_.handle, [ONE[0]])
    assert isinstance(wrong, Failure)
    assert (wrong.call, wrong.classes[0]) == ("call", "ValueError")
    layer.call(session, callable_.handle, [])
    assert engine.session.asked[1][0] == [X, Y], "what is not fed is asked of the engine"
    unknown = layer.callable(session, ["nope:0"], [])
    assert isinstance(unknown, Opened)
    failure = layer.call(session, unknown.handle, [])
    assert isinstance(failure, Failure)
    assert failure.classes[0] == "ValueError"


def test_an_empty_graph_is_a_runtime_error(layer: ClientLayer) -> None:
    session = opened(layer, {"versions": {"producer": 1}})
    for outcome in (layer.run(session, [], {}, {}), layer.setup(session, [], [])):
        assert isinstance(outcome, Failure)
        assert (outcome.classes[0], outcome.code) == ("RuntimeError", 9)


def test_what_is_no_string_is_refused(engine: Engine, layer: ClientLayer) -> None:
    engine.session.dtype = "string"
    session = opened(layer)
    texts = np.array(["\u00e4", b"\0", b""], object)
    layer.run(session, ["x:0"], {"y:0": texts}, {})
    assert engine.session.asked[0][1][Y].tolist() == ["\u00e4".encode(), b"\0", b""]
    for strange in (1, None, [b"a"], 1.5):
        value = np.empty(1, object)
        value[0] = strange
        failure = layer.run(session, ["x:0"], {"y:0": value}, {})
        assert isinstance(failure, Failure)
        assert failure.code == 13


def test_an_engines_own_mistake_is_no_answer(engine: Engine, layer: ClientLayer) -> None:
    engine.session.broken = True
    with pytest.raises(KeyError, match="mistake"):
        layer.run(opened(layer), ["y:0"], {}, {})
    with pytest.raises(ValueError, match="no error code 17"):
        EngineError(17, "none such")


def test_a_session_is_freed_when_its_last_call_has_ended(
    engine: Engine, layer: ClientLayer
) -> None:
    session = opened(layer)
    engine.session.gate = threading.Event()
    engine.session.entered = threading.Event()
    thread = threading.Thread(target=layer.run, args=(session, ["y:0"], {}, {}))
    thread.start()
    assert engine.session.entered.wait(10)
    layer.shutdown()
    assert (engine.session.open, engine.session.freed) == (False, 0)
    engine.session.gate.set()
    thread.join(10)
    assert engine.session.freed == 1


def test_a_closed_session_is_known(engine: Engine, layer: ClientLayer) -> None:
    session = opened(layer)
    assert layer.close(session) == layer.close(session) == Done()
    assert not engine.session.open
    ran = layer.run(session, ["y:0"], {}, {})
    assert isinstance(ran, Failure)
    assert (ran.classes[0], ran.code) == ("RuntimeError", 9)
    listed = layer.devices(session)
    assert isinstance(listed, Failure)
    assert listed.code == 1


def test_errors_of_the_engine_keep_code_and_node(layer: ClientLayer) -> None:
    failure = layer.run(opened(layer), ["y:0"], {}, {"timeoutInMs": 5})
    assert failure == Failure("run", 4, ("DeadlineExceededError",), "y", "too late")
    reset = layer.reset(["c"])
    assert isinstance(reset, Failure)
    assert (reset.call, reset.code) == ("reset", 12)


def test_what_the_engine_declines_is_unsupported(layer: ClientLayer) -> None:
    session = opened(layer)
    assert layer.extend(session, {}) == Unsupported("extend", "")
    assert layer.setup(session, ["y:0"], []) == Unsupported("partial_runs", "")
    assert layer.devices(session) == Unsupported("devices", "")
    assert layer.open({}, {"logDevicePlacement": True}) == Unsupported(
        "config", "log_device_placement"
    )
    assert layer.describe().capabilities == {"callables"}


def test_a_malformed_device_or_graph_is_refused_when_it_is_opened(layer: ClientLayer) -> None:
    for graph in ({"node": [{"name": "a", "device": "/gpu:x"}]}, {"node": [{"nom": "a"}]}):
        failure = layer.open(graph, {})
        assert isinstance(failure, Failure)
        assert failure.call == "open"
