"""The description of cupy's namespace, as it was generated from the real one."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

__all__ = ["Description", "Parameters", "UfuncEntry", "description", "parameters"]


class UfuncEntry(TypedDict):
    """One ufunc.

    Attributes:
      nin: how many inputs it has.
      nout: how many outputs.
      loops: dtypes of inputs and outputs by their characters, as `ff->f`, in cupy's order.
      methods: which of `accumulate`, `reduce` and `reduceat` it offers.
      at: the dtypes by name for which it offers `at`.

    """

    nin: int
    nout: int
    loops: str
    methods: Sequence[str]
    at: NotRequired[Sequence[str]]


class Description(TypedDict):
    """The content of `namespace.json`.

    Attributes:
      cupy: the version that was described.
      modules: for each module its names, with the kind or the signature of each.
      classes: for each class its methods, with their signatures.
      ufuncs: ufuncs by module and name.

    """

    cupy: str
    modules: Mapping[str, Mapping[str, str]]
    classes: Mapping[str, Mapping[str, str]]
    ufuncs: Mapping[str, UfuncEntry]


@functools.cache
def description() -> Description:
    """Modules with their names, classes with their methods, ufuncs with their loops."""
    text = Path(__file__).with_name("namespace.json").read_text(encoding="utf-8")
    content: Description = json.loads(text)
    return content


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function.

    Attributes:
      positional: names of those that may be given by position, in order.
      required: how many of them have no default.
      names: those that may be given by name.
      any_number: whether it takes any number of positional ones.
      any_name: whether it takes any names.

    """

    positional: tuple[str, ...]
    required: int
    names: frozenset[str]
    any_number: bool
    any_name: bool

    def check(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Refuse arguments that the function does not have.

        Raises:
          TypeError: there are too many or too few, or a name is unknown.

        """
        if not self.any_number and len(args) > len(self.positional):
            raise TypeError(
                f"{name}() takes {len(self.positional)} positional arguments but {len(args)} were "
                "given"
            )
        if len(args) < self.required:
            for missing in self.positional[len(args) : self.required]:
                if missing not in kwargs:
                    raise TypeError(f"{name}() missing a required argument: {missing!r}")
        for key in kwargs:
            if key not in self.names and not self.any_name:
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
            if key in self.positional[: len(args)]:
                raise TypeError(f"{name}() got multiple values for argument {key!r}")


@functools.cache
def parameters(text: str) -> Parameters:
    """The parameters that a signature in the description has; any where it is `...`."""
    parts = [part for part in text.strip("()").split(",") if part]
    if parts in ([], ["..."]):
        return Parameters((), 0, frozenset(), bool(parts), bool(parts))
    positional: list[str] = []
    names: set[str] = set()
    required, keyword_only, any_number, any_name = 0, False, False, False
    for part in parts:
        if part == "/":
            names.difference_update(positional)
        elif part.startswith("**"):
            any_name = True
        elif part.startswith("*"):
            keyword_only = True
            any_number = any_number or part != "*"
        else:
            names.add(part.rstrip("="))
            if not keyword_only:
                positional.append(part.rstrip("="))
                required += not part.endswith("=")
    return Parameters(tuple(positional), required, frozenset(names), any_number, any_name)
