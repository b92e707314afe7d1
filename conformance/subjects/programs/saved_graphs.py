"""What programs of savers share: two variables, a folder of their own, inputs of nodes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["in_a_folder", "inputs", "listing", "variables"]


def variables(tf: Any, device: str | None = None) -> tuple[Any, Any]:
    """A reference variable of two rows and a resource variable of two numbers."""
    with tf.device(device):
        reference = tf.get_variable(
            "v", initializer=np.arange(6, dtype=np.float32).reshape(2, 3), use_resource=False
        )
        resource = tf.get_variable("w", initializer=np.array([7, 8]), use_resource=True)
    return reference, resource


def inputs(node: Any) -> list[str]:
    """The inputs of a node, with its control inputs sorted by name."""
    return sorted(node.input, key=lambda text: text if text.startswith("^") else "")


def in_a_folder(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The program, run with a new folder as the current one."""

    def placed(tf: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            return program(tf)

    return placed


def listing() -> list[str]:
    """The paths below the current folder, sorted."""
    return sorted(str(path) for path in Path().rglob("*"))
