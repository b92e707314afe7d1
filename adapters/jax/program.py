"""Programs: a part of a graph, translated node by node, traced and compiled by JAX."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, ParamSpec, TypeVar

import jax
import numpy as np

from sessrun.adapters.client_layer import Endpoint, EngineError, NotOfferedError
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.graph import Part, constant_of, inputs_of
from sessrun.adapters.jax.rules import ALL, RULES, Array, Rule, node_of, numpy_of
from sessrun.spec.errors import BY_NAME
from sessrun.spec.proto import NodeDef
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["compile_part", "declared_operations"]

#: The modules that fill the table.
_SUBJECTS: Final = (
    "activations",
    "arrays",
    "batch_space",
    "diagonals",
    "elementwise",
    "images",
    "indexing",
    "matrices",
    "networks",
    "reductions",
    "segments",
    "special",
    "spectra",
    "windows",
)
for _subject in _SUBJECTS:
    importlib.import_module(f"sessrun.adapters.jax.{_subject}")

#: Operations without an effect: a control input from one of them needs no waiting.
_NOTHING: Final = frozenset({"Const", "Identity", "NoOp", "Placeholder"})
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: How XLA's messages begin: with the name of a status.
_STATUS: Final = re.compile(r"([A-Z_]+): ")
_UNKNOWN, _INVALID, _UNIMPLEMENTED = 2, 3, 12


def declared_operations() -> Mapping[str, frozenset[str]]:
    """The dtypes in which each translated operation is declared."""
    return {op: rule.dtypes for op, rule in sorted(RULES.items())}


def compile_part(part: Part, shapes: Sequence[Sequence[int]]) -> Program:
    """The compiled program of a part.

    Raises:
      EngineError: JAX or XLA refuses the part.
      NotOfferedError: an operation, one of its inputs that must be constant, or a dtype is not
        translated; a control input is from an operation that may do something.

    """
    _check_effects(part)
    unsupported = set(part.dtypes.values()) - ALL
    if unsupported:
        raise NotOfferedError("dtype", min(unsupported))
    specs = [
        jax.ShapeDtypeStruct(tuple(shape), numpy_of(part.dtypes[feed]))
        for feed, shape in zip(part.feeds, shapes, strict=True)
    ]
    traced = _reported(jax.jit(functools.partial(_trace, part)).lower)(*specs)
    compiled = _reported(traced.compile)()

    def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [np.asarray(value) for value in _reported(compiled)(*values)]

    return run


def _check_effects(part: Part) -> None:
    """Decline control inputs, but for those from operations that do nothing."""
    for node in part.nodes:
        if node.name in part.effects and node.op not in _NOTHING:
            raise NotOfferedError("control_inputs", node.name)


def _trace(part: Part, *feeds: Array) -> list[Array]:
    """The values of a part's fetches, from the values of its feeds."""
    values: dict[Endpoint, Array] = dict(zip(part.feeds, feeds, strict=True))
    for definition in part.nodes:
        if definition.name in part.effects:
            continue
        inputs = [values[tensor] for tensor in inputs_of(definition)]
        for index, value in enumerate(_outputs(definition, inputs)):
            values.setdefault(Endpoint(definition.name, index), value)
    return [values[tensor] for tensor in part.fetches]


def _outputs(definition: NodeDef, inputs: Sequence[Array]) -> Sequence[Array]:
    """The outputs of a node; numpy arrays if all its inputs are numpy arrays, thus constant."""
    if definition.op == "Const":
        return [constant_of(definition)]
    rule = RULES.get(definition.op)
    if rule is None:
        raise NotOfferedError("op", definition.op)
    node = node_of(definition)
    rule.check(node)
    arguments = _arguments(rule, node.op, node.attrs, inputs)
    if not all(isinstance(value, np.ndarray) for value in inputs):
        return _listed(rule.function(node, *arguments))
    with jax.ensure_compile_time_eval():
        return [np.asarray(value) for value in _listed(rule.function(node, *arguments))]


def _listed(values: Array | Sequence[Array]) -> Sequence[Array]:
    return values if isinstance(values, list | tuple) else [values]


def _arguments(
    rule: Rule, op: str, attrs: Mapping[str, Any], inputs: Sequence[Array]
) -> list[Array]:
    """The inputs as the rule takes them: one by one, or as a list where the operation has a list.

    Raises:
      NotOfferedError: `op`, an input that must be constant depends on a feed.

    """
    remaining = list(inputs)
    arguments: list[Array] = []
    for arg in OPERATIONS[op].inputs:
        taken = [remaining.pop(0) for _ in range(arg.count(attrs))]
        if arg.name in rule.constants and not all(isinstance(v, np.ndarray) for v in taken):
            raise NotOfferedError("op", f"{op} whose {arg.name} is no constant")
        arguments.append(taken if arg.number_attr or arg.type_list_attr else taken[0])
    return arguments


def _reported(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The function, which raises EngineError where JAX or XLA raises an exception of its own."""

    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:  # shapes that do not fit
            raise EngineError(_INVALID, _brief(error)) from error
        except NotImplementedError as error:
            raise EngineError(_UNIMPLEMENTED, _brief(error)) from error
        except jax.errors.JaxRuntimeError as error:
            status = _STATUS.match(str(error))
            row = BY_NAME.get(status[1]) if status else None
            raise EngineError(row.code if row else _UNKNOWN, _brief(error)) from error

    return call


def _brief(error: Exception) -> str:
    """The first line of an exception's message, which says what was wrong."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
