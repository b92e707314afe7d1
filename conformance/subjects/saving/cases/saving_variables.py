"""Vectors of SAVING on the API surface: savers, checkpoints by name, meta graphs."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case

_VALUES: Final = np.array([[1.5, -2], [0, 7]], np.float32)
_OTHER: Final = np.array([3, -4, 5], np.int64)


def _variables(c: ApiAuthor) -> tuple[Symbol, Symbol]:
    """A reference variable `v` and a resource variable `w`."""
    tf = c.tf
    v = tf.get_variable("v", initializer=tf.constant(_VALUES), use_resource=False)
    w = tf.get_variable("w", initializer=tf.constant(_OTHER), use_resource=True)
    return v, w


def _session(c: ApiAuthor) -> Symbol:
    """A session whose variables are initialized."""
    sess = c.tf.Session()
    sess.run(c.tf.global_variables_initializer())
    return sess


def _one(
    c: ApiAuthor, value: Recordable = _OTHER, name: str = "a", *, resource: bool = True
) -> Symbol:
    tf = c.tf
    return tf.get_variable(name, initializer=tf.constant(value), use_resource=resource)


@api_case("SAVING-040", title="Variables of both kinds are saved, changed and restored.")
def saved_and_restored(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    saver = tf.train.Saver()
    sess = _session(c)
    saver.save(sess, c.path("x"))
    sess.run([v.assign(v * 0.0), w.assign(w + 1)])
    saver.restore(sess, c.path("x"))
    c.check(sess.run([v, w]), [_VALUES, _OTHER])


@api_case("SAVING-040", title="Another session restores without initializing.")
def another_session_restores(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    saver = tf.train.Saver()
    saver.save(_session(c), c.path("x"))
    second = tf.Session()
    saver.restore(second, c.path("x"))
    c.check(second.run(v), _VALUES)
    c.check(second.run(w), _OTHER)


@api_case("SAVING-041", title="The path that is saved, with a number, a tensor, a variable.")
def the_path_that_is_saved(c: ApiAuthor) -> None:
    tf = c.tf
    _one(c)
    step = tf.Variable(12, trainable=False, name="step")
    saver = tf.train.Saver()
    sess = _session(c)
    c.check(saver.save(sess, c.path("x")), c.seen("x"))
    c.check(saver.save(sess, c.path("x"), global_step=7), c.seen("x-7"))
    c.check(saver.save(sess, c.path("x"), global_step=tf.constant(8)), c.seen("x-8"))
    c.check(saver.save(sess, c.path("x"), step), c.seen("x-12"))


@api_case("SAVING-042", title="Numbers of steps with eight digits.")
def numbers_with_eight_digits(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver(pad_step_number=True)
    sess = _session(c)
    c.check(saver.save(sess, c.path("x"), 7), c.seen("x-00000007"))
    c.check(saver.save(sess, c.path("x"), 123456789), c.seen("x-123456789"))


def _files(*names: str) -> list[str]:
    ends = (".data-00000-of-00001", ".index", ".meta")
    return sorted(["checkpoint", *(name + end for name in names for end in ends)])


@api_case("SAVING-043", title="With max_to_keep=2 the third checkpoint removes the first.")
def the_oldest_is_removed(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver(max_to_keep=2)
    sess = _session(c)
    for step in range(3):
        saver.save(sess, c.path("x"), step)
    c.names(_files("x-1", "x-2"))


@api_case("SAVING-043", title="A checkpoint saved anew counts as the latest.")
def saved_anew_is_the_latest(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver(max_to_keep=2)
    sess = _session(c)
    for step in (0, 1, 0, 2):
        saver.save(sess, c.path("x"), step)
    c.names(_files("x-0", "x-2"))


@api_case("SAVING-044", title="With max_to_keep=0 and None all are kept.")
def all_are_kept(c: ApiAuthor) -> None:
    _one(c)
    sess = _session(c)
    for name, limit in (("x", 0), ("y", None)):
        saver = c.tf.train.Saver(max_to_keep=limit)
        for step in range(7):
            saver.save(sess, c.path(name), step, write_meta_graph=False)
    ends = (".data-00000-of-00001", ".index")
    kept = [f"{name}-{step}{end}" for name in "xy" for step in range(7) for end in ends]
    c.names(sorted(["checkpoint", *kept]))


@api_case("SAVING-045", title="A checkpoint is kept for good once the hours have passed.")
def kept_for_good(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-12)
    sess = _session(c)
    for step in range(3):
        saver.save(sess, c.path("x"), step)
    c.names(_files("x-0", "x-1", "x-2"))


@api_case("SAVING-045", title="Times before and after the limit, which moves on twice.")
def times_before_and_after_the_limit(c: ApiAuthor) -> None:
    _one(c)
    hours = 1e8
    saver = c.tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=hours)
    sess = _session(c)
    earlier = c.tf.train.Saver(max_to_keep=0)
    for step in range(5):
        earlier.save(sess, c.path("x"), step, write_meta_graph=False)
    # Beside these limits, which lie 11,000 years apart, the time of the test is no time.
    times = [3600 * hours * part for part in (0.5, 1.5, 1.6, 2.5, 2.6)]
    saver.set_last_checkpoints_with_time(
        [(c.path(f"x-{step}"), at) for step, at in enumerate(times)]
    )
    for step in range(5):
        saver.save(sess, c.path("y"), step, write_meta_graph=False)
    ends = (".data-00000-of-00001", ".index")
    kept = [
        f"{name}{end}" for name in ("x-1", "x-3", *(f"y-{n}" for n in range(5))) for end in ends
    ]
    c.names(sorted(["checkpoint", *kept]))


@api_case("SAVING-046", title="The latest checkpoint of a folder.")
def the_latest_checkpoint(c: ApiAuthor) -> None:
    tf = c.tf
    _one(c)
    saver = tf.train.Saver()
    sess = _session(c)
    for step in (5, 3):
        saver.save(sess, c.path("x"), step)
        c.check(tf.train.latest_checkpoint(c.path()), c.seen(f"x-{step}"))


@api_case("SAVING-047", title="A folder without checkpoints, and one that is not there.")
def no_latest_checkpoint(c: ApiAuthor) -> None:
    c.file("other", b"1")
    c.check(c.tf.train.latest_checkpoint(c.path()), None)
    c.check(c.tf.train.latest_checkpoint(c.path("none")), None)


@api_case("SAVING-048", title="Two lists of checkpoints in one folder.")
def two_lists(c: ApiAuthor) -> None:
    tf = c.tf
    _one(c)
    saver = tf.train.Saver()
    sess = _session(c)
    saver.save(sess, c.path("x"), latest_filename="mine")
    c.check(tf.train.latest_checkpoint(c.path()), None)
    c.check(tf.train.latest_checkpoint(c.path(), "mine"), c.seen("x"))
    c.names(["mine", "x.data-00000-of-00001", "x.index", "x.meta"])


@api_case("SAVING-049", title="Variables saved under other names, and read by those.")
def names_of_a_dict(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    saver = tf.train.Saver({"first": w, "w": v})
    sess = _session(c)
    saver.save(sess, c.path("x"))
    c.check(tf.train.load_variable(c.path("x"), "first"), _OTHER)
    c.check(tf.train.load_variable(c.path("x"), "w"), _VALUES)


@api_case("SAVING-050", title="A saver of one variable leaves the other as it is.")
def the_others_stay(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    sess = _session(c)
    tf.train.Saver().save(sess, c.path("x"))
    sess.run([v.assign(v + 1.0), w.assign(w * 0)])
    tf.train.Saver([v]).restore(sess, c.path("x"))
    c.check(sess.run([v, w]), [_VALUES, _OTHER * 0])


@api_case("SAVING-051", title="Restoring from where there is no checkpoint, and from None.")
def no_checkpoint_to_restore(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver()
    sess = _session(c)
    c.raises("ValueError", lambda: saver.restore(sess, c.path("x")))
    c.raises("ValueError", lambda: saver.restore(sess, None))


@api_case("SAVING-052", title="A variable that the checkpoint does not have.")
def a_variable_that_is_lacking(c: ApiAuthor) -> None:
    tf = c.tf
    a, b = _one(c), _one(c, name="b")
    sess = _session(c)
    tf.train.Saver([a]).save(sess, c.path("x"))
    c.raises("NotFoundError", lambda: tf.train.Saver([a, b]).restore(sess, c.path("x")))


def _refused_by(c: ApiAuthor, saver: Symbol, sess: Symbol) -> None:
    c.raises("InvalidArgumentError", lambda: saver.restore(sess, c.path("x")))


@api_case("SAVING-053", title="Reference variables of another shape than saved.")
def another_shape(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    sess = _session(c)
    tf.train.Saver({"a": v, "b": w}).save(sess, c.path("x"))
    small = _one(c, np.zeros([2], np.float32), "small", resource=False)
    flat = _one(c, np.zeros([1, 3], np.int64), "flat", resource=False)
    for saver in (tf.train.Saver({"a": small}), tf.train.Saver({"b": flat})):
        _refused_by(c, saver, sess)


@api_case("SAVING-054", title="A matrix is restored as a vector, and the other way round.")
def restored_in_another_shape(c: ApiAuthor) -> None:
    tf = c.tf
    v, _ = _variables(c)
    sess = _session(c)
    tf.train.Saver({"a": v}).save(sess, c.path("x"))
    flat = _one(c, np.zeros([4], np.float32), "flat")
    tall = _one(c, np.zeros([4, 1], np.float32), "tall", resource=False)
    for variable, shape in ((flat, [4]), (tall, [4, 1])):
        tf.train.Saver({"a": variable}, reshape=True).restore(sess, c.path("x"))
        c.check(sess.run(variable), _VALUES.reshape(shape))


@api_case("SAVING-055", title="Two places, two data files; one checkpoint.")
def a_file_for_each_device(c: ApiAuthor) -> None:
    tf = c.tf
    with c.within(tf.device("/cpu:0")):
        v = tf.get_variable("v", initializer=tf.constant(_VALUES))
    w = tf.get_variable("w", initializer=tf.constant(_OTHER))
    saver = tf.train.Saver(sharded=True)
    sess = _session(c)
    c.check(saver.save(sess, c.path("x"), write_meta_graph=False), c.seen("x"))
    c.names(["checkpoint", "x.data-00000-of-00002", "x.data-00001-of-00002", "x.index"])
    sess.run([v.assign(v * 0.0), w.assign(w * 0)])
    saver.restore(sess, c.path("x"))
    c.check(sess.run([v, w]), [_VALUES, _OTHER])


@api_case("SAVING-056", title="A variable in parts is saved as one, and restored as one.")
def parts_are_saved_as_one(c: ApiAuthor) -> None:
    tf = c.tf
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    parted = tf.get_variable(
        "p", initializer=tf.constant(matrix), partitioner=tf.fixed_size_partitioner(2)
    )
    sess = _session(c)
    tf.train.Saver([parted]).save(sess, c.path("x"))
    c.check(tf.train.list_variables(c.path("x")), [("p", [4, 3])])
    one = _one(c, np.zeros([4, 3], np.float32), "one")
    tf.train.Saver({"p": one}).restore(sess, c.path("x"))
    c.check(sess.run(one), matrix)


@api_case("SAVING-057", title="A saver without variables, and one that may be empty.")
def a_saver_of_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    c.raises("ValueError", tf.train.Saver)
    c.raises("ValueError", lambda: tf.train.Saver([]))
    empty = tf.train.Saver(allow_empty=True)
    c.check(empty.save(tf.Session(), c.path("x"), write_meta_graph=False), None)
    c.names([])


@api_case("SAVING-058", title="Two variables of one name cannot have one saver.")
def two_of_one_name(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    c.raises("ValueError", lambda: tf.train.Saver([v, v]))
    c.raises("ValueError", lambda: tf.train.Saver([w, v, w]))


@api_case("SAVING-059", title="The meta graph is written beside the checkpoint, or not.")
def the_meta_graph_is_written(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver()
    sess = _session(c)
    saver.save(sess, c.path("x"))
    saver.save(sess, c.path("y"), write_meta_graph=False, write_state=False)
    c.names(
        [
            "checkpoint",
            "x.data-00000-of-00001",
            "x.index",
            "x.meta",
            "y.data-00000-of-00001",
            "y.index",
        ]
    )


@api_case("SAVING-060", title="A graph comes back from its file, and restores its variables.")
def a_graph_comes_back(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    tf.add(tf.reduce_sum(v), 1.0, name="total")
    sess = _session(c)
    sess.run(w.assign(w + 10))
    tf.train.Saver().save(sess, c.path("x"))
    graph = tf.Graph()
    with c.within(graph.as_default()):
        saver = tf.train.import_meta_graph(c.path("x.meta"))
        later = tf.Session()
        saver.restore(later, c.path("x"))
        c.check(later.run(["total:0", "v:0"]), [np.float32(7.5), _VALUES])
        c.check(later.run("w/Read/ReadVariableOp:0"), _OTHER + 10)


@api_case("SAVING-061", title="A meta graph that is not there.")
def no_meta_graph(c: ApiAuthor) -> None:
    c.raises("OSError", lambda: c.tf.train.import_meta_graph(c.path("x.meta")))


@api_case("SAVING-062", title="Collections come back with their graph.")
def collections_come_back(c: ApiAuthor) -> None:
    tf = c.tf
    a = _one(c)
    tf.add_to_collection("mine", a + 1)
    tf.add_to_collection("words", "hello")
    tf.add_to_collection("numbers", 7)
    tf.train.export_meta_graph(c.path("g"))
    with c.within(tf.Graph().as_default()):
        tf.train.import_meta_graph(c.path("g"))
        c.check(tf.get_collection("mine")[0].name, "add:0")
        c.check(tf.get_collection("numbers"), [7])
        c.check(tf.get_collection("words"), [b"hello"])
        c.check(tf.global_variables()[0].name, "a:0")


@api_case("SAVING-063", title="A graph is written as bytes and as text, its folder made.")
def a_graph_is_written(c: ApiAuthor) -> None:
    tf = c.tf
    tf.no_op(name="n")
    c.check(
        tf.train.write_graph(tf.get_default_graph(), c.path("d"), "g.pb", as_text=False),
        c.seen("d/g.pb"),
    )
    written = tf.GraphDef()
    file = tf.gfile.GFile(c.path("d/g.pb"), "rb")
    written.ParseFromString(file.read())
    c.check(written.node[0].name, "n")
    tf.train.write_graph(written, c.path("d"), "g.txt")
    c.names(["d/g.pb", "d/g.txt"])


@api_case("SAVING-064", title="Variables become constants of the values in the session.")
def variables_become_constants(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    tf.add(tf.reduce_sum(v), 1.0, name="y")
    sess = _session(c)
    sess.run([v.assign(v + 1.0), w])
    frozen = tf.graph_util.convert_variables_to_constants(
        sess, tf.get_default_graph().as_graph_def(), ["y"]
    )
    with c.within(tf.Graph().as_default()):
        tf.import_graph_def(frozen, name="")
        c.check(tf.Session().run("y:0"), np.float32(11.5))


@api_case("SAVING-065", title="What a checkpoint holds, by name.")
def what_a_checkpoint_holds(c: ApiAuthor) -> None:
    tf = c.tf
    v, w = _variables(c)
    sess = _session(c)
    tf.train.Saver({"z": v, "b": w}).save(sess, c.path("x"))
    c.check(tf.train.list_variables(c.path("x")), [("b", [3]), ("z", [2, 2])])
    c.check(tf.train.list_variables(c.path()), [("b", [3]), ("z", [2, 2])])
    reader = tf.train.NewCheckpointReader(c.path("x"))
    c.check(reader.has_tensor("b"), True)
    c.check(reader.has_tensor("v"), False)


@api_case("SAVING-094", title="A variable that is not in a checkpoint.")
def a_variable_that_is_not_in_a_checkpoint(c: ApiAuthor) -> None:
    tf = c.tf
    _variables(c)
    tf.train.Saver().save(_session(c), c.path("x"))
    c.raises("NotFoundError", lambda: tf.train.load_variable(c.path("x"), "z"))


@api_case("SAVING-093", title="A variable of a checkpoint.")
def a_variable_of_a_checkpoint(c: ApiAuthor) -> None:
    tf = c.tf
    _variables(c)
    tf.train.Saver().save(_session(c), c.path("x"))
    c.check(tf.train.load_variable(c.path("x"), "v"), _VALUES)
    c.check(tf.train.load_checkpoint(c.path("x")).get_tensor("w"), _OTHER)


@api_case("SAVING-067", title="Initializers set variables to what a checkpoint holds.")
def initialized_from_a_checkpoint(c: ApiAuthor) -> None:
    tf = c.tf
    _variables(c)
    tf.train.Saver().save(_session(c), c.path("x"))
    with c.within(tf.Graph().as_default()):
        with c.within(tf.variable_scope("net")):
            a = tf.get_variable("a", [2, 2])
            b = tf.get_variable("b", [3], tf.int64, use_resource=True)
        tf.train.init_from_checkpoint(c.path("x"), {"v": "net/a", "w": b})
        c.check(_session(c).run([a, b]), [_VALUES, _OTHER])


@api_case("SAVING-068", title="The checkpoints that are kept, the latest last.")
def the_checkpoints_that_are_kept(c: ApiAuthor) -> None:
    _one(c)
    saver = c.tf.train.Saver(max_to_keep=2)
    sess = _session(c)
    c.check(saver.last_checkpoints, [])
    for step in range(3):
        saver.save(sess, c.path("x"), step)
    c.check(saver.last_checkpoints, [c.seen("x-1"), c.seen("x-2")])


@api_case("SAVING-069", title="Whether there is a checkpoint.")
def whether_there_is_one(c: ApiAuthor) -> None:
    tf = c.tf
    _one(c)
    c.check(tf.train.checkpoint_exists(c.path("x")), False)
    tf.train.Saver().save(_session(c), c.path("x"))
    c.check(tf.train.checkpoint_exists(c.path("x")), True)
    c.check(tf.train.checkpoint_exists(c.path("y")), False)


@api_case("SAVING-070", title="A list of relative paths.")
def relative_paths(c: ApiAuthor) -> None:
    tf = c.tf
    _one(c)
    saver = tf.train.Saver(save_relative_paths=True)
    sess = _session(c)
    saver.save(sess, c.path("x"), 1)
    saver.save(sess, c.path("x"), 2)
    every = b'all_model_checkpoint_paths: "x-1"\nall_model_checkpoint_paths: "x-2"\n'
    c.content("checkpoint", b'model_checkpoint_path: "x-2"\n' + every)
    c.check(tf.train.latest_checkpoint(c.path()), c.seen("x-2"))


@api_case("SAVING-071", title="A variable that is not initialized is not saved.")
def not_initialized(c: ApiAuthor) -> None:
    tf = c.tf
    _variables(c)
    saver = tf.train.Saver()
    c.raises("FailedPreconditionError", lambda: saver.save(tf.Session(), c.path("x")))
    c.check(tf.train.latest_checkpoint(c.path()), None)
