"""Programs of `tf.train.Saver` and of checkpoints, each in a folder of its own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain, Program
from sessrun.conformance.subjects.programs.saved_graphs import (
    in_a_folder,
    inputs,
    listing,
    variables,
)

__all__ = ["BEHAVIOURS"]


def _nodes(tf, *prefixes: str) -> list[Plain]:
    """The nodes of savers with all their attributes."""
    return [
        [
            n.name,
            n.op,
            inputs(n),
            n.device,
            [[key, sorted(str(n.attr[key]).split())] for key in sorted(n.attr)],
        ]
        for n in tf.get_default_graph().as_graph_def().node
        if n.name.startswith(prefixes or ("save", "x/save"))
    ]


def _graph(device: str | None = None, **options) -> Program:
    def program(tf):
        variables(tf, device)
        saver = tf.train.Saver(**options)
        return [_nodes(tf), saver.saver_def, saver.to_proto("x"), saver.to_proto("save")]

    return program


def _shards(tf):
    for name, device in (("a", "/job:ps/task:0"), ("b", "/job:ps/task:1"), ("c", None)):
        with tf.device(device):
            tf.get_variable(name, [2], initializer=tf.zeros_initializer())
    with tf.device("/job:ps/task:1/gpu:0"):
        tf.get_variable("d", [2], initializer=tf.zeros_initializer(), use_resource=True)
    return [tf.train.Saver(sharded=True, reshape=True).saver_def, _nodes(tf)]


def _var_lists(tf):
    v, w = variables(tf)
    outcomes = attempt(
        lambda: tf.train.Saver({"b": v, "a": w}).saver_def,
        lambda: tf.train.Saver((w, [v])).saver_def,
        lambda: tf.train.Saver({v}).saver_def,
        lambda: tf.train.Saver({"v": tf.get_default_graph().get_tensor_by_name("v:0")}).saver_def,
    )
    refused = attempt(
        lambda: tf.train.Saver([]),
        lambda: tf.train.Saver([tf.constant(1)]),
        lambda: tf.train.Saver([1]),
        lambda: tf.train.Saver({"a": tf.constant(1)}),
        lambda: tf.train.Saver({"a": 1}),
        lambda: tf.train.Saver({1: v}),
        lambda: tf.train.Saver(5),
        lambda: tf.train.Saver([v, v]),
        lambda: tf.train.Saver({"a": v, "b": v}),
        lambda: tf.train.Saver(v),
        lambda: tf.train.Saver({"a": [v, w]}),
        lambda: tf.train.Saver([v], defer_build=True),
        lambda: tf.train.Saver([v], saver_def=tf.train.SaverDef()),
        lambda: tf.train.Saver([v], saver_def=5),
    )
    nodes = _nodes(tf)
    with tf.Graph().as_default():
        empty = attempt(
            lambda: tf.train.Saver(),
            lambda: tf.train.Saver(allow_empty=True).saver_def,
            lambda: tf.train.Saver(defer_build=True).save(tf.Session(), "none"),
        )
    return [outcomes, refused, nodes, empty]


@in_a_folder
def _saving(tf):
    variables(tf)
    saver, session = tf.train.Saver(), tf.Session()
    outcomes = attempt(lambda: saver.save(session, "d/x"))
    session.run(tf.global_variables_initializer())
    outcomes += attempt(
        lambda: saver.save(session, "d/x"),
        lambda: Path("d/checkpoint").read_text(),
        lambda: saver.save(session, "d/x", global_step=7),
        lambda: saver.save(session, "d/x", global_step=tf.constant(9)),
        lambda: saver.save(session, "d/e/x"),
        lambda: saver.save(session, "d/x", write_state=False),
        lambda: saver.save(session, "d/m", write_meta_graph=False, global_step=np.int64(1)),
        lambda: saver.save(session, "d/n", meta_graph_suffix="mm"),
        lambda: saver.save(session, b"d/bytes", latest_filename="other"),
        lambda: saver.save(session, "d/x", latest_filename="a/b"),
        lambda: saver.save(session, "d/x", latest_filename="x"),
        lambda: saver.save(5, "d/x"),
        lambda: saver.save(session, 5),
        lambda: saver.last_checkpoints,
        listing,
        lambda: [Path(path).read_text() for path in listing() if path.endswith(("int", "other"))],
        lambda: saver.save(session, ""),
        lambda: saver.last_checkpoints,
    )
    return outcomes


def _keeping(**options) -> Program:
    @in_a_folder
    def program(tf):
        variables(tf)
        saver, session = tf.train.Saver(**options), tf.Session()
        session.run(tf.global_variables_initializer())
        steps = [saver.save(session, os.path.join("d", "x"), step) for step in (1, 2, 3, 3, 4)]  # noqa: PTH118
        outcomes = [steps, saver.last_checkpoints, listing(), Path("d/checkpoint").read_text()]
        saver.set_last_checkpoints(["d/x-3", "d/x-4"])
        outcomes += attempt(
            lambda: saver.last_checkpoints,
            lambda: saver.save(session, "d/x", 5),
            lambda: saver.last_checkpoints,
            listing,
            lambda: saver.recover_last_checkpoints(["d/x-4", "d/x-77", "d/x-5"]),
            lambda: saver.last_checkpoints,
            lambda: saver.set_last_checkpoints(("d/x",)),
        )
        return outcomes

    return program


@in_a_folder
def _restoring(tf):
    v, w = variables(tf)
    saver, session = tf.train.Saver(), tf.Session()
    session.run(tf.global_variables_initializer())
    saver.save(session, "x")
    session.run([tf.assign(v, -v), w.assign([0, 0])])
    outcomes = attempt(
        lambda: saver.restore(session, "x"),
        lambda: session.run([v, w]),
        lambda: saver.restore(session, b"x"),
        lambda: saver.restore(session, None),
        lambda: saver.restore(session, "none"),
        lambda: saver.restore(session, 5),
    )

    def other(make: Action, **options):
        def program():
            with tf.Graph().as_default(), tf.Session() as sess:
                fetches = make()
                tf.train.Saver(**options).restore(sess, "x")
                return sess.run(fetches)

        return program

    return outcomes + attempt(
        other(lambda: tf.get_variable("v", [3, 3])),
        other(lambda: tf.get_variable("v", [3, 2]), reshape=True),
        other(lambda: tf.get_variable("v", [3, 2], use_resource=True), reshape=True),
        other(lambda: tf.get_variable("v", [4], use_resource=True), reshape=True),
        other(lambda: tf.get_variable("nothing", [2])),
        other(lambda: tf.get_variable("v", [2, 3], tf.float64)),
        other(lambda: tf.get_variable("w", [2], tf.int64)),
    )


@in_a_folder
def _sharded(tf):
    v, w = variables(tf)
    saver, session = tf.train.Saver(sharded=True), tf.Session()
    session.run(tf.global_variables_initializer())
    return attempt(
        lambda: saver.save(session, "d/x", 3),
        lambda: Path("d").mkdir(),
        lambda: saver.save(session, "d/x", 3),
        lambda: saver.save(session, "d/x", 3),
        listing,
        lambda: session.run([tf.assign(v, v * 0), w.assign([0, 0])]),
        lambda: saver.restore(session, "d/x-3"),
        lambda: session.run([v, w]),
        lambda: tf.train.latest_checkpoint("d"),
    )


@in_a_folder
def _reading(tf):
    variables(tf)
    session, saver = tf.Session(), tf.train.Saver()
    session.run(tf.global_variables_initializer())
    saver.save(session, "d/x", 1)
    saver.save(session, "d/x", 2)
    Path("empty").mkdir()
    reader = tf.train.NewCheckpointReader("d/x-2")
    state = tf.train.get_checkpoint_state("d")
    return attempt(
        lambda: [reader.has_tensor("v"), reader.has_tensor(b"w"), reader.has_tensor("q")],
        lambda: reader.get_tensor("v"),
        lambda: reader.get_tensor("q"),
        reader.debug_string,
        lambda: sorted(reader.get_variable_to_shape_map().items()),
        lambda: sorted(reader.get_variable_to_dtype_map().items(), key=str),
        lambda: tf.train.NewCheckpointReader("d/none"),
        lambda: tf.train.NewCheckpointReader(5),
        lambda: tf.train.load_checkpoint("d").get_tensor("w"),
        lambda: tf.train.load_checkpoint("d/none"),
        lambda: tf.train.load_checkpoint("empty"),
        lambda: tf.train.load_variable("d", "w"),
        lambda: tf.train.load_variable("d/x-1", "w:0"),
        lambda: tf.train.load_variable("d", "q"),
        lambda: tf.train.list_variables("d/x-1"),
        lambda: tf.train.latest_checkpoint("d"),
        lambda: tf.train.latest_checkpoint("empty"),
        lambda: tf.train.latest_checkpoint("d", "x-2.index"),
        lambda: [
            tf.train.checkpoint_exists(path)
            for path in ("d/x-1", "d/x-9", "d/checkpoint", "d", "d/x-?", "none/x")
        ],
        lambda: len(tf.train.get_checkpoint_mtimes(["d/x-1", "d/none", "d/x-2"])),
        lambda: state,
        lambda: tf.train.get_checkpoint_state("empty"),
        lambda: tf.train.remove_checkpoint("d/x-1"),
        lambda: tf.train.remove_checkpoint("d/none"),
        listing,
    )


@in_a_folder
def _states(tf):
    make, update = tf.train.generate_checkpoint_state_proto, tf.train.update_checkpoint_state
    Path("d").mkdir()
    Path("d/broken").write_text("what is this", encoding="utf-8")
    Path("d/bare").write_text('all_model_checkpoint_paths: "a"', encoding="utf-8")
    return attempt(
        lambda: make("d", "d/a"),
        lambda: make("/q/d", "/q/d/a", ["/q/d/b", "/z/c"]),
        lambda: make("d", "/a", ["b", "/a"]),
        lambda: make("d", "d/a", ["d/b"], [1.0]),
        lambda: make("d", "d/a", ["d/b"], [1.0, 2.0], 2.0),
        lambda: update("d", "d/a", ["d/b", "d/a"]),
        lambda: Path("d/checkpoint").read_text(),
        lambda: update("d", "d/a", latest_filename="l"),
        lambda: Path("d/l").read_text(),
        lambda: update("none", "none/a"),
        lambda: update("", "checkpoint"),
        lambda: tf.train.get_checkpoint_state("d", "l"),
        lambda: tf.train.get_checkpoint_state("d", "broken"),
        lambda: tf.train.get_checkpoint_state("d", "bare"),
        lambda: tf.train.latest_checkpoint("d"),
        listing,
    )


def _raw(tf, prefix, names, slices, dtypes, *, fed: bool):
    if fed:
        prefix, names, slices = (
            tf.placeholder_with_default(value, None) for value in (prefix, names, slices)
        )
    restored = tf.raw_ops.RestoreV2(
        prefix=prefix, tensor_names=names, shape_and_slices=slices, dtypes=dtypes
    )
    return [
        [tensor.shape.as_list() if tensor.shape.ndims is not None else None for tensor in restored],
        run(tf, restored),
    ]


@in_a_folder
def _operations(tf):
    def save(prefix, names, slices, *values):
        def program():
            given = [tf.placeholder_with_default(value, None) for value in (prefix, names, slices)]
            tensors = [tf.constant(value) for value in values]
            return run(
                tf,
                tf.raw_ops.SaveV2(
                    prefix=given[0],
                    tensor_names=given[1],
                    shape_and_slices=given[2],
                    tensors=tensors,
                ),
            )

        return program

    def restore(*arguments) -> list[Action]:
        return [lambda fed=fed: _raw(tf, *arguments, fed=fed) for fed in (False, True)]

    one, two = [1.0, 2.0], [3.0, 4.0]
    floats = [tf.float32]
    return attempt(
        save("x", ["v", "s"], ["", ""], np.arange(6.0).reshape(2, 3), [b"a", b"", b"\0\xff" * 99]),
        save("s1", ["a", "a"], ["", ""], one, two),
        save("s2", ["a", "b"], ["4 0,2", ""], one, two),
        save("s3", ["a"], ["4 0,3"], one),
        save("s4", ["a", "a"], ["4 2,2", "4 0,2"], two, one),
        save("s5", ["a", "a"], ["4 0,2", "4 1,2"], one, two),
        save("s6", ["a"], ["", ""], one),
        save(["s7"], ["a"], [""], one),
        save(["s7", "q"], ["a"], [""], one),
        save("s8", ["a"], ["bad"], one),
        save("s9", ["a"], ["2 -"], one),
        *restore("x", ["v"], ["2 3 0,1:0,3"], [tf.float64]),
        *restore("x", ["s", "v"], ["", "2 3 -:1,2"], [tf.string, tf.float64]),
        *restore("x", ["v"], ["2 4 0,1:0,3"], [tf.float64]),
        *restore("x", ["v"], [""], floats),
        *restore("x", ["q", "v"], ["", ""], [tf.float32] * 2),
        *restore("x", ["v"], ["bad"], [tf.float64]),
        *restore("x", ["v"], ["2 3"], [tf.float64]),
        *restore("x", ["v"], ["2 x 0,1:-"], [tf.float64]),
        *restore("x", ["v"], ["2 3 0,0:-"], [tf.float64]),
        *restore("none", ["v"], [""], floats),
        *restore("x", ["v"], ["", ""], floats),
        *restore("x", ["v", "s"], ["", ""], floats),
        *restore(["x", "y"], ["v"], [""], [tf.float64]),
        *restore("x", [["v"]], [[""]], [tf.float64]),
        *restore("s4", ["a"], [""], floats),
        *restore("s4", ["a"], ["4 1,2"], floats),
        *restore("s2", ["a"], [""], floats),
        *restore("s2", ["a"], ["4 1,1"], floats),
        *restore("s5", ["a"], [""], floats),
        *restore("s9", ["a"], [""], floats),
        lambda: tf.train.NewCheckpointReader("s4").get_tensor("a"),
        lambda: run(tf, tf.raw_ops.ShardedFilename(basename="b", shard=-2, num_shards=123456)),
        lambda: run(tf, tf.raw_ops.ShardedFilespec(basename="b", num_shards=7)),
        lambda: run(
            tf,
            tf.raw_ops.ShardedFilename(
                basename=tf.placeholder_with_default(["b"], None), shard=1, num_shards=2
            ),
        ),
    )


@in_a_folder
def _merging(tf):
    def save(prefix: str, *names: str) -> Action:
        return lambda: run(
            tf,
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=[tf.constant([len(name)]) for name in names],
            ),
        )

    def merge(prefixes, target, **options) -> Action:
        return lambda: run(
            tf,
            tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=tf.placeholder_with_default(prefixes, None),
                destination_prefix=tf.placeholder_with_default(target, None),
                **options,
            ),
        )

    return attempt(
        save("t/1", "a", "bb"),
        save("t/2", "ccc"),
        merge(["t/1", "t/2"], "m/x"),
        listing,
        lambda: _raw(tf, "m/x", ["ccc", "bb"], ["", ""], [tf.int32] * 2, fed=False),
        save("t/1", "a"),
        save("t/3", "b"),
        merge(["t/1"], "n", delete_old_dirs=False),
        merge(["t/1"], "o"),
        merge(["t/1"], "o", allow_missing_files=True),
        merge(["t/1", "t/3"], "o", allow_missing_files=True),
        listing,
        merge([["o"]], "p"),
        merge(["o"], ["p", "q"]),
    )


@in_a_folder
def _initializing(tf):
    tf.get_variable("v", initializer=[1.0, 2.0])
    tf.get_variable("s/w", initializer=[3.0, 4.0], use_resource=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")

    def program(path: str, assignments) -> Action:
        def call():
            with tf.Graph().as_default(), tf.Session() as session:
                zeros = tf.zeros_initializer()
                a = tf.get_variable("a", [2], initializer=zeros)
                b = tf.get_variable("q/w", [2], initializer=zeros, use_resource=True)
                c = tf.get_variable("c", [3], initializer=zeros)
                tf.train.init_from_checkpoint(
                    path, assignments(a) if callable(assignments) else assignments
                )
                session.run(tf.global_variables_initializer())
                return [session.run([a, b, c]), _nodes(tf, "checkpoint_init", "Assign", "Identity")]

        return call

    return attempt(
        program("d", {"v": "a", "s/": "q/"}),
        program("d/x", [("s/w", "a")]),
        program("d", lambda a: {"v": a}),
        program("d", {"vv": "a"}),
        program("d", {"v": "aa"}),
        program("d", {"v": "c"}),
        program("d", {"/": "/"}),
        program("d", {"zz/": "q/"}),
        program("none", {"v": "a"}),
        program("d", {"s/": "nothing/"}),
    )


BEHAVIOURS = {
    "plain_graph": _graph(),
    "reshaping_graph": _graph(reshape=True, restore_sequentially=True),
    "named_graph": _graph(
        name="x/save", filename="abc", max_to_keep=None, keep_checkpoint_every_n_hours=1.5
    ),
    "graph_beside_a_gpu": _graph("/gpu:0"),
    "graph_of_a_task": _graph("/job:ps/task:0/gpu:0"),
    "sharded_graph": _graph(sharded=True),
    "sharded_on_a_gpu": _graph("/gpu:0", sharded=True),
    "shards": _shards,
    "var_lists": _var_lists,
    "saving": _saving,
    "keeping_two": _keeping(max_to_keep=2),
    "keeping_all": _keeping(max_to_keep=0),
    "keeping_for_good": _keeping(max_to_keep=1, keep_checkpoint_every_n_hours=0),
    "padded": _keeping(pad_step_number=True),
    "relative": _keeping(save_relative_paths=True),
    "restoring": _restoring,
    "sharded": _sharded,
    "reading": _reading,
    "states": _states,
    "operations": _operations,
    "merging": _merging,
    "initializing": _initializing,
}
