"""Vectors of GRAPH: the default graph, names and name scopes, control dependencies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, as_array


def leave_by_exception(c: ApiAuthor, context: Symbol) -> Symbol:
    """Leave an entered context as a `with` statement does when its body raises."""
    error = c.tf.errors.AbortedError(None, None, "the body of the block raised")
    return context.__exit__(c.tf.errors.AbortedError, error, None)


def enter(c: ApiAuthor, block: Callable[[], Symbol]) -> None:
    """Enter and leave a block, made here."""
    with c.within(block()):
        pass


def count_of(c: ApiAuthor, graph: Symbol) -> Symbol:
    """The number of operations of a graph."""
    return c.expr("$len", graph.get_operations())


def named(c: ApiAuthor, name: str) -> Symbol:
    """The name that a constant gets if it asks for this one."""
    return c.tf.constant(1, name=name).op.name


def names_given(c: ApiAuthor, **given: str) -> None:
    """Constants that ask for the keys in turn, without a final _, must get the names given."""
    for asked, got in given.items():
        c.check(named(c, asked.rstrip("_")), got)


def waits_for(c: ApiAuthor, op: Symbol, *names: str) -> None:
    """The operation must have exactly these control inputs, in any order."""
    c.check(c.expr("$len", op.control_inputs), len(names))
    for name in names:
        c.check(c.expr("$op", "in", f"^{name}", op.node_def.input), True)


def counter(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """A resource variable at 0, an operation that adds 1 to it, a session that initialised it."""
    v = c.tf.Variable(0, name="counter", dtype=c.tf.int32, use_resource=True)
    up = c.tf.assign_add(v, 1, name="up")
    sess = c.tf.Session()
    sess.run(v.initializer)
    return v, up, sess


# --- the default graph --------------------------------------------------------------------


@api_case("GRAPH-001", title="Operations made inside g.as_default() are g's.")
def operations_of_the_block(c: ApiAuthor) -> None:
    before, g = c.tf.get_default_graph(), c.tf.Graph()
    with c.within(g.as_default()):
        a = c.tf.constant(2)
        b = c.tf.placeholder(c.tf.int32, [])
        n = c.tf.no_op()
    for element in (a, b, n):
        c.check_same(element.graph, g)
    c.check(count_of(c, g), 3)
    c.check(count_of(c, before), 0)


@api_case("GRAPH-001", title="A graph that is entered a second time goes on growing.")
def second_block_of_a_graph(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        a = c.tf.placeholder(c.tf.float32, [], name="a")
    with c.within(g.as_default()):
        b = c.tf.placeholder(c.tf.float32, [], name="b")
        y = c.tf.add(a, b)
    c.check_same(b.graph, g)
    c.check(c.tf.Session(graph=g).run(y, {a: 1.0, b: 2.0}), as_array(np.float32(3)))


@api_case("GRAPH-001", title="as_default gives the graph, which is the default inside.")
def as_default_gives_the_graph(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()) as entered:
        c.check_same(entered, g)
        c.check_same(c.tf.get_default_graph(), g)


@api_case("GRAPH-002", title="After the inner block the outer graph is the default again.")
def outer_graph_comes_back(c: ApiAuthor) -> None:
    before, outer, inner = c.tf.get_default_graph(), c.tf.Graph(), c.tf.Graph()
    with c.within(outer.as_default()):
        with c.within(inner.as_default()):
            c.check_same(c.tf.constant(1).graph, inner)
        c.check_same(c.tf.get_default_graph(), outer)
        c.check_same(c.tf.constant(1).graph, outer)
    c.check_same(c.tf.get_default_graph(), before)


@api_case("GRAPH-002", title="A graph entered inside its own block is the default after it.")
def graph_inside_itself(c: ApiAuthor) -> None:
    g, other = c.tf.Graph(), c.tf.Graph()
    with c.within(g.as_default()):
        with c.within(other.as_default()):
            with c.within(g.as_default()):
                c.check_same(c.tf.get_default_graph(), g)
            c.check_same(c.tf.get_default_graph(), other)
        c.check_same(c.tf.get_default_graph(), g)


@api_case("GRAPH-003", title="A block left by an exception gives the default graph back.")
def block_left_by_an_exception(c: ApiAuthor) -> None:
    before = c.tf.get_default_graph()
    block = c.tf.Graph().as_default()
    block.__enter__()
    c.check_same(c.tf.get_default_graph(), before, same=False)
    c.check(leave_by_exception(c, block), False)
    c.check_same(c.tf.get_default_graph(), before)


@api_case("GRAPH-004", title="A new thread has another default graph than its starter.")
def default_graph_of_a_new_thread(c: ApiAuthor) -> None:
    mine = c.tf.get_default_graph()
    with c.thread():
        c.check_same(c.tf.get_default_graph(), mine, same=False)
    c.check_same(c.tf.get_default_graph(), mine)


@api_case("GRAPH-004", title="A new thread started inside a block does not have its graph.")
def new_thread_inside_a_block(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.constant(1)
        c.check_same(c.tf.get_default_graph(), g)
        with c.thread():
            c.check_same(c.tf.get_default_graph(), g, same=False)
            a = c.tf.constant(1)
            c.check_same(a.graph, g, same=False)
        c.check_same(c.tf.get_default_graph(), g)
    c.check(count_of(c, g), 1)


@api_case("GRAPH-005", title="reset_default_graph makes an empty graph the default.")
def reset_makes_a_new_graph(c: ApiAuthor) -> None:
    old = c.tf.get_default_graph()
    a = c.tf.constant(3, name="a")
    c.tf.reset_default_graph()
    c.check_same(c.tf.get_default_graph(), old, same=False)
    c.check(count_of(c, c.tf.get_default_graph()), 0)
    c.check(named(c, "a"), "a")
    c.check_same(a.graph, old)


@api_case("GRAPH-006", title="reset_default_graph inside a block is AssertionError.")
def reset_inside_a_block(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        c.raises("AssertionError", c.tf.reset_default_graph)
        c.check_same(c.tf.get_default_graph(), g)


# --- names --------------------------------------------------------------------------------


@api_case("GRAPH-007", title="A name that is taken gets the first free suffix.")
def first_free_suffix(c: ApiAuthor) -> None:
    names_given(c, a_1="a_1", a="a", a_="a_2", a__="a_3", a_1_="a_1_1")


@api_case("GRAPH-007", title="A suffix makes a second operation of the name, not the first.")
def suffix_makes_a_second_operation(c: ApiAuthor) -> None:
    a = c.tf.placeholder(c.tf.int32, [], name="n")
    b = c.tf.constant(5, name="n")
    n = c.tf.no_op(name="n")
    for element, name in ((a.op, "n"), (b.op, "n_1"), (n, "n_2")):
        c.check(element.name, name)
    sess = c.tf.Session()
    c.check(sess.run(["n:0", "n_1:0"], {a: 4}), [np.array(4, np.int32), np.int32(5)])


@api_case("GRAPH-007", title="Each graph gives names of its own.")
def names_belong_to_a_graph(c: ApiAuthor) -> None:
    c.check(named(c, "a"), "a")
    with c.within(c.tf.Graph().as_default()):
        c.check(named(c, "a"), "a")
        c.check(named(c, "a"), "a_1")
    c.check(named(c, "a"), "a_1")


@api_case("GRAPH-008", title="Names that differ only in case are made different.")
def case_does_not_tell_names(c: ApiAuthor) -> None:
    names_given(c, Foo="Foo", foo="foo_1", FOO="FOO_2", Foo_="Foo_3")


@api_case("GRAPH-009", title="Without a name constants and placeholders are called after it.")
def default_names(c: ApiAuthor) -> None:
    for name in ("Const", "Const_1", "Const_2"):
        c.check(c.tf.constant(1).op.name, name)
    for name in ("Placeholder", "Placeholder_1"):
        c.check(c.tf.placeholder(c.tf.float32).op.name, name)


@api_case("GRAPH-010", title="An operation in nested scopes has all their names.")
def names_in_nested_scopes(c: ApiAuthor) -> None:
    with c.within(c.tf.name_scope("a")) as a:
        c.check(a, "a/")
        with c.within(c.tf.name_scope("b")) as b:
            c.check(b, "a/b/")
            c.check(named(c, "c"), "a/b/c")
            c.check(c.tf.placeholder(c.tf.int32, name="c").op.name, "a/b/c_1")
        c.check(named(c, "c"), "a/c")
    c.check(named(c, "c"), "c")


@api_case("GRAPH-010", title="Three scopes deep an operation is found by its full name.")
def fetched_by_its_full_name(c: ApiAuthor) -> None:
    with (
        c.within(c.tf.name_scope("x")),
        c.within(c.tf.name_scope("y")),
        c.within(c.tf.name_scope("z")),
    ):
        c.tf.constant(4, name="w")
    c.check(c.tf.Session().run("x/y/z/w:0"), as_array(np.int32(4)))


@api_case("GRAPH-011", title="A scope of a name used before gets a suffix.")
def scope_used_before(c: ApiAuthor) -> None:
    for asked, name in (("a", "a/"), ("a", "a_1/"), ("A", "A_2/")):
        with c.within(c.tf.name_scope(asked)) as scope:
            c.check(scope, name)
            c.check(named(c, "c"), f"{name}c")


@api_case("GRAPH-011", title="A scope used before in another parent keeps its name.")
def scope_used_in_another_parent(c: ApiAuthor) -> None:
    for name in ("p", "q"):
        with c.within(c.tf.name_scope(name)), c.within(c.tf.name_scope("a")) as scope:
            c.check(scope, f"{name}/a/")


@api_case("GRAPH-012", title="A scope whose name ends in / is that very scope.")
def scope_entered_again(c: ApiAuthor) -> None:
    with c.within(c.tf.name_scope("a")):
        c.check(named(c, "c"), "a/c")
    with c.within(c.tf.name_scope("q")):
        for name in ("d", "e"):
            with c.within(c.tf.name_scope("a/")) as scope:
                c.check(scope, "a/")
                c.check(named(c, name), f"a/{name}")
        c.check(named(c, "f"), "q/f")


@api_case("GRAPH-012", title="A scope whose name ends in / takes no name.")
def scope_entered_takes_no_name(c: ApiAuthor) -> None:
    for asked, name in (("a/", "a/"), ("a", "a/"), ("a/", "a/"), ("a", "a_1/")):
        with c.within(c.tf.name_scope(asked)) as scope:
            c.check(scope, name)


@api_case("GRAPH-013", title="A scope of None or an empty name is the root.")
def scope_of_the_root(c: ApiAuthor) -> None:
    with c.within(c.tf.name_scope("a")):
        for root, name in ((None, "c"), ("", "d")):
            with c.within(c.tf.name_scope(root)) as scope:
                c.check(scope, "")
                c.check(named(c, name), name)
        c.check(named(c, "e"), "a/e")


@api_case("GRAPH-014", title="Scopes and operations share one set of names.")
def scopes_and_operations_share_names(c: ApiAuthor) -> None:
    c.check(named(c, "a"), "a")
    with c.within(c.tf.name_scope("a")) as scope:
        c.check(scope, "a_1/")
    with c.within(c.tf.name_scope("k")):
        c.check(named(c, "c"), "k/c")
    c.check(named(c, "k"), "k_1")


@api_case("GRAPH-015", title="A name with a wrong character or start is ValueError.")
def wrong_operation_names(c: ApiAuthor) -> None:
    for name in ("a b", "a:0", "a^", "^a", "_a", "-a", "/a", ""):
        c.raises("ValueError", partial(c.tf.constant, 1, name=name))
    c.check(count_of(c, c.tf.get_default_graph()), 0)


@api_case("GRAPH-016", title="Digits, dots, dashes and more are admitted in a name.")
def unusual_operation_names(c: ApiAuthor) -> None:
    for name in ("1a", ".a", "a.b-c/d_e", "a>b", "7"):
        c.check(named(c, name), name)


@api_case("GRAPH-017", title="A scope with a wrong character is ValueError.")
def wrong_scope_names(c: ApiAuthor) -> None:
    for name in ("a b", "a:0", "_a", "-a"):
        c.raises("ValueError", partial(enter, c, partial(c.tf.name_scope, name)))
    with c.within(c.tf.name_scope("o")):
        c.raises("ValueError", partial(enter, c, partial(c.tf.name_scope, "a b")))


@api_case("GRAPH-017", title="A scope with a caret or a leading slash is ValueError.")
def carets_and_slashes_in_scope_names(c: ApiAuthor) -> None:
    for name in ("a^b", "^a", "/a"):
        c.raises("ValueError", partial(enter, c, partial(c.tf.name_scope, name)))
    with c.within(c.tf.name_scope("o")):
        for name in ("a^b", "a:0"):
            c.raises("ValueError", partial(enter, c, partial(c.tf.name_scope, name)))


# --- control dependencies -----------------------------------------------------------------


@api_case("GRAPH-018", title="What is made in the block waits for what the block lists.")
def operations_of_the_block_wait(c: ApiAuthor) -> None:
    a, b = c.tf.no_op(name="a"), c.tf.constant(1, name="b")
    with c.within(c.tf.control_dependencies([a, b])):
        x, n = c.tf.constant(1, name="x"), c.tf.no_op(name="n")
    for op in (x.op, n):
        waits_for(c, op, "a", "b")
    waits_for(c, c.tf.constant(2).op)


@api_case("GRAPH-018", title="Running what was made in the block runs what it waits for.")
def running_what_waits(c: ApiAuthor) -> None:
    v, up, sess = counter(c)
    with c.within(c.tf.control_dependencies([up])):
        x = c.tf.constant(7)
        read = v.read_value()
    c.check(sess.run(x), as_array(np.int32(7)))
    c.check(sess.run(v), as_array(np.int32(1)))
    for value in (2, 3):
        c.check(sess.run(read), as_array(np.int32(value)))


@api_case("GRAPH-018", title="A reader in the block is ordered after the writer, every time.")
def reader_after_writer(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.int32, [])
    v = c.tf.Variable(0, dtype=c.tf.int32, use_resource=True)
    write = c.tf.assign(v, p)
    with c.within(c.tf.control_dependencies([write])):
        read = v.read_value()
    sess = c.tf.Session()
    sess.run(v.initializer)
    for value in (4, -1, 9):
        c.check(sess.run(read, {p: value}), as_array(np.int32(value)))


@api_case("GRAPH-019", title="Control inputs of nested blocks add up.")
def nested_blocks_add_up(c: ApiAuthor) -> None:
    a, b, d = (c.tf.no_op(name=name) for name in "abd")
    with c.within(c.tf.control_dependencies([a])):
        with c.within(c.tf.control_dependencies([b, d])):
            x = c.tf.constant(1)
            with c.within(c.tf.control_dependencies([])):
                y = c.tf.constant(1)
        z = c.tf.constant(1)
    waits_for(c, x.op, "a", "b", "d")
    waits_for(c, y.op, "a", "b", "d")
    waits_for(c, z.op, "a")


@api_case("GRAPH-020", title="control_dependencies(None) suspends the outer blocks.")
def none_suspends_outer_blocks(c: ApiAuthor) -> None:
    a, b = c.tf.no_op(name="a"), c.tf.no_op(name="b")
    with c.within(c.tf.control_dependencies([a])):
        with c.within(c.tf.control_dependencies(None)):
            x = c.tf.constant(1)
            with c.within(c.tf.control_dependencies([b])):
                y = c.tf.constant(1)
        z = c.tf.constant(1)
    waits_for(c, x.op)
    waits_for(c, y.op, "b")
    waits_for(c, z.op, "a")


@api_case("GRAPH-021", title="After a block nothing waits for what it listed.")
def nothing_waits_after_the_block(c: ApiAuthor) -> None:
    a = c.tf.no_op(name="a")
    with c.within(c.tf.control_dependencies([a])):
        c.tf.constant(1)
    waits_for(c, c.tf.constant(1).op)
    block = c.tf.control_dependencies([a])
    block.__enter__()
    waits_for(c, c.tf.constant(1).op, "a")
    leave_by_exception(c, block)
    waits_for(c, c.tf.constant(1).op)


@api_case("GRAPH-022", title="A tensor from before the block does not wait.")
def tensor_from_before_does_not_wait(c: ApiAuthor) -> None:
    v, up, sess = counter(c)
    t = c.tf.placeholder(c.tf.int32, [])
    with c.within(c.tf.control_dependencies([up])):
        c.tf.identity(t)
    c.check(sess.run(t, {t: 4}), as_array(np.int32(4)))
    c.check(sess.run(v), as_array(np.int32(0)))
    waits_for(c, t.op)


@api_case("GRAPH-023", title="A block may list operations, tensors, variables and names.")
def kinds_of_entries(c: ApiAuthor) -> None:
    a = c.tf.constant(1, name="a")
    v = c.tf.Variable(1, name="v", use_resource=True)
    r = c.tf.Variable(1, name="r", use_resource=False)
    for entry, name in ((a, "a"), (a.op, "a"), ("a", "a"), (v, "v"), (r, "r")):
        with c.within(c.tf.control_dependencies([entry])):
            waits_for(c, c.tf.no_op(), name)


@api_case("GRAPH-024", title="An entry that is no graph element is TypeError.")
def wrong_kinds_of_entries(c: ApiAuthor) -> None:
    for entry in (5, None, 1.5):
        block = partial(c.tf.control_dependencies, [entry])
        c.raises("TypeError", partial(enter, c, block))


@api_case("GRAPH-025", title="An entry of another graph is ValueError.")
def entry_of_another_graph(c: ApiAuthor) -> None:
    with c.within(c.tf.Graph().as_default()):
        a = c.tf.constant(1)
    c.tf.constant(1)
    for entry in (a, a.op):
        block = partial(c.tf.control_dependencies, [entry])
        c.raises("ValueError", partial(enter, c, block))


@api_case("GRAPH-026", title="A block of one graph means nothing to another.")
def block_of_another_graph(c: ApiAuthor) -> None:
    a, g = c.tf.no_op(name="a"), c.tf.Graph()
    with c.within(c.tf.control_dependencies([a])):
        with c.within(g.as_default()):
            n = c.tf.no_op()
        m = c.tf.no_op()
    waits_for(c, n)
    waits_for(c, m, "a")


@api_case("GRAPH-027", title="A group executes its operations and the producers of its tensors.")
def group_executes_all(c: ApiAuthor) -> None:
    v = c.tf.Variable(0, dtype=c.tf.int32, use_resource=False)
    w = c.tf.Variable(0, dtype=c.tf.int32, use_resource=False)
    tensor, op = c.tf.assign_add(v, 1), c.tf.assign_add(w, 10).op
    both = c.tf.group(tensor, op)
    sess = c.tf.Session()
    sess.run([v.initializer, w.initializer])
    for _ in range(2):
        c.check(sess.run(both), None)
    c.check(sess.run([v, w]), [np.int32(2), np.int32(20)])


@api_case("GRAPH-027", title="A group of groups executes what they hold.")
def group_of_groups(c: ApiAuthor) -> None:
    v = c.tf.Variable(0, dtype=c.tf.int32, use_resource=False)
    inner = c.tf.group(c.tf.assign_add(v, 1, use_locking=True))
    outer = c.tf.group(inner, c.tf.assign_add(v, 10, use_locking=True))
    sess = c.tf.Session()
    sess.run(v.initializer)
    c.check(sess.run(outer), None)
    c.check(sess.run(v), as_array(np.int32(11)))
    c.check_instance(c.tf.group(), c.tf.Operation)
