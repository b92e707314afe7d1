"""Programs of SaverDefs, of lists of checkpoints, and of exported meta graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder, listing, variables

__all__ = ["BEHAVIOURS"]


def _as_data(tf):
    """A saver that is restored from its SaverDef, in its graph or in a scope."""
    variables(tf)
    with tf.name_scope("outer"):
        saver = tf.train.Saver(name="in", max_to_keep=3)
    again = tf.train.Saver.from_proto(saver.to_proto())
    definition = tf.train.export_meta_graph(saver_def=saver.as_saver_def())
    with tf.Graph().as_default():
        tf.train.import_meta_graph(definition, import_scope="z")
        moved = tf.train.Saver.from_proto(saver.saver_def, import_scope="z")
        imported = moved.as_saver_def()
        refused = caught(lambda: tf.train.Saver.from_proto(saver.saver_def, import_scope="y"))
    return [
        saver.as_saver_def(),
        again.as_saver_def() == saver.saver_def,
        imported,
        refused,
        saver.to_proto("outer"),
        saver.to_proto("elsewhere"),
        attempt(
            lambda: tf.train.Saver.from_proto(None),
            lambda: tf.train.Saver.from_proto(3),
            lambda: tf.train.Saver(builder=None, write_version=7),
        ),
    ]


@in_a_folder
def _last_checkpoints(tf):
    """Lists of checkpoints with their times."""
    variables(tf)
    saver, session = tf.train.Saver(max_to_keep=2), tf.Session()
    session.run(tf.global_variables_initializer())
    saver.save(session, "x", 1)
    saver.set_last_checkpoints_with_time([("x-1", 5.0), ("gone", 6.0)])
    outcomes = attempt(
        lambda: saver.last_checkpoints, lambda: saver.set_last_checkpoints_with_time(("x", 1.0))
    )
    saver.save(session, "x", 2)
    outcomes += [saver.last_checkpoints, [name for name in listing() if name.endswith("index")]]
    saver.save(session, "x", 3)
    return [
        outcomes,
        saver.last_checkpoints,
        [name for name in listing() if name.endswith("index")],
    ]


@in_a_folder
def _without_variables(tf):
    """A saver without variables writes the meta graph only."""
    saver, session = tf.train.Saver(allow_empty=True), tf.Session()
    saved = saver.save(session, "x")
    with tf.Graph().as_default():
        tf.constant(1.0, name="a")
        named = tf.train.SaverDef(
            filename_tensor_name="a:0", save_tensor_name="a:0", restore_op_name="a"
        )
        definition = tf.train.export_meta_graph(saver_def=named)
    with tf.Graph().as_default():
        imported = tf.train.import_meta_graph(definition)
    return [saved, saver.restore(session, "none"), listing(), type(imported).__name__]


def _names(definition):
    return [
        sorted(node.name for node in definition.graph_def.node),
        {
            key: definition.collection_def[key].WhichOneof("kind")
            for key in sorted(definition.collection_def)
        },
        len(definition.collection_def["savers"].bytes_list.value),
    ]


def _other_savers(tf):
    """`clear_extraneous_savers` removes the operations of other savers from an export."""
    variables(tf)
    one, other = tf.train.Saver(), tf.train.Saver(name="other")
    for saver in (one, other):
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    export = tf.train.export_meta_graph
    return [
        _names(definition)
        for definition in (
            one.export_meta_graph(clear_extraneous_savers=True),
            other.export_meta_graph(clear_extraneous_savers=True),
            export(),
            export(saver_def=one.saver_def, clear_extraneous_savers=True, collection_list=[]),
        )
    ]


def _said_of_graphs(tf):
    """An export keeps the `meta_info_def`, the functions and the collections."""
    about = tf.MetaGraphDef.MetaInfoDef()
    about.tags.append("mine")
    about.meta_graph_version = "one"
    about.stripped_op_list.op.add(name="Only")
    x = tf.placeholder(tf.float32, [], name="x")
    tf.switch_case(tf.constant(0), [lambda: x + 1.0, lambda: x])

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def doubled(value):
        return value * 2.0

    doubled(x)
    for value in (1.5, 2.5):
        tf.add_to_collection("floats", value)
    tf.add_to_collection(("no", "text"), 1)
    meta_graph = tf.train.export_meta_graph(meta_info_def=about)
    info = meta_graph.meta_info_def
    return [
        list(info.tags),
        info.meta_graph_version,
        [op.name for op in info.stripped_op_list.op],
        len(meta_graph.graph_def.library.function),
        sorted(meta_graph.collection_def),
        list(meta_graph.collection_def["floats"].float_list.value),
    ]


def _collections_as_data(tf):
    """`add_collection_def` for collections of several kinds."""
    module = module_of(tf, "framework.meta_graph")
    v, _ = variables(tf)
    for key, value in (("mine", v), ("ints", 3), ("mixed", "a"), ("mixed", v)):
        tf.add_to_collection(key, value)
    meta_graph = module.create_meta_graph_def(
        graph=tf.get_default_graph(), collection_list=["ints"]
    )
    keys = attempt(
        lambda: sorted(meta_graph.collection_def),
        *(
            lambda key=key: module.add_collection_def(meta_graph, key)
            for key in ("mine", "variables", "mixed", 5, "none")
        ),
    )
    kinds = {
        key: meta_graph.collection_def[key].WhichOneof("kind") for key in meta_graph.collection_def
    }
    return [keys, kinds]


@in_a_folder
def _own_saveables(tf):
    """A SaveableObject of the program."""
    kinds = module_of(tf, "training.saving.saveable_object")
    v = tf.get_variable("v", initializer=np.arange(3, dtype=np.float32), use_resource=True)
    spec = kinds.SaveSpec(v.read_value(), "", "mine", tf.float32)

    class Doubled(kinds.SaveableObject):  # type: ignore[misc,name-defined]  # of the namespace
        """A saveable that restores twice the saved value."""

        def restore(self, restored_tensors, restored_shapes):
            value = restored_tensors[0] if restored_shapes is None else 0.0
            return v.assign(2.0 * value)

    plain = kinds.SaveableObject(v, [spec], "mine")
    saver = tf.train.Saver([Doubled(v, [spec], "mine")])
    with tf.Session() as session:
        session.run(v.initializer)
        path = saver.save(session, "x")
        saver.restore(session, path)
        value = session.run(v)
    return [
        value,
        plain.device,
        plain.name,
        tf.train.list_variables(path),
        caught(lambda: plain.restore([v], None)),
        caught(lambda: tf.train.Saver([plain])),
    ]


@in_a_folder
def _large_indexes(tf):
    """A checkpoint of enough tensors for an index of several blocks."""
    names = [f"{number:04d}/{'n' * 100}" for number in range(3000)]
    with tf.Session() as session:
        session.run(
            tf.raw_ops.SaveV2(
                prefix="x",
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=[tf.constant([1, 2])] * len(names),
            )
        )
        picked = [names[0], names[1700], names[-1]]
        read = session.run(
            tf.raw_ops.RestoreV2(
                prefix="x", tensor_names=picked, shape_and_slices=[""] * 3, dtypes=[tf.int32] * 3
            )
        )
    return [read, len(tf.train.list_variables("x")), Path("x.index").read_bytes()]


BEHAVIOURS = {
    "as data": _as_data,
    "last checkpoints": _last_checkpoints,
    "without variables": _without_variables,
    "other savers": _other_savers,
    "said of graphs": _said_of_graphs,
    "collections as data": _collections_as_data,
    "own saveables": _own_saveables,
    "large indexes": _large_indexes,
}
