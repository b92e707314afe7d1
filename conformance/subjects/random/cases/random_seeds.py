"""Vectors of RANDOM: the seeds that operations get from their graph and their caller."""

from __future__ import annotations

from typing import Final

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case

#: The greatest seed and one more: what seeds are taken modulo of.
MODULUS: Final = 2**31 - 1


def _check(c: ApiAuthor, tensor: Symbol, seed: int, seed2: int) -> None:
    """Check the attributes `seed` and `seed2` of the random operation."""
    c.check(tensor.op.get_attr("seed"), seed)
    c.check(tensor.op.get_attr("seed2"), seed2)


@api_case("RANDOM-008", title="Operations of a graph with a seed are numbered from 0 on.")
def operations_are_numbered(c: ApiAuthor) -> None:
    tf = c.tf
    tf.set_random_seed(3)
    tf.constant(1.0)
    _check(c, tf.random_uniform([2]), 3, 0)
    tf.constant(2.0)
    _check(c, tf.random_uniform([2], maxval=9, dtype=tf.int32), 3, 1)
    _check(c, tf.random_shuffle([1, 2]), 3, 2)
    _check(c, tf.multinomial([[1.0, 2.0]], 3), 3, 3)
    _check(c, tf.random_uniform([2]), 3, 4)


@api_case("RANDOM-008", title="Neither own seeds nor a new graph seed change the numbering.")
def own_seeds_do_not_count(c: ApiAuthor) -> None:
    tf = c.tf
    tf.set_random_seed(3)
    _check(c, tf.random_uniform([2]), 3, 0)
    _check(c, tf.random_uniform([2], seed=5), 3, 5)
    _check(c, tf.random_uniform([2]), 3, 1)
    tf.set_random_seed(4)
    _check(c, tf.random_uniform([2]), 4, 2)
    graph = tf.Graph()
    with c.within(graph.as_default()):
        tf.set_random_seed(4)
        _check(c, tf.random_uniform([2]), 4, 0)
    _check(c, tf.random_uniform([2]), 4, 3)


@api_case("RANDOM-009", title="An own seed in a graph without one stands beside 87654321.")
def an_own_seed_alone(c: ApiAuthor) -> None:
    tf = c.tf
    _check(c, tf.random_uniform([2], seed=5), 87654321, 5)
    _check(c, tf.random_shuffle([1, 2], seed=0), 87654321, 0)
    _check(c, tf.random_uniform([2], maxval=9, dtype=tf.int32, seed=-1), 87654321, MODULUS - 1)
    _check(c, tf.random_uniform([2]), 0, 0)


@api_case("RANDOM-010", title="Seeds are taken modulo 2**31 - 1, and never both 0.")
def seeds_are_remainders(c: ApiAuthor) -> None:
    tf = c.tf
    for graph_seed, seed, wanted in (
        (0, 0, (0, MODULUS)),
        (MODULUS, MODULUS, (0, MODULUS)),
        (2**31, 2**40, (1, 512)),
        (-1, -(2**40), (MODULUS - 1, MODULUS - 512)),
        (0, 1, (0, 1)),
        (1, 0, (1, 0)),
    ):
        tf.set_random_seed(graph_seed)
        _check(c, tf.random_uniform([2], seed=seed), *wanted)
    graph = tf.Graph()
    with c.within(graph.as_default()):
        tf.set_random_seed(0)
        _check(c, tf.random_uniform([2]), 0, MODULUS)
        _check(c, tf.random_uniform([2]), 0, 1)


@api_case("RANDOM-011", title="get_seed gives what an operation would get, and counts as one.")
def get_seed_counts(c: ApiAuthor) -> None:
    tf = c.tf
    c.check(tf.get_seed(None), (None, None))
    c.check(tf.get_seed(5), (87654321, 5))
    tf.set_random_seed(3)
    c.check(tf.get_seed(None), (3, 0))
    _check(c, tf.random_uniform([2]), 3, 1)
    c.check(tf.random.get_seed(7), (3, 7))
    c.check(tf.get_seed(None), (3, 2))
    tf.set_random_seed(0)
    c.check(tf.get_seed(0), (0, MODULUS))
    tf.set_random_seed(None)
    c.check(tf.get_seed(None), (None, None))
