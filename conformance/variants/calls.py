"""The functions of the namespace and the operators of Python that an API case calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sessrun.spec.cases.forms import Step

__all__ = ["functions_called", "mappings_in", "operators_used"]


def mappings_in(form: object) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a form, outer ones before those within them."""
    if isinstance(form, Mapping):
        yield form
        for part in form.values():
            yield from mappings_in(part)
    elif isinstance(form, list | tuple):
        for part in form:
            yield from mappings_in(part)


def functions_called(steps: Sequence[Step]) -> Iterator[str]:
    """The last part of each function of the namespace that is called."""
    for form in mappings_in(steps):
        call = form.get("$call")
        if isinstance(call, str) and call.startswith("tf."):
            yield call.rpartition(".")[2]


def operators_used(steps: Sequence[Step]) -> Iterator[str]:
    """The sign of each operator of Python that is used."""
    return (form["$op"][0] for form in mappings_in(steps) if "$op" in form)
