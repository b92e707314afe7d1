"""Drawn calls of `gradients`: targets, sources and options among the tensors of a graph."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.forms import Json

__all__ = ["Request", "drawn_request"]

#: How many inputs a graph has, and how many more tensors.
_INPUTS: Final = 3
_MORE: Final = 6
_SHAPE: Final = (2,)
_METHODS: Final = ("DEFAULT", "ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N")


#: The arguments of a check.
Arguments: TypeAlias = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """A request, as arguments of the check `gradients_among`.

    Attributes:
      clause: the clause that it shows false, if any.
      arguments: the arguments.

    """

    clause: str
    arguments: Arguments


def drawn_request(draw: random.Random) -> Request:
    """A request that one clause is about: of several targets, of stopped tensors and so on."""
    count = _INPUTS + _MORE
    values = [
        np.array([draw.uniform(-1.5, 1.5) for _ in range(2)], np.float32) for _ in range(_INPUTS)
    ]
    function = _graph(draw)
    targets = draw.sample(range(_INPUTS, count), draw.randint(1, 3))
    arguments: Arguments = {
        "function": function,
        "inputs": [{"$array": tensors.encode(value)} for value in values],
        "targets": targets,
        "sources": draw.choices(range(count), k=draw.randint(1, 4)),
    }
    clause = draw.choice(tuple(_ASKED))
    arguments |= _ASKED[clause](draw, targets)
    return Request(clause, arguments)


def _graph(draw: random.Random) -> dict[str, Json]:
    """The function that makes a graph's tensors: each of one or two earlier ones."""
    expression: Json = [{"$": f"x{number}"} for number in range(_INPUTS)]
    names = [f"x{number}" for number in range(_INPUTS)]
    calls = []
    for number in range(_INPUTS, _INPUTS + _MORE):
        calls.append(_tensor(draw, names))
        names.append(f"x{number}")
    expression = [{"$": name} for name in names]
    for name, call in zip(reversed(names[_INPUTS:]), reversed(calls), strict=True):
        expression = {"$call": {"$fn": {"params": [name], "returns": expression}}, "args": [call]}
    return {"$fn": {"params": names[:_INPUTS], "returns": expression}}


def _tensor(draw: random.Random, names: list[str]) -> dict[str, Json]:
    one, other = ({"$": draw.choice(names)} for _ in range(2))
    match draw.randrange(6):
        case 0:
            return {"$call": "tf.sin", "args": [one]}
        case 1:
            return {"$op": ["+", one, other]}
        case 2:
            indices = [draw.randrange(2) for _ in range(2)]
            return {"$call": "tf.gather", "args": [one, indices]}
        case 3:
            return {"$call": "tf.stop_gradient", "args": [one]}
        case _:
            return {"$op": ["*", one, other]}


def _targets(_: random.Random, __: list[int]) -> Arguments:
    return {}


def _zero(draw: random.Random, _: list[int]) -> Arguments:
    return {"options": {"unconnected_gradients": draw.choice(("zero", "zero", "none"))}}


def _given(draw: random.Random, targets: list[int]) -> Arguments:
    given = [draw.choice((None, -0.5, 2.0)) for _ in targets]
    return {"given": given}


def _stopped(draw: random.Random, _: list[int]) -> Arguments:
    return {"stopped": draw.sample(range(_INPUTS + _MORE), draw.randint(1, 3))}


def _method(draw: random.Random, _: list[int]) -> Arguments:
    method = draw.choice(_METHODS)
    return {
        "options": {
            "aggregation_method": {"$": f"tf.AggregationMethod.{method}"},
            "gate_gradients": draw.random() < 0.5,
            "colocate_gradients_with_ops": draw.random() < 0.5,
        }
    }


#: The options that each clause is about.
_ASKED: Final = {
    "GRADIENTS-001": _targets,
    "GRADIENTS-003": _targets,
    "GRADIENTS-004": _zero,
    "GRADIENTS-005": _given,
    "GRADIENTS-006": _stopped,
    "GRADIENTS-020": _method,
}
