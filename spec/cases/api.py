"""The interpreter of API-surface cases: steps become calls on a `tensorflow.compat.v1` namespace.

Runs inside the process that holds the namespace (the worker). Each case gets a thread of its
own: default graphs and default sessions belong to a thread, so no case sees another's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sessrun.spec.cases.checks import CHECKS, check_of
from sessrun.spec.cases.engine import expects_failure, observation
from sessrun.spec.cases.expressions import FILES, ExpressionError, Scope, evaluate
from sessrun.spec.cases.files import FOLDER_VARIABLE, CaseFiles
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.outcomes import failure_of
from sessrun.spec.cases.values import ValueFormError, describe
from sessrun.spec.schema import SpecError

__all__ = ["CHECKS", "interpret"]


class _Stop(Exception):  # noqa: N818 - not an error: it ends the case
    """A step failed that should not have: the case ends here."""


def interpret(case: Case, namespace: Any) -> list[Observation]:
    """What the namespace was seen to do, step by step, until a step fails that should not.

    Raises:
      ExpressionError: the case itself is ill-formed.
      SpecError: what it says of its files is.

    """
    with CaseFiles(case, os.environ.get(FOLDER_VARIABLE)) as files:
        return files.seen(_interpret(case, namespace, files))


def _interpret(case: Case, namespace: Any, files: CaseFiles) -> list[Observation]:
    seen: list[Observation] = []
    faults: list[BaseException] = []
    scope = {"tf": namespace, "np": _Numpy, "py": _Python, FILES: files}

    def work() -> None:
        try:
            _steps(case.steps, scope, seen, "")
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            faults.append(error)

    thread = threading.Thread(target=work, daemon=True, name=f"case {case.id}")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return seen


class _Numpy:
    """The part of numpy that a case may name."""

    ndarray = np.ndarray
    generic = np.generic
    float32 = np.float32
    asarray = staticmethod(np.asarray)
    shares_memory = staticmethod(np.shares_memory)


class _Python:
    """The exceptions of Python that a case may name: those that its own steps raise."""

    Exception = Exception
    ArithmeticError = ArithmeticError
    IndexError = IndexError
    KeyError = KeyError
    RuntimeError = RuntimeError
    StopIteration = StopIteration
    TypeError = TypeError
    ValueError = ValueError


def _steps(steps: Any, scope: Scope, seen: list[Observation], prefix: str) -> None:
    for index, step in enumerate(steps):
        _DO[step["do"]](step, scope, seen, f"{prefix}{index}")


def _note(step: Mapping[str, Any], path: str, error: Exception, seen: list[Observation]) -> None:
    if isinstance(error, ExpressionError | ValueFormError | SpecError):
        raise error
    seen.append(observation(path, failure_of(error, "call")))
    if not expects_failure(step):
        raise _Stop


def _eval(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    try:
        value = evaluate(step["expr"], scope)
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(step, path, error, seen)
        return
    if "as" in step:
        scope[step["as"]] = value
    if "as" not in step or "expect" in step:
        seen.append({"step": path, "outcome": "value", "value": describe(value)})


def _with(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    try:
        with evaluate(step["context"], scope) as value:
            if "as" in step:
                scope[step["as"]] = value
            _steps(step["steps"], scope, seen, f"{path}.")
    except Exception as error:
        if isinstance(error, _Stop):
            raise
        _note(step, path, error, seen)


def _thread(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            _steps(step["steps"], scope, seen, f"{path}.")
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            faults.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


def _assign(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    """Set a public attribute: {"do": "assign", "object": E, "attr": "seed", "value": E}."""
    try:
        setattr(evaluate(step["object"], scope), step["attr"], evaluate(step["value"], scope))
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(step, path, error, seen)
        return
    seen.append({"step": path, "outcome": "value", "value": None})


def _raise(step: Mapping[str, Any], scope: Scope, _: list[Observation], path: str) -> None:
    """Raise in the body of a `with`: {"do": "raise", "error": E}, E a class or an exception.

    Leaves no observation of its own: what comes of it shows at the `with`.
    """
    error = evaluate(step["error"], scope)
    raisable = isinstance(error, type) and issubclass(error, Exception)
    if not (raisable or isinstance(error, Exception)):
        raise ExpressionError(f"a step raises an exception, not a {type(error).__name__}")
    if "." not in path:
        raise ExpressionError("a `raise` step stands inside a `with`")
    raise error


def _check(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    check = check_of(step["name"])
    args = {key: evaluate(value, scope) for key, value in step.get("args", {}).items()}
    try:
        value = check(scope["tf"], **args)
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(step, path, error, seen)
        return
    seen.append({"step": path, "outcome": "value", "value": describe(value)})


def _file(step: Mapping[str, Any], scope: Scope, seen: list[Observation], path: str) -> None:
    """Change a file of the case's folder, or read one back."""
    try:
        value = scope[FILES].do(step)
    except OSError as error:
        seen.append(observation(path, failure_of(error, "file")))
        if not expects_failure(step):
            raise _Stop from error
        return
    seen.append({"step": path, "outcome": "value", "value": value})


_DO: Final = {
    "eval": _eval,
    "with": _with,
    "thread": _thread,
    "assign": _assign,
    "check": _check,
    "raise": _raise,
    "file": _file,
}
