"""Vectors of FETCH: fetches that are refused, and runs that fail as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    Symbol,
    api_case,
    engine_case,
)
from sessrun.conformance.subjects.fetch.cases.fetch import ints, refuse
from sessrun.conformance.subjects.run.cases.run import counter
from sessrun.conformance.subjects.run.cases.run_failures import checked_log
from sessrun.spec.forms import Json

#: Codes of a name that is not in the graph: a ValueError is 3, native engines say NOT_FOUND.
_REFUSED = [3, 5]
#: An output index that the operation lacks: an engine below TensorFlow's client says 11.
_NO_OUTPUT = [3, 5, 11]


# --- names --------------------------------------------------------------------------------


@engine_case("FETCH-012", title="An output of an operation that is not in the graph is refused.")
def an_output_of_no_operation_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf, tf.name_scope("scope"):
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
    s = c.open()
    fed = {"scope/p:0": np.float32(2)}
    for name in ("nope:0", "y:0", "scope/Y:0", "scope/y/:0", "scope/z:0", "scope:0"):
        s.run([name], fed, error=_REFUSED)
        s.run(["scope/y:0"], fed, values=[np.float32(-2)])


@engine_case("FETCH-012", title="An unknown name is refused without feeds and beside valid names.")
def an_unknown_output_beside_valid_ones_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
        tf.no_op(name="nothing")
    s = c.open()
    s.run(["nope:0"], error=_REFUSED)
    s.run(["nothing", "nope:0"], error=_REFUSED)
    s.run(["y:0", "p:0", "nope:0"], {"p:0": np.float32(2)}, error=_REFUSED)
    s.run(["nothing", "y:0"], {"p:0": np.float32(2)}, values=[None, np.float32(-2)])


@api_case("FETCH-012", title="A string that names no tensor of the graph is a ValueError.")
def an_unknown_tensor_name_is_value_error(c: ApiAuthor) -> None:
    c.tf.constant(1, name="a")
    sess = c.tf.Session()
    for name in ("nope:0", "A:0", "scope/a:0", " a:0"):
        refuse(c, "ValueError", sess, name)
        refuse(c, "ValueError", sess, {"x": ["a:0", name]})
    c.check(sess.run(["a:0"]), [np.int32(1)])


@engine_case("FETCH-013", title="An operation that is not in the graph is refused.")
def an_unknown_operation_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.float32, [], name="p")
        tf.negative(p, name="y")
    s = c.open()
    fed = {"p:0": np.float32(2)}
    for fetches in (["nope"], ["Y"], ["y:0", "nope"], ["y", "y/nope"]):
        s.run(fetches, fed, error=_REFUSED)
    s.run(["y:0"], fed, values=[np.float32(-2)])
    s.run(["nope"], error=_REFUSED)


@api_case("FETCH-013", title="A string that names no operation of the graph is a ValueError.")
def an_unknown_operation_name_is_value_error(c: ApiAuthor) -> None:
    c.tf.constant(1, name="a")
    sess = c.tf.Session()
    for name in ("nope", "A", "a/b", "^a"):
        refuse(c, "ValueError", sess, name)
        refuse(c, "ValueError", sess, ("a", [name]))
    c.check(sess.run("a"), None)


@engine_case("FETCH-014", title="An output index beyond an operation's outputs is refused.")
def an_index_beyond_the_outputs_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.int32, [2], name="p")
        tf.split(p, 2, name="sp")
        tf.no_op(name="nothing")
    s = c.open()
    fed = {"p:0": ints([3, 4])}
    for name in ("sp:2", "sp:100", "p:1"):
        s.run([name], fed, error=_NO_OUTPUT)
        s.run(["sp:0", name], fed, error=_NO_OUTPUT)
    s.run(["sp:0"], fed, values=[ints([3])])


@engine_case("FETCH-014", title="An operation without outputs has no output 0 to be fetched.")
def output_zero_of_an_operation_without_outputs_is_refused(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.no_op(name="nothing")
    s = c.open()
    s.run(["nothing:0"], error=_NO_OUTPUT)
    s.run(["nothing"], values=[None])


@api_case("FETCH-014", title="A string with an index that the operation lacks is a ValueError.")
def an_index_beyond_the_outputs_is_value_error(c: ApiAuthor) -> None:
    c.tf.constant(1, name="a")
    c.tf.no_op(name="nothing")
    sess = c.tf.Session()
    for name in ("a:1", "a:12", "nothing:0"):
        refuse(c, "ValueError", sess, name)
    c.check(sess.run("a:0"), np.int32(1))


# --- kinds of argument --------------------------------------------------------------------


@api_case("FETCH-015", title="A set or a frozenset of fetches is a TypeError.")
def a_set_is_no_fetch(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    kinds: list[list[str | Symbol]] = [["a:0"], [a.op], []]
    for items in kinds:
        refuse(c, "TypeError", sess, c.expr("$set", items))
        frozen = c.do({"$py": "frozenset", "args": [_forms(items)]})
        refuse(c, "TypeError", sess, frozen)
    c.check(sess.run([a]), [np.int32(1)])


@api_case("FETCH-015", title="A generator, a range or a deque of fetches is a TypeError.")
def an_iterable_is_no_fetch(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    refuse(c, "TypeError", sess, c.expr("$generator", [a]))
    refuse(c, "TypeError", sess, c.do({"$py": "range", "args": [1]}))
    for kind in ("deque", "user_list"):
        fetches = c.do({"$py": kind, "args": [["a:0"]]})
        refuse(c, "TypeError", sess, fetches)
    c.check(sess.run([a]), [np.int32(1)])


@api_case("FETCH-015", title="An ndarray is a TypeError as fetches, one of names too.")
def an_array_is_no_fetch(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    refuse(c, "TypeError", sess, ints([1]))
    names = c.do({"$numpy": {"dtype": "U3", "shape": [1], "items": ["a:0"]}})
    refuse(c, "TypeError", sess, names)
    refuse(c, "TypeError", sess, np.float32(1))
    c.check(sess.run(a), np.int32(1))


@api_case("FETCH-015", title="A number, a bool or None is a TypeError as fetches.")
def a_number_is_no_fetch(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    for value in (5, 0, 1.5, True, None):
        refuse(c, "TypeError", sess, value)
    c.check(sess.run(a), np.int32(1))


@api_case("FETCH-015", title="An object of the API that is no graph element is a TypeError.")
def other_objects_of_the_api_are_no_fetches(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    sess = c.tf.Session()
    refuse(c, "TypeError", sess, c.tf.float32)
    refuse(c, "TypeError", sess, a.graph)
    refuse(c, "TypeError", sess, sess)
    c.check(sess.run(a), np.int32(1))


def _forms(items: Sequence[str | Symbol]) -> list[Json]:
    """The items as parts of a raw expression."""
    return [item if isinstance(item, str) else item._expr for item in items]  # noqa: SLF001 - a raw `$py` form takes expressions


# --- elements of another graph ------------------------------------------------------------


@api_case("FETCH-016", title="A tensor of another graph is a ValueError as a fetch.")
def a_tensor_of_another_graph_is_value_error(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    with c.within(c.tf.Graph().as_default()):
        b = c.tf.constant(2, name="b")
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, b)
    refuse(c, "ValueError", sess, [a, b])
    refuse(c, "ValueError", sess, {"x": (b,)})
    c.check(sess.run(a), np.int32(1))


@api_case("FETCH-016", title="An equal name does not make another graph's tensor fetchable.")
def an_equal_name_does_not_help(c: ApiAuthor) -> None:
    with c.within(c.tf.Graph().as_default()):
        b = c.tf.constant(1, name="c")
    c.tf.constant(2, name="c")
    sess = c.tf.Session()
    refuse(c, "ValueError", sess, b)
    refuse(c, "ValueError", sess, ["c:0", b])
    c.check(sess.run(b.name), np.int32(2))


@api_case("FETCH-016", title="A tensor of a graph that was copied by a GraphDef is another's.")
def a_tensor_of_a_copied_graph_is_value_error(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [], name="p")
    y = c.tf.negative(p, name="y")
    copy = c.tf.Graph()
    with c.within(copy.as_default()):
        c.tf.import_graph_def(y.graph.as_graph_def(), name="")
    sess = c.tf.Session(graph=copy)
    refuse(c, "ValueError", sess, y, {"p:0": np.float32(2)})
    c.check(sess.run(copy.get_tensor_by_name("y:0"), {"p:0": np.float32(2)}), np.float32(-2))


# --- the whole run ------------------------------------------------------------------------


@engine_case("FETCH-017", title="An unknown fetch keeps its neighbours from being executed.")
def an_unknown_fetch_stops_the_update_beside_it(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    for fetches in (["bump:0", "nope:0"], ["nope:0", "bump:0"], ["bump", "nope"]):
        s.run(fetches, error=_REFUSED)
        s.run(["counter:0"], values=[np.int32(0)])
    s.run(["bump:0"], values=[np.int32(1)])


@engine_case("FETCH-017", title="An output that does not exist keeps its neighbours from running.")
def an_index_beyond_stops_the_update_beside_it(c: EngineAuthor) -> None:
    with c.graph() as tf:
        counter(tf)
    s = c.open()
    s.run(["counter/Assign"])
    s.run(["bump:0"], values=[np.int32(1)])
    for fetches in (["bump:0", "bump:1"], ["bump", "counter:1"], ["bump:0", "bump", "bump:9"]):
        s.run(fetches, error=_NO_OUTPUT)
        s.run(["counter:0"], values=[np.int32(1)])
    s.run(["bump:0"], values=[np.int32(2)])


@api_case("FETCH-017", title="A fetch of a wrong type or graph lets nothing beside it execute.")
def a_wrong_object_stops_the_update_beside_it(c: ApiAuthor) -> None:
    with c.within(c.tf.Graph().as_default()):
        foreign = c.tf.constant(2, name="b")
    variable = c.tf.Variable(0, dtype=c.tf.int32, use_resource=False)
    bump = c.tf.assign_add(variable, 1)
    sess = c.tf.Session()
    sess.run(variable.initializer)
    refuse(c, "ValueError", sess, [bump, foreign])
    for wrong in (5, None):
        refuse(c, "TypeError", sess, [bump, wrong])
        refuse(c, "TypeError", sess, {"a": bump.op, "b": [wrong]})
    c.check(sess.run(variable), np.int32(0))
    c.check(sess.run([bump]), [np.int32(1)])


@engine_case("FETCH-020", title="A failing fetch fails the run, whatever else was fetched.")
def a_failing_fetch_fails_the_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        checked_log(tf)
        q = tf.placeholder(tf.int32, [2], name="q")
        tf.negative(q, name="y")
    s = c.open()
    bad = {"p:0": np.float32(-1), "q:0": ints([1, 2])}
    good = bad | {"p:0": np.float32(1)}
    y, zero = ints([-1, -2]), np.float32(0)
    s.run(["y:0", "checked:0", "q:0"], bad, error=[3])
    s.run(["checked:0", "y:0"], bad, error=[3])
    s.run(["y:0", "checked:0", "q:0"], good, values=[y, zero, ints([1, 2])])
    s.run(["y:0"], bad, values=[y])


@engine_case("FETCH-020", title="A variable without a value fails the run it is fetched in.")
def an_uninitialised_variable_fails_the_run(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.Variable(ints([1, 2]), name="v", use_resource=False)
        tf.Variable(np.float32(3), name="w", use_resource=False)
    s = c.open()
    s.run(["v/Assign"], values=[None])
    s.run(["v:0", "w:0"], error=[9])
    s.run(["w:0", "v:0", "v"], error=[9])
    s.run(["v:0"], values=[ints([1, 2])])
    s.run(["w/Assign"], values=[None])
    s.run(["v:0", "w:0"], values=[ints([1, 2]), np.float32(3)])


@api_case("FETCH-020", title="No part of a structure comes back when one part fails.")
def a_failing_leaf_fails_the_structure(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [])
    quotient = 12 // p
    doubled = p * 2
    sess = c.tf.Session()
    structures: tuple[Recordable, ...] = (
        [doubled, quotient],
        {"a": doubled, "b": quotient},
        [doubled, [p, {"x": quotient}]],
    )
    for fetches in structures:
        refuse(c, "InvalidArgumentError", sess, fetches, {p: 0})
    c.check(sess.run([doubled, {"x": quotient}], {p: 4}), [np.int32(8), {"x": np.int32(3)}])
