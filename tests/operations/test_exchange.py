"""A GraphDef written by the reference runs in TensorFlow with equal results, and the other way."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

from sessrun.conformance.generators.single import single_graph
from sessrun.conformance.subjects.operations.properties.single_operations import (
    drawable,
    output_count,
)
from sessrun.spec import tensors
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import arguments
from sessrun.spec.rules.numeric import difference
from sessrun.spec.tables.ops import OPERATIONS

sys.path.insert(0, str(Path(__file__).parent))
from exchange_programs import PROGRAMS, Program

pytestmark = pytest.mark.tensorflow
_DRAWS = 4


def written(tf: Any, form: dict[str, Any]) -> bytes:
    """The graph imported and written anew by one side, as bytes."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(json_format.ParseDict(form, tf.GraphDef()), name="")
    return graph.as_graph_def().SerializeToString()


def results(tf: Any, raw: bytes, runs: Any, feeds: dict[str, Any]) -> list[Any]:
    """The values of each run on one side, of a graph the other has written."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(tf.GraphDef.FromString(raw), name="")
    # TensorFlow's InplaceAdd and its kin write into what they are fed: each run has copies.
    with tf.Session(graph=graph) as session:
        return [
            session.run(list(fetches), {name: np.copy(value) for name, value in feeds.items()})
            for fetches in runs
        ]


def exchanged(namespaces: tuple[Any, Any], form: dict[str, Any], runs: Any, feeds: Any) -> Any:
    """Values of (reference's graph on TensorFlow, TensorFlow's graph on the reference)."""
    ours, theirs = namespaces
    return (
        results(theirs, written(ours, form), runs, feeds),
        results(ours, written(theirs, form), runs, feeds),
    )


@pytest.mark.parametrize("operation", drawable(), ids=[op.name for op in drawable()])
def test_a_drawn_operation(operation: Operation, namespaces: tuple[Any, Any]) -> None:
    for index in range(_DRAWS):
        draw = random.Random(f"exchange {operation.name} {index}")
        given = arguments(operation, draw)
        single = single_graph(operation, given, draw, output_count(operation, given))
        feeds = {name: tensors.decode(form) for name, form in single.feeds.items()}
        (theirs,), (ours,) = exchanged(namespaces, single.graph, [single.fetches], feeds)
        each = single.contract
        contracts = [each] * len(theirs) if isinstance(each, str) else each
        for want, got, contract in zip(theirs, ours, contracts, strict=True):
            want_array, got_array = np.asarray(want), np.asarray(got)
            assert want_array.dtype == got_array.dtype
            assert contract == "free" or want_array.shape == got_array.shape
            assert difference(contract, want_array, got_array) is None


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.covers[-1] for p in PROGRAMS])
def test_a_program_with_state(program: Program, namespaces: tuple[Any, Any]) -> None:
    theirs, ours = exchanged(namespaces, program.graph, program.runs, {})
    for want, got in zip(theirs, ours, strict=True):
        for want_value, got_value in zip(want, got, strict=True):
            if want_value is None:
                assert got_value is None
            elif program.random:
                assert want_value.dtype == got_value.dtype
                assert want_value.shape == got_value.shape
            else:
                np.testing.assert_array_equal(want_value, got_value)


#: Operations that call what is registered in the process: the other side has a token of its own.
CALLS = {"PyFunc": True, "PyFuncStateless": False}


@pytest.mark.parametrize("op_type", CALLS)
def test_a_call_of_a_python_function(op_type: str, namespaces: tuple[Any, Any]) -> None:
    def graph_of(tf: Any) -> Any:
        with tf.Graph().as_default() as graph:
            tf.py_func(lambda x: x + x, [[1.5, 2]], tf.float32, CALLS[op_type], "call")
        return graph

    for writer, reader in (namespaces, namespaces[::-1]):
        readers_own = graph_of(reader)
        graph_def = graph_of(writer).as_graph_def()
        (call,) = (node for node in graph_def.node if node.op == op_type)
        call.attr["token"].s = readers_own.get_operation_by_name("call").get_attr("token")
        raw = graph_def.SerializeToString()
        ((found,),) = results(reader, raw, [("call:0",)], {})
        assert found.tolist() == [3, 4]


def test_every_declared_operation_is_exchanged() -> None:
    covered = {op.name for op in drawable()} | {name for p in PROGRAMS for name in p.covers}
    covered |= CALLS.keys()
    run = {name for name, operation in OPERATIONS.items() if operation.devices}
    assert covered >= run, sorted(run - covered)
