"""Vectors of RUN: random operations within a run, from run to run, and from session to session."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    differs_from,
    engine_case,
    keep,
    like,
    same_as,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor


def uniform(tf: Namespace, name: str, *, seed: int = 0, seed2: int = 0, shape: int = 4) -> Tensor:
    """Build a RandomUniform operation of float32 numbers as one node; its output."""
    return tf.raw_ops.RandomUniform(
        shape=tf.constant([shape], name=f"{name}_shape"),
        dtype=tf.float32,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def several(tf: Namespace, seed2: int) -> list[str]:
    """Build one operation of several random types, seeded unless seed2 is 0; their names."""
    raw, shape, seed = tf.raw_ops, tf.constant([6]), 11 if seed2 else 0
    low, high = tf.constant(0), tf.constant(1_000_000)
    seeds = {"seed": seed, "seed2": seed2}
    raw.RandomStandardNormal(shape=shape, dtype=tf.float32, name="normal", **seeds)
    raw.TruncatedNormal(shape=shape, dtype=tf.float32, name="truncated", **seeds)
    raw.RandomUniformInt(shape=shape, minval=low, maxval=high, name="integers", **seeds)
    raw.RandomShuffle(value=tf.range(50), name="shuffled", **seeds)
    return ["normal:0", "truncated:0", "integers:0", "shuffled:0"]


@engine_case("RUN-010", title="All consumers of a random operation see its one value.")
def one_random_value_for_all_consumers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        x = uniform(tf, "x")
        tf.subtract(tf.add(x, p), tf.add(p, x), name="difference")
        tf.identity(x, name="a")
        tf.maximum(x, p, name="b")
    s = c.open()
    for kept in ("u", "v"):
        s.run(
            ["a:0", "x:0", "difference:0", "b:0"],
            {"p:0": np.float32(0)},
            values=[keep(kept), same_as(kept), np.zeros(4, np.float32), same_as(kept)],
        )


@engine_case("RUN-010", title="A random operation fetched twice has one value in the run.")
def a_random_value_fetched_twice_is_one(c: EngineAuthor) -> None:
    with c.graph() as tf:
        uniform(tf, "x")
    s = c.open()
    s.run(["x:0", "x:0", "x"], values=[keep("u"), same_as("u"), None])


@engine_case("RUN-011", title="A random operation without a seed draws anew in every run.")
def an_unseeded_operation_draws_anew(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.add(uniform(tf, "x"), p, name="y")
    s = c.open()
    feeds = {"p:0": np.float32(0)}
    s.run(["y:0"], feeds, values=[keep("first")])
    s.run(["y:0"], feeds, values=[keep("second")])
    s.run(["y:0"], feeds, values=[differs_from("first")])
    s.run(["x:0"], values=[differs_from("second")])


@engine_case("RUN-011", title="Every type of random operation draws anew without a seed.")
def every_unseeded_type_draws_anew(c: EngineAuthor) -> None:
    with c.graph() as tf:
        names = several(tf, seed2=0)
    s = c.open()
    s.run(names, values=[keep(name) for name in names])
    s.run(names, values=[differs_from(name) for name in names])


@engine_case("RUN-012", title="Two equal random operations without seeds draw different values.")
def equal_unseeded_operations_differ(c: EngineAuthor) -> None:
    with c.graph() as tf:
        shape = tf.constant([4])
        for name in ("x", "y", "z"):
            tf.raw_ops.RandomUniform(shape=shape, dtype=tf.float32, name=name)
    s = c.open()
    s.run(["x:0", "y:0", "z:0"], values=[keep("x"), keep("y"), differs_from("x")])
    s.run(["z:0", "x:0", "y:0"], values=[keep("z2"), differs_from("z2"), differs_from("z2")])
    s.run(["x:0", "y:0"], values=[keep("x3"), differs_from("x3")])


@engine_case("RUN-014", title="A seeded sequence is the same in every new session.")
def a_seeded_sequence_is_the_same_in_every_session(c: EngineAuthor) -> None:
    with c.graph() as tf:
        uniform(tf, "x", seed=5, seed2=7)
    for index, session in enumerate(("first", "second", "third")):
        s = c.open(session=session)
        for run in ("a", "b", "c"):
            s.run(["x:0"], values=[same_as(run) if index else keep(run)])
        if index == 1:
            s.close()


@engine_case("RUN-014", title="Every type of random operation repeats its seeded sequence.")
def every_seeded_type_repeats_its_sequence(c: EngineAuthor) -> None:
    with c.graph() as tf:
        names = several(tf, seed2=3)
    one, two = c.open(session="one"), c.open(session="two")
    for turn in ("1", "2"):
        one.run(names, values=[keep(name + turn) for name in names])
    for turn in ("1", "2"):
        two.run(names, values=[same_as(name + turn) for name in names])


@engine_case("RUN-014", title="The same graph loaded twice gives the same seeded sequence.")
def the_same_graph_loaded_twice_gives_one_sequence(c: EngineAuthor) -> None:
    for name in ("one", "two"):
        with c.graph(name) as tf:
            uniform(tf, "x", seed=0, seed2=9)
    one, two = c.open("one", "a"), c.open("two", "b")
    for run in ("1", "2", "3"):
        one.run(["x:0"], values=[keep(run)])
        two.run(["x:0"], values=[same_as(run)])


@engine_case("RUN-015", title="Successive runs of a seeded operation differ.")
def successive_seeded_runs_differ(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.add(uniform(tf, "x", seed=5, seed2=7), p, name="y")
    s = c.open()
    feeds = {"p:0": np.float32(0)}
    s.run(["y:0"], feeds, values=[keep("1")])
    s.run(["y:0"], feeds, values=[keep("2")])
    s.run(["y:0"], feeds, values=[differs_from("1")])
    s.run(["x:0"], values=[differs_from("2")])


@engine_case("RUN-015", title="Every type of seeded random operation goes on from run to run.")
def every_seeded_type_goes_on(c: EngineAuthor) -> None:
    with c.graph() as tf:
        names = several(tf, seed2=3)
    s = c.open()
    s.run(names, values=[keep(name) for name in names])
    s.run(names, values=[differs_from(name) for name in names])


@engine_case("RUN-016", title="Runs of other operations do not advance a seeded sequence.")
def other_runs_do_not_advance_the_sequence(c: EngineAuthor) -> None:
    with c.graph() as tf:
        uniform(tf, "x", seed=5, seed2=7)
        uniform(tf, "other", seed=5, seed2=8)
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
    plain, mixed = c.open(session="plain"), c.open(session="mixed")
    for run in ("1", "2"):
        plain.run(["x:0"], values=[keep(run)])
    mixed.run(["other:0"], values=[like("float32", [4])])
    mixed.run(["x:0"], values=[same_as("1")])
    mixed.run(["y:0", "other:0"], {"p:0": np.float32(1)})
    mixed.run(["y:0"], {"p:0": np.float32(1)}, values=[np.float32(-1)])
    mixed.run(["x:0"], values=[same_as("2")])


@engine_case("RUN-016", title="Runs that feed a random operation's output do not advance it.")
def fed_runs_do_not_advance_the_sequence(c: EngineAuthor) -> None:
    with c.graph() as tf:
        x = uniform(tf, "x", seed=5, seed2=7)
        tf.negative(x, name="y")
    plain, fed = c.open(session="plain"), c.open(session="fed")
    for run in ("1", "2"):
        plain.run(["y:0"], values=[keep(run)])
    ones = np.ones(4, np.float32)
    fed.run(["y:0"], values=[same_as("1")])
    for _ in range(2):
        fed.run(["y:0"], {"x:0": ones}, values=[-ones])
    fed.run(["y:0"], values=[same_as("2")])


def _graph_with_seed(c: ApiAuthor, seed: int) -> tuple[Symbol, list[Symbol]]:
    """Build two uniform and a normal operation in a new graph; a session, their outputs."""
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        c.tf.set_random_seed(seed)
        tensors = [c.tf.random_uniform([4]), c.tf.random_uniform([4]), c.tf.random_normal([4])]
    return c.tf.Session(graph=graph), tensors


@api_case("RUN-017", title="Two graphs built alike with one random seed draw the same values.")
def graphs_built_alike_draw_the_same(c: ApiAuthor) -> None:
    for match in (keep, same_as):
        sess, tensors = _graph_with_seed(c, 3)
        for run in ("1", "2"):
            c.check(sess.run(tensors), [match(name + run) for name in ("u", "v", "n")])


@api_case("RUN-058", title="The operations of a graph with a seed draw different sequences.")
def operations_of_a_seeded_graph_differ(c: ApiAuthor) -> None:
    sess, (u, v, _) = _graph_with_seed(c, 3)
    c.check(sess.run([u, v]), [keep("u"), differs_from("u")])
    sess, (u, v, _) = _graph_with_seed(c, 4)
    c.check(sess.run(u), differs_from("u"))
    sess, (u, v, _) = _graph_with_seed(c, 3)
    c.check(sess.run([v, u]), [differs_from("u"), same_as("u")])
