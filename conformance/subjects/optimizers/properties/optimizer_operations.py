"""Steps of optimizers on variables of both kinds, whole and by rows, against a model."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.model.optimizers import STEPS, stepped
from sessrun.spec.operations import Operation
from sessrun.spec.tables.ops import OPERATIONS

_CLAUSE: Final = "OPTIMIZERS-001"
_FORMS: Final = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_TYPES: Final = tuple(form + rule for rule in STEPS for form in _FORMS if form + rule in OPERATIONS)
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (1,), (3,), (4,), (2, 3), (3, 1), (2, 2, 2))
_ROWS: Final[tuple[tuple[int, ...], ...]] = ((3,), (5,), (4, 1), (3, 2), (2, 2, 2))
#: How near the values must be, by dtype: rounded after every operation, or only at the end.
_CONTRACTS: Final[Mapping[str, str]] = {
    "float16": "close(2e-2, 2e-2)",
    "bfloat16": "close(1e-1, 1e-1)",
    "float32": "close(1e-4, 1e-5)",
    "complex64": "close(1e-4, 1e-5)",
    "float64": "close(1e-9, 1e-10)",
    "complex128": "close(1e-9, 1e-10)",
}
#: Scalars that every dtype holds exactly, and such that steps stay of the size of 1.
_SCALARS: Final[Mapping[str, tuple[float, ...]]] = {
    "lr": (0.125, 0.25, 0.5),
    "alpha": (0.125, 0.25, 0.5, 1.0),
    "epsilon": (0.0625, 0.25),
    "l1": (0.0, 0.125, 0.5),
    "l2": (0.0, 0.25),
    "l2_shrinkage": (0.0, 0.125),
    "lr_power": (-0.5, -0.5, -0.75, -1.0),
    "sign_decay": (0.5, 1.0),
    "logbase": (0.5, 1.0),
}
_PARTS: Final = (0.5, 0.75, 0.875)  # what is kept of a mean, and powers of that
#: Inputs that, if they are no scalars, end TensorFlow's process in one operation.
_UNCHECKED: Final = ("beta", "logbase", "sign_decay")
#: The slots that are sums of squares, and so positive.
_SQUARES: Final = ("accum", "accum_update", "ms", "v", "vhat", "gradient_squared_accumulator")


@dataclass(frozen=True, slots=True)
class _Step:
    """An operation and what it is given.

    Attributes:
      declared: the operation.
      numbers: its scalars and bool attributes.
      gradient: the gradient.
      rows: the rows that it changes, or None.

    """

    declared: Operation
    numbers: dict[str, np.generic | np.ndarray | bool]
    gradient: np.ndarray
    rows: np.ndarray | None


def _variables(declared: Operation) -> list[str]:
    return [arg.name for arg in declared.inputs if arg.is_ref or arg.dtype == "resource"]


def _array(draw: random.Random, dtype: str, shape: Sequence[int], *, above: float) -> np.ndarray:
    """Multiples of 1/4, all of them at least `above` unless that is negative."""
    count = int(np.prod(shape, dtype=np.int64))
    values: list[complex] = [
        draw.randint(-8, 8) / 4 if above < 0 else above + draw.randint(0, 8) / 4
        for _ in range(count)
    ]
    if dtype.startswith("complex") and above < 0:
        values = [value + 1j * draw.randint(-8, 8) / 4 for value in values]
    return np.array(values, BY_NAME[dtype].numpy).reshape(tuple(shape))


def _number(draw: random.Random, name: str, dtype: str) -> np.generic:
    if name == "global_step":
        return np.int64(draw.randint(1, 5))
    return BY_NAME[dtype].numpy(draw.choice(_SCALARS.get(name, _PARTS)))


def _step(draw: random.Random, declared: Operation, dtype: str, shape: Sequence[int]) -> _Step:
    names = [arg.name for arg in declared.inputs]
    skipped = {*_variables(declared), "grad", "delta", "indices"}
    numbers: dict[str, np.generic | np.ndarray | bool] = {
        name: _number(draw, name, dtype) for name in names if name not in skipped
    }
    for attr in declared.attrs:
        if attr.type == "bool":
            numbers[attr.name] = draw.random() < (0.8 if attr.name == "update_slots" else 0.3)
    rows = None
    if "indices" in names:
        count = draw.randint(0, shape[0] + 2)
        picked = [draw.randrange(shape[0]) for _ in range(count)]
        rows = np.array(picked, draw.choice((np.int32, np.int64)))
    size = shape if rows is None else (len(rows), *shape[1:])
    return _Step(declared, numbers, _array(draw, dtype, size, above=-1), rows)


def _node(
    writer: GraphWriter, step: _Step, dtype: str, draw: random.Random, *, is_wrong: bool = False
) -> tuple[str, dict[str, JsonObject]]:
    """Write the step, and return its node and its feeds.

    The inputs are constants and placeholders; of a wrong step all are placeholders of unknown
    shape, so that it is refused in the run.
    """
    feeds: dict[str, JsonObject] = {}
    variables, inputs = _variables(step.declared), []
    for arg in step.declared.inputs:
        if arg.name in variables:
            inputs.append(f"v{variables.index(arg.name)}")
            continue
        value = step.gradient if arg.name in ("grad", "delta") else step.numbers.get(arg.name)
        value = np.asarray(step.rows if arg.name == "indices" else value)
        if not is_wrong and draw.random() < 0.5:
            inputs.append(writer.constant(value))
            continue
        form = tensors.encode(value)
        shape = value.shape if not is_wrong and draw.random() < 0.5 else None
        placeholder = writer.placeholder(form["dtype"], shape)
        feeds[f"{placeholder}:0"] = form
        inputs.append(placeholder)
    attrs: dict[str, Json] = {"T": dtype}
    if step.rows is not None:
        attrs["Tindices"] = step.rows.dtype.name
    attrs |= {name: value for name, value in step.numbers.items() if isinstance(value, bool)}
    return writer.operation(step.declared, inputs, attrs), feeds


def _wrong(draw: random.Random, step: _Step) -> _Step:
    """The step with an argument that it must refuse."""
    ways = ["gradient", "scalar"] if step.gradient.ndim else ["scalar"]
    if step.rows is not None and len(step.rows):
        ways.append("row")
    way = draw.choice(ways)
    if way == "gradient":
        *front, width = step.gradient.shape
        wider = np.zeros((*front, width + 1), step.gradient.dtype)
        return replace(step, gradient=wider)
    if way == "scalar":
        names = (n for n, x in step.numbers.items() if not isinstance(x, bool))
        name = draw.choice(sorted(n for n in names if n not in _UNCHECKED))
        return replace(step, numbers={**step.numbers, name: np.array([step.numbers[name]] * 2)})
    assert step.rows is not None
    rows = step.rows.copy()
    rows[draw.randrange(len(rows))] = draw.choice((-1, 9, 2**30))
    return replace(step, rows=rows)


def _make(writer: GraphWriter, arrays: Sequence[np.ndarray], dtype: str, resource: bool) -> str:
    """Write the variables v0, v1, ... and what gives them their values; its node."""
    waits = []
    for index, array in enumerate(arrays):
        attrs = {"dtype": dtype_attr(dtype), "shape": shape_attr(array.shape)}
        attrs["shared_name"] = text_attr(f"shared{index}")
        writer.node("VarHandleOp" if resource else "VariableV2", (), attrs, f"v{index}")
        given = writer.constant(array)
        if resource:
            kind = {"dtype": dtype_attr(dtype)}
            waits.append(writer.node("AssignVariableOp", [f"v{index}", given], kind))
            writer.node("ReadVariableOp", [f"v{index}"], kind, f"read{index}")
        else:
            kind = {"T": dtype_attr(dtype)}
            waits.append(writer.node("Assign", [f"v{index}", given], kind))
            writer.node("Identity", [f"v{index}"], kind, f"read{index}")
    return writer.node("NoOp", [f"^{name}" for name in waits], {}, "init")


@prop("optimizers", _CLAUSE, weight=4)
def optimizers(draw: random.Random, id_: str) -> Case:
    """Steps of an optimizer make of a variable and its slots what its formula says."""
    number = int(id_.rpartition(":")[2])
    declared = OPERATIONS[_TYPES[number % len(_TYPES)]]
    rule = declared.name.rpartition("Apply")[2]
    dtype = draw.choice(next(attr for attr in declared.attrs if attr.name == "T").allowed)
    names = _variables(declared)
    shape = draw.choice(_ROWS if "Sparse" in declared.name else _SHAPES)
    arrays = [_array(draw, dtype, shape, above=_least(rule, name)) for name in names]
    writer = GraphWriter()
    init = _make(writer, arrays, dtype, resource=not declared.outputs)
    steps: list[Step] = [
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": [init], "expect": {"values": [None]}},
    ]
    shown = [f"read{index}:0" for index in range(len(names))]
    for _ in range(draw.randint(1, 3)):
        step = _step(draw, declared, dtype, shape)
        node, feeds = _node(writer, step, dtype, draw)
        arrays = stepped(
            rule,
            step.numbers,
            step.gradient,
            arrays,
            None if step.rows is None else step.rows.tolist(),
        )
        done: Expect = {"values": [None]} if not declared.outputs else {}
        steps.append(
            {"do": "run", "session": "s", "fetches": [node], "feeds": feeds, "expect": done}
        )
        values: list[Json] = [
            {"near": {"$array": tensors.encode(array)}, "contract": _CONTRACTS[dtype]}
            for array in arrays
        ]
        steps.append({"do": "run", "session": "s", "fetches": shown, "expect": {"values": values}})
    if draw.random() < 0.3:
        step = _wrong(draw, _step(draw, declared, dtype, shape))
        node, feeds = _node(writer, step, dtype, draw, is_wrong=True)
        steps.append(
            {
                "do": "run",
                "session": "s",
                "fetches": [node],
                "feeds": feeds,
                "expect": {"error": {"codes": [3]}},
            }
        )
    title = f"{declared.name} makes of a variable and its slots what its formula says."
    return Case(id_, title, "engine", (_CLAUSE,), tuple(steps), {"g": writer.graph()})


def _least(rule: str, name: str) -> float:
    """What is less than every element of a variable that is drawn; -1 for any sign."""
    if name not in _SQUARES or rule.endswith("Momentum"):
        return -1.0
    return 4.5 if rule == "CenteredRMSProp" else 0.5  # more than the square of a mean
