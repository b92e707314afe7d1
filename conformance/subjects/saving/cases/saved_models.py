"""Vectors of SAVING: saved models, written and loaded."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case

_KERNEL: Final = np.arange(6, dtype=np.float32).reshape(2, 3)
_INPUT: Final = np.array([[1, 2]], np.float32)
_OUTPUT: Final = _INPUT @ (_KERNEL + 1)


def _graph(c: ApiAuthor) -> tuple[Symbol, Symbol, Symbol]:
    """A model of one variable: its input, its output, the variable."""
    tf = c.tf
    kernel = tf.get_variable("kernel", initializer=tf.constant(_KERNEL))
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return x, tf.matmul(x, kernel, name="y"), kernel


def _saved(c: ApiAuthor, **options: Recordable) -> Symbol:
    """Save the model with a changed kernel, and return the builder."""
    tf = c.tf
    x, y, kernel = _graph(c)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    sess.run(kernel.assign(kernel + 1.0))
    builder = tf.saved_model.Builder(c.path("m"))
    signature = tf.saved_model.predict_signature_def({"in": x}, {"out": y})
    builder.add_meta_graph_and_variables(sess, ["serve"], {"s": signature}, **options)
    return builder


@api_case("SAVING-080", title="A model is loaded with the values that its variables had.")
def a_model_is_loaded(c: ApiAuthor) -> None:
    tf = c.tf
    _saved(c).save()
    c.names(
        [
            "m/saved_model.pb",
            "m/variables/variables.data-00000-of-00001",
            "m/variables/variables.index",
        ]
    )
    with c.within(tf.Graph().as_default()):
        sess = tf.Session()
        tf.saved_model.load(sess, ["serve"], c.path("m"))
        c.check(sess.run("y:0", {"x:0": _INPUT}), _OUTPUT)


@api_case("SAVING-080", title="A model of text is loaded as well.")
def a_model_of_text(c: ApiAuthor) -> None:
    tf = c.tf
    _saved(c).save(as_text=True)
    with c.within(tf.Graph().as_default()):
        sess = tf.Session()
        tf.saved_model.loader.load(sess, ["serve"], c.path("m"))
        c.check(sess.run("y:0", {"x:0": _INPUT}), _OUTPUT)


@api_case("SAVING-080", title="What simple_save writes is loaded by the tag of serving.")
def simply_saved(c: ApiAuthor) -> None:
    tf = c.tf
    x, y, _ = _graph(c)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    tf.saved_model.simple_save(sess, c.path("m"), {"in": x}, {"out": y})
    with c.within(tf.Graph().as_default()):
        later = tf.Session()
        tf.saved_model.load(later, [tf.saved_model.SERVING], c.path("m"))
        c.check(later.run("y:0", {"x:0": _INPUT}), _INPUT @ _KERNEL)


@api_case("SAVING-081", title="A signature leads to the tensors of input and output.")
def signatures_lead_to_tensors(c: ApiAuthor) -> None:
    tf = c.tf
    _saved(c).save()
    with c.within(tf.Graph().as_default()):
        sess = tf.Session()
        model = tf.saved_model.load(sess, ["serve"], c.path("m"))
        signature = model.signature_def["s"]
        c.check(signature.method_name, "tensorflow/serving/predict")
        c.check(signature.inputs["in"].name, "x:0")
        out = tf.saved_model.get_tensor_from_tensor_info(signature.outputs["out"])
        c.check(sess.run(out, {"x:0": _INPUT}), _OUTPUT)


def _not_loaded(c: ApiAuthor, error: str, sess: Symbol, tags: list[str], name: str) -> None:
    c.raises(error, lambda: c.tf.saved_model.load(sess, tags, c.path(name)))


def _saved_with_two_tags(c: ApiAuthor) -> None:
    _, _, kernel = _graph(c)
    sess = c.tf.Session()
    sess.run(kernel.initializer)
    builder = c.tf.saved_model.Builder(c.path("m"))
    builder.add_meta_graph_and_variables(sess, ["a", "b"])
    builder.save()


@api_case("SAVING-096", title="One tag of two, one too many and none find no graph.")
def tags_must_be_all(c: ApiAuthor) -> None:
    _saved_with_two_tags(c)
    with c.within(c.tf.Graph().as_default()):
        later = c.tf.Session()
        for tags in (["a"], ["a", "b", "c"], [], ["other"]):
            _not_loaded(c, "RuntimeError", later, tags, "m")


@api_case("SAVING-095", title="Tags find their graph in whatever order.")
def tags_in_another_order(c: ApiAuthor) -> None:
    tf = c.tf
    _saved_with_two_tags(c)
    with c.within(tf.Graph().as_default()):
        later = tf.Session()
        tf.saved_model.load(later, ["b", "a"], c.path("m"))
        c.check(later.run("y:0", {"x:0": _INPUT}), _INPUT @ _KERNEL)


@api_case("SAVING-083", title="A folder without a model, and a file that is none.")
def no_model(c: ApiAuthor) -> None:
    tf = c.tf
    c.file("broken/saved_model.pb", b"\xff\xff\xff")
    sess = tf.Session()
    for name in ("none", "broken"):
        _not_loaded(c, "OSError", sess, ["serve"], name)


@api_case("SAVING-101", title="Folders with a file of a model, of either kind, and without one.")
def folders_that_may_have_models(c: ApiAuthor) -> None:
    may_have = c.tf.saved_model.maybe_saved_model_directory
    c.file("bytes/saved_model.pb", b"\xff\xff\xff")
    c.file("text/saved_model.pbtxt", b"\xff")
    c.file("other/model", b"1")
    for name, want in (("bytes", True), ("text", True), ("other", False), ("none", False)):
        c.check(may_have(c.path(name)), want)


@api_case("SAVING-084", title="The main operation sees the restored variables.")
def the_main_operation(c: ApiAuthor) -> None:
    tf = c.tf
    _, _, kernel = _graph(c)
    total = tf.get_variable(
        "total", [], collections=[], use_resource=False, initializer=tf.zeros_initializer()
    )
    main = tf.group(total.assign(tf.reduce_sum(kernel)))
    sess = tf.Session()
    sess.run(kernel.initializer)
    builder = tf.saved_model.Builder(c.path("m"))
    builder.add_meta_graph_and_variables(sess, ["serve"], main_op=main)
    builder.save()
    with c.within(tf.Graph().as_default()):
        later = tf.Session()
        tf.saved_model.load(later, ["serve"], c.path("m"))
        c.check(later.run("total:0"), np.float32(15))


@api_case("SAVING-085", title="An asset is copied, and read from where it is now.")
def an_asset_is_copied(c: ApiAuthor) -> None:
    tf = c.tf
    asset = tf.constant(c.file("words.txt", b"one\ntwo"), name="asset")
    words = tf.get_variable("words", initializer="", collections=[], use_resource=False)
    v = tf.get_variable("v", [2])
    main = tf.group(words.assign(tf.read_file(asset)))
    sess = tf.Session()
    sess.run(v.initializer)
    builder = tf.saved_model.Builder(c.path("m"))
    builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=[asset], main_op=main)
    builder.save()
    c.content("m/assets/words.txt", b"one\ntwo")
    c.change("words.txt", remove=True)
    with c.within(tf.Graph().as_default()):
        later = tf.Session()
        tf.saved_model.load(later, ["serve"], c.path("m"))
        c.check(later.run("words:0"), b"one\ntwo")


@api_case("SAVING-086", title="A folder with a file in it takes no model, an empty one does.")
def folders_of_models(c: ApiAuthor) -> None:
    tf = c.tf
    c.file("full/a", b"1")
    c.file("empty", None)
    c.raises("AssertionError", lambda: tf.saved_model.Builder(c.path("full")))
    tf.saved_model.Builder(c.path("empty"))
    tf.saved_model.Builder(c.path("new/one"))


@api_case("SAVING-087", title="A second graph has the variables of the first.")
def a_second_graph(c: ApiAuthor) -> None:
    tf = c.tf
    builder = _saved(c)
    with c.within(tf.Graph().as_default()):
        kernel = tf.get_variable("kernel", initializer=tf.constant(_KERNEL))
        tf.reduce_sum(kernel, name="sum")
        builder.add_meta_graph(["sum"])
    builder.save()
    with c.within(tf.Graph().as_default()):
        sess = tf.Session()
        tf.saved_model.load(sess, ["sum"], c.path("m"))
        c.check(sess.run("sum:0"), np.float32(21))


@api_case("SAVING-100", title="The first graph of a model must come with variables.")
def the_first_has_variables(c: ApiAuthor) -> None:
    tf = c.tf
    _, _, kernel = _graph(c)
    sess = tf.Session()
    sess.run(kernel.initializer)
    builder = tf.saved_model.Builder(c.path("m"))
    c.raises("AssertionError", lambda: builder.add_meta_graph(["a"]))
    builder.add_meta_graph_and_variables(sess, ["a"])
    c.raises("AssertionError", lambda: builder.add_meta_graph_and_variables(sess, ["b"]))


@api_case("SAVING-088", title="A model is loaded under a name scope, twice into one graph.")
def under_a_name_scope(c: ApiAuthor) -> None:
    tf = c.tf
    _saved(c).save()
    with c.within(tf.Graph().as_default()):
        sess = tf.Session()
        for scope in ("one", "two"):
            tf.saved_model.load(sess, ["serve"], c.path("m"), import_scope=scope)
        c.check(
            sess.run(["one/y:0", "two/y:0"], {"one/x:0": _INPUT, "two/x:0": _INPUT * 2}),
            [_OUTPUT, _OUTPUT * 2],
        )


def _not_added(c: ApiAuthor, builder: Symbol, sess: Symbol, signature: Recordable) -> None:
    add = builder.add_meta_graph_and_variables
    c.raises("AssertionError", lambda: add(sess, ["a"], {"s": signature}))


@api_case("SAVING-089", title="Signatures of tensors without name, without dtype.")
def unfit_signatures(c: ApiAuthor) -> None:
    tf = c.tf
    x, y, kernel = _graph(c)
    sess = tf.Session()
    sess.run(kernel.initializer)
    builder = tf.saved_model.Builder(c.path("m"))
    nameless, typeless = tf.TensorInfo(dtype=1), tf.TensorInfo(name="x:0")
    for info in (nameless, typeless):
        bad = tf.saved_model.build_signature_def({"in": info})
        _not_added(c, builder, sess, bad)
    good = tf.saved_model.predict_signature_def({"in": x}, {"out": y})
    builder.add_meta_graph_and_variables(sess, ["a"], {"s": good})
