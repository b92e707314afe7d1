"""The interpreter of API-surface cases: steps become calls on a `tensorflow.compat.v1` namespace.

Runs inside the process that holds the namespace (the worker). Each case gets a thread of its
own: default graphs and default sessions belong to a thread, so no case sees another's. What is
expected is not known here: after a step that failed, whoever knows is asked whether to go on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.spec.cases.checks import CHECKS, check_of
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.expressions import FILES, ExpressionError, Scope, evaluate
from sessrun.spec.cases.files import FOLDER_VARIABLE, CaseFiles
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.outcomes import Failure, failure_of
from sessrun.spec.cases.progress import At, noting_steps
from sessrun.spec.cases.values import ValueFormError, describe
from sessrun.spec.schema import SpecError

__all__ = ["CHECKS", "interpret"]


class _Stop(Exception):  # noqa: N818 - not an error: it ends the case
    """A step failed, and the case does not go on: it ends here."""


@dataclass(slots=True)
class _Course:
    """How far one interpretation has come: the bound names, what was observed, who is asked."""

    scope: Scope
    seen: list[Observation]
    goes_on: Callable[[], bool]
    at: At


def interpret(case: AskedCase, namespace: Namespace, goes_on: GoesOn) -> list[Observation]:
    """What the namespace was seen to do, step by step, until a failing step ends the case.

    Args:
      case: the case, without expectations.
      namespace: what stands for `tensorflow.compat.v1`.
      goes_on: called after each step that failed, in the thread of the step.

    Raises:
      ExpressionError: the case itself is ill-formed.
      SpecError: what it says of its files is.

    """
    folder = os.environ.get(FOLDER_VARIABLE)
    with CaseFiles(case, folder) as files, noting_steps(folder) as at:
        seen: list[Observation] = []
        scope = {"tf": namespace, "np": _Numpy, "py": _Python, FILES: files}
        _interpret(case, _Course(scope, seen, lambda: goes_on(files.seen(seen)), at))
        return files.seen(seen)


def _interpret(case: AskedCase, course: _Course) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            _steps(case.steps, course, "")
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            faults.append(error)

    thread = threading.Thread(target=work, daemon=True, name="case")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


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


def _steps(steps: Any, course: _Course, prefix: str) -> None:
    for index, step in enumerate(steps):
        course.at(f"{prefix}{index}")
        _DO[step["do"]](step, course, f"{prefix}{index}")


def _note(path: str, error: Exception, course: _Course) -> None:
    """Observe a failure, and stop unless the case goes on after it."""
    if isinstance(error, ExpressionError | ValueFormError | SpecError):
        raise error
    _failed(path, failure_of(error, "call"), course)


def _failed(path: str, failure: Failure, course: _Course) -> None:
    course.seen.append(observation(path, failure))
    if not course.goes_on():
        raise _Stop


def _eval(step: Step, course: _Course, path: str) -> None:
    try:
        value = evaluate(step["expr"], course.scope)
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(path, error, course)
        return
    if "as" in step:
        course.scope[step["as"]] = value
    if step.get("observe"):
        course.seen.append({"step": path, "outcome": "value", "value": describe(value)})


def _with(step: Step, course: _Course, path: str) -> None:
    try:
        with evaluate(step["context"], course.scope) as value:
            if "as" in step:
                course.scope[step["as"]] = value
            _steps(step["steps"], course, f"{path}.")
            course.at(path)
    except Exception as error:
        if isinstance(error, _Stop):
            raise
        _note(path, error, course)


def _thread(step: Step, course: _Course, path: str) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            _steps(step["steps"], course, f"{path}.")
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            faults.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


def _assign(step: Step, course: _Course, path: str) -> None:
    """Set a public attribute: {"do": "assign", "object": E, "attr": "seed", "value": E}."""
    try:
        target, value = (evaluate(step[part], course.scope) for part in ("object", "value"))
        setattr(target, step["attr"], value)
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(path, error, course)
        return
    course.seen.append({"step": path, "outcome": "value", "value": None})


def _raise(step: Step, course: _Course, path: str) -> None:
    """Raise in the body of a `with`: {"do": "raise", "error": E}, E a class or an exception.

    Leaves no observation of its own: what comes of it shows at the `with`.
    """
    error = evaluate(step["error"], course.scope)
    raisable = isinstance(error, type) and issubclass(error, Exception)
    if not (raisable or isinstance(error, Exception)):
        raise ExpressionError(f"a step raises an exception, not a {type(error).__name__}")
    if "." not in path:
        raise ExpressionError("a `raise` step stands inside a `with`")
    raise error


def _check(step: Step, course: _Course, path: str) -> None:
    check = check_of(step["name"])
    args = {key: evaluate(value, course.scope) for key, value in step.get("args", {}).items()}
    try:
        value = check(course.scope["tf"], **args)
    except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
        _note(path, error, course)
        return
    course.seen.append({"step": path, "outcome": "value", "value": describe(value)})


def _file(step: Step, course: _Course, path: str) -> None:
    """Change a file of the case's folder, or read one back."""
    try:
        value = course.scope[FILES].do(step)
    except OSError as error:
        _failed(path, failure_of(error, "file"), course)
        return
    course.seen.append({"step": path, "outcome": "value", "value": value})


_DO: Final = {
    "eval": _eval,
    "with": _with,
    "thread": _thread,
    "assign": _assign,
    "check": _check,
    "raise": _raise,
    "file": _file,
}
