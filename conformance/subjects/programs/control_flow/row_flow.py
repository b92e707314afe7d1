"""Programs of IndexedSlices and sparse tensors that pass through branches and loops."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _rows(tf, dtype, shaped: bool = True, number: float = 1.0):
    """IndexedSlices of rows 0 and 1; `shaped`: with the dense shape."""
    return tf.IndexedSlices(
        tf.constant([[number], [2.0]]),
        tf.constant([0, 1], dtype),
        tf.constant([3, 1], dtype) if shaped else None,
    )


def _nodes(tf):
    return [
        [node.name, node.op, list(node.input)]
        for node in tf.get_default_graph().as_graph_def().node
    ]


def _chosen(tf):
    """Branches of which one or both return IndexedSlices, with indices of different dtypes."""

    def of(*results: Action) -> Action:
        def program():
            with tf.Graph().as_default(), tf.Session() as session:
                p = tf.placeholder(tf.bool, [], name="p")
                output = tf.cond(p, *results)
                values = [session.run(output, {p: taken}) for taken in (True, False)]
                kinds = [type(value).__name__ for value in tf.nest.flatten(output)]
                return kinds, values, [name for name, op, _ in _nodes(tf) if op == "Cast"]

        return program

    def rows(dtype, **options) -> Action:
        return lambda: _rows(tf, dtype, **options)

    def pair(dtype) -> Action:
        return lambda: (tf.constant(1.0), _rows(tf, dtype), tf.constant([2]))

    return attempt(
        of(rows(tf.int32), rows(tf.int32, number=5.0)),
        of(rows(tf.int32), rows(tf.int64)),
        of(rows(tf.int64, shaped=False), rows(tf.int32, shaped=False)),
        of(pair(tf.int64), pair(tf.int32)),
        of(rows(tf.int32), lambda: tf.constant([[1.0]])),
        of(rows(tf.int32, shaped=False), rows(tf.int32)),
    )


def _by_number(tf):
    """`switch_case` whose branches return IndexedSlices, with indices of different dtypes."""
    number = tf.placeholder(tf.int32, [])
    dtypes = (tf.int32, tf.int64, tf.int32)
    output = tf.switch_case(
        number,
        [
            lambda dtype=dtype, at=at: _rows(tf, dtype, number=float(at))
            for at, dtype in enumerate(dtypes)
        ],
    )
    with tf.Session() as session:
        values = [session.run(output, {number: at}) for at in (0, 1, 2)]
    return (
        values,
        str(output.indices.dtype),
        attempt(
            lambda: tf.switch_case(number, [lambda: _rows(tf, tf.int32), lambda: tf.zeros([2])]),
            lambda: tf.switch_case(
                number, [lambda: _rows(tf, tf.int32), lambda: _rows(tf, tf.int32, shaped=False)]
            ),
            lambda: tf.switch_case(number, [lambda: (1, 2), lambda: (1,)]),
        ),
    )


def _sparse(tf):
    return tf.SparseTensor(tf.constant([[0, 1]], tf.int64), tf.constant([2.0]), [2, 2])


def _shapes_in_loops(tf):
    """Loops whose variables are IndexedSlices or sparse tensors, with shape invariants."""

    def loop(first: Action, shape, **options) -> Action:
        def more(value):
            if isinstance(value, tf.SparseTensor):
                return tf.sparse.concat(0, [value, value])
            joined = [tf.concat([part, part], 0) for part in (value.values, value.indices)]
            return tf.IndexedSlices(*joined, value.dense_shape)

        def program():
            with tf.Graph().as_default(), tf.Session() as session:
                output = tf.while_loop(
                    lambda i, _: i < 2,
                    lambda i, value: (i + 1, more(value)),
                    [0, first()],
                    shape_invariants=[tf.TensorShape([]), shape()],
                    **options,
                )[1]
                parts = [output.values, output.indices, output.dense_shape]
                known = [str(tensor.shape) for tensor in [output, *parts] if tensor is not None]
                return known, session.run([part for part in parts if part is not None])

        return program

    def rows(shaped: bool = True) -> Action:
        return lambda: _rows(tf, tf.int32, shaped)

    def shape(*sizes) -> Action:
        return lambda: tf.TensorShape(*sizes)

    def slices(**options) -> Action:
        return lambda: tf.IndexedSlicesSpec([None, 1], tf.float32, tf.int32, **options)

    sparse = lambda: _sparse(tf)  # noqa: E731 - called for the first value of each loop
    return attempt(
        loop(sparse, shape([2])),
        loop(sparse, shape([None])),
        loop(sparse, shape(None)),
        loop(sparse, shape([2, 2])),
        loop(sparse, shape([3])),
        loop(sparse, lambda: None),
        loop(sparse, lambda: tf.SparseTensorSpec([None, None], tf.float32)),
        loop(sparse, lambda: tf.SparseTensorSpec([None, 2], tf.int32)),
        loop(rows(), shape([None, 1])),
        loop(rows(shaped=False), shape([None, 1])),
        loop(rows(), shape([2, 1])),
        loop(rows(), shape(None)),
        loop(rows(), lambda: None),
        loop(rows(), slices(dense_shape_dtype=tf.int32)),
        loop(rows(), slices()),
        loop(rows(), lambda: 3),
        loop(rows(), shape([None, 1]), maximum_iterations=1),
    )


BEHAVIOURS = {
    "chosen": _chosen,
    "by_number": _by_number,
    "shapes_in_loops": _shapes_in_loops,
    "chosen_by_functions": functional(_chosen),
    "shapes_in_loops_of_functions": functional(_shapes_in_loops),
}
