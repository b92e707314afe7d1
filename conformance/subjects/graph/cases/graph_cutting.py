"""Vectors of GRAPH: GraphDefs cut down, frozen, and what an import takes over besides nodes."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case, as_array
from sessrun.conformance.subjects.graph.cases.graph import waits_for


def _definition(c: ApiAuthor, *nodes: tuple[str, ...]) -> Symbol:
    """A GraphDef of nodes, each its name, its op type and its inputs."""
    definition = c.tf.GraphDef()
    for name, op, *inputs in nodes:
        node = definition.node.add()
        c.set(node, "name", name)
        c.set(node, "op", op)
        for source in inputs:
            node.input.append(source)
    return definition


def _has_nodes(c: ApiAuthor, definition: Symbol, *names: str) -> None:
    """The GraphDef must have exactly these nodes, in this order."""
    c.check(c.expr("$len", definition.node), len(names))
    for index, name in enumerate(names):
        c.check(definition.node[index].name, name)


# --- what an import takes over ------------------------------------------------------------


@api_case("GRAPH-108", title="The list of an operation's control inputs is a copy.")
def control_inputs_are_a_copy(c: ApiAuthor) -> None:
    a, b = c.tf.no_op(name="a"), c.tf.no_op(name="b")
    with c.within(c.tf.control_dependencies([a])):
        waiting = c.tf.no_op(name="waiting")
    waiting.control_inputs.append(b)
    waits_for(c, waiting, "a")


@api_case("GRAPH-109", title="An output that no node takes may be mapped.")
def mapped_output_without_a_consumer(c: ApiAuthor) -> None:
    definition = _definition(c, ("n", "NoOp"))
    x, g = c.tf.constant(np.float32(3)), c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.constant(np.float32(5), name="k")
    imported = c.tf.import_graph_def(g.as_graph_def(), {"k:0": x}, ["k"], name="m")
    c.check(imported[0].name, "m/k")
    c.check(c.tf.Session().run("m/k:0"), as_array(np.float32(5)))
    c.raises("ValueError", partial(c.tf.import_graph_def, definition, {"n:0": x}))


@api_case("GRAPH-110", title="Without a name input_map takes Tensors only.")
def mapped_values_without_a_name(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        c.tf.negative(c.tf.placeholder(c.tf.float32, [], name="p"), name="y")
    definition = g.as_graph_def()
    variable = c.tf.Variable(np.float32(2), name="v")
    for value in (4.0, np.float32(4), variable):
        c.raises("ValueError", partial(c.tf.import_graph_def, definition, {"p": value}, name=""))
    imported = c.tf.import_graph_def(definition, {"p": 4.0}, ["y:0"], name="m")
    c.check(c.tf.Session().run(imported[0]), as_array(np.float32(-4)))


@api_case("GRAPH-111", title="A graph takes the older producer and the newer demand.")
def versions_after_imports(c: ApiAuthor) -> None:
    graph = c.tf.get_default_graph()
    for given, seen in (((900, 7), (900, 7)), ((800, 9), (800, 9)), ((850, 8), (800, 9))):
        definition = _definition(c, ("n", "NoOp"))
        c.set(definition.versions, "producer", given[0])
        c.set(definition.versions, "min_consumer", given[1])
        c.tf.import_graph_def(definition)
        c.check(graph.graph_def_versions.producer, seen[0])
        c.check(graph.graph_def_versions.min_consumer, seen[1])
    c.check(graph.as_graph_def().versions.producer, 800)


@api_case("GRAPH-139", title="A GraphDef may ask for the own version, and not for the next.")
def versions_after_the_own(c: ApiAuthor) -> None:
    own, definition = c.tf.version.GRAPH_DEF_VERSION, _definition(c, ("n", "NoOp"))
    c.set(definition.versions, "min_consumer", own + 1)
    c.raises("ValueError", partial(c.tf.import_graph_def, definition, name="later"))
    c.set(definition.versions, "min_consumer", own)
    c.tf.import_graph_def(definition, name="now")
    c.check(c.tf.get_default_graph().get_operation_by_name("now/n").type, "NoOp")


def _with_function(c: ApiAuthor, name: str, node: str) -> Symbol:
    """A GraphDef of a NoOp with a function that holds one NoOp of this name."""
    definition = _definition(c, ("n", "NoOp"))
    function = definition.library.function.add()
    c.set(function.signature, "name", name)
    inner = function.node_def.add()
    c.set(inner, "name", node)
    c.set(inner, "op", "NoOp")
    return definition


@api_case("GRAPH-112", title="Functions of imported GraphDefs are written, each once.")
def functions_are_kept(c: ApiAuthor) -> None:
    g = c.tf.Graph()
    with c.within(g.as_default()):
        for name in ("first", "second", "first"):
            c.tf.import_graph_def(_with_function(c, name, "inside"))
    library = g.as_graph_def().library
    c.check(c.expr("$len", library.function), 2)
    c.check(library.function[0].signature.name, "first")
    c.check(library.function[0].node_def[0].name, "inside")
    c.check(library.function[1].signature.name, "second")


@api_case("GRAPH-113", title="Two different functions of one name are ValueError.")
def functions_that_differ(c: ApiAuthor) -> None:
    c.tf.import_graph_def(_with_function(c, "f", "inside"))
    c.tf.import_graph_def(_with_function(c, "f", "inside"))
    other = _with_function(c, "f", "elsewhere")
    c.raises("ValueError", partial(c.tf.import_graph_def, other))


# --- nodes left out -----------------------------------------------------------------------


@api_case("GRAPH-114", title="A sub-graph has what its nodes need, in order.")
def sub_graph_of_inputs(c: ApiAuthor) -> None:
    definition = _definition(
        c,
        ("d", "Fine", "b:1"),
        ("a", "Fine", "e"),
        ("b", "Fine", "a"),
        ("c", "Fine"),
        ("e", "Fine"),
        ("f", "Fine", "d"),
    )
    extract = c.tf.graph_util.extract_sub_graph
    _has_nodes(c, extract(definition, ["d"]), "d", "a", "b", "e")
    _has_nodes(c, extract(definition, ["c", "a"]), "a", "c", "e")
    c.check(c.expr("$len", definition.node), 6)


@api_case("GRAPH-115", title="Control inputs and colocated nodes belong to a sub-graph.")
def sub_graph_of_what_is_beside(c: ApiAuthor) -> None:
    definition = _definition(
        c, ("a", "Fine"), ("b", "Fine", "^a"), ("c", "Fine"), ("d", "Fine"), ("e", "Fine", "d")
    )
    definition.node[3].attr["_class"].list.s.append(b"loc:@c")
    extract = c.tf.graph_util.extract_sub_graph
    _has_nodes(c, extract(definition, ["b"]), "a", "b")
    _has_nodes(c, extract(definition, ["e"]), "c", "d", "e")


@api_case("GRAPH-116", title="A sub-graph of an unknown node is AssertionError.")
def sub_graph_of_an_unknown_node(c: ApiAuthor) -> None:
    definition = _definition(c, ("a", "Fine"))
    extract = c.tf.graph_util.extract_sub_graph
    c.raises("AssertionError", partial(extract, definition, ["nowhere"]))
    c.raises("AssertionError", partial(extract, definition, ["a", "nowhere"]))


@api_case("GRAPH-117", title="Identity nodes are left out and bridged.")
def identities_are_bridged(c: ApiAuthor) -> None:
    definition = _definition(
        c, ("a", "Fine"), ("b", "Identity", "a:1"), ("c", "Identity", "b"), ("d", "Fine", "c", "a")
    )
    pruned = c.tf.graph_util.remove_training_nodes(definition)
    _has_nodes(c, pruned, "a", "d")
    c.check(pruned.node[1].input[0], "a:1")
    c.check(pruned.node[1].input[1], "a")
    c.check(definition.node[3].input[0], "c")


@api_case("GRAPH-117", title="An Identity that a colocation group names stays.")
def colocated_identities_stay(c: ApiAuthor) -> None:
    definition = _definition(
        c, ("a", "Fine"), ("b", "Identity", "a"), ("c", "Fine", "b"), ("d", "Identity", "a")
    )
    definition.node[2].attr["_class"].list.s.append(b"loc:@b")
    pruned = c.tf.graph_util.remove_training_nodes(definition)
    _has_nodes(c, pruned, "a", "b", "c")
    c.check(pruned.node[2].input[0], "b")


@api_case("GRAPH-118", title="Identity nodes that order others stay.")
def identities_that_order_stay(c: ApiAuthor) -> None:
    definition = _definition(
        c,
        ("a", "Fine"),
        ("b", "Identity", "a"),
        ("c", "Fine", "b", "^b"),
        ("d", "Identity", "a", "^c"),
        ("e", "Fine", "d"),
    )
    pruned = c.tf.graph_util.remove_training_nodes(definition)
    _has_nodes(c, pruned, "a", "b", "c", "d", "e")
    c.check(pruned.node[2].input[0], "b")
    c.check(pruned.node[4].input[0], "d")


@api_case("GRAPH-119", title="Protected nodes stay.")
def protected_nodes_stay(c: ApiAuthor) -> None:
    definition = _definition(
        c, ("a", "Fine"), ("b", "Identity", "a"), ("c", "CheckNumerics", "b"), ("d", "Fine", "b")
    )
    pruned = c.tf.graph_util.remove_training_nodes(definition, protected_nodes=["b", "c"])
    _has_nodes(c, pruned, "a", "b", "c", "d")
    c.check(pruned.node[3].input[0], "b")


# --- variables made constants -------------------------------------------------------------


def _model(c: ApiAuthor, *, resource: bool) -> Symbol:
    """A session of `y = x * w + b`, with `w` changed after it was initialised, and `z = b`."""
    w = c.tf.Variable(np.array([1, 2], np.float32), name="w", use_resource=resource)
    b = c.tf.Variable(np.float32(10), name="b", use_resource=resource)
    x = c.tf.placeholder(c.tf.float32, [2], name="x")
    c.tf.add(c.tf.multiply(x, w), b, name="y")
    c.tf.identity(b, name="z")
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    sess.run(w.assign(np.array([3, 4], np.float32)).op)
    return sess


def _gives(c: ApiAuthor, definition: Symbol) -> None:
    """The GraphDef must give the values that the model's variables had."""
    with c.within(c.tf.Graph().as_default()):
        c.tf.import_graph_def(definition, name="")
        sess = c.tf.Session()
        feeds = {"x:0": np.array([1, 1], np.float32)}
        c.check(sess.run("y:0", feeds), as_array(np.array([13, 14], np.float32)))


@api_case("GRAPH-120", title="Frozen reference variables have their values.")
def frozen_reference_variables(c: ApiAuthor) -> None:
    sess = _model(c, resource=False)
    freeze = c.tf.graph_util.convert_variables_to_constants
    _gives(c, freeze(sess, sess.graph.as_graph_def(), ["y"]))


@api_case("GRAPH-120", title="Frozen resource variables have their values.")
def frozen_resource_variables(c: ApiAuthor) -> None:
    sess = _model(c, resource=True)
    freeze = c.tf.graph_util.convert_variables_to_constants
    _gives(c, freeze(sess, sess.graph.as_graph_def(), ["y"]))


@api_case("GRAPH-121", title="A frozen GraphDef has only what the outputs need.")
def frozen_nodes(c: ApiAuthor) -> None:
    sess = _model(c, resource=False)
    freeze = c.tf.graph_util.convert_variables_to_constants
    frozen = freeze(sess, sess.graph.as_graph_def(), ["z"])
    _has_nodes(c, frozen, "b", "b/read", "z")
    c.check(frozen.node[0].op, "Const")


@api_case("GRAPH-122", title="Variables are frozen by name.")
def frozen_by_name(c: ApiAuthor) -> None:
    sess = _model(c, resource=False)
    definition = sess.graph.as_graph_def()
    freeze = c.tf.graph_util.convert_variables_to_constants
    for given in ({"variable_names_blacklist": ["w"]}, {"variable_names_whitelist": ["b"]}):
        frozen = freeze(sess, definition, ["y"], **given)
        c.check(frozen.node[0].name, "w")
        c.check(frozen.node[0].op, "VariableV2")
        c.check(frozen.node[2].name, "b")
        c.check(frozen.node[2].op, "Const")


@api_case("GRAPH-123", title="A variable without a value cannot be frozen.")
def frozen_before_initialisation(c: ApiAuthor) -> None:
    freeze = c.tf.graph_util.convert_variables_to_constants
    for resource, name in ((False, "reference"), (True, "resource")):
        variable = c.tf.Variable(np.float32(1), name=name, use_resource=resource)
        c.tf.identity(variable, name=f"y_{name}")
        sess = c.tf.Session()
        definition = sess.graph.as_graph_def()
        c.raises("FailedPreconditionError", partial(freeze, sess, definition, [f"y_{name}"]))
