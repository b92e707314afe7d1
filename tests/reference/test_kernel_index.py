"""The index of kernels says which modules register them, and a session imports no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sessrun.reference
from sessrun.reference.public_index import kernel_index_text

_PROGRAM = """
import sys
import sessrun.reference as tf

with tf.Session() as session:
    print(session.run(tf.constant(1.0) + 2.0))
print("sessrun.reference.kernels.elementwise" in sys.modules)
print("sessrun.reference.kernels.sparse" in sys.modules)
"""


def test_the_index_is_up_to_date() -> None:
    written = Path(sessrun.reference.__file__).with_name("kernels") / "kernel_modules.py"
    assert written.read_text(encoding="utf-8") == kernel_index_text()


def test_a_session_imports_the_kernels_of_its_graph_alone() -> None:
    command = [sys.executable, "-c", _PROGRAM]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["3.0", "True", "False"]
