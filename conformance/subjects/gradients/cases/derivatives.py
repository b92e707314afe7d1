"""Vectors of GRADIENTS: derivatives of operations, and what they are where there is none."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case, near
from sessrun.conformance.subjects.run.cases.run import floats

#: The folder of vectors, which this module shares with another.
VECTORS = "gradients"


@api_case("GRADIENTS-022", title="The gradient of a product of matrices.")
def of_a_product_of_matrices(c: ApiAuthor) -> None:
    a = c.tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = c.tf.constant([[1.0], [2.0], [4.0]])
    gradients = c.tf.gradients(c.tf.matmul(a, b), [a, b], grad_ys=c.tf.constant([[1.0], [10.0]]))
    by_a = np.array([[1, 2, 4], [10, 20, 40]], np.float32)
    by_b = np.array([[41], [52], [63]], np.float32)
    c.check(c.tf.Session().run(gradients), [by_a, by_b])


@api_case("GRADIENTS-022", title="The gradient of a gathered slice along an axis.")
def of_columns(c: ApiAuthor) -> None:
    x = c.tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    taken = c.tf.gather(x, [2, 0, 2], axis=1)
    given = c.tf.constant([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    gradients = c.tf.gradients(taken, x, grad_ys=given)
    c.check(c.tf.Session().run(gradients), [np.array([[2, 0, 5], [16, 0, 40]], np.float32)])


@api_case("GRADIENTS-020", title="Rows that were taken by numbers of two dtypes add up.")
def rows_by_numbers_of_two_dtypes(c: ApiAuthor) -> None:
    x = c.tf.constant([[1.0], [2.0], [3.0]])
    parts = [c.tf.gather(x, c.tf.constant([2, 0], dtype)) for dtype in (c.tf.int32, c.tf.int64)]
    gradients = c.tf.gradients(parts, x)
    c.check(
        c.tf.Session().run(c.tf.convert_to_tensor(gradients[0])),
        np.array([[2], [0], [2]], np.float32),
    )


@api_case("GRADIENTS-027", title="Of equal numbers the first is the larger.")
def of_the_larger_of_equals(c: ApiAuthor) -> None:
    x, y = c.tf.constant([1.0, 2.0, 3.0]), c.tf.constant([1.0, 3.0, 2.0])
    gradients = [
        c.tf.gradients(c.tf.maximum(x, y), [x, y]),
        c.tf.gradients(c.tf.minimum(y, x), [x, y]),
    ]
    c.check(
        c.tf.Session().run(gradients),
        [[floats(1, 0, 1), floats(0, 1, 0)], [floats(0, 1, 0), floats(1, 0, 1)]],
    )


@api_case("GRADIENTS-028", title="Equal largest elements share the gradient of their maximum.")
def of_the_largest_of_equals(c: ApiAuthor) -> None:
    x = c.tf.constant([3.0, 1.0, 3.0, 3.0, 3.0])
    gradients = c.tf.gradients(c.tf.reduce_max(x), x)
    c.check(c.tf.Session().run(gradients), [floats(0.25, 0, 0.25, 0.25, 0.25)])


@api_case("GRADIENTS-028", title="Equal elements share it of minima and of segments, too.")
def of_the_smallest_and_of_segments(c: ApiAuthor) -> None:
    x, math = c.tf.constant([3.0, 1.0, 1.0, 3.0, 3.0, 2.0]), c.tf.math
    ids = c.tf.constant([0, 0, 0, 1, 1, 1])
    given = c.tf.constant([2.0, 4.0])
    segments = (
        math.segment_max(x, ids),
        math.segment_min(x, ids),
        math.unsorted_segment_max(x, ids, 2),
        math.unsorted_segment_min(x, ids, 2),
    )
    gradients = [c.tf.gradients(c.tf.reduce_min(x), x)]
    gradients += [c.tf.gradients(y, x, grad_ys=given) for y in segments]
    greatest, least = floats(2, 0, 0, 2, 2, 0), floats(0, 1, 1, 0, 0, 4)
    want = [[floats(0, 0.5, 0.5, 0, 0, 0)], [greatest], [least], [greatest], [least]]
    c.check(c.tf.Session().run(gradients), want)


@api_case("GRADIENTS-029", title="At a corner the gradients of abs, relu and relu6 are zero.")
def at_zero(c: ApiAuthor) -> None:
    x, nn = c.tf.constant([-1.0, 0.0, 2.0, 6.0]), c.tf.nn
    gradients = [c.tf.gradients(y, x) for y in (c.tf.abs(x), nn.relu(x), nn.relu6(x))]
    want = [[floats(-1, 0, 1, 1)], [floats(0, 0, 1, 1)], [floats(0, 0, 1, 0)]]
    c.check(c.tf.Session().run(gradients), want)


@api_case(
    "GRADIENTS-031", title="The first of equal largest elements of a window has the gradient."
)
def of_the_largest_of_a_window(c: ApiAuthor) -> None:
    x = c.tf.constant(np.array([0, 3, 3, 3], np.float32).reshape(1, 2, 2, 1))
    pooled = c.tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    want = np.array([0, 1, 0, 0], np.float32).reshape(1, 2, 2, 1)
    c.check(c.tf.Session().run(c.tf.gradients(pooled, x)), [want])


@api_case("GRADIENTS-032", title="An element that equals a bound has the gradient.")
def of_a_clipped_element_at_a_bound(c: ApiAuthor) -> None:
    x = c.tf.constant([-2.0, -1.0, 0.0, 1.0, 2.0])
    clipped = c.tf.raw_ops.ClipByValue(t=x, clip_value_min=-1.0, clip_value_max=1.0)
    c.check(c.tf.Session().run(c.tf.gradients(clipped, x)), [floats(0, 1, 1, 1, 0)])


@api_case("GRADIENTS-033", title="At zero leaky units have the one side's gradient or the other's.")
def of_units_at_zero(c: ApiAuthor) -> None:
    x = c.tf.constant([-1.0, 0.0, 1.0])
    leaky = c.tf.gradients(c.tf.nn.leaky_relu(x, 0.25), x)
    scaled = c.tf.gradients(c.tf.nn.selu(x), x)
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    want = [
        [floats(0.25, 0.25, 1)],
        [near(floats(scale * alpha / np.e, scale, scale), "close(1e-5, 0)")],
    ]
    c.check(c.tf.Session().run([leaky, scaled]), want)


@api_case(
    "GRADIENTS-030",
    title="A product of which one factor is zero has a gradient by that factor only.",
)
def of_a_product_with_a_zero(c: ApiAuthor) -> None:
    x = c.tf.constant([[2.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    gradients = c.tf.gradients(c.tf.reduce_prod(x, 1), x)
    c.check(c.tf.Session().run(gradients), [np.array([[0, 10, 0], [0, 0, 0]], np.float32)])


@api_case("GRADIENTS-024", title="A repeated row has the sum of the gradients of all rows.")
def of_a_repeated_row(c: ApiAuthor) -> None:
    x = c.tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    row, column, number = (c.tf.constant(value) for value in ([7.0, 8.0, 9.0], [[1.0], [2.0]], 3.0))
    given = c.tf.constant([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    gradients = [c.tf.gradients(x + other, other, grad_ys=given) for other in (row, column, number)]
    c.check(
        c.tf.Session().run(gradients),
        [[floats(9, 18, 36)], [np.array([[7], [56]], np.float32)], [np.float32(63)]],
    )


@api_case("GRADIENTS-025", title="The derivative of a product of complex numbers is conjugated.")
def of_a_complex_product(c: ApiAuthor) -> None:
    x, y = c.tf.constant(1 + 2j), c.tf.constant(3 - 1j)
    gradients = c.tf.gradients(x * y, [x, y], grad_ys=c.tf.constant(2 + 1j))
    c.check(c.tf.Session().run(gradients), [np.complex128(5 + 5j), np.complex128(4 - 3j)])
