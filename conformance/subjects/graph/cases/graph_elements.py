"""Vectors of GRAPH: what operations and graphs tell of themselves, `tf.tuple`, names."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, api_case


@api_case("GRAPH-038", title="as_graph_def holds attributes that have their defaults too.")
def attributes_of_a_product(c: ApiAuthor) -> None:
    tf = c.tf
    a = tf.constant([[1.0]])
    tf.matmul(a, a, transpose_b=True, name="product")
    attributes = tf.get_default_graph().as_graph_def().node[1].attr
    for name in ("T", "transpose_a", "transpose_b"):
        c.check(c.expr("$op", "in", name, attributes), True)
    c.check(attributes["transpose_a"].b, False)
    c.check(attributes["transpose_b"].b, True)


@api_case("GRAPH-124", title="A GraphDef that was written tells the version of its producer.")
def a_graph_def_has_a_producer(c: ApiAuthor) -> None:
    tf = c.tf
    tf.constant(1.0)
    graph = tf.get_default_graph()
    c.check(c.expr("$op", ">", graph.as_graph_def().versions.producer, 0), True)
    c.check(c.expr("$op", ">", tf.Session().graph_def.versions.producer, 0), True)


@api_case("GRAPH-125", title="unique_name numbers a name that is taken, and takes it.")
def unique_names_are_taken(c: ApiAuthor) -> None:
    graph = c.tf.get_default_graph()
    c.check(graph.unique_name("a", mark_as_used=False), "a")
    c.check(graph.unique_name("a"), "a")
    c.check(graph.unique_name("a", mark_as_used=False), "a_1")
    c.check(graph.unique_name("a"), "a_1")
    c.check(c.tf.constant(1.0, name="a").name, "a_2:0")
    with c.within(graph.name_scope("s")):
        c.check(graph.unique_name("a"), "s/a")


@api_case("GRAPH-126", title="import_graph_def(name='p/') puts the nodes into the scope p again.")
def an_import_into_a_known_scope(c: ApiAuthor) -> None:
    tf = c.tf
    source = tf.Graph()
    with c.within(source.as_default()):
        tf.constant(1.0, name="one")
    with c.within(tf.name_scope("p")):
        tf.constant(2.0, name="two")
    imported = tf.import_graph_def(source.as_graph_def(), name="p/", return_elements=["one"])
    c.check(imported[0].name, "p/one")
    imported = tf.import_graph_def(source.as_graph_def(), name="p", return_elements=["one"])
    c.check(imported[0].name, "p_1/one")


@api_case("GRAPH-127", title="clear_collection empties a collection.")
def a_cleared_collection(c: ApiAuthor) -> None:
    tf = c.tf
    graph = tf.get_default_graph()
    for key in ("kept", "cleared"):
        tf.add_to_collection(key, 1)
    graph.clear_collection("cleared")
    graph.clear_collection("never")
    c.check(tf.get_collection("cleared"), [])
    c.check(tf.get_collection("kept"), [1])
    tf.add_to_collection("cleared", 2)
    c.check(tf.get_collection("cleared"), [2])


@api_case("GRAPH-136", title="get_attr gives dtypes, booleans, numbers and bytes.")
def attributes_by_name(c: ApiAuthor) -> None:
    tf = c.tf
    a = tf.constant([[1.0]])
    product = tf.matmul(a, a, transpose_b=True).op
    c.check_same(product.get_attr("T"), tf.float32)
    c.check(product.get_attr("transpose_b"), True)
    c.check(tf.split(a, 1)[0].op.get_attr("num_split"), 1)
    shared = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, shared_name="box")
    c.check(shared.op.get_attr("shared_name"), b"box")


@api_case("GRAPH-137", title="get_attr of an attribute that the operation lacks is ValueError.")
def a_missing_attribute(c: ApiAuthor) -> None:
    op = c.tf.constant(1.0).op
    c.raises("ValueError", lambda: op.get_attr("nope"))
    c.raises("ValueError", lambda: op.get_attr("_class"))


@api_case("GRAPH-129", title="Each tensor of tf.tuple waits for the others and control_inputs.")
def a_tuple_waits_for_all(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(0, use_resource=False)
    w = tf.Variable(0, use_resource=False)
    more, most = tf.assign_add(v, 1), tf.assign_add(w, 10)
    gated = tf.tuple([tf.constant(7), more], control_inputs=[most.op])
    sess = tf.Session()
    sess.run([v.initializer, w.initializer])
    c.check(sess.run(gated[0]), np.int32(7))
    c.check(sess.run(v), np.int32(1))
    c.check(sess.run(w), np.int32(10))
    c.check(sess.run(gated[1]), np.int32(2))
