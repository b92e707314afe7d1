"""The named check of PROGRAMS, which runs a program of the public namespace."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import described, raised
from sessrun.conformance.subjects.programs.fetched import NotingNamespace
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.conformance.subjects.programs.registry import program_of
from sessrun.spec.cases.namespace import Namespace

__all__ = ["outcome"]


def outcome(tf: Namespace, program: str) -> list[Plain]:
    """Run a program in a graph of its own.

    Args:
      tf: the namespace.
      program: its name, `area/topic/name`.

    Returns:
      the result or the error, and the fetches of every run, as plain data.

    """
    function = program_of(program)
    noting = NotingNamespace(tf)
    try:
        with tf.Graph().as_default():
            result = described(function(noting))
    except Exception as error:  # noqa: BLE001 - what the backend raises is what is compared
        result = raised(error)
    return [result, noting.fetched]
