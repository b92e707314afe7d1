"""Programs of initializers of variables: functions, classes, values, dtypes, shapes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _variable_facts(tf, *args, **options):
    """A variable's dtype and shape, its value, and the collections."""
    with tf.Graph().as_default() as graph:
        variable = tf.get_variable("v", *args, **options)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            value = session.run(variable)
        return variable.dtype, variable.shape, value, sorted(graph.get_all_collection_keys())


class _Ones:
    """An initializer that is a class of the program."""

    def __init__(self, dtype=None) -> None:
        self._dtype = dtype

    def __call__(self, shape, dtype=None, partition_info=None):
        assert partition_info is None or partition_info.full_shape
        return np.ones(shape, dtype.as_numpy_dtype if dtype else np.float32)


def _callables(tf):
    """Functions as initializers, with several signatures, with a shape and without."""

    def of_shape(shape, dtype=None):
        return tf.fill(shape, tf.cast(7, dtype))

    def of_part(shape, dtype=None, partition_info=None):
        offset = 0 if partition_info is None else sum(partition_info.var_offset) + 1
        return tf.fill(shape, tf.cast(offset, dtype))

    def needing(first):
        return tf.constant(first)

    functions = (
        lambda: tf.constant([1.0, 2.0]),
        lambda: np.array([3, 4]),
        lambda *_: tf.constant([5.0]),
        lambda **_: tf.constant([6.0]),
        lambda *_, **__: tf.constant([7.0]),
        lambda value=8.0: tf.constant([value]),
        lambda *, value=9.0: tf.constant([value]),
        of_shape,
        of_part,
        needing,
        _Ones,
        _Ones(),
        tf.zeros_initializer,
        tf.zeros_initializer(),
        tf.ones_initializer(tf.int32),
    )
    return attempt(
        *(
            lambda f=function, o=options: _variable_facts(tf, initializer=f, **o)
            for function in functions
            for options in (
                {},
                {"shape": [2]},
                {"shape": [None]},
                {"shape": [2], "dtype": tf.int64},
                {"shape": [None], "use_resource": True},
                {"dtype": tf.float64},
                {"shape": [None], "validate_shape": False},
                {"shape": [2], "partitioner": tf.fixed_size_partitioner(1)},
            )
        )
    )


def _values(tf):
    """Initial values of other dtypes and shapes than requested."""
    values = (
        1.0,
        2,
        True,
        "a",
        [1.0, 2.0],
        [1, 2],
        np.float64(3),
        np.ones(2, np.int16),
        np.ones((2, 1)),
    )
    return attempt(
        *(
            lambda v=value, o=options: _variable_facts(tf, initializer=v, **o)
            for value in values
            for options in (
                {},
                {"dtype": tf.float64},
                {"dtype": tf.int32},
                {"shape": [2]},
                {"use_resource": True, "dtype": tf.float16},
                {"trainable": False},
            )
        ),
        *(
            lambda v=value, d=dtype: _variable_facts(tf, initializer=tf.constant(v), dtype=d)
            for value in (1.0, [1, 2])
            for dtype in (None, tf.float32, tf.float64, tf.int32)
        ),
    )


def _kernels(tf):
    """Orthogonal and identity initializers for several shapes."""
    init = tf.initializers
    kinds = (
        init.orthogonal(gain=2.0, seed=1),
        init.identity(gain=3.0),
        init.variance_scaling(seed=1),
    )
    module = module_of(tf, "ops.init_ops")
    convolutions = [
        getattr(module, f"Convolution{name}")
        for name in ("DeltaOrthogonal", "Orthogonal1D", "Orthogonal2D", "Orthogonal3D")
    ]

    def facts(initializer, sizes):
        with tf.Graph().as_default():
            value = initializer(sizes, tf.float32)
            with tf.Session() as session:
                array = session.run(value)
            flat = array.reshape(-1, array.shape[-1]).astype(np.float64)
            return array.shape, np.round(flat.T @ flat, 3) if "onv" in repr(initializer) else None

    shapes = (
        [],
        [2],
        [2, 2],
        [2, 3],
        [3, 2],
        [3, 2, 2],
        [3, 2, 4],
        [3, 4, 2],
        [3, 3, 2, 2],
        [3, 3, 2, 5],
        [3, 3, 5, 2],
        [2, 3, 2, 2],
        [2, 2, 2, 2, 2],
        [2, 2, 2, 3, 2],
        [1, 1, 1, 1, 1, 1],
    )
    return attempt(
        *(lambda k=kind, s=sizes: facts(k, s) for kind in kinds for sizes in shapes),
        *(lambda k=kind, s=sizes: facts(k(seed=1), s) for kind in convolutions for sizes in shapes),
    )


BEHAVIOURS = {"callables": _callables, "values": _values, "kernels": _kernels}
