"""TensorFlow as the oracle of single operations: one graph for many cases of one operation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from sessrun.conformance.generators.single import unknown_shape
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.operations import AttrDecl, Operation
from sessrun.spec.rules.domains import Arguments

for _name, _value in (
    ("TF_CPP_MIN_LOG_LEVEL", "3"),
    ("TF_USE_LEGACY_KERAS", "1"),
    ("TF_ENABLE_ONEDNN_OPTS", "0"),
):
    os.environ.setdefault(_name, _value)


def flat(operation: Operation, arguments: Arguments) -> list[Any]:
    """The input tensors in order, lists laid flat."""
    found: list[Any] = []
    for arg in operation.inputs:
        value = arguments.inputs[arg.name]
        found.extend(value if isinstance(value, list) else [value])
    return found


class Oracle:
    """Runs cases of an operation in TensorFlow; each outcome is a list of values or an error."""

    def __init__(self) -> None:
        self.tf = pytest.importorskip("tensorflow").compat.v1
        self.tf.disable_v2_behavior()

    def outcomes(self, operation: Operation, cases: list[Arguments]) -> list[Any]:
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.import_graph_def(self._graph_def(operation, cases), name="")
        # copies: TensorFlow's InplaceAdd and its kin write into what they are fed
        feeds = [
            {f"input{i}_{j}:0": np.array(value) for j, value in enumerate(flat(operation, case))}
            for i, case in enumerate(cases)
        ]
        fetches = [
            [tensor.name for tensor in graph.get_operation_by_name(f"case{i}").outputs]
            for i in range(len(cases))
        ]
        with self.tf.Session(graph=graph) as session:
            return self._run(session, fetches, feeds)

    def _run(self, session: Any, fetches: list[Any], feeds: list[Any]) -> list[Any]:
        try:
            return session.run(fetches, {key: v for feed in feeds for key, v in feed.items()})
        except self.tf.errors.OpError:
            return [self._one(session, *pair) for pair in zip(fetches, feeds, strict=True)]

    def _one(self, session: Any, fetch: Any, feed: Any) -> Any:
        try:
            return session.run(fetch, feed)
        except self.tf.errors.OpError as error:
            return error

    def _graph_def(self, operation: Operation, cases: list[Arguments]) -> Any:
        graph = self.tf.GraphDef()
        graph.versions.producer = operation.until - 1 if operation.until else 2000
        for i, case in enumerate(cases):
            node = graph.node.add(name=f"case{i}", op=operation.name)
            for attr in operation.attrs:
                node.attr[attr.name].CopyFrom(self._attr(attr, case.attrs[attr.name]))
            values = flat(operation, case)
            for j, dtype in enumerate(_dtypes(operation, case)):
                placeholder = graph.node.add(name=f"input{i}_{j}", op="Placeholder")
                placeholder.attr["dtype"].type = BY_NAME[dtype].enum
                _set_shape(placeholder.attr["shape"].shape, unknown_shape(operation, values[j]))
                node.input.append(placeholder.name)
        return graph

    def _attr(self, declared: AttrDecl, value: Any) -> Any:
        attr = self.tf.AttrValue()
        match declared.type:
            case "type":
                attr.type = BY_NAME[value].enum
            case "int":
                attr.i = value
            case "float":
                attr.f = value
            case "bool":
                attr.b = value
            case "string":
                attr.s = value.encode()
            case "shape":
                _set_shape(attr.shape, value)
            case "list(type)":
                attr.list.type.extend(BY_NAME[dtype].enum for dtype in value)
            case "list(int)" | "list(float)" | "list(bool)" | "list(string)" as kind:
                attr.list.SetInParent()
                items = [item.encode() if kind == "list(string)" else item for item in value]
                getattr(attr.list, kind[5]).extend(items)
            case other:
                raise NotImplementedError(other)
        return attr


def _set_shape(proto: Any, value: Any) -> None:
    if value is None:
        proto.unknown_rank = True
        return
    proto.SetInParent()
    for dim in value:
        proto.dim.add(size=-1 if dim is None else dim)


def _dtypes(operation: Operation, case: Arguments) -> list[str]:
    found: list[str] = []
    for arg in operation.inputs:
        value = case.inputs[arg.name]
        count = len(value) if isinstance(value, list) else 1
        if arg.type_list_attr is not None:
            found.extend(case.attrs[arg.type_list_attr])
        else:
            found.extend([arg.dtype or case.attrs[arg.type_attr]] * count)
    return found


def as_array(value: Any) -> np.ndarray:
    """A fetched or computed value as an ndarray; a string scalar as a 0-d object array."""
    if isinstance(value, bytes):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    return np.asarray(value)
