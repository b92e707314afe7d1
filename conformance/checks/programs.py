"""Named checks of PROGRAMS: small programs of the public namespace."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.subjects.programs.described import described, raised
from sessrun.conformance.subjects.programs.registry import program_of

__all__ = ["outcome"]


def outcome(tf: Any, program: str) -> Any:
    """Run a program in a graph of its own.

    Args:
      tf: the namespace.
      program: its name, `area/topic/name`.

    Returns:
      what it returned, or the error that it raised, as plain data.

    """
    function = program_of(program)
    try:
        with tf.Graph().as_default():
            return described(function(tf))
    except Exception as error:  # noqa: BLE001 - what the backend raises is what is compared
        return raised(error)
