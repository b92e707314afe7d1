"""Programs of meta graphs: exports with collections, imports, queue runners, scopes."""

from __future__ import annotations

from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.conformance.subjects.programs.saved_graphs import (
    in_a_folder,
    inputs,
    listing,
    variables,
)

__all__ = ["BEHAVIOURS"]


def _collections_of(graph) -> list[Plain]:
    keys = sorted(graph.get_all_collection_keys())
    return [
        [
            key,
            [
                getattr(item, "name", item)
                for item in graph.get_collection(key)
                if not hasattr(item, "saver_def")
            ],
        ]
        for key in keys
    ]


def _full_graph(tf):
    with tf.device("/cpu:0"), tf.name_scope("inner"):
        a = tf.constant(1, name="a")
    variables(tf)
    with tf.variable_scope("inner"):
        tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    tf.train.get_or_create_global_step()
    for key, values in (
        ("texts", ["one", b"two"]),
        ("ints", [3, True]),
        ("floats", [2.5]),
        ("nodes", [a, a.op]),
        ("mixed", [1, "a"]),
        ("odd", [object()]),
        ("variable", [tf.global_variables()[0]]),
    ):
        for value in values:
            tf.add_to_collection(key, value)
    saver = tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    return saver


def _facts_of(definition) -> list[Plain]:
    """The parts of a MetaGraphDef without versions and the producer."""
    info = definition.meta_info_def
    return [
        [[n.name, n.op, inputs(n), n.device, sorted(n.attr)] for n in definition.graph_def.node],
        [
            [key, sorted(str(definition.collection_def[key]).split())]
            for key in sorted(definition.collection_def)
        ],
        sorted(op.name for op in info.stripped_op_list.op),
        info.stripped_default_attrs,
        info.tensorflow_version,
        definition.saver_def,
    ]


@in_a_folder
def _exporting(tf):
    saver = _full_graph(tf)
    export = tf.train.export_meta_graph
    return attempt(
        lambda: _facts_of(saver.export_meta_graph()),
        lambda: _facts_of(export()),
        lambda: _facts_of(export(export_scope="inner", clear_devices=True)),
        lambda: _facts_of(export(collection_list=["ints"], clear_extraneous_savers=True)),
        lambda: _facts_of(
            export(
                saver_def=saver.saver_def, clear_extraneous_savers=True, strip_default_attrs=True
            )
        ),
        lambda: _facts_of(export("d/g.meta", as_text=True)),
        lambda: _facts_of(export("g.meta")),
        listing,
        lambda: export(foo=1),
        lambda: export(graph=5),
        lambda: export(graph_def=5),
    )


@in_a_folder
def _importing(tf):
    saver = _full_graph(tf)
    definition = saver.export_meta_graph("g.meta")
    saver.export_meta_graph("text.meta", as_text=True)
    inner = tf.train.export_meta_graph(export_scope="inner")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, "x")
    Path("bad").write_bytes(b"what")
    outcomes = []
    for given, options in (
        (definition, {}),
        ("g.meta", {"import_scope": "z"}),
        ("text.meta", {"clear_devices": True}),
        (inner, {}),
        (inner, {"import_scope": "y/z"}),
        (tf.MetaGraphDef(), {}),
        ("none", {}),
        ("bad", {}),
        (5, {}),
    ):

        def program(given=given, options=options):
            with tf.Graph().as_default() as graph:
                tf.no_op(name="before")
                restorer = tf.train.import_meta_graph(given, **options)
                names = [[op.name, op.device] for op in graph.get_operations()]
                results = [names, _collections_of(graph), restorer and restorer.saver_def]
                if given is definition:
                    with tf.Session() as session:
                        restorer.restore(session, "x")
                        results.append(session.run(["v:0", "inner/w:0", "global_step:0"]))
                return results

        outcomes += attempt(program)
    return outcomes


def _queue_runners(tf):
    with tf.name_scope("in"):
        queue = tf.FIFOQueue(3, tf.float32, name="q")
        runner = tf.train.QueueRunner(
            queue,
            [queue.enqueue(1.0)] * 2,
            queue_closed_exception_types=(tf.errors.CancelledError, tf.errors.OutOfRangeError),
        )
        queue.dequeue(name="next")
    tf.train.add_queue_runner(runner)
    definition = tf.train.export_meta_graph()
    outcomes = attempt(
        runner.to_proto,
        lambda: runner.to_proto("in"),
        lambda: runner.to_proto("out"),
        lambda: list(definition.collection_def["queue_runners"].bytes_list.value),
        lambda: tf.train.QueueRunner.from_proto(runner.to_proto(), "nowhere"),
    )
    for scope in (None, "z"):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.import_meta_graph(definition, import_scope=scope)
            (queue_runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            next_value = ("z/" if scope else "") + "in/next:0"
            outcomes += [
                queue_runner.to_proto(),
                [session.run(next_value) for _ in range(5)],
                len(threads),
            ]
            coordinator.request_stop()
            coordinator.join(threads)
    return outcomes


def _scopes(tf):
    """Imports into a name scope, with some of the collections, and with unbound inputs."""
    module = module_of(tf, "framework.meta_graph")
    a = tf.constant(1.0, name="a")
    with tf.name_scope("in"):
        tf.add(a, 2.0, name="sum")
    tf.Variable(1.0, name="v")
    tf.add_to_collection("left", "x")
    definition = tf.train.export_meta_graph(unbound_inputs_col_name="open")
    inner, _ = module.export_scoped_meta_graph(export_scope="in", unbound_inputs_col_name="open")
    outcomes = [sorted(inner.collection_def), definition.collection_def["left"]]
    for given, options in (
        (definition, {}),
        (definition, {"import_scope": "z"}),
        (definition, {"restore_collections_predicate": lambda key: key != "left"}),
        (inner, {"unbound_inputs_col_name": "open"}),
        (inner, {}),
    ):

        def program(given=given, options=options):
            with tf.Graph().as_default() as graph, tf.name_scope("foo"):
                variables = module.import_scoped_meta_graph(given, **options)
                names = [op.name for op in graph.get_operations()]
                return [sorted(variables), names, _collections_of(graph)]

        outcomes += attempt(program)
    with tf.Graph().as_default() as graph, tf.name_scope("foo"):
        tf.train.import_meta_graph(definition)
        return [*outcomes, [op.name for op in graph.get_operations()]]


def _ops_that_are_used(tf):
    """`stripped_op_list_for_graph` omits functions and the operations of uncalled ones."""
    used = module_of(tf, "framework.meta_graph").stripped_op_list_for_graph
    definition = tf.GraphDef()
    for name, inner in (("A", ["B", "Sub"]), ("B", ["A", "Mul"]), ("Idle", ["Div"])):
        function = definition.library.function.add()
        function.signature.name = name
        for op in inner:
            function.node_def.add(name=op, op=op)
    definition.node.add(name="a", op="A")
    definition.node.add(name="sum", op="Add")
    return [op.name for op in used(definition).op]


BEHAVIOURS = {
    "exporting": _exporting,
    "importing": _importing,
    "queue_runners": _queue_runners,
    "scopes": _scopes,
    "ops_that_are_used": _ops_that_are_used,
}
