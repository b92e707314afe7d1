"""What an operation on a resource of the model gives, as what a run of a case must give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypedDict

import numpy as np

from sessrun.spec.model.values import FailedError

__all__ = ["Answer", "answer"]

Arguments = ParamSpec("Arguments")


class Answer(TypedDict, total=False):
    """Arguments of `History.run`: values, or codes of which it fails with one."""

    values: Sequence[np.ndarray]
    error: Sequence[int]


def answer(
    operation: Callable[Arguments, Sequence[np.ndarray] | None],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Answer:
    """Do an operation on a resource of the model.

    Args:
      operation: a method of the resource, which gives arrays, or nothing.
      *args: its arguments.
      **kwargs: its named ones.

    """
    try:
        values = operation(*args, **kwargs)
    except FailedError as error:
        return {"error": [error.code]}
    return {} if values is None else {"values": values}
