"""Programs of SavedModels with init and train operations, and of the loader's single steps."""

from __future__ import annotations

from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder, listing, variables

__all__ = ["BEHAVIOURS"]


def _signatures_of(definition):
    return [[key, definition.signature_def[key]] for key in sorted(definition.signature_def)]


def _training(tf):
    """Signatures of training and of evaluation, and one of an operation."""
    module = module_of(tf, "saved_model.signature_def_utils_impl")
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.identity(x, name="y")
    train, evaluate = module.supervised_train_signature_def, module.supervised_eval_signature_def
    named = module.op_signature_def(tf.no_op(name="go"), "key")
    other = module.op_signature_def(y.op, "key")
    missing = tf.saved_model.build_signature_def()
    missing.outputs["key"].name = "nothing"
    load = module.load_op_from_signature_def
    return attempt(
        lambda: train({"x": x}, {"loss": y}),
        lambda: train({"x": x}, {"l": y}, {"p": x}, {"m": y}),
        lambda: evaluate({"x": x}, {"loss": y}, {"p": x}),
        lambda: evaluate({"x": x}, None),
        lambda: train({}, {"loss": y}),
        lambda: evaluate(None, {"loss": y}),
        lambda: named,
        lambda: load(named, "key"),
        lambda: load(other, "key"),
        lambda: load(missing, "key"),
        lambda: load(named, "key", "elsewhere"),
    )


def _noted(tf, folder: str) -> None:
    """Write a SavedModel with signatures for its init operation and its train operation."""
    Path("words").write_text("one", "utf-8")
    builder = module_of(tf, "saved_model.builder_impl")._SavedModelBuilder(folder)
    for tags, options in ((["serve"], {}), (["train"], {"clear_devices": True})):
        with tf.Graph().as_default(), tf.Session() as session:
            v, _ = variables(tf, "/cpu:0")
            path = tf.constant("words", name="path")
            read = tf.Variable("", name="read", use_resource=False, collections=[])
            start = tf.group(tf.assign(read, tf.read_file(path)), name="start")
            train = tf.assign_add(v, tf.ones_like(v), name="train").op
            session.run(tf.global_variables_initializer())
            signature = tf.saved_model.predict_signature_def({"v": v}, {"v": v})
            if options:
                builder.add_meta_graph(
                    tags, {"s": signature}, assets_list=[path], init_op=start, **options
                )
            else:
                builder.add_meta_graph_and_variables(
                    session, tags, {"s": signature}, [path], init_op=start, train_op=train
                )
    builder.save()


@in_a_folder
def _there_and_back(tf):
    _noted(tf, "m")
    loader = module_of(tf, "saved_model.loader_impl")
    results = [listing()]
    for tags, scope in ((["serve"], None), (["train"], None), (["serve"], "z")):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load(session, tags, "m", import_scope=scope)
            prefix = f"{scope}/" if scope else ""
            train = loader.get_train_op(loaded, import_scope=scope)
            results += [
                _signatures_of(loaded),
                [str(asset) for asset in loaded.asset_file_def],
                session.run([f"{prefix}read:0", f"{prefix}w/Read/ReadVariableOp:0"]),
                train,
                loader.get_init_op(loaded, scope),
                train and session.run([train, prefix + "v:0"]),
            ]
    return results


@in_a_folder
def _step_by_step(tf):
    """The loader's members and methods; a meta graph without a saver must have no variables."""
    _noted(tf, "m")
    loader = module_of(tf, "saved_model.loader_impl").SavedModelLoader("m")
    outcomes = [loader.export_dir, loader.variables_path, len(loader.saved_model.meta_graphs)]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        outcomes += [caught(lambda: loader.restore_variables(session, None))]
        saver, elements = loader.load_graph(graph, ["serve"], return_elements=["v:0"])
        outcomes += [caught(lambda: loader.restore_variables(session, None)), elements]
        loader.restore_variables(session, saver)
        loader.run_init_ops(session, ["serve"])
        outcomes += [session.run(["v:0", "read:0"])]
        return [
            *outcomes,
            caught(lambda: loader.get_meta_graph_def_from_tags(["nothing"])),
            caught(lambda: loader.run_init_ops(session, ["nothing"])),
        ]


@in_a_folder
def _reserved(tf):
    """Signatures without tensor names, or with reserved keys, which are refused."""
    x = tf.constant(1.0, name="x")
    signature = tf.saved_model.predict_signature_def({"x": x}, {"y": x})
    bare, no_dtype, many = (tf.saved_model.build_signature_def() for _ in range(3))
    bare.inputs["x"].dtype = tf.float32.as_datatype_enum
    no_dtype.outputs["y"].name = "x:0"
    inner = many.inputs["x"].composite_tensor.components.add()
    inner.name, inner.dtype = "x:0", tf.float32.as_datatype_enum
    with tf.Session() as session:
        return attempt(
            *(
                lambda signatures=signatures, number=number: tf.saved_model.Builder(
                    f"m{number}"
                ).add_meta_graph_and_variables(session, ["serve"], signatures)
                for number, signatures in enumerate(
                    (
                        {"s": bare},
                        {"s": no_dtype},
                        {"s": many},
                        {"s": signature},
                        {"__saved_model_init_op": signature},
                        {"__saved_model_train_op": signature},
                        None,
                        {},
                    )
                )
            )
        )


BEHAVIOURS = {
    "training": _training,
    "there and back": _there_and_back,
    "step by step": _step_by_step,
    "reserved": _reserved,
}
