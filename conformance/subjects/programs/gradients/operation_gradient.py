"""Programs of gradients of operations with unknown shapes, other dtypes and rare arguments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Structure
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

Make = Callable[..., Structure]


def _slopes(tf, make: Make, *values, known: bool = True, second: bool = False):
    """The static shapes and values of the gradients of a function by its arguments.

    Args:
      tf: the namespace.
      make: the function, from tensors to a tensor or a list of them.
      values: the arrays.
      known: whether the shapes of the tensors are known.
      second: whether to take the gradients of the squared gradients.

    """
    with tf.Graph().as_default():
        xs = [
            tf.placeholder_with_default(value, np.shape(value) if known else None)
            for value in map(np.asarray, values)
        ]
        gradients = tf.gradients(make(*xs), xs)
        if second:
            gradients = tf.gradients(
                [gradient * gradient for gradient in gradients if gradient is not None], xs
            )
        gradients = [
            None if gradient is None else tf.convert_to_tensor(gradient) for gradient in gradients
        ]
        with tf.Session() as session:
            return [
                None if gradient is None else [str(gradient.shape), session.run(gradient)]
                for gradient in gradients
            ]


def _gradients_of(tf, *calls):
    """The gradients of each call: a function, the arrays, and more arguments of `_slopes`."""

    def slopes(make: Make, *values):
        options = values[-1] if isinstance(values[-1], dict) else {}
        return _slopes(tf, make, *(value for value in values if value is not options), **options)

    return attempt(*(lambda call=call: slopes(*call) for call in calls))


_UNKNOWN = {"known": False}
_SECOND = {"second": True}


def _matrix(rows: int, columns: int, dtype=np.float64) -> np.ndarray:
    """A matrix of full rank."""
    values = np.sin(1.0 + np.arange(rows * columns, dtype=np.float64) ** 2) + 0.1
    matrix = values.reshape(rows, columns) + 2.0 * np.eye(rows, columns)
    if np.dtype(dtype).kind == "c":
        matrix = matrix + 1j * np.cos(matrix * 3.0)
    return np.asarray(matrix, dtype)


def _decompositions(tf):
    def qr(full: bool = False) -> Make:
        def factors(x):
            q, r = tf.linalg.qr(x, full_matrices=full)
            return [tf.abs(q) * 2.0, tf.abs(r)]

        return factors

    def svd(full: bool = False) -> Make:
        return lambda x: [tf.abs(factor) for factor in tf.linalg.svd(x, full_matrices=full)]

    def of_no_sizes(x):
        sizes = tf.placeholder_with_default([3, 2], [2])
        return svd()(tf.reshape(x, sizes))

    def eigenvalues(x):
        return tf.abs(tf.raw_ops.Eig(input=x, compute_v=False, Tout=tf.complex128).e)

    return _gradients_of(
        tf,
        (qr(), _matrix(3, 2, np.complex128)),
        (qr(), _matrix(2, 4)),
        (qr(True), _matrix(4, 2)),
        (qr(), _matrix(3, 2), _UNKNOWN),
        (svd(), _matrix(3, 2)),
        (of_no_sizes, _matrix(3, 2)),
        (svd(True), _matrix(2, 4)),
        (svd(True), _matrix(2, 3)),
        (eigenvalues, _matrix(3, 3)),
    )


def _solutions(tf):
    def least_squares(**options) -> Make:
        return lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.1, **options)

    def tridiagonal(diagonals, rhs):
        return tf.linalg.tridiagonal_solve(diagonals, rhs, diagonals_format="compact")

    def by_operation(**options) -> Make:
        return lambda a, b: tf.raw_ops.MatrixSolveLs(
            matrix=a, rhs=b, l2_regularizer=tf.constant(0.1, tf.float64), **options
        )

    tall, wide = (_matrix(4, 2), _matrix(4, 3)), (_matrix(2, 4), _matrix(2, 3))
    bands = _matrix(3, 4) + np.array([[0.0], [3.0], [0.0]]), _matrix(4, 2)
    return _gradients_of(
        tf,
        (least_squares(), *tall),
        (least_squares(), *wide),
        (least_squares(), *tall, _UNKNOWN),
        (least_squares(), *wide, _UNKNOWN),
        (least_squares(fast=False), *tall),
        (by_operation(), *tall),
        (by_operation(), *wide),
        (by_operation(), *tall, _UNKNOWN),
        (by_operation(fast=False), *wide),
        (tridiagonal, *bands),
        (tridiagonal, *bands, _UNKNOWN),
    )


def _diagonals(tf):
    raw = tf.raw_ops

    def of(diagonal, kind: str = "", **options):
        make = getattr(raw, f"MatrixDiagPart{kind}")
        return make(input=diagonal, **options) * [1.0, 2.0]

    def bands(kind: str) -> Make:
        return lambda x: of(x, kind, k=tf.constant([-1, 0]), padding_value=tf.constant(0.0))

    def with_diagonal(x, y):
        return raw.MatrixSetDiag(input=x, diagonal=y) * tf.ones_like(x) * 3.0

    square, flat = _matrix(2, 2, np.float32), _matrix(2, 3, np.float32)
    row = np.array([1.0, 2.0], np.float32)
    return _gradients_of(
        tf,
        (of, square),
        (of, flat),
        (of, square, _UNKNOWN),
        (bands("V2"), square),
        (bands("V2"), square, _UNKNOWN),
        (bands("V3"), square),
        (bands("V3"), square, _UNKNOWN),
        (with_diagonal, square, row),
        (with_diagonal, flat, row),
        (with_diagonal, square, row, _UNKNOWN),
    )


def _reductions(tf):
    def kept(name: str, axis) -> Make:
        return lambda x: getattr(tf.math, name)(x, axis, keepdims=True)

    x = _matrix(2, 3, np.float32)
    names = ("reduce_euclidean_norm", "reduce_prod", "reduce_max", "reduce_sum")
    return _gradients_of(
        tf,
        *(
            (kept(name, axis), x, {"known": known})
            for name in names
            for axis, known in ((1, True), ([0, 1], False))
        ),
        (lambda x: tf.math.reduce_euclidean_norm(x, 0), x),
        (lambda x: tf.abs(tf.reduce_prod(tf.complex(x, 1.0), 0)), x),
    )


def _special(tf):
    """Functions whose gradient has another formula at 0 or 1."""
    x = np.array([0.0, 1.0, 0.5, 2.0], np.float32)
    names = ("bessel_i0", "bessel_i1", "bessel_i0e", "bessel_i1e")
    return _gradients_of(
        tf,
        *((getattr(tf.math, name), x) for name in names),
        (tf.math.special.spence, x[1:]),
        (tf.math.special.bessel_j1, x),
        (tf.math.special.dawsn, x),
        (tf.math.special.expint, x[1:]),
        (lambda x: tf.math.angle(tf.complex(x, x + 1.0)), x),
        (lambda x: tf.math.angle(tf.complex(x, x + 1.0)) * x, x, _SECOND),
    )


def _normalized(tf):
    """First and second gradients of batch normalization."""

    def batch(*, training: bool, data_format: str = "NHWC") -> Make:
        moments = {} if training else {"mean": [0.5, 1.0], "variance": [1.0, 2.0]}
        return lambda x, scale: (
            tf.nn.fused_batch_norm(
                x,
                scale,
                [0.0, 1.0],
                **moments,
                is_training=training,
                data_format=data_format,
                epsilon=0.1,
            )[0]
            ** 2.0
        )

    def nodes(training: bool):
        with tf.Graph().as_default() as graph:
            x, scale = tf.placeholder(tf.float32, [2, 2, 3, 2]), tf.constant([1.0, 2.0])
            y = batch(training=training, data_format="NCHW")(x, scale)
            (first,) = tf.gradients(y, x)
            nodes = [[node.name, node.op, list(node.input)] for node in graph.as_graph_def().node]
            return nodes, [
                str(gradient.shape) for gradient in tf.gradients(first * first, [x, scale])
            ]

    x, scale = _matrix(4, 6, np.float32).reshape(2, 2, 3, 2), np.array([1.0, 2.0], np.float32)
    return _gradients_of(
        tf,
        *(
            (batch(training=training), x, scale, {"second": second})
            for training in (True, False)
            for second in (True, False)
        ),
    ), attempt(lambda: nodes(True), lambda: nodes(False))


def _of_an_old_graph(tf):
    """A batch normalization that only graphs of earlier versions may contain."""
    graph = tf.GraphDef()
    graph.versions.producer = 8
    for name in "tmvbg":
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        for size in [1, 1, 1, 2] if name == "t" else [2]:
            node.attr["shape"].shape.dim.add(size=size)
    node = graph.node.add(name="y", op="BatchNormWithGlobalNormalization", input="tmvbg")
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["variance_epsilon"].f = 0.1
    node.attr["scale_after_normalization"].b = True
    y, *xs = tf.import_graph_def(
        graph, name="", return_elements=["y:0", *(f"{x}:0" for x in "tmvbg")]
    )
    gradients = tf.gradients(y, xs)
    values = [[[[1.0, 2.0]]]], *([1.0, number] for number in (0.5, 2.0, 3.0, 4.0))
    return gradients, tf.Session().run(gradients, dict(zip(xs, map(np.array, values), strict=True)))


def _lists(tf):
    """Tensor lists of which only the last element, or only the others, are used."""

    def popped(x):
        handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[2])
        return tf.raw_ops.TensorListPopBack(
            input_handle=handle, element_shape=[2], element_dtype=tf.float32
        )

    def rest(x):
        return tf.raw_ops.TensorListStack(
            input_handle=popped(x)[0], element_shape=[2], element_dtype=tf.float32
        )

    x = _matrix(3, 2, np.float32)
    return _gradients_of(tf, (lambda x: popped(x)[1] * 2.0, x), (rest, x), (rest, x, _UNKNOWN))


def _biased(tf):
    def biased(**options) -> Make:
        return lambda x, bias: tf.nn.bias_add(x, bias, **options) ** 3.0

    return _gradients_of(
        tf,
        (biased(), np.ones([2, 3], np.float32), np.arange(3.0, dtype=np.float32), _SECOND),
        (lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x) ** 2.0, _matrix(2, 3)),
        (
            lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x, data_format="NCHW") ** 2.0,
            _matrix(4, 3).reshape(2, 2, 3),
        ),
        (lambda x: tf.raw_ops.BiasAddV1(value=x, bias=x[0]), _matrix(2, 3)),
        (lambda x: tf.raw_ops.IsotonicRegression(input=x).output ** 2.0, _matrix(2, 4)),
        (lambda x: tf.raw_ops.IsotonicRegression(input=x).output ** 2.0, _matrix(1, 4)),
    )


def _gathered(tf):
    def by(axis: int, batch: int) -> Make:
        return lambda x: tf.gather(x, [[1, 0, 1], [0, 0, 1]], axis=axis, batch_dims=batch) ** 2.0

    def raw(indices, **options) -> Make:
        return lambda x: tf.raw_ops.GatherV2(params=x, indices=indices(), axis=1, **options)

    def constant():
        return tf.constant([[1, 0, 1], [0, 0, 1]])

    def of_no_rank():
        return tf.placeholder_with_default(constant(), None)

    x = _matrix(2, 6, np.float32).reshape(2, 2, 3)
    return _gradients_of(
        tf,
        (by(1, 1), x),
        (by(2, 1), x),
        (by(0, 0), x),
        (by(1, -1), x),
        (raw(constant, batch_dims=-1), x),
        (raw(of_no_rank, batch_dims=-1), x),
        (raw(of_no_rank, batch_dims=1), x),
        (lambda x: tf.raw_ops.Gather(params=x, indices=[1]), x),
    )


def _joined(tf):
    """Concatenations along a known or unknown axis, and rows gathered from them."""

    def many(x):
        return tf.concat([x * float(number) for number in range(17)], 0) ** 2.0

    def rows(axis: Callable[[], Tensor]) -> Make:
        return lambda x, y: tf.gather(tf.concat([x, y], axis()), [1, 0])

    def fed():
        return tf.placeholder_with_default(0, [])

    pair = _matrix(2, 3, np.float32), _matrix(2, 3, np.float32)
    return _gradients_of(
        tf,
        (many, pair[0]),
        (many, pair[0], _UNKNOWN),
        (rows(fed), *pair),
        (rows(lambda: 1), *pair),
        (rows(lambda: -1), *pair),
        (rows(lambda: -1), *pair, _UNKNOWN),
        (rows(lambda: 0), *pair, _UNKNOWN),
    )


def _sums_of_products(tf):
    """`einsum` with ellipses that stand for equal sizes, for other ones, or for none."""

    def product(equation: str) -> Make:
        return lambda x, y: tf.einsum(equation, x, y) ** 2.0

    x = _matrix(4, 6, np.float32).reshape(4, 2, 3)
    y, z = _matrix(3, 2, np.float32), x.transpose(0, 2, 1)
    return _gradients_of(
        tf,
        (product("ij,...->...ij"), y, z[:, 0, 0]),
        (product("...,ij->...ij"), z[:, 0, 0], y),
        (product("...ij,jk->...ik"), x, y),
        (product("ij,...jk->...ik"), y.T, z),
        (product("...ij,...jk->...ik"), x, z),
        (product("...ij,...jk->...ik"), x, z[:1]),
        (product("...ij,...jk->...ik"), x, z, _UNKNOWN),
        (product("...ij,...jk->ik"), x, z),
        (product("...ij,jk->...ik"), x, y, _UNKNOWN),
    )


def _pictures(tf):
    picture = _matrix(4, 4, np.float32).reshape(1, 4, 4, 1)
    boxes = np.array([[0.1, 0.1, 0.8, 0.7]], np.float32)
    turn = np.array([[1.0, 0.1, 0.2, 0.1, 1.0, 0.3, 0.0, 0.0]], np.float32)

    def moved(shape, values=turn, dtype=None) -> Make:
        def transformed(x):
            transforms = tf.placeholder_with_default(values, shape)
            x = x if dtype is None else tf.cast(x, dtype)
            output = tf.raw_ops.ImageProjectiveTransformV3(
                images=x,
                transforms=transforms,
                output_shape=[3, 3],
                interpolation="BILINEAR",
                fill_value=0.0,
            )
            return tf.cast(output, tf.float32)

        return transformed

    def of_halves(name: str) -> Make:
        return lambda x: getattr(tf.image, name)(tf.cast(x, tf.float16), [3, 3]) * x[:, :1, :1]

    def cropped(x, y):
        return tf.image.crop_and_resize(tf.cast(x, tf.int32), y, [0], [2, 2])

    return _gradients_of(
        tf,
        (moved([1, 8]), picture),
        (moved(None), picture),
        (moved([8], turn[0]), picture),
        (moved([1, 1, 8], turn[None]), picture),
        (moved([1, 8], dtype=tf.float16), picture),
        (moved([1, 8], dtype=tf.bfloat16), picture),
        (of_halves("resize_bicubic"), picture),
        (of_halves("resize_bilinear"), picture),
        (cropped, picture, boxes),
        (lambda x, y: tf.image.crop_and_resize(x, y, [0], [2, 2]), picture, boxes, _UNKNOWN),
    )


def _blocks(tf):
    raw = tf.raw_ops
    wide, none = _matrix(4, 4, np.float32).reshape(4, 2, 2, 1), [[0, 0], [0, 0]]
    return _gradients_of(
        tf,
        (lambda x: raw.BatchToSpace(input=x, crops=none, block_size=2) ** 2.0, wide),
        (lambda x: raw.SpaceToBatch(input=x, paddings=none, block_size=2) ** 2.0, wide),
        (lambda x: raw.BatchToSpace(input=x, crops=none, block_size=2) ** 2.0, wide, _UNKNOWN),
    )


def _refused(tf):
    indices, dense_shape = [[0, 1]], [2, 2]
    row = np.array([2.0], np.float32)

    def added(x):
        return tf.raw_ops.SparseDenseCwiseAdd(
            sp_indices=tf.constant(indices, tf.int64),
            sp_values=x,
            sp_shape=tf.constant(dense_shape, tf.int64),
            dense=tf.ones([2, 2]),
        )

    def given(dtype, grad):
        with tf.Graph().as_default():
            x = tf.placeholder(dtype, [1], name="x")
            return tf.gradients(tf.identity(x), x, grad_ys=grad())

    def with_rows():
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [3])
            rows = tf.IndexedSlices(tf.constant([2.0]), tf.constant([1]), tf.constant([3]))
            (gradient,) = tf.gradients(tf.identity(x), x, grad_ys=rows)
            return gradient, tf.Session().run(tf.convert_to_tensor(gradient))

    return _gradients_of(tf, (added, row)), attempt(
        lambda: given(tf.float32, lambda: tf.constant(["a"])),
        lambda: given(tf.float32, lambda: tf.constant([1j])),
        lambda: given(tf.complex64, lambda: tf.constant([1.0])),
        lambda: given(tf.string, lambda: tf.constant(["a"])),
        lambda: given(tf.bool, lambda: tf.constant([True])),
        with_rows,
    )


BEHAVIOURS = {
    program.__name__.removeprefix("_"): program
    for program in (
        _decompositions,
        _solutions,
        _diagonals,
        _reductions,
        _special,
        _normalized,
        _biased,
        _of_an_old_graph,
        _lists,
        _gathered,
        _joined,
        _sums_of_products,
        _pictures,
        _blocks,
        _refused,
    )
}
