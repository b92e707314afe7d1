"""How operations are made: conversion of inputs, dtypes, static shapes, errors of two classes."""

from __future__ import annotations

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference.build.build import apply_op


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("value", "dtype", "kept"),
    [
        (1, None, ("int32", 1)),
        (2**40, None, ("int64", 2**40)),
        (1.5, None, ("float32", 1.5)),
        (np.float64(1.5), None, ("float64", 1.5)),
        ([np.float64(1.5)], None, ("float32", [1.5])),
        ([1, 2.5], None, ("float32", [1.0, 2.5])),
        ([True, 1], None, ("int32", [1, 1])),
        ("é", None, ("string", "é".encode())),
        (b"\0a\0", None, ("string", b"\0a\0")),
        (300, "int8", ("int8", 44)),
        (-1, "uint8", ("uint8", 255)),
        (np.array([1.5]), "int32", ("int32", [1])),
        (1e40, None, ("float32", float("inf"))),
    ],
)
def test_a_constant_gets_the_dtype_and_value_that_tensorflow_gives_it(value, dtype, kept) -> None:
    tensor = tf.constant(value, dtype)
    array = tf.make_ndarray(tensor.op.get_attr("value"))
    assert (tensor.dtype.name, array.tolist()) == kept


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.5, "int32", TypeError),
        (1, "bool", TypeError),
        ("a", "float32", TypeError),
        ([1, "a"], None, TypeError),
        ({1, 2}, None, TypeError),
        (None, None, ValueError),
        ([[1], [2, 3]], None, ValueError),
    ],
)
def test_a_bad_constant_is_a_built_in_and_an_invalid_argument(value, dtype, error) -> None:
    with pytest.raises(error) as caught:
        tf.constant(value, dtype)
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)
    assert caught.value.error_code == tf.errors.INVALID_ARGUMENT


def test_shapes_that_contradict_are_found_while_building() -> None:
    left, right = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [3])
    with pytest.raises(ValueError) as caught:
        _ = left + right
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_dtypes_that_differ_are_found_while_building() -> None:
    left, right = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    with pytest.raises(TypeError, match="does not match type float32 of argument 'x'") as caught:
        _ = left + right
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_a_list_that_holds_tensors_is_packed() -> None:
    packed = tf.convert_to_tensor([tf.constant(1), 2])
    assert (packed.op.type, packed.dtype, packed.shape.as_list()) == ("Pack", tf.int32, [2])


def test_a_shape_is_followed_through_the_operations_that_compute_it() -> None:
    image = tf.placeholder(tf.float32, [None, 4, 5])
    batch = apply_op("Shape", {"input": image}, {}).outputs[0][0]
    flat = apply_op("Reshape", {"tensor": image, "shape": [batch, 20]}, {}).outputs[0]
    assert flat.shape.as_list() == [None, 20]


def test_constant_parts_of_the_graph_are_evaluated_for_shapes() -> None:
    source = tf.placeholder(tf.float32, [12])
    sizes = tf.constant([1, 3]) * 2
    tall = apply_op("Reshape", {"tensor": source, "shape": sizes}, {}).outputs[0]
    assert tall.shape.as_list() == [2, 6]


@pytest.mark.parametrize("key", [0, slice(1, None), Ellipsis, None, -1, (0, None)])
def test_an_index_gives_the_shape_that_numpy_gives(key) -> None:
    tensor = tf.placeholder(tf.float32, [3, 4])
    assert tensor[key].shape.as_list() == list(np.zeros((3, 4))[key].shape)


@pytest.mark.parametrize("key", ["a", 1.5, [1, 2, 3], True])
def test_an_index_of_another_type_is_refused(key) -> None:
    with pytest.raises((TypeError, ValueError)):
        _ = tf.placeholder(tf.float32, [3])[key]


def test_integers_are_divided_as_floats() -> None:
    assert (tf.placeholder(tf.int32) / 2).dtype == tf.float64
    assert (tf.placeholder(tf.int8) / 2).dtype == tf.float32


def test_an_array_on_the_left_leaves_the_operator_to_the_tensor() -> None:
    total = np.array([1.0, 2.0]) + tf.placeholder(tf.float32, [2])
    assert (total.op.type, total.dtype) == ("AddV2", tf.float32)


def test_a_tensor_has_no_truth_and_equals_itself_only() -> None:
    tensor = tf.constant(1)
    with pytest.raises(TypeError):
        bool(tensor)
    assert tensor == tensor  # noqa: PLR0124 - identity is the point
    assert tensor != tf.constant(1)


def test_a_registered_conversion_is_used() -> None:
    class Seven:
        pass

    def convert(value, dtype=None, name=None, as_ref=False):
        assert isinstance(value, Seven)
        assert not as_ref
        return tf.constant(7, dtype, name=name)

    tf.register_tensor_conversion_function(Seven, convert)
    assert (tf.placeholder(tf.float32) + Seven()).op.inputs[1].dtype == tf.float32


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            lambda: tf.ones([1, 2, 3]) + tf.ones([4, 5, 6]),
            "'{{node add}} = AddV2[T=DT_FLOAT](ones, ones_1)' with input shapes: [1,2,3], [4,5,6].",
        ),
        (
            lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.placeholder(tf.float32, [4])),
            (
                "'{{node BiasAdd}} = BiasAdd[T=DT_FLOAT, data_format=\"NHWC\"](ones, Placeholder)' "
                "with input shapes: [2,3], [4]."
            ),
        ),
        (
            lambda: tf.matmul(tf.ones([2, 3]), tf.placeholder(tf.float32, [2, None]), name="m"),
            (
                "'{{node m}} = MatMul[T=DT_FLOAT, grad_a=false, grad_b=false, transpose_a=false, "
                "transpose_b=false](ones, Placeholder)' with input shapes: [2,3], [2,?]."
            ),
        ),
    ],
    ids=["add", "bias", "matmul"],
)
def test_an_error_of_shapes_shows_the_operation_as_tensorflow_does(wrong, text) -> None:
    with pytest.raises(ValueError) as caught:
        wrong()
    assert str(caught.value).endswith(f" for {text}")
