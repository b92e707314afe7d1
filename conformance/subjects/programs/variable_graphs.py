"""What programs of variables share: their results with the nodes and the collections."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.program import Plain, Program
from sessrun.spec.cases.namespace import Namespace

__all__ = ["building"]

#: The attributes of a variable or a tensor that are compared.
_SHOWN: Final = ("name", "shape", "dtype", "device", "trainable")


def building(program: Program) -> Program:
    """The program that also returns the nodes and collections of the default graph."""

    def run(tf: Namespace) -> list[Plain]:
        value = _shown(program(tf))
        graph = tf.get_default_graph()
        keys = sorted(map(str, graph.get_all_collection_keys()))
        collections = [[key, _shown(graph.get_collection(key))] for key in keys]
        return [value, nodes(graph), collections]

    return run


def _shown(value: object) -> Plain:
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return [str(getattr(value, part, None)) for part in _SHOWN]
