"""Programs of generators from keys and counters, of splits and of skips."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _draws_of(tf, make):
    """A generator's state, its numbers, and its state afterwards."""
    with tf.Graph().as_default():
        generator = make()
        drawn = generator.uniform_full_int([3], tf.int64)
        with tf.Session() as session:
            session.run(generator.state.initializer)
            before = session.run(generator.state).tolist()
            values = session.run(drawn).tolist()
            return before, values, session.run(generator.state).tolist(), generator.algorithm


def _keys(tf):
    """Keys and counters of several lengths for both algorithms."""
    build = tf.random.Generator.from_key_counter
    return attempt(
        *(
            lambda k=key, c=counter, a=alg: _draws_of(tf, lambda: build(key=k, counter=c, alg=a))
            for key in (7, 2**40 + 1, -3, [5], np.uint64(2**63 + 9))
            for counter in (11, [12, 13], [2**40, -1], -2, [1, 2, 3])
            for alg in ("philox", "threefry", 1, 2, tf.random.Algorithm.PHILOX, "other", 3)
        )
    )


def _parts(tf):
    """Generators that are split from another one, and the states of both afterwards."""

    def split(count, alg):
        with tf.Graph().as_default():
            original = tf.random.Generator.from_seed(1234, alg=alg)
            parts = original.split(count)
            drawn = [part.uniform_full_int([2], tf.int64) for part in parts]
            with tf.Session() as session:
                session.run([original.state.initializer])
                session.run([part.state.initializer for part in parts])
                states = [session.run(part.state).tolist() for part in parts]
                return states, session.run(drawn), session.run(original.state).tolist()

    return attempt(
        *(
            lambda n=count, a=alg: split(n, a)
            for count in (0, 1, 3, -1, 2.5)
            for alg in ("philox", "threefry")
        )
    )


def _skipped(tf):
    """Skips of several sizes from counters that are about to overflow."""

    def skipped(state, delta: int, alg: str):
        with tf.Graph().as_default():
            generator = tf.random.Generator.from_state(state, alg)
            moved = generator.skip(delta)
            drawn = tf.no_op()
            with tf.control_dependencies([moved]):
                drawn = generator.uniform_full_int([2], tf.uint64)
            with tf.Session() as session:
                session.run(generator.state.initializer)
                return session.run(drawn).tolist(), session.run(generator.state).tolist()

    states = ([0, 0, 1], [-1, 0, 2], [-2, -1, 3], [2**62, 2**62, 4], [-(2**63), 2**63 - 1, 5])
    return attempt(
        *(
            lambda s=state, d=delta: skipped(s, d, "philox")
            for state in states
            for delta in (0, 1, 3, 255, 2**31, 2**62, 2**63 - 1)
        ),
        *(
            lambda s=state, d=delta: skipped(s[:2], d, "threefry")
            for state in states
            for delta in (0, 1, 2**31, 2**62)
        ),
    )


def _bounds(tf):
    """Integers between bounds that are scalars, vectors, equal, or in the wrong order."""
    generator = tf.random.Generator.from_seed(5)

    def drawn(low, high, dtype, fed: bool):
        with tf.Graph().as_default():
            own = tf.random.Generator.from_seed(5)
            low, high = (
                tf.placeholder_with_default(np.asarray(v, dtype.as_numpy_dtype), None) if fed else v
                for v in (low, high)
            )
            tensor = own.uniform([4], low, high, dtype)
            with tf.Session() as session:
                session.run(own.state.initializer)
                return session.run(tensor), session.run(own.state).tolist()

    bounds = ((0, 1), (5, 5), (7, 3), (-9, 9), ([0], 5), (0, [5]), ([0], [5]), (0, 2**31 - 1))
    return [
        generator.algorithm,
        attempt(
            *(
                lambda b=bound, d=dtype, f=fed: drawn(*b, d, f)
                for bound in bounds
                for dtype in (tf.int32, tf.int64)
                for fed in (False, True)
            )
        ),
    ]


BEHAVIOURS = {"keys": _keys, "parts": _parts, "skipped": _skipped, "bounds": _bounds}
