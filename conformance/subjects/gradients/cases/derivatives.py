"""Vectors of GRADIENTS: derivatives of operations, and what they are where there is none."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case
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


@api_case("GRADIENTS-023", title="Of equal numbers the first is the larger.")
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


@api_case("GRADIENTS-023", title="Equal largest elements share the gradient of their maximum.")
def of_the_largest_of_equals(c: ApiAuthor) -> None:
    x = c.tf.constant([3.0, 1.0, 3.0, 3.0, 3.0])
    gradients = c.tf.gradients(c.tf.reduce_max(x), x)
    c.check(c.tf.Session().run(gradients), [floats(0.25, 0, 0.25, 0.25, 0.25)])


@api_case("GRADIENTS-023", title="At zero the gradients of abs and relu are zero.")
def at_zero(c: ApiAuthor) -> None:
    x = c.tf.constant([-1.0, 0.0, 2.0])
    gradients = [c.tf.gradients(c.tf.abs(x), x), c.tf.gradients(c.tf.nn.relu(x), x)]
    c.check(c.tf.Session().run(gradients), [[floats(-1, 0, 1)], [floats(0, 0, 1)]])


@api_case(
    "GRADIENTS-023",
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
