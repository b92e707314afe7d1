"""Programs of signatures, and of SavedModels that the builder writes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sessrun.conformance.subjects.programs.described import caught
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.objects import Tensor, Variable

__all__ = ["BEHAVIOURS"]


def _model(tf) -> tuple[Tensor, Tensor, Variable]:
    """A model in the default graph: input, output and weight."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    weight = tf.get_variable("weight", [2, 1], initializer=tf.ones_initializer())
    return x, tf.matmul(x, weight, name="y"), weight


def _signatures(tf):
    utils = tf.saved_model.signature_def_utils
    info = tf.saved_model.utils.build_tensor_info
    x, y, _ = _model(tf)
    words = tf.placeholder(tf.string, [None], name="words")
    calls = [
        lambda: utils.build_signature_def({"in": info(x)}, {"out": info(y)}, "mine"),
        lambda: utils.build_signature_def(),
        lambda: utils.regression_signature_def(words, y[:, 0]),
        lambda: utils.classification_signature_def(words, tf.as_string(y), y),
        lambda: utils.classification_signature_def(words, None, y),
        lambda: utils.predict_signature_def({"x": x}, {"y": y}),
        lambda: utils.regression_signature_def(x, y),
        lambda: utils.classification_signature_def(words, None, None),
        lambda: utils.predict_signature_def({}, {"y": y}),
        lambda: utils.predict_signature_def({"x": x}, None),
        lambda: info(tf.sparse.SparseTensor([[0, 0]], [1.0], [1, 1])),
        lambda: info(3),
    ]
    valid = [
        caught(lambda make=make: utils.is_valid_signature(make()))
        for make in (calls[0], *calls[2:6])
    ]
    return [[caught(make) for make in calls], valid]


def _by_builder(tf):
    """A SavedModel with two meta graphs, which are loaded by their tags."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "model"
    builder = tf.saved_model.builder.SavedModelBuilder(str(path))
    (folder / "taken").write_text("")
    again = caught(lambda: type(tf.saved_model.builder.SavedModelBuilder(str(folder))))
    utils = tf.saved_model.signature_def_utils
    early = caught(lambda: builder.add_meta_graph(["early"]))
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, weight = _model(tf)
        session.run(tf.global_variables_initializer())
        session.run(weight.assign([[2.0], [3.0]]))
        signature = utils.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"default": signature}, strip_default_attrs=True
        )
        twice = caught(lambda: builder.add_meta_graph_and_variables(session, ["train"]))
    with tf.Graph().as_default():
        _model(tf)
        builder.add_meta_graph(["other", "tags"], clear_devices=True)
    builder.save()
    files = sorted(str(file.relative_to(path)) for file in path.rglob("*"))
    return [again, early, twice, files, *_loaded(tf, path)]


def _loaded(tf, folder: Path) -> list[Plain]:
    path, nowhere = str(folder), str(folder / "nowhere")
    seen = [
        tf.saved_model.loader.maybe_saved_model_directory(path),
        tf.saved_model.loader.maybe_saved_model_directory(nowhere),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta_graph.signature_def["default"]
        names = signature.inputs["x"].name, signature.outputs["y"].name
        seen += [names, list(meta_graph.meta_info_def.tags)]
        seen.append(session.run(names[1], {names[0]: [[1.0, 1.0], [0.0, 2.0]]}))
    with tf.Graph().as_default(), tf.Session() as session:
        load = tf.saved_model.loader.load
        seen += [
            caught(lambda: load(session, ["no such tag"], path)),
            caught(lambda: load(session, ["serve"], nowhere)),
        ]
        load(session, ["other", "tags"], path)
        seen.append(sorted(op.name for op in session.graph.get_operations() if "x" in op.name))
    return seen


def _simply(tf):
    """`simple_save` and the signature that it writes."""
    path = str(Path(tempfile.mkdtemp()) / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, _ = _model(tf)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})
        refused = caught(lambda: tf.saved_model.simple_save(session, path, {"x": x}, {"y": y}))
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, [tf.saved_model.tag_constants.SERVING], path)
        signature = meta_graph.signature_def["serving_default"]
        tensor = tf.saved_model.utils.get_tensor_from_tensor_info(signature.outputs["y"])
        return [
            refused,
            signature.method_name,
            tensor,
            session.run(tensor, {signature.inputs["x"].name: [[1.0, 2.0]]}),
        ]


BEHAVIOURS = {
    "signatures": _signatures,
    "by a builder": _by_builder,
    "simply": _simply,
}
