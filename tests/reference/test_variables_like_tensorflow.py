"""Variables beside TensorFlow's: the same graphs, the same values, errors of the same classes."""

from __future__ import annotations

from typing import Any

import pytest
import reference_variable_programs
import resource_variable_programs
import variable_build_behaviours
import variable_run_behaviours
import variable_scope_programs
from behaviour_registry import BEHAVIOURS, Caught, plain
from program_registry import PROGRAMS

import sessrun.reference as ours
from sessrun.reference.constant_op import make_ndarray
from sessrun.spec.proto import GraphDef

#: The modules whose programs are compared; importing them fills the registries.
SUBJECTS = (
    reference_variable_programs, resource_variable_programs, variable_scope_programs,
    variable_run_behaviours, variable_build_behaviours,
)  # fmt: skip

pytestmark = pytest.mark.tensorflow

SHOWN = ("name", "shape", "dtype", "device", "trainable")


def described(value: Any) -> Any:
    """What can be compared of a returned value: of variables and tensors their properties."""
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {key: str(getattr(value, key, None)) for key in SHOWN}


def node_text(node: Any) -> str:
    """A node without what does not count: how a constant is stored, the order of control edges."""
    value = ""
    if node.op == "Const":
        array = make_ndarray(node.attr.pop("value").tensor)
        value = f"{array.dtype}{array.shape}{array.tolist()}"
    inputs = [name for name in node.input if not name.startswith("^")]
    controls = sorted(name for name in node.input if name.startswith("^"))
    attrs = [f"{key}={str(node.attr[key]).split()}" for key in sorted(node.attr)]
    return " ".join([node.name, node.op, *inputs, *controls, node.device, *attrs, value])


def built(tf: Any, program: Any) -> tuple[list[str], Any, Any]:
    graph = tf.Graph()
    with graph.as_default():
        value = described(program(tf))
    keys = sorted(graph.get_all_collection_keys())
    collections = {key: described(graph.get_collection(key)) for key in keys}
    nodes = GraphDef.FromString(graph.as_graph_def().SerializeToString()).node
    return [node_text(node) for node in nodes], value, collections


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_a_program_builds_the_same_graph(theirs: Any, name: str) -> None:
    program = PROGRAMS[name]
    graph, value, collections = built(ours, program)
    wanted_graph, wanted_value, wanted_collections = built(theirs, program)
    assert graph == wanted_graph
    assert value == wanted_value
    assert collections == wanted_collections


def outcomes(tf: Any, name: str) -> Any:
    with tf.Graph().as_default():
        return BEHAVIOURS[name](tf)


def assert_same(found: Any, wanted: Any, place: str) -> None:
    if isinstance(wanted, Caught):
        assert isinstance(found, Caught), f"{place}: {found}, not {wanted}"
        assert wanted.names[0] in found.names, f"{place}: {found}, not {wanted}"
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), place
        for index, (ours_, theirs_) in enumerate(zip(found, wanted, strict=True)):
            assert_same(ours_, theirs_, f"{place}[{index}]")
    else:
        got, should = (plain(item) for item in (found, wanted))
        assert got == should, f"{place}: {got}, not {should}"


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.filterwarnings("ignore")
def test_a_program_behaves_the_same(theirs: Any, name: str) -> None:
    assert_same(outcomes(ours, name), outcomes(theirs, name), name)
