"""What programs of savers share: two variables, a folder of their own, inputs of nodes."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sessrun.conformance.subjects.programs.program import Program
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Variable

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import NodeDef

__all__ = ["in_a_folder", "inputs", "listing", "variables"]


def variables(tf: Namespace, device: str | None = None) -> tuple[Variable, Variable]:
    """A reference variable of two rows and a resource variable of two numbers."""
    with tf.device(device):
        reference = tf.get_variable(
            "v", initializer=np.arange(6, dtype=np.float32).reshape(2, 3), use_resource=False
        )
        resource = tf.get_variable("w", initializer=np.array([7, 8]), use_resource=True)
    return reference, resource


def inputs(node: NodeDef) -> list[str]:
    """The inputs of a node, with its control inputs sorted by name."""
    return sorted(node.input, key=lambda text: text if text.startswith("^") else "")


def in_a_folder(program: Program) -> Program:
    """The program, run with a new folder as the current one."""

    def placed(tf: Namespace) -> object:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            return program(tf)

    return placed


def listing() -> list[str]:
    """The paths below the current folder, sorted."""
    return sorted(str(path) for path in Path().rglob("*"))
