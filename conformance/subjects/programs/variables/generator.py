"""Programs of random generators: numbers, states, nodes.

Uniform numbers are compared by their bytes, normal ones by their values.
"""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _exact(value):
    array = np.asarray(value)
    return [str(array.dtype), list(array.shape), array.tobytes().hex()]


def _runs(tf, generator, *tensors, show=_exact):
    """The numbers of two runs of each tensor, and the state after each run."""
    results = []
    with tf.Session() as session:
        session.run(generator.state.initializer)
        for tensor in tensors:
            for _ in range(2):
                results.append(show(session.run(tensor)))
                results.append(session.run(generator.state).tolist())
    return results


def _even_numbers(tf):
    generator = tf.random.Generator.from_seed(1234)
    floats = ("float16", "bfloat16", "float32", "float64")
    integers = ("int32", "int64", "uint32", "uint64")
    return _runs(
        tf,
        generator,
        *(generator.uniform([2, 3], dtype=getattr(tf, dtype)) for dtype in floats),
        *(generator.uniform([5], -4, 90, getattr(tf, dtype)) for dtype in integers[:2]),
        *(generator.uniform_full_int([5], getattr(tf, dtype)) for dtype in integers),
        generator.uniform([3], None, None, tf.int64),
        generator.uniform([]),
        generator.uniform([0, 2]),
        generator.uniform([400], 2.0, 3.0),
        generator.make_seeds(3),
    )


def _normal_numbers(tf):
    generator = tf.random.Generator.from_seed([9, 2**40, -3])
    return _runs(
        tf,
        generator,
        generator.normal([7]),
        generator.normal([2, 3], 3.0, [1.0, 2.0, 3.0]),
        generator.truncated_normal([50], dtype=tf.float64),
        generator.normal([3], dtype=tf.half),
        show=lambda value: np.round(value.astype(np.float64), 2 if value.dtype == np.half else 5),
    )


def _kernels_of_a_generator(tf):
    generator = tf.random.Generator.from_state([2**63 - 5, -1, 77], "philox")
    given = {"resource": generator.state.handle, "algorithm": 1}
    raw = tf.raw_ops
    return _runs(
        tf,
        generator,
        raw.StatefulUniform(shape=[6], **given),
        raw.StatefulUniformFullInt(shape=[3], dtype=tf.uint32, **given),
        raw.StatefulUniformInt(shape=[3], minval=5, maxval=8, **given),
        raw.RngReadAndSkip(resource=generator.state.handle, alg=3, delta=2),
        generator.skip(1000),
        tf.random.Generator.from_state([2**63, 0, 0], "philox").state,
    )


def _skipping_backwards(tf):
    generator = tf.random.Generator.from_state([5, 6, 7], 1)
    back = tf.raw_ops.RngSkip(resource=generator.state.handle, algorithm=1, delta=-3)
    return _runs(tf, generator, back, back, show=str)


def _binomials(tf):
    # each operation runs once: TensorFlow loses the new state of a generator that is shared
    with tf.device("/cpu:0"):
        generator = tf.random.Generator.from_seed(11)
    with tf.Session() as session:
        session.run(generator.state.initializer)
        odd = generator.binomial(
            [6], [5.0, 5.0, 5.0, 0.0, 0.0, 0.0], [0.0, 1.0, np.nan, -10.0, 10.0, np.nan], tf.float32
        )
        none = generator.binomial([0], [], [])
        return (
            session.run(generator.binomial([5, 2], [10.0, 100.0], [0.3, 0.6])),
            session.run(odd),
            none.shape.as_list(),
            session.run(none),
        )


def _resets(tf):
    generator = tf.random.Generator.from_seed(1)
    results = []
    with tf.Session() as session:
        session.run(generator.state.initializer)
        for change in (
            lambda: generator.reset([4, 5, 6]),
            lambda: generator.reset_from_seed(2**70 + 3),
            lambda: generator.reset_from_key_counter(8, [1, 2]),
        ):
            change()
            graph = tf.get_default_graph()
            last = [op for op in graph.get_operations() if op.type == "AssignVariableOp"][-1]
            session.run(last)
            results.append(session.run([generator.state, generator.key]))
    return results


def _graphs(tf):
    generator = tf.random.Generator.from_seed(1234)
    generator.normal([2, 3])
    generator.uniform([2], 0, 5, tf.int32, name="mine")
    generator.truncated_normal([])
    generator.binomial([2], counts=[3.0, 4.0], probs=[0.5, 0.5])
    generator.make_seeds(2)
    tf.random.Generator.from_key_counter(1, [2, 3], tf.random.Algorithm.PHILOX)
    tf.random.Generator.from_non_deterministic_state()
    state = tf.Variable([1, 2, 3], dtype=tf.int64, use_resource=True)
    tf.random.Generator(state=state, alg=1).skip(4)
    return [
        tf.get_default_graph().as_graph_def(),
        [variable.name for variable in tf.global_variables()],
        tf.trainable_variables(),
    ]


def _seeds_as_states(tf):
    seeds = (0, 5, -1, 2**64 + 7, 2**200, [1, 2], [1, 2, 3, 4], np.array([3, 4]), [2**63 + 1, 5])
    return [
        attempt(lambda seed=seed, alg=alg: run(tf, tf.random.create_rng_state(seed, alg)))
        for seed in seeds
        for alg in ("philox", "threefry", "auto_select", 1)
    ]


def _what_generators_refuse(tf):
    make = tf.random.Generator
    generator = make.from_seed(1)
    return attempt(
        make,
        lambda: make(state=[1, 2, 3]),
        lambda: make(state=[1, 2], alg="philox"),
        lambda: make(state=[1, 2, 3], alg="other"),
        lambda: make.from_seed(3, 1.5),
        lambda: make.from_key_counter(1, [2], "philox"),
        lambda: make.from_key_counter([1], [2, 3], "philox"),
        lambda: generator.reset([1]),
        lambda: generator.uniform([2], 1, None, tf.int32),
        lambda: generator.uniform([2], None, 3, tf.int64),
    )


def _states_that_are_none(tf):
    with tf.device("/cpu:0"):
        return _drawn_from_no_state(tf)


def _drawn_from_no_state(tf):
    raw, outcomes = tf.raw_ops, []
    with tf.Session() as session:
        for value in ([1, 2], [[1, 2, 3]], np.array([1, 2, 3], np.int32)):
            held = tf.Variable(np.array(value), use_resource=True)
            draw = raw.StatefulUniform(resource=held.handle, algorithm=1, shape=[2])
            outcomes += attempt(lambda draw=draw: session.run(draw))
            session.run(held.initializer)
            outcomes += attempt(lambda draw=draw: session.run(draw))
        good = tf.Variable(np.array([1, 2, 3]), use_resource=True)
        session.run(good.initializer)
        for algorithm in (1, 2, 3, 4):
            draw = raw.StatefulUniform(resource=good.handle, algorithm=algorithm, shape=[2])
            outcomes += attempt(lambda draw=draw: session.run(draw))
    vector = tf.placeholder(tf.int64)
    with tf.Session() as session:
        session.run(good.initializer)
        given = {"resource": good.handle}
        for draw in (
            raw.StatefulUniform(algorithm=vector, shape=[2], **given),
            raw.RngSkip(algorithm=1, delta=vector, **given),
            raw.StatefulRandomBinomial(algorithm=vector, shape=[2], counts=2.0, probs=0.5, **given),
        ):
            outcomes += attempt(lambda draw=draw: session.run(draw, {vector: [1, 1]}))
    return outcomes


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _even_numbers,
        _normal_numbers,
        _kernels_of_a_generator,
        _skipping_backwards,
        _binomials,
        _resets,
        _graphs,
        _seeds_as_states,
        _what_generators_refuse,
        _states_that_are_none,
    )
}
