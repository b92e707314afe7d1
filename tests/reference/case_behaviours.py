"""What `tf.test.TestCase` does beside its assertions: sessions, seeds, threads, files, errors."""

from __future__ import annotations

import random
import unittest
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from assertion_call_behaviours import case

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - one without types


def outcome(tf: Any, method: Callable[[Any], Any], *, shared: dict[str, Any] | None = None) -> Any:
    """How a test of this one method ends."""
    namespace = {"testIt": method, **(shared or {})}
    result = unittest.TestResult()
    type("Case", (tf.test.TestCase,), namespace)("testIt").run(result)
    return [result.testsRun, len(result.failures), len(result.errors), len(result.skipped)]


def seeds(tf: Any) -> Any:
    test = case(tf)
    with test.session():
        drawn = test.evaluate(tf.random_uniform([2]))
    return [tf.get_default_graph().seed, random.random(), np.random.rand(), drawn]  # noqa: NPY002


def graphs_left_open(tf: Any) -> Any:
    graph = tf.Graph()
    scope = graph.as_default()
    scope.__enter__()
    test = case(tf)
    found = tf.get_default_graph() is graph
    tf.constant(1)
    again = case(tf)
    return [found, len(tf.get_default_graph().get_operations()), test is again]


def a_session(tf: Any) -> Any:
    test = case(tf)
    with test.session() as first:
        inside = [first.graph is tf.get_default_graph(), first is tf.get_default_session()]
        value = tf.constant(3).eval()
    with test.session() as second:
        pass
    return [
        inside,
        value,
        first is second,
        attempt(lambda: first.run("Const:0")),
        tf.get_default_session(),
    ]


def a_session_of_another_graph(tf: Any) -> Any:
    test = case(tf)
    graph = tf.Graph()
    with test.session(graph=graph) as session:
        tf.constant(1, name="there")
        inside = [session.graph is graph, tf.get_default_graph() is graph]
    with test.test_session(graph=graph) as other:
        again = [other.graph is graph, other is session, other.run("there:0")]
    return [inside, again, tf.get_default_graph() is graph]


def the_cached_session(tf: Any) -> Any:
    test = case(tf)
    with test.cached_session() as first:
        variable = tf.get_variable("v", initializer=1.0)
        first.run(variable.initializer)
    with test.cached_session() as second, test.test_session() as third:
        value = second.run(variable)
    config = tf.ConfigProto()
    refused = attempt(
        lambda: test.cached_session(graph=tf.Graph()).__enter__(),
        lambda: test.cached_session(config=config).__enter__(),
        lambda: test.cached_session(force_gpu=True).__enter__(),
        lambda: test.cached_session(graph=tf.get_default_graph()).__enter__(),
        lambda: test.cached_session(use_gpu=False).__enter__() is first,
        lambda: test.test_session(config=config).__enter__() is first,
        lambda: test.test_session(force_gpu=False, use_gpu=False).__enter__() is first,
    )
    test.tearDown()
    return [first is second, second is third, value, refused, attempt(lambda: first.run(variable))]


def devices_of_a_session(tf: Any) -> Any:
    test = case(tf)
    found = []
    with test.session(use_gpu=False):
        found.append(tf.constant(1).device)
    with test.session(use_gpu=True):
        found.append(tf.constant(1).device)
    with test.session(force_gpu=True) as session:
        here = tf.constant(1)
        found.append([here.device, attempt(lambda: session.run(here))])
    with test.session(config=tf.ConfigProto(allow_soft_placement=False)) as session:
        with tf.device("/device:GPU:3"):
            far = tf.constant(1)
        found.append(attempt(lambda: session.run(far)))
    with test.session() as session:
        found.append(attempt(lambda: session.run(far)))
    return found


def evaluate(tf: Any) -> Any:
    test = case(tf)
    one, two = tf.constant(1), tf.constant([2.0])
    sparse = tf.SparseTensor([[0, 0]], [5], [1, 1])
    variable = tf.Variable(3)
    found = attempt(
        lambda: test.evaluate(one),
        lambda: test.evaluate([one, (two, one)]),
        lambda: test.evaluate({"a": one, "b": {"c": two}}),
        lambda: test.evaluate(OrderedDict(b=one, a=two)),
        lambda: test.evaluate(Pair(one, [two])),
        lambda: list(test.evaluate(sparse)),
        lambda: test.evaluate([]),
        lambda: test.evaluate(()),
        lambda: test.evaluate({}),
        lambda: test.evaluate(None),
        lambda: test.evaluate([None, one]),
        lambda: test.evaluate(5),
        lambda: test.evaluate("Const:0"),
        lambda: test.evaluate(variable),
        lambda: test.evaluate(variable.initializer),
        lambda: test.evaluate(variable),
        lambda: test.evaluate(tf.placeholder(tf.float32)),
    )
    with tf.Session() as session:
        session.run(variable.assign(7))
        found.append(test.evaluate(variable))
    return [*found, test.evaluate(variable)]


def near_and_equal_in_a_session(tf: Any) -> Any:
    test = case(tf)
    with test.session():
        variable = tf.Variable([1.0, 2.0])
        variable.initializer.run()
        counter = tf.Variable(0)
        counter.initializer.run()
        counted = counter.assign_add(1)
        return attempt(
            lambda: test.assertAllEqual(variable, [1, 2]),
            lambda: test.assertAllClose({"v": variable}, {"v": [1.0, 2.0]}),
            lambda: test.assertAllGreater(variable, 1.5),
            lambda: test.assertAllEqual(tf.identity(counted), tf.identity(counted)),
            lambda: test.assertAllEqual([tf.constant(1)], [1]),
            lambda: test.assertAllInRange(variable, 0, 3),
            lambda: test.assertAllInSet(variable, [1.0, 2.0]),
        )


def errors_that_are_wanted(tf: Any) -> Any:
    test = case(tf)
    bad = tf.Assert(tf.placeholder_with_default(False, []), ["so it is"], name="bad")

    def within(scope: Any, function: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> None:
            with scope:
                function()

        return call

    matching = test.assertRaisesWithPredicateMatch
    with test.session():
        return attempt(
            within(test.assertRaisesOpError("so it is"), bad.run),
            within(test.assertRaisesOpError("Caused by: bad"), bad.run),
            within(test.assertRaisesOpError("something else"), bad.run),
            within(test.assertRaisesOpError(lambda e: e.op.name == "bad"), bad.run),
            within(test.assertRaisesOpError(lambda e: False), bad.run),
            within(test.assertRaisesOpError("x"), lambda: int("a")),
            within(test.assertRaisesOpError("x"), lambda: 1),
            within(matching(ValueError, "invalid lit"), lambda: int("a")),
            within(matching(ValueError, "^literal"), lambda: int("a")),
            within(matching(ValueError, lambda e: True), lambda: int("a")),
            within(matching((KeyError, ValueError), "invalid"), lambda: int("a")),
            within(
                test.assertRaisesIncompatibleShapesError(ValueError),
                lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]),
            ),
            within(
                test.assertRaisesIncompatibleShapesError(),
                lambda: test.evaluate(
                    tf.placeholder_with_default([1, 2], None) + tf.constant([1, 2, 3])
                ),
            ),
            within(test.assertRaisesRegexp(ValueError, "invalid"), lambda: int("a")),
        )


def endings(tf: Any) -> Any:
    def joined(self: Any) -> None:
        thread = self.checkedThread(lambda n: n, args=(1,))
        thread.start()
        thread.join()

    def raised(self: Any) -> None:
        thread = self.checkedThread(lambda n: int(n), kwargs={"n": "a"})
        thread.start()
        thread.join()

    def forgotten(self: Any) -> None:
        self.checkedThread(lambda: None).start()

    def closed(self: Any) -> None:
        with self.cached_session() as session:
            pass
        self.addCleanup(session.run, tf.constant(1))

    def uses_deep_graph(self: Any) -> None:
        with tf.Graph().as_default(), self.assertRaises(ValueError), tf.Graph().as_default():
            raise ValueError

    return [
        outcome(tf, method)
        for method in (joined, raised, forgotten, closed, uses_deep_graph, lambda self: self.fail())
    ]


def a_test_of_the_name_of_a_session(tf: Any) -> Any:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(tf.test.TestCase).run(result)
    return [result.testsRun, len(result.failures), len(result.errors), len(result.skipped)]


def files(tf: Any) -> Any:
    test, other = case(tf), case(tf)
    folder = test.get_temp_dir()
    return [
        folder == test.get_temp_dir(),
        folder == other.get_temp_dir(),
        Path(folder).is_dir(),
        folder.startswith(tf.test.get_temp_dir()),
    ]


def stubs(tf: Any) -> Any:
    class Base:
        @staticmethod
        def fixed() -> str:
            return "old"

        def method(self) -> str:
            return "old"

    class Derived(Base):
        pass

    found = []
    stub = tf.test.StubOutForTesting()
    stub.Set(Derived, "fixed", staticmethod(lambda: "new"))
    found.append([Derived.fixed(), Base.fixed(), Derived().fixed()])
    stub.UnsetAll()
    found.append([Derived.fixed(), Base().fixed()])
    stub.SmartSet(Derived, "method", lambda self: "new")
    found.append([Derived().method(), Base().method()])
    stub.SmartUnsetAll()
    instance = Derived()
    stub.Set(instance, "method", lambda: "own")
    found.append([instance.method(), Derived().method()])
    stub.CleanUp()
    found.append([instance.method(), Derived().method(), Base().method()])
    with tf.test.StubOutForTesting() as other:
        other.Set(random, "random", lambda: 7)
        other.Set(random, "random", lambda: 8)
        found.append(random.random())
    found.append(random.random() < 1)
    return [
        *found,
        attempt(lambda: stub.SmartSet(Derived, "none", 1), lambda: stub.Set(Derived, "none", 1)),
    ]


def machine(tf: Any) -> Any:
    return [
        tf.test.is_gpu_available(),
        tf.test.gpu_device_name(),
        tf.test.is_built_with_rocm(),
        tf.test.is_cpu_target_available("x86"),
        tf.test.mock is unittest.mock,
        attempt(lambda: tf.test.is_cpu_target_available("z")),
    ]


def skipping(tf: Any) -> Any:
    @tf.test.disable_with_predicate(lambda: True, "not now")
    def skipped(self: Any) -> None:
        self.fail()

    @tf.test.disable_with_predicate(lambda: False, "not now")
    def executed(self: Any) -> None:
        self.fail()

    return [outcome(tf, skipped), outcome(tf, executed)]


def graph_defs(tf: Any) -> Any:
    def changed(change: Callable[[Any], Any]) -> Callable[[], Any]:
        def compare() -> Any:
            graph = tf.Graph()
            with graph.as_default():
                first, second = tf.placeholder(tf.float32, [2], "p"), tf.no_op("n")
                with tf.control_dependencies([second, tf.no_op("m")]):
                    tf.add(first, tf.constant([1.0, 2.0], name="c"), name="sum")
            expected = graph.as_graph_def()
            actual = tf.GraphDef()
            actual.CopyFrom(expected)
            nodes = {node.name: node for node in actual.node}
            change((actual, nodes))
            return tf.test.assert_equal_graph_def(actual, expected)

        return compare

    def values(*numbers: float) -> Callable[[Any], Any]:
        def change(given: Any) -> None:
            tensor = given[1]["c"].attr["value"].tensor
            tensor.ClearField("tensor_content")
            tensor.float_val.extend(numbers)

        return change

    def inputs(*names: str) -> Callable[[Any], Any]:
        def change(given: Any) -> None:
            given[1]["sum"].input[:] = names

        return change

    return attempt(
        lambda: tf.test.assert_equal_graph_def(1, tf.GraphDef()),
        lambda: tf.test.assert_equal_graph_def(tf.GraphDef(), None),
        changed(lambda given: None),
        changed(values(1, 2)),
        changed(values(1, 3)),
        changed(inputs("p", "c", "^m", "^n")),
        changed(inputs("p", "c", "^n", "^m")),
        changed(inputs("p:0", "c", "^n", "^m")),
        changed(inputs("c", "p", "^n", "^m")),
        changed(inputs("p", "c", "^n")),
        changed(inputs("p", "c", "^n", "^n", "^m")),
        changed(lambda given: given[1]["sum"].attr["_x"].__setattr__("i", 3)),
        changed(lambda given: given[1]["sum"].attr["x"].__setattr__("i", 3)),
        changed(lambda given: given[1]["sum"].attr.pop("T")),
        changed(lambda given: given[1]["sum"].__setattr__("device", "/cpu:0")),
        changed(lambda given: given[1]["sum"].__setattr__("op", "Sub")),
        changed(lambda given: given[0].node.add(name="z", op="NoOp")),
        changed(lambda given: given[0].node.pop()),
        changed(lambda given: given[0].versions.__setattr__("producer", 5)),
        changed(lambda given: given[0].node.sort(key=lambda node: node.name, reverse=True)),
    )


BEHAVIOURS = {
    program.__name__: program
    for program in (
        seeds,
        graphs_left_open,
        a_session,
        a_session_of_another_graph,
        the_cached_session,
        devices_of_a_session,
        evaluate,
        near_and_equal_in_a_session,
        errors_that_are_wanted,
        endings,
        a_test_of_the_name_of_a_session,
        files,
        stubs,
        machine,
        skipping,
        graph_defs,
    )
}
