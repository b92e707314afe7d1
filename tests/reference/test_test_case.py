"""`tf.test` beside what `*_behaviours.py` compare: messages, runners, decorators."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assertion_call_behaviours import FAILING, PASSING, call, case
from sessrun.reference.python.framework import test_util

import sessrun.reference as tf

PROGRAM = """
import sessrun.reference as tf
from sessrun.reference.test import TestCase, main

class SumTest(TestCase):
    def testSum(self):
        self.assertAllEqual(tf.constant([1, 2]) + 1, [2, 3])

class SumBenchmark(tf.test.Benchmark):
    def benchmarkSum(self):
        with tf.Session() as session:
            self.run_op_benchmark(session, tf.constant(1.0) + 1.0, min_iters=3)

if __name__ == "__main__":
    main()
"""


def ended(cls: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result


def summary(cls: type[unittest.TestCase]) -> tuple[int, int, int, int]:
    """How many tests ran, failed, had errors, were skipped; less the one that is no test."""
    result = ended(cls)
    assert not [text for _, text in result.errors if "Error" not in text]
    return (
        result.testsRun - 1,
        len(result.failures),
        len(result.errors),
        len(result.skipped) - 1,
    )


# --- assertions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PASSING)
def test_an_assertion_passes_and_fails_where_it_must(name: str) -> None:
    for given in PASSING[name]:
        assert call(tf, name, given)() is None
    refused = []
    for given in FAILING[name]:
        with pytest.raises(Exception) as caught:
            call(tf, name, given)()
        refused.append(caught.type)
    assert AssertionError in refused


def test_a_failure_says_where_and_what() -> None:
    test = case(tf)
    with pytest.raises(AssertionError) as near:
        test.assertAllClose([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.5], [3.0, 4.0]], msg="of it")
    for text in ("of it", "(array([0]), array([1]))", "lhs = [2.]", "rhs = [2.5]", "dif = [0.5]"):
        assert text in str(near.value)
    with pytest.raises(AssertionError, match=r"a\[d\]\[1\] is different from b\[d\]\[1\]"):
        test.assertAllClose({"d": [{"e": 1.0}, 2.0]}, {"d": [{"e": 1.0}, 3.0]})
    with pytest.raises(AssertionError, match=r"1 of the 4 .* range \[0, 4\)(.|\n)*1 0\]"):
        test.assertAllInRange([[1, 2], [4, 3]], 0, 4, open_upper_bound=True)
    found = tf.ConfigProto(intra_op_parallelism_threads=3)
    with pytest.raises(AssertionError, match=r"-intra_op_parallelism_threads: 2\n\+intra"):
        test.assertProtoEquals("intra_op_parallelism_threads: 2", found)
    with pytest.raises(AssertionError, match=r"expected \(2,\), got \(3,\).*array\(\[1, 2, 3\]\)"):
        test.assertAllEqual([1, 2], [1, 2, 3])


def test_a_configuration_that_is_given_stays_as_it_is() -> None:
    config = tf.ConfigProto(allow_soft_placement=True)
    with case(tf).session(config=config, force_gpu=True):
        pass
    assert config == tf.ConfigProto(allow_soft_placement=True)


# --- runners -------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "test_program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def executed(*command: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_program_of_tests_runs_itself(program: Path) -> None:
    done = executed(program)
    assert done.returncode == 0, done.stderr
    assert "OK (skipped=2)" in done.stderr  # `test_session` of either class is no test
    assert executed(program, "SumTest.testNone").returncode != 0


def test_pytest_finds_the_tests_and_nothing_else(program: Path) -> None:
    done = executed("-m", "pytest", "-q", "-p", "no:cacheprovider", program)
    assert done.returncode == 0, done.stdout
    assert "1 passed in" in done.stdout


def test_a_program_of_tests_runs_its_benchmarks_when_asked(program: Path) -> None:
    done = executed(program, "--benchmark_filter=Sum")
    assert done.returncode == 0, done.stderr
    assert "benchmark SumBenchmark.benchmarkSum\n  iters: 3\n  wall_time: " in done.stdout
    assert "No benchmarks matched" in executed(program, "--benchmark_filter=None").stderr


def test_a_benchmark_returns_what_it_reports(capsys) -> None:
    class Timed(tf.test.Benchmark):
        def measure(self, session: Any) -> Any:
            one = tf.constant(1.0)
            return self.run_op_benchmark(session, one + one, store_trace=True, extras={"x": 1})

    with tf.Graph().as_default(), tf.Session(config=tf.test.benchmark_config()) as session:
        found = Timed().measure(session)
    assert "Timed.measure" in capsys.readouterr().out
    assert found["iters"] == 10
    assert {"x", "wall_time_mean", "full_trace_chrome_format"} <= set(found["extras"])
    with pytest.raises(TypeError):
        Timed().report_benchmark(name="a", metrics=[{"name": "b"}])
    with pytest.raises(TypeError):
        Timed().report_benchmark(name="a", extras=[1])


# --- decorators ----------------------------------------------------------------------------------


def test_the_ways_to_run_a_test() -> None:
    seen = []

    @test_util.run_all_without_tensor_float_32("exact")
    @test_util.run_all_in_graph_and_eager_modes
    class Tests(test_util.TensorFlowTestCase):
        def testInSession(self) -> None:
            seen.append(tf.get_default_session() is self._cached_session is not None)

        @test_util.run_in_graph_and_eager_modes(use_gpu=False)
        def testOnCpu(self) -> None:
            seen.append(tf.constant(1).device == "/device:CPU:0")

        @test_util.run_deprecated_v1
        @test_util.run_v1_only("b/1")
        @test_util.disable_xla("b/2")
        @test_util.disable_control_flow_v2("b/3")
        def testOnce(self) -> None:
            seen.append(True)

        @test_util.run_v2_only
        def testSkipped(self) -> None:
            seen.append(False)

        @test_util.skip_if(lambda: True)
        def testDoesNothing(self) -> None:
            seen.append(False)

        @test_util.also_run_as_tf_function
        def testFunction(self) -> None:
            self.assertAllEqual(tf.constant(1) + 1, 2)

        def testSkippedByError(self) -> None:
            with test_util.skip_if_error(self, ValueError, ["of it", "x"]):
                raise ValueError("because of it")

    assert summary(Tests) == (7, 0, 0, 2)
    assert seen == [True] * 3


def test_a_class_of_version_2_is_skipped() -> None:
    @test_util.run_v2_only
    class Tests(test_util.TensorFlowTestCase):
        def testIt(self) -> None:
            self.fail()

    assert summary(Tests) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    "name",
    [
        "run_in_graph_and_eager_modes",
        "run_gpu_only",
        "run_cuda_only",
    ],
)
def test_a_decorator_of_tests_refuses_a_class(name: str) -> None:
    with pytest.raises(ValueError, match="test methods"):
        getattr(test_util, name)(test_util.TensorFlowTestCase)


def test_where_operations_go() -> None:
    with tf.Graph().as_default():
        for scope, device in (
            (test_util.force_cpu(), "CPU"),
            (test_util.force_gpu(), "GPU"),
            (test_util.device(use_gpu=False), "CPU"),
            (test_util.use_gpu(), "GPU" if tf.test.gpu_device_name() else "CPU"),
        ):
            with scope:
                assert tf.constant(1).device == f"/device:{device}:0"


def test_layouts_of_images() -> None:
    assert test_util.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3]
    assert test_util.NCHWToNHWC([1, 4, 2, 3]) == [1, 2, 3, 4]
    test = case(tf)
    image = np.arange(24).reshape(1, 2, 3, 4)
    there = test_util.NHWCToNCHW(tf.constant(image))
    test.assertAllEqual(there, image.transpose(0, 3, 1, 2))
    test.assertAllEqual(test_util.NCHWToNHWC(there), image)


# --- graphs --------------------------------------------------------------------------------------


def test_names_drawn_by_chance_may_be_left_out() -> None:
    graph_defs = []
    for digit in "ab":
        made = tf.GraphDef()
        table = made.node.add(name="t", op="HashTableV2")
        table.attr["shared_name"].s = f"hash_table_{digit}".encode()
        path = made.node.add(name="p", op="Const").attr["value"].tensor
        path.dtype = tf.string.as_datatype_enum
        path.string_val.append(f"_temp_{digit * 32}/part".encode())
        graph_defs.append(made)
    with pytest.raises(AssertionError):
        tf.test.assert_equal_graph_def(*graph_defs)
    tf.test.assert_equal_graph_def(*graph_defs, checkpoint_v2=True, hash_table_shared_name=True)
