"""Every assertion of `tf.test.TestCase`: calls that must pass, and calls that must fail."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS", "FAILING", "PASSING", "case"]

Point = collections.namedtuple("Point", ["x", "y"])  # noqa: PYI024 - one without types
NAN = float("nan")
INF = float("inf")
ONES = np.ones([2, 2])

#: From the name of an assertion to arguments; those that need tensors are functions of `tf`.
PASSING: dict[str, list[Any]] = {
    "assertStartsWith": [("abc", "ab"), (b"abc", b"")],
    "assertNotStartsWith": [("abc", "b")],
    "assertEndsWith": [("abc", "bc")],
    "assertNotEndsWith": [("abc", "b")],
    "assertRegexMatch": [("abc", ["x", "b"]), (b"abc", ["b"]), ("a\nb", ["^b"]), ("a", [b"a"])],
    "assertContainsInOrder": [(["a", "c"], "abc"), (["aa", "aa"], "aa"), ("b", "abc")],
    "assertEmpty": [([],), ({},), ("",), (np.zeros([0, 2]),)],
    "assertNotEmpty": [([0],), ("a",), (np.zeros(3),)],
    "assertLen": [([1, 2], 2), ({1}, 1), (np.zeros([3, 2]), 3)],
    "assertSequenceAlmostEqual": [
        ([1.0, 2.0], [1.0, 2.0 + 1e-9]),
        ([1, 2], [1.4, 2], None, None, 0.5),
        ([], ()),
        ([1.0], [1.001], 2),
    ],
    "assertSequenceStartsWith": [([1], [1, 2]), (1, [1, 2]), ([], []), ("a", "ab")],
    "assertContainsSubset": [([1], [2, 1]), ([], []), ({"a"}, {"a": 1})],
    "assertNoCommonElements": [([1], [2]), ([], [])],
    "assertSameElements": [([1, 1, 2], [2, 1]), ([[1], [2]], [[2], [1]]), ({"a": 1}, ["a"])],
    "assertContainsSubsequence": [([1, 2, 3], [1, 3]), ([1], [])],
    "assertContainsExactSubsequence": [([1, 2, 3], [2, 3]), ([1], [])],
    "assertDictContainsSubset": [({"a": 1}, {"a": 1, "b": 2}), ({}, {})],
    "assertDictAlmostEqual": [
        ({"a": 1.0}, {"a": 1.0 + 1e-9}),
        ({"a": 1}, {"a": 1.4}, None, None, 1),
    ],
    "assertMappingEqual": [({"a": 1}, collections.OrderedDict(a=1))],
    "assertSameStructure": [({"a": [1, {2: 3}]}, {"a": [1, {2: 3}]}), ([1, 2], (1, 2))],
    "assertBetween": [(2, 1, 3), (1, 1, 1), (0.5, 0, 1)],
    "assertIsSubclass": [(bool, int), (int, int)],
    "assertNotIsSubclass": [(int, bool)],
    "assertTotallyOrdered": [([1], [2, 2.0], [3]), ()],
    "assertProtoEquals": [
        lambda tf: ("log_device_placement: true", tf.ConfigProto(log_device_placement=True)),
        lambda tf: (
            b'device_count { key: "CPU" value: 2 }',
            tf.ConfigProto(device_count={"CPU": 2}),
        ),
        lambda tf: (tf.ConfigProto(), tf.ConfigProto()),
        lambda tf: (_floats(tf, 0.1), _floats(tf, 0.1 + 1e-9)),
        lambda tf: (_floats(tf, 5.0), _floats(tf, 5.1), None, 0.1),
        lambda tf: (_floats(tf, NAN), _floats(tf, NAN)),
    ],
    "assertProtoEqualsVersion": [
        lambda tf: ("node { name: 'a' op: 'NoOp' }", _of_one_node(tf)),
    ],
    "assertNear": [(1.0, 1.05, 0.1), (INF, INF, 0), (np.ones([1, 1]), 1.0, 0.0), (1, 2, 1)],
    "assertArrayNear": [([1.0, 2.0], [1.05, 2.0], 0.1), ([], [], 0)],
    "assertNDArrayNear": [(ONES, ONES, 0.1)],
    "assertAllClose": [
        (1.0, 1.0 + 1e-7),
        ([1.0, 2.0], np.array([1.0, 2.0])),
        (NAN, NAN),
        ([INF], [INF]),
        ({"a": 1.0, "b": [1.0, 2.0]}, {"b": [1.0, 2.0], "a": 1.0}),
        (Point(1, [2]), Point(1, [2])),
        (Point(1, 2), {"x": 1, "y": 2}),
        ([1.0, [2.0, 3.0]], [1.0, [2.0, 3.0]]),
        ([{"a": 1.0}, (2.0,)], [{"a": 1.0}, (2.0,)]),
        (1.0, 1.5, 0.5),
        (1.0, 1.5, 0, 0.5),
        ([], []),
        (np.array([1, 2], ml_dtypes.bfloat16), [1.0, 2.0]),
        ((1.0, 2.0), [1.0, 2.0]),
        ({}, {}),
        lambda tf: (tf.constant([1.0, 2.0]), [1.0, 2.0]),
        lambda tf: ([tf.constant(1.0), 2.0], [1.0, tf.constant(2.0)]),
        lambda tf: (tf.constant([1.0]), tf.constant([1.0])),
        lambda tf: ({"a": tf.constant(1.0)}, {"a": 1.0}),
        lambda tf: ([1.0, 2.0], [tf.constant(1.0), tf.constant(2.0)]),
    ],
    "assertAllCloseAccordingToType": [
        (np.float16([1.0]), np.float16([1.0009])),
        (np.float32([1.0]), [1.000001]),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.0078], ml_dtypes.bfloat16)),
        lambda tf: (tf.constant(1.0), tf.constant(1.0)),
        (np.float32([1.0]), [1.5], 1e-6, 1e-6, 0.5),
    ],
    "assertNotAllClose": [(1.0, 1.1), ([1.0, 2.0], [1.0, 2.1]), ([1.0], [1.0, 2.0])],
    "assertAllEqual": [
        (1, 1.0),
        ([1, 2], (1, 2)),
        ([NAN], [NAN]),
        (["a"], [b"a"]),
        ([b"a"], np.array(["a"], object)),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
        ([], []),
        ([True], [1]),
        ("a", "a"),
        ([[1], [2, 3]], [[1], [2, 3]]),
        ([1 + 2j], [1 + 2j]),
        ("a", b"a"),
        ([1], (1.0,)),
        ([complex(NAN)], [complex(NAN)]),
        lambda tf: (tf.constant([1, 2]), [1, 2]),
        lambda tf: (tf.constant("x"), b"x"),
        lambda tf: (tf.constant("x"), "x"),
        lambda tf: ([1, 2], tf.constant([1, 2])),
        lambda tf: (tf.constant([1, 2]), tf.constant([1, 2])),
    ],
    "assertNotAllEqual": [(1, 2), ([1], [1, 2]), ([NAN, 1], [NAN, 2])],
    "assertAllGreater": [([2, 3], 1), lambda tf: (tf.constant([2, 3]), 1)],
    "assertAllLess": [([2, 3], 4)],
    "assertAllGreaterEqual": [([2, 3], 2)],
    "assertAllLessEqual": [([2, 3], 3)],
    "assertAllInRange": [([1, 2], 1, 2), ([1.5], 1, 2, True, True), (1, 0, 2), ([], 0, 1)],
    "assertAllInSet": [([1, 2], {1, 2, 3}), ([[True]], [True]), (["a"], ("a", "b"))],
    "assertShapeEqual": [
        (ONES, np.zeros([2, 2])),
        (np.float32(1), np.array(2)),
        lambda tf: (ONES, tf.zeros([2, 2])),
        lambda tf: (tf.zeros([]), tf.ones([])),
    ],
    "assertDTypeEqual": [
        (np.float32([1]), np.float32),
        lambda tf: (tf.constant(1), np.dtype("int32")),
        ([1], "int64"),
    ],
    "assertDeviceEqual": [
        ("/cpu:0", "/device:CPU:0"),
        (None, ""),
        ("//", ""),
        ("/job:a/cpu:1", "/job:a/device:CPU:1"),
        lambda tf: (tf.DeviceSpec(device_type="GPU", device_index=0), "/gpu:0"),
    ],
    "assertDictEqual": [
        ({"a": 1}, {"a": 1}),
        ({"a": np.array([1.0])}, {"a": [1.0 + 1e-8]}),
        ({"a": ONES}, {"a": ONES}),
        ({"a": 1.0}, {"a": 1.0 + 1e-8}),
        lambda tf: ({"a": tf.constant(1)}, {"a": 1}),
    ],
    "assertItemsEqual": [([1, 2, 2], [2, 1, 2])],
    "assertCountEqual": [({"a": 1}, ["a"])],
}
FAILING: dict[str, list[Any]] = {
    "assertStartsWith": [("abc", "b", "m"), ("", "a")],
    "assertNotStartsWith": [("abc", "a"), ("abc", "")],
    "assertEndsWith": [("abc", "b")],
    "assertNotEndsWith": [("abc", "bc")],
    "assertRegexMatch": [("abc", ["x"]), ("abc", []), ("abc", "abc"), ("a", ["b", b"a"])],
    "assertContainsInOrder": [(["a", "b"], "ba"), ("x", "abc")],
    "assertEmpty": [([0],), ("a",), (None,), ((n for n in ()),)],
    "assertNotEmpty": [([],), ({},), (None,), (1,)],
    "assertLen": [([1], 2), ("abc", 2, "m"), ((n for n in ()), 0)],
    "assertSequenceAlmostEqual": [
        ([1.0], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, 2.1]),
        ([1], [2], None, "m", 0.5),
    ],
    "assertSequenceStartsWith": [([], [1]), ([2], [1, 2]), ([1, 2], [1]), (2, [1])],
    "assertContainsSubset": [([1, 3], [1, 2]), ([1], [])],
    "assertNoCommonElements": [([1, 2], [2, 3])],
    "assertSameElements": [([1], [2]), ("a", ["a"]), ([1, 2], [1]), ([[1]], [[2]])],
    "assertContainsSubsequence": [([1, 2, 3], [3, 1]), ([], [1])],
    "assertContainsExactSubsequence": [([1, 2, 3], [1, 3]), ([], [1])],
    "assertDictContainsSubset": [({"a": 1}, {"a": 2}), ({"c": 1}, {"a": 1})],
    "assertDictAlmostEqual": [({"a": 1.0}, {"a": 1.1}), ({"a": 1}, {"a": 1, "b": 1})],
    "assertMappingEqual": [({"a": 1}, collections.OrderedDict(a=2))],
    "assertSameStructure": [
        ({"a": [1]}, {"a": [2]}),
        ([1], [1, 2]),
        (1, 1.0),
        ({"a": 1}, {"b": 1}),
        ([1], 1),
    ],
    "assertBetween": [(4, 1, 3), (0, 1, 3, "m"), (NAN, 0, 1)],
    "assertIsSubclass": [(int, bool)],
    "assertNotIsSubclass": [(bool, int)],
    "assertTotallyOrdered": [([1], [1]), ([2], [1]), ([1, 2], [3])],
    "assertProtoEquals": [
        lambda tf: ("inter_op_parallelism_threads: 2", tf.ConfigProto()),
        lambda tf: (tf.ConfigProto(), tf.GraphDef()),
        lambda tf: (3, tf.GraphDef()),
        lambda tf: (_floats(tf, 0.1), _floats(tf, 0.1001)),
        lambda tf: (_floats(tf, NAN), _floats(tf, 1.0)),
        lambda tf: (_floats(tf, 5.0), _floats(tf, 5.1), "m", 0.001),
        lambda tf: (_floats(tf, INF), _floats(tf, 5.1), "m", 0.1),
        lambda tf: (_floats(tf, 1.0), tf.ConfigProto(), None, 0.1),
    ],
    "assertProtoEqualsVersion": [
        lambda tf: ("node { name: 'b' op: 'NoOp' }", _of_one_node(tf)),
        lambda tf: ("node { name: 'a' op: 'NoOp' }", _of_one_node(tf), 7),
    ],
    "assertNear": [(1.0, 1.2, 0.1), (NAN, NAN, 1), (INF, 1.0, 1, "m"), (0, 2, 1)],
    "assertArrayNear": [
        ([1.0], [1.0, 2.0], 0.1),
        ([1.0, 2.0], [1.0, 2.5], 0.1),
        ([1], [2], 0, "m"),
    ],
    "assertNDArrayNear": [(ONES, 2 * ONES, 0.1), (ONES, ONES, 0)],
    "assertAllClose": [
        (1.0, 1.1),
        ([1.0, 2.0], [1.0, 2.1], 0, 0, "m"),
        (NAN, 1.0),
        ([INF], [-INF]),
        ([1.0], [1.0, 2.0]),
        ({"a": 1.0}, {"a": 2.0}),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": 1.0}, [1.0]),
        ([1.0, [2.0]], [1.0, [2.0, 3.0]]),
        ([1.0, {"a": 1}], [1.0]),
        (ONES, ONES[0]),
        ("a", "a"),
        (["a", "b"], ["a", "b"]),
        ([{"a": 1.0}], [{"a": 2.0}]),
        (1.0, {"a": 1.0}),
        ([1.0], 1.0),
        (np.array([1, 2], ml_dtypes.bfloat16), [1.0, 2.5]),
        (Point(1, 2), Point(1, 3)),
        ([[1.0], [2.0, 3.0]], [[1.0], [2.0, 4.0]]),
        (None, 1.0),
        ([None], [None]),
        (1.0, None),
        lambda tf: (tf.constant([1.0, 2.0]), [1.0, 3.0]),
        lambda tf: (tf.constant("a"), "a"),
        lambda tf: ([tf.constant(1.0), 2.0], [1.0, tf.constant(3.0)]),
    ],
    "assertAllCloseAccordingToType": [
        (np.float16([1.0]), np.float16([1.1])),
        (np.float64([1.0]), [1.00001]),
        ([1.0], [1.0, 2.0]),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.1], ml_dtypes.bfloat16)),
    ],
    "assertNotAllClose": [
        (1.0, 1.0),
        ([1.0], [1.0 + 1e-9], 1e-6, 1e-6, "m"),
        ({"a": 1}, {"a": 1}),
        ([1], {1: 1}),
    ],
    "assertAllEqual": [
        (1, 2),
        ([1, 2], [1, 3], "m"),
        ([1], [1, 2]),
        ([NAN], [1.0]),
        (["a"], ["b"]),
        ("a", 1),
        ([[1, 2]], [1, 2]),
        (ONES, ONES[0]),
        ([1 + 2j], [1 - 2j]),
        ([1], 1),
        ({"a": 1}, {"a": 2}),
        (None, 1),
        (np.zeros([2, 2, 2, 200]), np.ones([2, 2, 2, 200])),
        (np.zeros([1] * 4), 1),
        lambda tf: (tf.constant([1, 2]), [1, 3]),
        lambda tf: (tf.constant("x"), "y"),
        lambda tf: (tf.placeholder(tf.int32), 1),
    ],
    "assertNotAllEqual": [(1, 1), ([NAN], [NAN], "m")],
    "assertAllGreater": [([2, 1], 1)],
    "assertAllLess": [([2, 4], 4), lambda tf: (tf.constant([2, 4]), tf.constant(3))],
    "assertAllGreaterEqual": [([2, 1], 2)],
    "assertAllLessEqual": [([2, 4], 3)],
    "assertAllInRange": [
        ([1, 3], 1, 2),
        ([1], 1, 2, True),
        ([2], 1, 2, False, True),
        ([NAN, 1], 0, 2),
        (["a"], 0, 1),
        (5, 0, 2),
        (np.arange(40).reshape(4, 10), 0, 1),
        ([1j], 0, 1),
        ([True], 0, 1),
    ],
    "assertAllInSet": [([1, 4], {1, 2, 3}), ([["c"]], ("a", "b"))],
    "assertShapeEqual": [
        (ONES, np.zeros([2])),
        lambda tf: (ONES, tf.zeros([2, 3])),
        ([1], ONES),
        (ONES, 1),
        lambda tf: (ONES, tf.placeholder(tf.float32, [None, 2])),
        lambda tf: (ONES, tf.placeholder(tf.float32)),
        (ONES, np.zeros([3, 2]), "m"),
    ],
    "assertDTypeEqual": [(np.float32([1]), np.float64), lambda tf: (tf.constant(1), "int64")],
    "assertDeviceEqual": [("/cpu:0", "/gpu:0"), (None, "/cpu:0"), ("/cpu:0", "/cpu:1", "m")],
    "assertDictEqual": [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": ONES}, {"a": 2 * ONES}),
        ({"a": 1}, [1]),
        ({"a": "x"}, {"a": "y"}),
        lambda tf: ({"a": tf.constant(1)}, {"a": 2}),
    ],
    "assertItemsEqual": [([1, 2], [1, 2, 2])],
    "assertCountEqual": [({"a": 1}, ["b"])],
}


def _floats(tf: Any, number: float) -> Any:
    """A message with a double, a fraction of memory, in a message."""
    config = tf.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = number
    return config


def _of_one_node(tf: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.no_op("a")
    return graph.as_graph_def()


def case(tf: Any) -> Any:
    """A test that is set up."""

    class Case(tf.test.TestCase):
        def runTest(self) -> None:  # noqa: N802 - unittest's name
            pass

    made = Case()
    made.setUp()
    return made


def call(tf: Any, name: str, given: Any) -> Callable[[], Any]:
    """The assertion with these arguments; tensors are made in the default graph of the test."""

    def made() -> Any:
        test = case(tf)
        arguments = given(tf) if callable(given) else given
        return getattr(test, name)(*arguments)

    return made


def _program(name: str) -> Callable[[Any], Any]:
    def program(tf: Any) -> Any:
        return attempt(*(call(tf, name, given) for given in PASSING[name] + FAILING[name]))

    return program


BEHAVIOURS = {name: _program(name) for name in PASSING}
