"""Vectors of GRAPH: collections, finalized graphs, GraphDefs written and imported."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, as_array, form
from sessrun.conformance.subjects.graph.cases.graph import count_of, leave_by_exception, waits_for
from sessrun.conformance.subjects.run.cases.run import floats


def _sum_graph(c: ApiAuthor) -> Symbol:
    """A GraphDef of placeholders `p` and `q`, `y` their sum and `z`, minus `y`."""
    g = c.tf.Graph()
    with c.within(g.as_default()):
        p, q = (c.tf.placeholder(c.tf.float32, [], name=name) for name in "pq")
        c.tf.negative(c.tf.add(p, q, name="y"), name="z")
    return g.as_graph_def()


def _operation_names(c: ApiAuthor, *names: str) -> None:
    """The default graph must have exactly these operations, in any order."""
    graph = c.tf.get_default_graph()
    c.check(count_of(c, graph), len(names))
    for name in names:
        c.check(graph.get_operation_by_name(name).name, name)


def _input_names(c: ApiAuthor, op: Symbol, *names: str) -> None:
    c.check(c.expr("$len", op.inputs), len(names))
    for index, name in enumerate(names):
        c.check(op.inputs[index].name, name)


# --- collections --------------------------------------------------------------------------


@api_case("GRAPH-028", title="A collection has its items in the order of adding, repeated too.")
def collection_in_order(c: ApiAuthor) -> None:
    for item in (3, "b", 3):
        c.tf.add_to_collection("k", item)
    c.tf.get_default_graph().add_to_collection("other", 1)
    c.check(c.tf.get_collection("k"), [3, "b", 3])
    a = c.tf.constant(1)
    c.tf.add_to_collection("k", a)
    c.check_same(c.tf.get_collection("k")[3], a)


@api_case("GRAPH-029", title="The list of a collection is a copy.")
def collection_is_a_copy(c: ApiAuthor) -> None:
    c.tf.add_to_collection("k", 1)
    c.tf.get_collection("k").append(2)
    c.check(c.tf.get_collection("k"), [1])


@api_case("GRAPH-030", title="A collection to which nothing was added is empty.")
def collection_of_an_unknown_key(c: ApiAuthor) -> None:
    c.check(c.tf.get_collection("k"), [])
    c.check(c.tf.get_default_graph().get_collection("k", "scope"), [])


@api_case("GRAPH-031", title="A scope keeps the items whose names it matches from the start.")
def collection_in_a_scope(c: ApiAuthor) -> None:
    with c.within(c.tf.name_scope("s")):
        a = c.tf.constant(1, name="a")
    b = c.tf.constant(1, name="b")
    for item in (a, 5, b):
        c.tf.add_to_collection("k", item)
    for scope, item in (("s", a), ("b", b), (".*a", a)):
        c.check(c.expr("$len", c.tf.get_collection("k", scope)), 1)
        c.check_same(c.tf.get_collection("k", scope)[0], item)
    c.check(c.tf.get_collection("k", "a"), [])


@api_case("GRAPH-032", title="get_collection_ref is the collection itself.")
def collection_reference(c: ApiAuthor) -> None:
    c.tf.get_collection_ref("k").append(7)
    c.tf.get_collection_ref("k").append(8)
    c.check(c.tf.get_collection("k"), [7, 8])


# --- finalized graphs ---------------------------------------------------------------------


@api_case("GRAPH-033", title="A finalized graph takes no operation.")
def finalized_graph_takes_nothing(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        a = c.tf.constant(1)
        g.finalize()
        c.check(g.finalized, True)
        c.raises("RuntimeError", partial(c.tf.constant, 2))
        c.raises("RuntimeError", partial(c.tf.add, a, a))
        c.raises("RuntimeError", c.tf.no_op)
    c.check(count_of(c, g), 1)


@api_case("GRAPH-033", title="A finalized graph takes no imported node.")
def finalized_graph_imports_nothing(c: ApiAuthor) -> None:
    definition, g = _sum_graph(c), c.tf.Graph()
    with c.within(g.as_default()):
        g.finalize()
        c.raises("RuntimeError", partial(c.tf.import_graph_def, definition, name=""))
    c.check(count_of(c, g), 0)


@api_case("GRAPH-034", title="A finalized graph can be run.")
def finalized_graph_runs(c: ApiAuthor) -> None:
    p = c.tf.placeholder(c.tf.float32, [])
    v = c.tf.Variable(2.0, use_resource=True)
    y = c.tf.assign_add(v, p)
    init = c.tf.global_variables_initializer()
    c.tf.get_default_graph().finalize()
    sess = c.tf.Session()
    sess.run(init)
    for value in (3, 4):
        c.check(sess.run(y, {p: 1.0}), as_array(np.float32(value)))


@api_case("GRAPH-035", title="A collection of a finalized graph takes nothing.")
def finalized_collection(c: ApiAuthor) -> None:
    c.tf.add_to_collection("k", 1)
    c.tf.get_default_graph().finalize()
    c.raises("RuntimeError", partial(c.tf.add_to_collection, "k", 2))
    c.check(c.tf.get_collection("k"), [1])


# --- GraphDefs written --------------------------------------------------------------------


@api_case("GRAPH-036", title="as_graph_def has one node per operation in order of creation.")
def nodes_in_order_of_creation(c: ApiAuthor) -> None:
    wanted = [("z", "Placeholder"), ("a", "NoOp"), ("m", "Const"), ("b", "AddV2"), ("c", "Neg")]
    g = c.tf.Graph()
    with c.within(g.as_default()):
        z = c.tf.placeholder(c.tf.float32, name="z")
        c.tf.no_op(name="a")
        c.tf.negative(c.tf.add(z, c.tf.constant(1.0, name="m"), name="b"), name="c")
    nodes = g.as_graph_def().node
    c.check(c.expr("$len", nodes), len(wanted))
    for index, (name, op) in enumerate(wanted):
        node = nodes[index]
        c.check(node.name, name)
        c.check(node.op, op)


@api_case("GRAPH-037", title="A node's inputs name operations, outputs but 0, then controls.")
def inputs_as_written(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        x = c.tf.placeholder(c.tf.float32, [3], name="x")
        parts = c.tf.unstack(x, name="u")
        n = c.tf.no_op(name="n")
        with c.within(c.tf.control_dependencies([n])):
            c.tf.subtract(parts[2], parts[0], name="y")
        c.tf.negative(parts[1], name="z")
    nodes = g.as_graph_def().node
    wanted = {1: ["x"], 2: [], 3: ["u:2", "u", "^n"], 4: ["u:1"]}
    for index, inputs in wanted.items():
        c.check(c.expr("$list", nodes[index].input), inputs)


@api_case("GRAPH-037", title="An operation's node_def tells its inputs in the same way.")
def inputs_of_node_def(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [4])
    parts = c.tf.split(x, 2, name="s")
    n = c.tf.no_op(name="n")
    with c.within(c.tf.control_dependencies([n])):
        y = c.tf.multiply(parts[1], parts[0])
    c.check(c.expr("$list", y.op.node_def.input), ["s:1", "s", "^n"])


@api_case("GRAPH-038", title="as_graph_def has dtype and value, dtype and shape.")
def attributes_as_written(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.constant([4, 5], name="a")
        c.tf.placeholder(c.tf.float32, [None, 2], name="p")
    nodes = g.as_graph_def().node
    constant, placeholder = nodes[0], nodes[1]
    c.check(constant.attr["dtype"].type, 3)
    c.check(c.tf.make_ndarray(constant.attr["value"].tensor), np.array([4, 5], np.int32))
    c.check(placeholder.attr["dtype"].type, 1)
    dims = placeholder.attr["shape"].shape.dim
    c.check(c.expr("$len", dims), 2)
    for index, size in enumerate((-1, 2)):
        c.check(dims[index].size, size)


@api_case("GRAPH-039", title="What as_graph_def returned is a copy.")
def graph_def_is_a_copy(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    with c.within(graph.as_default()):
        c.tf.constant(1, name="a")
    definition = graph.as_graph_def()
    c.set(definition.node[0], "name", "other")
    c.check(graph.as_graph_def().node[0].name, "a")
    c.check(c.tf.Session(graph=graph).run("a:0"), as_array(np.int32(1)))


@api_case("GRAPH-040", title="A GraphDef imported and exported again is the same.")
def round_trip(c: ApiAuthor) -> None:
    a = c.tf.placeholder(c.tf.float32, [None, 2], name="a")
    b = c.tf.constant(floats(1, 2), name="b")
    with c.within(c.tf.device("/cpu:0")):
        y = c.tf.matmul(a, [[1.0], [2.0]], name="y")
    with c.within(c.tf.control_dependencies([y])):
        c.tf.split(c.tf.add(a, b), 2, axis=1, name="s")
    definition, g = c.tf.get_default_graph().as_graph_def(), c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.import_graph_def(definition, name="")
    c.check(c.expr("$op", "==", g.as_graph_def(), definition), True)


@api_case("GRAPH-040", title="Undeclared attributes survive the round trip.")
def round_trip_of_undeclared_attributes(c: ApiAuthor) -> None:
    definition, g = _sum_graph(c), c.tf.Graph()
    c.set(definition.node[2].attr["_mark"], "s", b"hi")
    c.set(definition.node[3].attr["_count"], "i", 7)
    with c.within(g.as_default()):
        c.tf.import_graph_def(definition, name="")
    again = g.as_graph_def()
    c.check(c.expr("$op", "==", again, definition), True)
    c.check(again.node[2].attr["_mark"].s, b"hi")


@api_case("GRAPH-041", title="Graph.version grows with every operation.")
def version_grows(c: ApiAuthor) -> None:
    graph = c.tf.Graph()
    before = c.do(form(graph.version))
    with c.within(graph.as_default()):
        c.tf.no_op()
        after = c.do(form(graph.version))
        c.check(c.expr("$op", "<", before, after), True)
        c.tf.no_op()
    c.check(c.expr("$op", "<", after, graph.version), True)


# --- GraphDefs imported -------------------------------------------------------------------


@api_case("GRAPH-042", title="Without a name nodes go under import/, then under import_1/.")
def default_prefix(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    c.check(c.tf.import_graph_def(definition), None)
    c.tf.import_graph_def(definition)
    scopes = ("import", "import_1")
    _operation_names(c, *(f"{scope}/{name}" for scope in scopes for name in "pqyz"))
    sess = c.tf.Session()
    feeds = {"import_1/p:0": 1.0, "import_1/q:0": 2.0}
    c.check(sess.run("import_1/z:0", feeds), as_array(np.float32(-3)))


@api_case("GRAPH-043", title="With a name p nodes go under p/, inside the current scope.")
def given_prefix(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    c.tf.import_graph_def(definition, name="m")
    with c.within(c.tf.name_scope("s")):
        c.tf.import_graph_def(definition, name="m")
    _operation_names(c, *(f"{scope}/{name}" for scope in ("m", "s/m") for name in "pqyz"))


@api_case("GRAPH-044", title="With an empty name nodes keep their names, in a scope too.")
def empty_prefix(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    with c.within(c.tf.name_scope("s")):
        c.tf.import_graph_def(definition, name="")
    _operation_names(c, "p", "q", "y", "z")


@api_case("GRAPH-045", title="An imported node whose name is taken gets a suffix.")
def taken_names_of_nodes(c: ApiAuthor) -> None:
    c.tf.constant(1, name="y")
    c.tf.import_graph_def(_sum_graph(c), name="")
    _operation_names(c, "y", "p", "q", "y_1", "z")
    z = c.tf.get_default_graph().get_operation_by_name("z")
    c.check(z.inputs[0].name, "y_1:0")


@api_case("GRAPH-046", title="return_elements gives operations and tensors in its order.")
def return_elements_in_order(c: ApiAuthor) -> None:
    elements = c.tf.import_graph_def(_sum_graph(c), return_elements=["z:0", "p", "y", "y:0"])
    c.check(c.expr("$len", elements), 4)
    classes = (c.tf.Tensor, c.tf.Operation, c.tf.Operation, c.tf.Tensor)
    names = ("import/z:0", "import/p", "import/y", "import/y:0")
    for index, (cls, name) in enumerate(zip(classes, names, strict=True)):
        element = elements[index]
        c.check_instance(element, cls)
        c.check(element.name, name)
    c.check_same(elements[3].op, elements[2])


@api_case("GRAPH-046", title="Returned elements can be fed and fetched.")
def return_elements_run(c: ApiAuthor) -> None:
    elements = c.tf.import_graph_def(_sum_graph(c), return_elements=["q:0", "z:0", "p:0"], name="m")
    q, z, p = (elements[index] for index in range(3))
    c.check(c.tf.Session().run(z, {p: 1.0, q: 4.0}), as_array(np.float32(-5)))
    c.check(c.tf.import_graph_def(_sum_graph(c), return_elements=[]), [])


@api_case("GRAPH-047", title="A return element that the GraphDef lacks is ValueError.")
def unknown_return_elements(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    for name in ("nowhere", "nowhere:0", "y:1"):
        wanted = partial(c.tf.import_graph_def, definition, return_elements=["p", name])
        c.raises("ValueError", wanted)


@api_case("GRAPH-048", title="input_map connects consumers to the given tensor.")
def mapped_input(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [], name="x")
    elements = c.tf.import_graph_def(
        _sum_graph(c), input_map={"p:0": x}, return_elements=["y", "z:0", "q:0"]
    )
    y, z, q = (elements[index] for index in range(3))
    _input_names(c, y, "x:0", "import/q:0")
    c.check(c.tf.Session().run(z, {x: 4.0, q: 1.0}), as_array(np.float32(-5)))


@api_case("GRAPH-048", title="input_map replaces a tensor in the middle of the GraphDef.")
def mapped_input_in_the_middle(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [], name="x")
    elements = c.tf.import_graph_def(_sum_graph(c), input_map={"y:0": x}, return_elements=["z:0"])
    c.check(c.tf.Session().run(elements[0], {x: 7.0}), as_array(np.float32(-7)))


@api_case("GRAPH-048", title="One of two outputs is mapped, the other is not.")
def mapped_output(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        parts = c.tf.unstack(c.tf.placeholder(c.tf.float32, [2], name="p"), name="u")
        c.tf.subtract(parts[0], parts[1], name="y")
    x = c.tf.constant(10.0)
    wanted = ["y:0", "p:0"]
    elements = c.tf.import_graph_def(g.as_graph_def(), {"u:1": x}, wanted)
    value = c.tf.Session().run(elements[0], {elements[1]: floats(3, 4)})
    c.check(value, as_array(np.float32(-7)))


@api_case("GRAPH-049", title="input_map may give an input whose node is not in the GraphDef.")
def mapped_input_without_a_node(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    definition.node.pop(0)
    x = c.tf.placeholder(c.tf.float32, [])
    c.raises("ValueError", partial(c.tf.import_graph_def, definition))
    elements = c.tf.import_graph_def(definition, {"p:0": x}, ["y:0", "q:0"])
    value = c.tf.Session().run(elements[0], {x: 1.0, elements[1]: 2.0})
    c.check(value, as_array(np.float32(3)))


@api_case("GRAPH-050", title="An input_map key that the GraphDef does not use is ValueError.")
def unused_input_map_key(c: ApiAuthor) -> None:
    definition, x = _sum_graph(c), c.tf.placeholder(c.tf.float32, [])
    for key in ("nowhere:0", "p:1"):
        c.raises("ValueError", partial(c.tf.import_graph_def, definition, input_map={key: x}))


@api_case("GRAPH-051", title="An input_map value of another dtype is ValueError.")
def mapped_input_of_another_dtype(c: ApiAuthor) -> None:
    definition, x = _sum_graph(c), c.tf.placeholder(c.tf.int32, [])
    c.raises("ValueError", partial(c.tf.import_graph_def, definition, input_map={"p:0": x}))


@api_case("GRAPH-052", title="Nodes imported in a control_dependencies block wait for it.")
def imported_in_a_block(c: ApiAuthor) -> None:
    n, definition = c.tf.no_op(name="n"), _sum_graph(c)
    with c.within(c.tf.control_dependencies([n])):
        elements = c.tf.import_graph_def(definition, return_elements=["p", "y"])
    for index in range(2):
        waits_for(c, elements[index], "n")


@api_case("GRAPH-053", title="A refused import leaves nothing in the graph.")
def refused_import_leaves_nothing(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    c.tf.no_op(name="here")
    c.set(definition.node[3], "op", "NoSuchOperation")
    c.raises("NotFoundError", partial(c.tf.import_graph_def, definition, name="m"))
    _operation_names(c, "here")
    c.set(definition.node[3], "op", "Neg")
    c.tf.import_graph_def(definition, name="")
    _operation_names(c, "here", "p", "q", "y", "z")


@api_case("GRAPH-053", title="An import refused for an unknown input leaves nothing.")
def import_refused_for_an_input(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    definition.node.pop(0)
    c.raises("ValueError", partial(c.tf.import_graph_def, definition, name=""))
    c.check(count_of(c, c.tf.get_default_graph()), 0)
    c.raises("RuntimeError", partial(c.tf.Session().run, "q:0"))


@api_case("GRAPH-054", title="An import of what is no GraphDef is TypeError.")
def import_of_something_else(c: ApiAuthor) -> None:
    for wrong in (5, None, "graph", c.tf.NodeDef()):
        c.raises("TypeError", partial(c.tf.import_graph_def, wrong))


@api_case("GRAPH-055", title="Importing an unknown op type is NotFoundError.")
def unknown_op_type_is_not_found(c: ApiAuthor) -> None:
    definition = _sum_graph(c)
    c.set(definition.node[3], "op", "NoSuchOperation")
    c.raises("NotFoundError", partial(c.tf.import_graph_def, definition))


@api_case("GRAPH-003", title="After an exception in an import's block the graph is as before.")
def exception_around_an_import(c: ApiAuthor) -> None:
    before, definition = c.tf.get_default_graph(), _sum_graph(c)
    block = c.tf.Graph().as_default()
    block.__enter__()
    c.tf.import_graph_def(definition, name="")
    leave_by_exception(c, block)
    c.check_same(c.tf.get_default_graph(), before)
    c.check(count_of(c, before), 0)
