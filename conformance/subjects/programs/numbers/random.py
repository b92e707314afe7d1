"""Programs of random numbers: the seeds of operations, and the numbers that they draw.

Uniform numbers are compared by their bytes, normal ones by their values, as functions may differ
in the last bits (`tests/operations/test_random_numbers.py` holds them to 4e-7).
"""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

EVEN = ("float16", "bfloat16", "float32", "float64")
SHAPES = ([], [0], [1], [2, 3], [4], [7], [3, 0, 2], [1000])
#: Seeds of the graph and of the operation.
SEEDS = ((None, 1), (1, None), (0, 0), (0, None), (None, 0), (5, 7), (-3, 2**40), (2**31 - 1, 0))


def exact(value):
    """The dtype, the shape and the bytes of a fetched value."""
    array = np.asarray(value)
    data = array.tolist() if array.dtype == object else array.tobytes().hex()
    return [str(array.dtype), list(array.shape), data]


def drawn(tf, *tensors, runs: int = 2):
    """The numbers of successive runs in a new session."""
    with tf.Session() as session:
        return [[exact(value) for value in session.run(tensors)] for _ in range(runs)]


def _dtypes_and_shapes(tf):
    return [
        drawn(tf, tf.random_uniform(shape, dtype=getattr(tf, dtype), seed=3))
        for dtype in EVEN
        for shape in SHAPES
    ]


def _integers(tf):
    ends = {
        "int32": ((0, 2), (-50, 50), (-(2**31), 2**31 - 1), (7, 8), (2**31 - 2, 2**31 - 1)),
        "int64": ((0, 2), (-50, 50), (-(2**63), 2**63 - 1), (10**12, 10**12 + 3), (0, 2**40)),
    }
    return [
        drawn(tf, tf.random_uniform(shape, low, high, getattr(tf, dtype), seed=8))
        for dtype in ends
        for low, high in ends[dtype]
        for shape in SHAPES
    ]


def _shuffles(tf):
    values = [np.arange(size) for size in (0, 1, 2, 3, 10, 1000)]
    values += [np.arange(24).reshape(4, 3, 2), np.arange(6.0).reshape(1, 6), np.zeros([5, 0])]
    values += [np.array([b"a", b"bc", b"", b"d"]), np.array([True, False, True]), np.float32(3)]
    return [drawn(tf, tf.random_shuffle(value, seed=4), runs=3) for value in values]


def _classes(tf):
    rows = np.random.RandomState(0).randn(4, 9)
    strange = [[np.inf, 0.0, -np.inf, 1.0], [np.nan] * 4, [1e300, -1e300, 1e300, 0.0]]
    makes = [
        tf.multinomial(rows.astype(dtype), count, seed=2, output_dtype=classes)
        for dtype in ("float16", "float32", "float64")
        for count in (0, 1, 2, 5, 33)
        for classes in (tf.int32, tf.int64)
    ]
    makes += [
        tf.random.categorical(strange, 6, seed=2),
        tf.random.categorical(np.zeros([0, 3], np.float32), 6, dtype=tf.int32, seed=2),
        # One large row only: TensorFlow divides several among threads (docs/findings).
        tf.multinomial(np.zeros([1, 400], np.float32), 3000, seed=2),
    ]
    return [drawn(tf, make) for make in makes]


def _many_elements(tf):
    many = [20_003]
    return [
        drawn(tf, tf.random_uniform(many, seed=6), tf.random_uniform([33, 601], seed=6)),
        drawn(tf, tf.random_uniform(many, dtype=tf.float64, seed=6)),
        drawn(tf, tf.random_uniform(many, maxval=10**6, dtype=tf.int32, seed=6)),
        drawn(tf, tf.random_uniform(many, maxval=10**15, dtype=tf.int64, seed=6)),
        drawn(tf, tf.random_shuffle(tf.range(20_003), seed=6)),
    ]


def _seeds_of_graph_and_operation(tf):
    def draw(graph_seed, seed):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(graph_seed)
            first = tf.random_uniform([3], seed=seed)
            integers = tf.random_uniform([5], maxval=9, dtype=tf.int32, seed=seed)
            mixed = tf.random_shuffle([1, 2, 3, 4, 5], seed=seed)
            given = [
                [op.name, op.get_attr("seed"), op.get_attr("seed2")]
                for op in graph.get_operations()
                if "seed" in op.node_def.attr
            ]
            return given, drawn(tf, first, integers, mixed), tf.get_seed(seed), graph.seed

    return attempt(*(lambda pair=pair: draw(*pair) for pair in SEEDS))


def _seeds_that_are_none(tf):
    def draw(graph_seed, seed):
        tf.set_random_seed(graph_seed)
        return tf.get_seed(seed), tf.random_uniform([2], seed=seed).op.get_attr("seed2")

    odd = (1.5, True, "a", [1], np.int64(7), np.array(3), np.array([1, 2]), 2**70, -(2**70))
    return attempt(
        *(lambda seed=seed: draw(3, seed) for seed in odd),
        *(lambda seed=seed: draw(seed, 3) for seed in odd),
        *(lambda seed=seed: draw(seed, None) for seed in odd),
    )


def _which_operations_count(tf):
    tf.set_random_seed(3)
    graph = tf.get_default_graph()
    last = []

    def note(_) -> None:
        op = [op for op in graph.get_operations() if "seed2" in op.node_def.attr][-1]
        last.append([op.type, op.get_attr("seed"), op.get_attr("seed2")])

    note(tf.random_uniform([2]))
    tf.constant(1.0)
    note(tf.random_normal([2], seed=4))
    note(tf.truncated_normal([2]))
    note(tf.random_shuffle([1, 2]))
    note(tf.multinomial([[1.0, 2.0]], 3))
    note(tf.random_uniform([2], maxval=3, dtype=tf.int32))
    refused = attempt(
        lambda: tf.random_uniform([2], maxval="x"),
        lambda: tf.random_uniform([2], dtype=tf.string),
        lambda: tf.random_uniform("nope"),
        lambda: tf.random_shuffle(object()),
    )
    last.append(tf.get_seed(None))
    for seed in (9, None, 9):
        tf.set_random_seed(seed)
        note(tf.random_uniform([2]))
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        last.append([tf.get_seed(None), tf.get_seed(None)])
    note(tf.get_variable("v", [2], initializer=tf.random_normal_initializer()))
    return last, refused


def _normals(tf):
    return [
        run(tf, make(shape, seed=5, dtype=getattr(tf, dtype)))
        for make in (tf.random_normal, tf.truncated_normal)
        for dtype in EVEN
        for shape in ([], [0], [3], [2, 5])
    ], run(tf, tf.random_normal([4], 10.0, [1.0, 2.0, 3.0, 4.0], seed=1))


def _sessions(tf):
    shape = tf.placeholder(tf.int32, [None])
    tensors = [
        tf.random_uniform(shape, seed=1),
        tf.random_uniform(shape, 0, 99, tf.int64, seed=1),
        tf.random_shuffle(tf.range(9), seed=1),
        tf.multinomial([[1.0, 2.0, 3.0]], 3, seed=1),
    ]
    one, two = tf.Session(), tf.Session()
    seen = [
        [exact(value) for value in session.run(tensors, {shape: dims})]
        for session, dims in (
            (one, [3]),
            (one, [5]),
            (two, [5]),
            (one, [0]),
            (two, [2, 2]),
            (one, [3]),
            (two, [3]),
        )
    ]
    seen += [exact(one.run(tensors[0], {shape: [2]})), exact(one.run(tensors[1], {shape: [2]}))]
    later = tf.random_uniform([3], seed=1)
    seen += [exact(one.run(later)), exact(one.run(later + tensors[0], {shape: [3]}))]
    one.close()
    with tf.Session() as again:
        seen += [exact(value) for value in again.run(tensors, {shape: [4]})]
    two.close()
    return seen


def _callables_and_partial_runs(tf):
    x = tf.random_uniform([3], seed=1)
    p = tf.placeholder(tf.float32, [])
    y, z = x + p, tf.random_uniform([2], seed=2) * p
    with tf.Session() as session:
        call, other = session.make_callable(x), session.make_callable(y, [p])
        seen = [call(), session.run(x), other(1.0), call()]
        handle = session.partial_run_setup([x, y, z], [p])
        seen += [session.partial_run(handle, x), *session.partial_run(handle, [y, z], {p: 2.0})]
        seen += [session.run(z, {p: 1.0}), call(), session.run(y, {p: 0.0, x: [1.0, 2.0, 3.0]})]
        handle = session.partial_run_setup([y], [p])
        seen += [session.partial_run(handle, y, {p: 0.0}), session.run(x)]
    return [exact(value) for value in seen]


def _initializers(tf):
    makers = (
        tf.random_uniform_initializer(-2.0, 3.0, seed=1),
        tf.random_uniform_initializer(seed=1),
        tf.glorot_uniform_initializer(seed=2),
        tf.initializers.he_uniform(seed=3),
        tf.initializers.lecun_uniform(4),
        tf.uniform_unit_scaling_initializer(1.5, seed=5),
        tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=6),
        tf.random_normal_initializer(1.0, 2.0, seed=1),
        tf.truncated_normal_initializer(seed=2),
        tf.glorot_normal_initializer(3),
        tf.initializers.he_normal(4),
        tf.initializers.lecun_normal(5),
        tf.variance_scaling_initializer(1.0, "fan_in", "untruncated_normal", seed=6),
    )
    values = [run(tf, make([3, 4])) for make in makers]
    tf.set_random_seed(12)
    with tf.variable_scope("s", initializer=tf.glorot_uniform_initializer()):
        v, w = tf.get_variable("v", [2, 3]), tf.get_variable("w", [4], use_resource=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values += session.run([v, w])
        session.run(v.initializer)
        values += session.run([v, w])
    return values


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _dtypes_and_shapes,
        _integers,
        _shuffles,
        _classes,
        _many_elements,
        _seeds_of_graph_and_operation,
        _seeds_that_are_none,
        _which_operations_count,
        _normals,
        _sessions,
        _callables_and_partial_runs,
        _initializers,
    )
}
