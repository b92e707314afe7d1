"""Tests of several parameters: the decorators and class that TensorFlow's tests have from absl.

A class that derives from `parameterized.TestCase` has a test for each of the parameters.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

__all__ = [
    "TestCase",
    "generate_combinations_with_testcase_name",
    "named_parameters",
    "parameters",
    "product",
]

#: The key of a dict of named parameters that is the name.
_NAME: Final = "testcase_name"


class _Expanded(NamedTuple):
    """What a decorated test is until its class is made.

    Attributes:
      function: the test.
      cases: (suffix of the name, arguments, keyword arguments) for each test it becomes.

    """

    function: Callable[..., object]
    cases: list[tuple[str, tuple[object, ...], dict[str, object]]]


def parameters(*testcases: Any) -> Callable[[Any], Any]:
    """Make a test, or each test of a class, into one for each of these parameters.

    Args:
      *testcases: dicts of keyword arguments, sequences of arguments, or single arguments; or
        one iterable of such.

    """

    def decorator(obj: object) -> Any:
        cases = [(str(index), *_call(case)) for index, case in enumerate(_listed(testcases))]
        return _decorated(obj, cases)

    return decorator


def named_parameters(*testcases: Any) -> Callable[[Any], Any]:
    """Make a test, or each test of a class, into one for each of these, with names.

    Args:
      *testcases: dicts of keyword arguments with a `testcase_name`, or sequences of a name and
        arguments; or one iterable of such. A name is put behind the test's.

    """

    def decorator(obj: object) -> Any:
        cases = []
        for case in _listed(testcases):
            if isinstance(case, Mapping):
                rest = {key: value for key, value in case.items() if key != _NAME}
                cases.append((str(case[_NAME]), (), rest))
            else:
                name, *arguments = case
                cases.append((str(name), tuple(arguments), {}))
        return _decorated(obj, cases)

    return decorator


def product(*kwargs_seqs: Sequence[Mapping[str, Any]], **testgrid: Any) -> Callable[[Any], Any]:
    """Make a test into one for each combination of these parameters.

    Args:
      *kwargs_seqs: lists of dicts of keyword arguments, of which one each is taken.
      **testgrid: from an argument's name to its values.

    """
    grid = [[{name: value} for value in values] for name, values in testgrid.items()]
    combined = [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*kwargs_seqs, *grid)
    ]
    return parameters(*combined)


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Parameters for `named_parameters`: each combination of some values, with a name.

    Args:
      **kwargs: by an argument's name a list of its values, or its only one.

    """
    grid = [
        [(key, value) for value in (values if isinstance(values, list) else [values])]
        for key, values in sorted(kwargs.items())
    ]
    return [
        {
            **dict(pairs),
            _NAME: "_test" + "".join(f"_{_word(key)}_{_word(str(value))}" for key, value in pairs),
        }
        for pairs in itertools.product(*grid)
    ]


def _word(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _listed(testcases: tuple[object, ...]) -> list[Any]:
    """The cases; a single argument that is no case is an iterable of them."""
    if len(testcases) == 1 and not isinstance(testcases[0], tuple | str | bytes | Mapping):
        only = testcases[0]
        return list(only) if isinstance(only, Iterable) else [only]
    return list(testcases)


def _call(case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(case, Mapping):
        return (), dict(case)
    is_many = isinstance(case, Sequence) and not isinstance(case, str | bytes)
    return (tuple(case) if is_many else (case,)), {}


def _decorated(obj: Any, cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> Any:
    if not inspect.isclass(obj):
        return _Expanded(obj, cases)
    for name, value in list(vars(obj).items()):
        if name.startswith("test") and callable(value):
            delattr(obj, name)
            for full, test in _tests(name, _Expanded(value, cases)):
                setattr(obj, full, test)
    return obj


def _tests(name: str, expanded: _Expanded) -> Iterator[tuple[str, Callable[..., object]]]:
    """The name and the function of each test that a decorated one becomes."""
    seen = set()
    for suffix, args, kwargs in expanded.cases:
        # a number, or a name that begins in lower case, would run into the test's own name
        joint = "_" if suffix[:1].islower() or suffix[:1].isdigit() else ""
        full = f"{name}{joint}{suffix}"
        if full in seen:
            raise ValueError(f"two tests of the name {full!r}")
        seen.add(full)
        yield full, _bound(full, expanded.function, args, kwargs)


def _bound(
    name: str, function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, object]
) -> Callable[..., object]:
    @functools.wraps(function)
    def test(self: Any) -> object:
        return function(self, *args, **kwargs)

    test.__name__ = name
    del test.__wrapped__  # its parameters are no test runner's
    return test


class _Expanding(type):
    """Makes decorated tests into the tests that they stand for."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **kwargs: Any
    ) -> _Expanding:
        for key, value in list(namespace.items()):
            if isinstance(value, _Expanded):
                del namespace[key]
                namespace.update(_tests(key, value))
        return super().__new__(cls, name, bases, namespace, **kwargs)


class TestCase(unittest.TestCase, metaclass=_Expanding):
    """The base class, beside another, of tests with the decorators of this module."""
