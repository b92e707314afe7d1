"""Operations of which no device has a kernel: built from a GraphDef, both sides agree on them."""

from __future__ import annotations

from typing import Any

import pytest

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.spec.operations import ArgDecl, AttrDecl, Operation
from sessrun.spec.tables.ops import OPERATIONS

pytestmark = pytest.mark.tensorflow
WITHOUT_KERNEL = [operation for operation in OPERATIONS.values() if not operation.devices]
_LENGTH = 2


def _value(attr: AttrDecl) -> Any:
    """A value that an attribute may have, in the JSON form of an AttrValue."""
    if attr.type.startswith("list("):
        ((kind, item),) = _value(AttrDecl(attr.name, attr.type[5:-1], attr.allowed)).items()
        return {"list": {kind: [item] * max(_LENGTH, attr.minimum or 0)}}
    match attr.type:
        case "type":
            return dtype_attr(attr.allowed[-1] if attr.allowed else "float32")
        case "int":
            return {"i": str(max(_LENGTH, attr.minimum or 0))}
        case "string":
            return {"s": "b3Jhbmdlcw==" if attr.allowed else "dGV4dA=="}
        case "shape":
            return {"shape": {"dim": [{"size": "3"}]}}
        case "func":
            return {"func": {"name": "some_function"}}
        case "bool":
            return {"b": True}
        case _:
            return {"f": 0.5}


def _dtypes(arg: ArgDecl, attrs: dict[str, Any]) -> list[str]:
    """The dtypes, as AttrValues name them, of the tensors that an argument is."""
    if arg.type_list_attr is not None:
        return list(attrs[arg.type_list_attr]["list"]["type"])
    one = attrs[arg.type_attr] if arg.type_attr is not None else dtype_attr(str(arg.dtype))
    count = int(attrs[arg.number_attr]["i"]) if arg.number_attr is not None else 1
    return [one["type"]] * count


def form(operation: Operation) -> dict[str, Any]:
    """A GraphDef with one node of this type, and one for each of its inputs."""
    writer = GraphWriter()
    attrs = {attr.name: _value(attr) for attr in operation.attrs}
    inputs = []
    for arg in operation.inputs:
        source = "RefOut" if arg.is_ref else "PolymorphicOut"
        for dtype in _dtypes(arg, attrs):
            name = f"in{len(inputs)}"
            writer.node(source, (), {"T": {"type": dtype}}, name)
            inputs.append(name)
    writer.node(operation.name, tuple(inputs), attrs, "node")
    return writer.graph()


def seen(tf: Any, graph_def: dict[str, Any]) -> Any:
    """What a namespace makes of the node."""
    from google.protobuf import json_format  # noqa: PLC0415 - needed here only

    with tf.Graph().as_default() as graph:
        (op,) = tf.import_graph_def(
            json_format.ParseDict(graph_def, tf.GraphDef()), return_elements=["node"], name=""
        )
        outputs = [(t.name, t.dtype.name, str(t.shape)) for t in op.outputs]
        node = json_format.MessageToDict(op.node_def)
        return outputs, node, [t.dtype.name for t in op.inputs], graph.version


def test_there_are_dozens() -> None:
    assert len(WITHOUT_KERNEL) > 50


@pytest.mark.parametrize("operation", WITHOUT_KERNEL, ids=lambda operation: operation.name)
def test_an_operation_without_a_kernel_is_built_as_in_tensorflow(
    operation: Operation, namespaces: tuple[Any, Any]
) -> None:
    ours, theirs = namespaces
    assert seen(ours, form(operation)) == seen(theirs, form(operation))
