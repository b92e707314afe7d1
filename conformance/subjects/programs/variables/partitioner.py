"""Programs of partitioners of `get_variable` and of scopes, and of partitioned variables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]


def _nodes(tf):
    nodes = tf.get_default_graph().as_graph_def().node
    return [[node.name, node.op, list(node.input), node.device] for node in nodes]


def _by_where(size, dtype, partition_info):
    """An initializer whose value shows its partition info."""
    where = list(partition_info.var_offset), list(partition_info.full_shape)
    return [[float(sum(where[0]) + 10 * sum(where[1]))] * size[1]] * size[0]


def _built(tf, resource: bool):
    thirds = tf.fixed_size_partitioner(3)
    with tf.variable_scope(
        "outer", partitioner=thirds, use_resource=resource, regularizer=tf.reduce_sum
    ):
        drawn = tf.get_variable("drawn", [7, 2], initializer=tf.random_uniform_initializer(seed=3))
        given = tf.get_variable("given", initializer=tf.constant([[1.0, 2], [3, 4], [5, 6]]))
        plain = tf.get_variable("plain", [])
        located = tf.get_variable("told", [4, 2], initializer=_by_where)
    with tf.variable_scope("outer", reuse=True):
        shared = [tf.get_variable("drawn") is drawn, tf.get_variable("given", [3, 2]) is given]
    tf.matmul(drawn, [[1.0], [1.0]])
    with tf.name_scope("inner"), tf.control_dependencies([plain.op]):
        joined = given._concat()
    shown = [
        shared,
        [v.name for v in tf.global_variables()],
        [loss.name for loss in tf.get_collection("regularization_losses")],
        drawn.name,
        drawn.shape,
        drawn.dtype,
        len(drawn),
        [part._get_save_slice_info().spec for part in drawn],
        _nodes(tf),
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        shown.append(session.run([drawn.as_tensor(), joined, located.as_tensor()]))
        session.run(given.assign_add(tf.ones([3, 2])))
        shown.append(session.run(tf.convert_to_tensor(given)))
    return shown


def _saved(tf):
    with TemporaryDirectory() as folder, tf.Session() as session:
        cut = tf.get_variable("cut", initializer=tf.range(7), partitioner=_pieces(tf, 3))
        tf.get_variable("whole", initializer=tf.range(4))
        session.run(tf.global_variables_initializer())
        tf.get_collection_ref("seen").append(cut)
        path = tf.train.Saver().save(session, str(Path(folder) / "saved"))
        shown = [tf.train.list_variables(path), [node[:2] for node in _nodes(tf)]]
        with tf.Graph().as_default(), tf.Session() as other:
            otherwise = tf.get_variable("cut", [7], tf.int32, partitioner=_pieces(tf, 2))
            cut_now = tf.get_variable("whole", [4], tf.int32, partitioner=_pieces(tf, 4))
            tf.train.Saver().restore(other, path)
            shown.append(other.run([otherwise.as_tensor(), cut_now.as_tensor()]))
    return shown


def _saved_under_names(tf):
    def saved(number: int, given) -> Action:
        def save():
            path = tf.train.Saver(given).save(session, f"{folder}/{number}", write_meta_graph=False)
            names = [name for name, _ in tf.train.list_variables(path)]
            return [[name, tf.train.load_variable(path, name)] for name in names]

        return save

    with TemporaryDirectory() as folder, tf.Session() as session:
        cut = tf.get_variable("cut", initializer=tf.range(7.0), partitioner=_pieces(tf, 3))
        one = tf.get_variable("one", initializer=1.0)
        session.run(tf.global_variables_initializer())
        given = [
            None,
            [cut],
            {"x": cut},
            [cut, one],
            {"x": list(cut)},
            list(cut),
            list(cut)[:1],
            {"x": list(cut)[1:]},
            {"x": cut, "y": one},
        ]
        shown = attempt(*(saved(number, var_list) for number, var_list in enumerate(given)))
        with tf.Graph().as_default():
            shown += attempt(lambda: _started(tf, f"{folder}/0"), lambda: _restored(tf, folder))
    return shown


def _started(tf, path: str):
    """Partitioned variables whose initializers restore them from a checkpoint."""
    cut = tf.get_variable("cut", [7], partitioner=_pieces(tf, 2))
    other = tf.get_variable("scope/cut", [7], partitioner=_pieces(tf, 3), use_resource=True)
    third = tf.get_variable("other/cut", [7], partitioner=_pieces(tf, 7))
    wrong = tf.get_variable("wrong", [6], partitioner=_pieces(tf, 2))
    start = tf.train.init_from_checkpoint
    outcomes = attempt(
        lambda: start(path, {"cut": list(cut)}),
        lambda: start(path, {"cut": "scope/cut"}),
        lambda: start(path, {"/": "other/"}),
        lambda: start(path, {"absent": list(cut)}),
        lambda: start(path, {"cut": "absent"}),
        lambda: start(path, {"cut": [*cut, *other]}),
    )
    with tf.Session() as session:
        session.run([part.initializer for variable in (cut, other, third) for part in variable])
        del wrong
        return [outcomes, session.run([variable.as_tensor() for variable in (cut, other, third)])]


def _restored(tf, folder: str):
    """Variables that are restored from the parts of another one, with other parts and without."""
    with tf.Graph().as_default(), tf.Session() as session:
        cut = tf.get_variable("a", [7], partitioner=_pieces(tf, 2), use_resource=True)
        uncut = tf.get_variable("b", [7])
        tf.train.Saver({"x": cut}).restore(session, f"{folder}/2")
        tf.train.Saver({"x": uncut}).restore(session, f"{folder}/2")
        return session.run([cut.as_tensor(), uncut])


def _pieces(tf, count: int):
    return tf.fixed_size_partitioner(count)


def _refused(tf):
    def got(name: str, *shape, **options) -> Action:
        options = {"partitioner": _pieces(tf, 2), **options}
        return lambda: tf.get_variable(name, *shape, **options).name

    tf.get_variable("whole", [4])
    tf.get_variable("cut", [4], partitioner=_pieces(tf, 2))
    answers = [
        3,
        lambda **_: 5,
        lambda **_: [1, 1, 1],
        lambda **_: [0, 1],
        lambda **_: [2, 2],
        lambda **_: (1, 2),
        lambda: [1, 1],
    ]
    with tf.variable_scope("", reuse=True):
        reused = attempt(
            got("cut"),
            got("cut", [4]),
            got("cut", [5]),
            got("cut", [4], dtype=tf.int32),
            got("cut", [4], partitioner=_pieces(tf, 4)),
            got("cut", partitioner=None),
            got("whole", [4]),
            got("new", [4]),
        )
    return reused + attempt(
        *(got("answered", [4, 4], partitioner=answer) for answer in answers),
        got("whole", [4]),
        got("cut", [4]),
        got("cut", [4], partitioner=None),
        got("shapeless"),
        got("scalar", []),
        got("scalar_too", tf.TensorShape([])),
        got("unknown", [None]),
        got("listed", [4], initializer=[1.0, 2.0, 3.0, 4.0]),
        got("clashing", [3], initializer=tf.constant([1.0, 2.0, 3.0, 4.0])),
        got("complex", [4], dtype=tf.complex64),
        got("text", [4], dtype=tf.string),
    )


def _options(tf):
    half = _pieces(tf, 2)
    for number, option in enumerate(
        (
            {"trainable": False},
            {"collections": ["mine"]},
            {"caching_device": "/device:CPU:0"},
            {"constraint": tf.identity},
            {"use_resource": True},
        )
    ):
        tf.get_variable(f"v{number}", [4], tf.int64, partitioner=half, **option).as_tensor()
    local = tf.get_local_variable("local", [4], partitioner=half)
    with tf.variable_scope("got", custom_getter=lambda getter, *a, **k: getter(*a, **k)):
        got = tf.get_variable("v", [4], partitioner=half)
        refused = attempt(lambda: tf.create_partitioned_variables([4], [2], [1, 2, 3, 4]))
    keys = sorted(
        key for key in tf.get_default_graph().get_all_collection_keys() if isinstance(key, str)
    )
    return [
        local.name,
        got.name,
        refused,
        _nodes(tf),
        [[key, [v.name for v in tf.get_collection(key)]] for key in keys],
    ]


def _sliced(tf):
    def sliced(*args, **options) -> Action:
        return lambda: [
            [v.name, v.shape, v.dtype, v.trainable, v._get_save_slice_info().spec]
            for v in tf.create_partitioned_variables(*args, **options)
        ]

    value = tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]])
    with tf.variable_scope("scope", use_resource=True):
        inside = attempt(sliced([2, 4], [1, 2], value), sliced([2, 4], [1, 3], value))
    return inside + attempt(
        sliced([2, 4], [1, 4], value, name="named", collections=["mine"], trainable=False),
        sliced([2, 4], [1, 4], value, name="named", reuse=True),
        sliced([7, 2], [3, 1], _by_where),
        sliced([2, 4], [1], value),
        sliced([], [], value),
        sliced([2, 4], [3, 1], value),
        sliced([2, 4], [2, 2], value),
        sliced([2, 4], [0, 1], value),
    )


def _sizes(tf):
    shapes = [tf.TensorShape(shape) for shape in ([4, 8, 16], [1], [1000, 3], [0, 3], [5, None])]

    def answers(make: Callable[..., Callable[..., list[int]]], *args, **options) -> list[Plain]:
        return attempt(
            *(
                lambda shape=shape, dtype=dtype: make(*args, **options)(shape=shape, dtype=dtype)
                for shape in shapes
                for dtype in (tf.float32, tf.float64, tf.string)
            )
        )

    by_axis = tf.variable_axis_size_partitioner
    bounded = tf.min_max_variable_partitioner
    return [
        answers(by_axis, 64),
        answers(by_axis, 100, axis=1),
        answers(by_axis, 64, max_shards=2),
        answers(by_axis, 64, bytes_per_string_element=3),
        answers(by_axis, 0),
        answers(by_axis, 4, bytes_per_string_element=0),
        answers(by_axis, 4, max_shards=-1),
        answers(bounded),
        answers(bounded, 7, min_slice_size=64),
        answers(bounded, 7, axis=1),
        answers(bounded, 9, 0, 10, 100),
        answers(tf.fixed_size_partitioner, 3),
        answers(tf.fixed_size_partitioner, 3, axis=1),
    ]


BEHAVIOURS = {
    "built": lambda tf: _built(tf, False),
    "built_resources": lambda tf: _built(tf, True),
    "saved": _saved,
    "saved_under_names": _saved_under_names,
    "refused": _refused,
    "options": _options,
    "sliced": _sliced,
    "sizes": _sizes,
}
