"""`tf.test`: the base class of tests, what runs them, and what they ask about the machine.

Programs of tests written for TensorFlow 1 run with the import of TensorFlow replaced. What needs
servers is not here.
"""

from __future__ import annotations

import os
import sys
import unittest
from collections.abc import Sequence
from typing import Final
from unittest import mock

from sessrun.reference.compat.test.benchmarks import Benchmark, benchmark_config, run_benchmarks
from sessrun.reference.compat.test.case import TensorFlowTestCase
from sessrun.reference.compat.test.gradient_checker import compute_gradient, compute_gradient_error
from sessrun.reference.compat.test.graph_defs import assert_equal_graph_def
from sessrun.reference.compat.test.machine import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_cpu_target_available,
    is_gpu_available,
)
from sessrun.reference.compat.test.modes import disable_with_predicate, with_eager_op_as_function
from sessrun.reference.compat.test.stubs import StubOutForTesting
from sessrun.reference.compat.test.temporary import get_temp_dir

__all__ = [
    "Benchmark",
    "StubOutForTesting",
    "TestCase",
    "assert_equal_graph_def",
    "benchmark_config",
    "compute_gradient",
    "compute_gradient_error",
    "disable_with_predicate",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
    "main",
    "mock",
    "test_src_dir_path",
    "with_eager_op_as_function",
]

TestCase = TensorFlowTestCase

_FILTER: Final = "--benchmark_filter="


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program, or with `--benchmark_filter=PATTERN` its benchmarks.

    Args:
      argv: the command line; the program's own if None.

    """
    arguments = list(sys.argv if argv is None else argv)
    chosen = [text for text in arguments if text.lstrip("-").startswith(_FILTER.lstrip("-"))]
    if chosen:
        run_benchmarks(chosen[0].partition("=")[2])
    else:
        unittest.main(module="__main__", argv=arguments)


def test_src_dir_path(relative_path: str) -> str:
    """The path of a file of a test, in the folders that its build tool names.

    Args:
      relative_path: the path in the folder `tensorflow` of the workspace.

    Raises:
      KeyError: `TEST_SRCDIR` or `TEST_WORKSPACE` is not set.

    """
    root = os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"]
    return os.path.join(*root, "tensorflow", relative_path)  # noqa: PTH118 - a text, as it came


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # no test, for pytest
