"""Programs of `tf.compat`, of switches between versions, and of paths of files."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _text(tf):
    compat = tf.compat
    values = ("a\u00e4", b"a\xc3\xa4", b"\xff", bytearray(b"a"), 3, None, Path("a/b"), ["a"])
    return [
        attempt(
            *(lambda value=value, turn=turn: turn(value) for value in values),
            lambda turn=turn: turn("a", "nope"),
            lambda turn=turn: turn(b"\xe4", "latin-1"),
        )
        for turn in (compat.as_bytes, compat.as_str, compat.as_text, compat.as_str_any)
    ], attempt(*(lambda value=value: compat.path_to_str(value) for value in values))


def _kinds_of_numbers(tf):
    compat = tf.compat
    values = (
        1,
        1.5,
        1j,
        True,
        "a",
        b"a",
        np.int8(1),
        np.float32(1),
        np.complex64(1),
        np.bool_(True),
        np.ones(1),
        None,
    )
    kinds = (
        compat.bytes_or_text_types,
        compat.complex_types,
        compat.integral_types,
        compat.real_types,
    )
    return [[isinstance(value, kind) for value in values] for kind in kinds], attempt(
        lambda: compat.dimension_value(tf.Dimension(3)),
        lambda: compat.dimension_value(4),
        lambda: compat.dimension_at_index(tf.TensorShape([1, 2]), 1),
        lambda: compat.dimension_at_index(tf.TensorShape(None), 1),
    )


def _dates(tf):
    ask = tf.compat.forward_compatible

    def moved():
        with tf.compat.forward_compatibility_horizon(2100, 2, 3) as given:
            return given, ask(2100, 2, 2), ask(2100, 2, 3), ask(2100, 2, 4), ask(2100, 1, 31)

    def moved_twice():
        with tf.compat.forward_compatibility_horizon(2200, 12, 31):
            with tf.compat.forward_compatibility_horizon(2100, 1, 1):
                earlier = ask(2099, 12, 31), ask(2100, 1, 1)
            return earlier, ask(2099, 12, 31)

    def moved_back():
        with tf.compat.forward_compatibility_horizon(1999, 12, 31):
            return ask(1999, 12, 30), ask(1999, 12, 31), ask(2000, 1, 1), ask(2100, 1, 1)

    return attempt(
        lambda: ask(2019, 8, 1),
        lambda: ask(2100, 1, 1),
        moved,
        moved_twice,
        moved_back,
        lambda: ask(2100, 1, 1),
        lambda: ask("a", 1, 1),
        lambda: tf.compat.forward_compatibility_horizon(2100, 13, 1).__enter__(),
    )


def _switches(tf):
    x = tf.constant([1])
    return attempt(
        tf.disable_eager_execution,
        tf.disable_v2_tensorshape,
        tf.disable_tensor_equality,
        tf.disable_control_flow_v2,
        tf.executing_eagerly,
        tf.executing_eagerly_outside_functions,
        tf.control_flow_v2_enabled,
        lambda: tf.is_symbolic_tensor(x),
        lambda: tf.is_symbolic_tensor(tf.Variable(1)),
        lambda: tf.is_symbolic_tensor(np.ones(1)),
        lambda: tf.is_symbolic_tensor(tf.Variable(1, use_resource=True)),
        lambda: tf.is_symbolic_tensor(tf.SparseTensor([[0]], [1], [2])),
        lambda: tf.is_symbolic_tensor(tf.IndexedSlices(x, x)),
        lambda: tf.is_symbolic_tensor("x"),
    )


def _in_another_thread(function: Action):
    """What a function returns in a new thread, which has its own stack of default graphs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def _eager_execution_too_late(tf):
    """`enable_eager_execution` fails after a graph was built, and with unknown arguments."""
    ask = tf.enable_eager_execution

    def asked():
        tf.constant(1)
        return attempt(
            ask,
            lambda: ask(tf.ConfigProto()),
            lambda: ask(3),
            lambda: ask({"a": 1}),
            *(lambda p=policy: ask(device_policy=p) for policy in (0, 3, 4, -1, "silent")),
            *(lambda m=mode: ask(execution_mode=m) for mode in (0, 1, 2, "sync")),
            lambda: ask(3, device_policy=7),
            tf.executing_eagerly,
        )

    return _in_another_thread(asked), tf.executing_eagerly()


def _equality(tf):
    x, y = tf.constant([1]), tf.constant([1])
    tf.enable_tensor_equality()
    outcomes = attempt(lambda: x == y, lambda: x != y, lambda: x in {y, x})
    tf.disable_tensor_equality()
    return outcomes


def _places(tf):
    loader, here = tf.resource_loader, os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120
    return attempt(
        lambda: os.path.realpath(loader.get_data_files_path()) == here,
        lambda: os.path.realpath(loader.get_path_to_datafile("x")) == here + "/x",
        lambda: loader.readahead_file_path("a", "1M"),
        lambda: loader.load_resource("nope"),
        lambda: loader.load_resource(os.__file__)[:9],
        lambda: Path(loader.get_root_dir_with_all_resources()).is_dir(),
        lambda: tf.sysconfig.get_build_info()["is_rocm_build"],
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _text,
        _kinds_of_numbers,
        _dates,
        _switches,
        _eager_execution_too_late,
        _equality,
        _places,
    )
}
