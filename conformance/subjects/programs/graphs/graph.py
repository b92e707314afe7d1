"""Programs that build graphs: elements, names, scopes, GraphDefs, collections, seeds."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _names(tf) -> list[str]:
    return [op.name for op in tf.get_default_graph().get_operations()]


def _scopes(tf):
    names = []
    with tf.name_scope("a") as outer:
        names += [outer, tf.constant(1).name]
        with tf.name_scope("b"), tf.name_scope("c/"):
            names.append(tf.no_op().name)
        with tf.name_scope(outer), tf.name_scope(None, "d", [tf.constant(2)]) as inner:
            names.append(inner)
        with tf.name_scope(""):
            names.append(tf.constant(3, name="x").name)
    with tf.name_scope("a"):
        names.append(tf.constant(4).name)
    graph = tf.get_default_graph()
    names += [graph.unique_name("a"), graph.unique_name("a", mark_as_used=False)]
    return names, graph.unique_name("a"), graph.get_name_scope()


def _devices(tf):
    devices = []
    with tf.device("/job:worker"), tf.device("/cpu:0"):
        devices.append(tf.constant(1).device)
        with tf.device("/device:GPU:*"):
            devices.append(tf.constant(1).device)
        with tf.device(None):
            devices.append(tf.constant(1).device)
        with tf.device(lambda op: "/gpu:1" if op.type == "Const" else ""):
            devices += [tf.constant(1).device, tf.no_op().device]
        with tf.device(tf.DeviceSpec(job="ps", device_type="CPU", device_index=2)):
            devices.append(tf.constant(1).device)
    return devices, attempt(lambda: tf.device("nope"), lambda: tf.device("/foo:1").__enter__())


def _colocation(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2.0, name="b")
        with tf.colocate_with(b.op), tf.device("/gpu:0"):
            c = tf.constant(3.0, name="c")
        with tf.colocate_with(None, ignore_existing=True):
            d = tf.constant(4.0, name="d")
    groups = [x.op.colocation_groups() for x in (a, b, c, d)]
    return (
        groups,
        [x.device for x in (a, b, c, d)],
        attempt(
            lambda: tf.get_default_graph().colocate_with(None).__enter__(),
            lambda: a.op.get_attr("_class"),
            lambda: b.op.get_attr("_class"),
        ),
    )


def _control(tf):
    a, b = tf.no_op("a"), tf.constant(1, name="b")
    with tf.control_dependencies([a, b]):
        c = tf.no_op("c")
        with tf.control_dependencies(["a"]):
            d = tf.identity(b, "d")
        with tf.control_dependencies(None), tf.control_dependencies([c]):
            e = tf.no_op("e")
        with tf.control_dependencies([tf.no_op("inside")]):
            f = tf.no_op("f")
    g = tf.group(a, [b, {"x": d}], name="g")
    return (
        c,
        d,
        e,
        f,
        g,
        tf.group(),
        tf.tuple([b, None, d]),
        attempt(
            lambda: tf.control_dependencies([1]).__enter__(),
            lambda: tf.control_dependencies(["nope"]).__enter__(),
            lambda: tf.tuple([]),
            lambda: tf.group(1),
            lambda: tf.group(a, bad=1),
            lambda: tf.tuple([b], control_inputs=[3]),
        ),
    )


def _elements(tf):
    graph = tf.get_default_graph()
    a = tf.constant([1, 2], name="a")
    other = tf.Graph()
    with other.as_default():
        strange = tf.constant(1)
    return attempt(
        lambda: graph.as_graph_element("a"),
        lambda: graph.as_graph_element("a:0"),
        lambda: graph.as_graph_element(a),
        lambda: graph.as_graph_element(a.op),
        lambda: graph.as_graph_element("a:1"),
        lambda: graph.as_graph_element("a:x"),
        lambda: graph.as_graph_element("b:0"),
        lambda: graph.as_graph_element("b"),
        lambda: graph.as_graph_element(3),
        lambda: graph.as_graph_element(None),
        lambda: graph.as_graph_element(strange),
        lambda: graph.as_graph_element(strange.op),
        lambda: graph.as_graph_element("a", allow_operation=False),
        lambda: graph.as_graph_element("a:0", allow_tensor=False),
        lambda: graph.as_graph_element("a", allow_tensor=False, allow_operation=False),
        lambda: graph.get_operation_by_name("a"),
        lambda: graph.get_operation_by_name("a:0"),
        lambda: graph.get_operation_by_name(1),
        lambda: graph.get_tensor_by_name("a"),
        lambda: graph.get_tensor_by_name("a:0"),
        lambda: graph.get_tensor_by_name(a),
        lambda: tf.add(a, strange),
        lambda: a.op.node_def.name,
        lambda: a.op.op_def.name,
        lambda: list(a.op.op_def.attr[0].allowed_values.list.type[:3]),
        lambda: a.op.get_attr("dtype"),
        lambda: a.op.get_attr("nope"),
        a.consumers,
        lambda: tf.identity(a).op.inputs[0],
        lambda: a.value_index,
        lambda: a.graph is graph,
    )


def _finalized(tf):
    graph = tf.get_default_graph()
    a = tf.constant(1.0)
    graph.finalize()
    return graph.finalized, attempt(
        lambda: tf.constant(2.0),
        lambda: a + a,
        lambda: graph.add_to_collection("x", 1),
        lambda: tf.import_graph_def(tf.GraphDef()),
        lambda: tf.Variable(1.0),
        lambda: run(tf, a),
        lambda: tf.Session().run(a),
        lambda: graph.get_collection("x"),
    )


def _collections(tf):
    graph = tf.get_default_graph()
    tf.add_to_collection("mine", 1)
    tf.add_to_collections(["mine", "yours", "mine"], 2)
    with tf.name_scope("s"):
        tf.add_to_collection("named", tf.constant(1))
    tf.add_to_collection("named", tf.constant(2))
    reference = tf.get_collection_ref("mine")
    reference.append(3)
    copied = tf.get_collection("mine")
    copied.append(4)
    tf.GraphKeys.MINE = "mine"
    results = [
        tf.get_collection("mine"),
        tf.get_collection("none"),
        tf.get_collection("named", "s"),
        graph.get_all_collection_keys(),
        sorted(graph.collections),
    ]
    graph.clear_collection("mine")
    return (
        results,
        tf.get_collection("mine"),
        tf.get_collection_ref("new"),
        attempt(
            lambda: graph.add_to_collections("letters", 5),
            lambda: graph.get_collection("letters"),
            lambda: tf.get_collection("s"),
            lambda: tf.GraphKeys.TRAINABLE_VARIABLES,
        ),
    )


def _imports(tf):
    with tf.Graph().as_default() as source:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.multiply(x, 2.0, name="y")
        with tf.control_dependencies([tf.no_op("wait")]):
            tf.identity(x, name="z")
    graph_def = source.as_graph_def()
    mine = tf.constant([[1.0, 2.0]], name="mine")
    first = tf.import_graph_def(graph_def, return_elements=["y", "y:0"])
    second = tf.import_graph_def(graph_def, {"x": mine}, ["z:0"], name="sub")
    third = tf.import_graph_def(graph_def, {"x:0": mine}, ["y:0"], name="")
    with tf.name_scope("outer"), tf.control_dependencies([mine]):
        fourth = tf.import_graph_def(graph_def, return_elements=["wait", "x"])
    return (
        first,
        second,
        third,
        fourth,
        _names(tf),
        run(tf, [second, third]),
        attempt(
            lambda: tf.import_graph_def(graph_def, {"nope": mine}),
            lambda: tf.import_graph_def(graph_def, {"x": tf.constant(1)}),
            lambda: tf.import_graph_def(graph_def, return_elements=["nope:0"]),
            lambda: tf.import_graph_def(graph_def, return_elements=[1]),
            lambda: tf.import_graph_def("not a graph"),
            lambda: tf.import_graph_def(graph_def, [1]),
            lambda: tf.import_graph_def(graph_def, return_elements="y"),
        ),
    )


def _graph_defs(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.matmul(x, tf.ones([2, 3]), transpose_b=False, name="m")
    graph = tf.get_default_graph()
    plain, shaped = graph.as_graph_def(), graph.as_graph_def(add_shapes=True)
    return (
        [sorted(node.attr) for node in plain.node],
        shaped.node[-1].attr["_output_shapes"],
        [
            graph.version,
            graph.graph_def_versions.producer,
            plain.versions.producer,
            len(graph.as_graph_def(from_version=1).node),
            graph.seed,
            graph.building_function,
        ],
    )


def _default_graphs(tf):
    outer = tf.get_default_graph()
    graph = tf.Graph()
    outcomes = []
    with graph.as_default() as entered:
        outcomes += [entered is graph, tf.get_default_graph() is graph]
        outcomes += attempt(tf.reset_default_graph)
    return outcomes, tf.get_default_graph() is outer, tf.get_default_session()


def _create_op(tf):
    graph = tf.get_default_graph()
    a = tf.constant(1.0)
    return attempt(
        lambda: graph.create_op(
            "Identity", [a], [tf.float32], attrs={"T": tf.AttrValue(type=1)}, name="made"
        ),
        lambda: graph.create_op("NoOp", [], []),
        lambda: graph.create_op("Nope", [], []),
    )


def _scope_attributes(tf):
    graph = tf.get_default_graph()
    with graph.container("box"):
        v = tf.Variable(1.0, use_resource=False).op.get_attr("container")
        with graph.container("inner"):
            w = tf.Variable(1.0, use_resource=True).op.get_attr("container")
    with graph.gradient_override_map({"Square": "Mine"}):
        s = tf.square(1.0).op.get_attr("_gradient_op_type")
    return v, w, s, attempt(lambda: graph.gradient_override_map({"a": 1}).__enter__())


def _seeds(tf):
    pairs = [tf.get_seed(None), tf.get_seed(3)]
    first = tf.random_uniform([2], seed=3)
    tf.set_random_seed(9)
    second, third = tf.random_normal([2]), tf.truncated_normal([2], seed=4)
    seeds = [
        (t.op.inputs[0].op.inputs[0].op if t.op.type != "RandomUniform" else t.op)
        for t in (first, second, third)
    ]
    return (
        pairs,
        tf.get_seed(None),
        tf.get_seed(2),
        tf.get_default_graph().seed,
        [(op.get_attr("seed"), op.get_attr("seed2")) for op in seeds if "seed" in op.node_def.attr],
    )


def _original_operations(tf):
    graph = tf.get_default_graph()
    a = tf.constant(0.0, name="a")
    with graph._original_op(a.op):
        b = tf.identity(a)
        with graph._original_op(b.op):
            x = tf.placeholder(tf.float32, name="x")
        c = tf.identity(a)
    originals = [t.op._original_op for t in (a, b, x, c, tf.identity(a))]
    try:
        run(tf, x)
    except tf.errors.InvalidArgumentError as error:
        originals.append(error.op._original_op._original_op)
    return [original and original.name for original in originals]


def _names_as_bytes(tf):
    c, x = tf.constant(1.0, name=b"c"), tf.placeholder(tf.float32, name=b"x")
    with tf.name_scope("s"):
        elements = [c, x, tf.add(c, x, name=b"sum"), tf.identity(c, name=b"e"), tf.no_op(name=b"n")]
    return [item.name for item in elements], attempt(
        lambda: tf.identity(c, name=b"bad name"),
        lambda: tf.identity(c, name=3),
        lambda: run(tf, b"c:0"),
        lambda: run(tf, [b"s/n"]),
        lambda: run(tf, c, {b"c:0": 4.0}),
    )


def _strings_of_objects(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/cpu:0"):
        y = tf.identity(x, "y")
    z = tf.placeholder(tf.int32)
    return [str(x), repr(x), str(y), repr(z), str(z), repr(x.op), repr(tf.float32), str(y.op)]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _scopes,
        _devices,
        _colocation,
        _control,
        _elements,
        _finalized,
        _collections,
        _imports,
        _graph_defs,
        _default_graphs,
        _create_op,
        _scope_attributes,
        _seeds,
        _original_operations,
        _names_as_bytes,
        _strings_of_objects,
    )
}
