"""Every public name of TensorFlow's is here, with its arguments, or said to be absent, and why."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest
from absent_names import ABSENT, ABSENT_MODULES, OTHER_ARGUMENTS

import sessrun.reference as ours
from sessrun.spec.tables.ops import OPERATIONS

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]
#: Names of other namespaces, of the flags of a program, which are read when they are touched, and
#: of a module that is there once Keras has been imported.
_LEFT_OUT = {"FLAGS", "compat", "raw_ops", "rnn_cell"}


def _is_module(value: Any) -> bool:
    """Whether it is a module of TensorFlow's: some modules hold one of Python's."""
    is_any = isinstance(value, ModuleType) or "Lazy" in type(value).__name__
    name = getattr(value, "__name__", "")
    return is_any and ("tensorflow" in name or "keras" in name)


def _names(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_") and name not in _LEFT_OUT]


def _modules(tf: Any) -> Iterator[tuple[str, Any, Any]]:
    """The dotted name of each module of TensorFlow's that is not absent, and both modules."""
    left: list[tuple[str, Any, Any]] = [("", tf, ours)]
    while left:
        dotted, theirs, mine = left.pop()
        yield dotted, theirs, mine
        for name in _names(theirs):
            value, full = getattr(theirs, name), f"{dotted}.{name}".lstrip(".")
            if _is_module(value) and full not in ABSENT_MODULES:
                left.append((full, value, getattr(mine, name)))


def _shown(parameter: inspect.Parameter) -> tuple[Any, ...]:
    """Name, kind and default; equal numbers, lists and tuples of them are shown alike."""
    value = parameter.default
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        value = tuple(value)
    if not isinstance(value, bool | int | float | str | bytes | tuple | type(None)):
        value = getattr(value, "name", "object") if value is not parameter.empty else "none given"
    named = parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY}
    return parameter.name, named or parameter.kind.name, value


def _arguments(function: Any) -> list[tuple[Any, ...]] | None:
    try:
        return [_shown(each) for each in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # compiled code does not tell
        return None


def test_every_public_name_is_here_or_said_to_be_absent(theirs: Any) -> None:
    absent, there = set(), set()
    for dotted, module, mine in _modules(theirs):
        for name in _names(module):
            full = f"{dotted}.{name}".lstrip(".")
            if full not in ABSENT_MODULES:
                (there if hasattr(mine, name) else absent).add(full)
    assert absent - ABSENT.keys() == set()
    assert ABSENT.keys() & there == set(), "these are here: they are not absent"
    assert ABSENT.keys() - absent == set(), "these are not TensorFlow's"


def test_absent_modules_are_absent(theirs: Any) -> None:
    for dotted in ABSENT_MODULES:
        module, mine = theirs, ours
        for name in dotted.split("."):
            module = getattr(module, name)
            mine = getattr(mine, name, None)
        assert mine is None, dotted


def test_functions_have_tensorflows_arguments(theirs: Any) -> None:
    others = set()
    for dotted, module, mine in _modules(theirs):
        for name in _names(module):
            function, own = getattr(module, name), getattr(mine, name, None)
            if own is None or inspect.isclass(function) or not callable(function):
                continue
            wanted, found = _arguments(function), _arguments(own)
            if wanted is not None and found is not None and wanted != found:
                others.add(f"{dotted}.{name}".lstrip("."))
    assert others == set(OTHER_ARGUMENTS)


def test_raw_operations_have_the_parameters_that_tensorflow_has() -> None:
    tensorflow = pytest.importorskip("tensorflow.compat.v1")

    differing = {}
    for op_type in OPERATIONS:
        theirs = getattr(tensorflow.raw_ops, op_type, None)
        if theirs is None:
            continue
        parameters = [
            list(inspect.signature(wrapper).parameters)
            for wrapper in (getattr(ours.raw_ops, op_type), theirs)
        ]
        if parameters[0] != parameters[1]:
            differing[op_type] = parameters
    assert not differing
