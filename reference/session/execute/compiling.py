"""The one place where text that this package has written becomes functions."""

from __future__ import annotations

from typing import Any

__all__ = ["functions_of"]


def functions_of(text: str, names: dict[str, Any], *wanted: str) -> list[Any]:
    """The functions that a text defines, taken out of its names; None for one that it does not.

    Otherwise function and globals would refer to each other, and only the cyclic garbage collector
    would free them, with the constants of the plan.

    Args:
      text: Python source of our own, with no name and no value of a graph.
      names: what its names stand for.
      *wanted: the names of the functions.

    """
    exec(compile(text, "<run>", "exec"), names)  # noqa: S102 - see `text`
    return [names.pop(name, None) for name in wanted]
