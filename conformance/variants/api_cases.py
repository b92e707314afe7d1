"""Variants of API cases: other names of nodes, scopes and keys, other bound names, other values."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.variants.api_names import given_components, renamed, reserved_components
from sessrun.conformance.variants.api_values import with_other_values
from sessrun.conformance.variants.naming import Names
from sessrun.conformance.variants.numbers import Numbers
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, walk

__all__ = ["vary_calls"]

_HEAD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def vary_calls(case: Case, draw: random.Random, kept: frozenset[str]) -> list[Step]:
    """The steps of a variant of an API case.

    Args:
      case: the vector.
      draw: the source of chance.
      kept: which of `values`, `names`, `order` stay as they are.

    """
    steps = list(case.steps)
    if "values" not in kept:
        steps = with_other_values(steps, Numbers(draw))
    if "names" not in kept:
        bases = given_components(steps)
        steps = renamed(steps, Names(draw, bases, counted=True, taken=reserved_components()))
    return _rebound(steps, draw)


def _rebound(steps: Sequence[Step], draw: random.Random) -> list[Step]:
    """The steps with other names for the values that the case binds."""
    bound = sorted({step["as"] for _, step in walk(steps) if "as" in step})
    numbers = draw.sample(range(10 * len(bound) + 10), len(bound))
    table = {name: f"v{number}" for name, number in zip(bound, numbers, strict=True)}
    return [_rebound_form(step, table) for step in steps]


def _rebound_form(form: Any, table: Mapping[str, str]) -> Any:
    if isinstance(form, list):
        return [_rebound_form(item, table) for item in form]
    if not isinstance(form, Mapping):
        return form
    new = {key: _rebound_form(part, table) for key, part in form.items()}
    if "do" in form and "as" in form:
        new["as"] = table[form["as"]]
    for key in ("$", "$call"):
        if isinstance(form.get(key), str):
            new[key] = _HEAD.sub(lambda head: table.get(head[0], head[0]), form[key], count=1)
    return new
