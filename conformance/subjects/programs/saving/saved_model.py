"""Programs of `tf.saved_model`: writing, loading, signatures, assets, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder, listing
from sessrun.spec.cases.objects import Tensor, Variable

__all__ = ["BEHAVIOURS"]


def _model(tf) -> tuple[Tensor, Tensor, Variable]:
    """A graph of two variables; its input and its output."""
    kernel = tf.get_variable(
        "v", initializer=np.arange(6, dtype=np.float32).reshape(2, 3), use_resource=False
    )
    tf.get_variable("w", initializer=np.array([7, 8]), use_resource=True)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return x, tf.matmul(x, kernel, name="y"), kernel


def _summary(definition) -> list[Plain]:
    """The parts of a MetaGraphDef that are compared."""
    nodes = sorted(
        [node.name, node.op, node.device, sorted(node.attr)] for node in definition.graph_def.node
    )
    keys = sorted(definition.collection_def)
    kinds = [[key, definition.collection_def[key].WhichOneof("kind")] for key in keys]
    signatures = [[key, definition.signature_def[key]] for key in sorted(definition.signature_def)]
    return [
        nodes,
        kinds,
        signatures,
        list(definition.meta_info_def.tags),
        definition.meta_info_def.stripped_default_attrs,
        definition.saver_def,
        [str(asset) for asset in definition.asset_file_def],
    ]


def _saved(tf, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, _ = _model(tf)
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder("m")
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(session, ["serve"], {"s": signature}, **options)
    return builder


@in_a_folder
def _there_and_back(tf):
    results = []
    for number, as_text in enumerate((False, True)):
        with tf.Graph().as_default(), tf.Session() as session:
            x, y, kernel = _model(tf)
            session.run(tf.global_variables_initializer())
            session.run(tf.assign_add(kernel, tf.ones_like(kernel)))
            builder = tf.saved_model.builder.SavedModelBuilder(f"m{number}")
            signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
            builder.add_meta_graph_and_variables(session, ["serve", "a"], {"s": signature})
        with tf.Graph().as_default():
            _model(tf)
            tf.constant(1, name="only_here")
            builder.add_meta_graph(["b"])
        results.append(str(builder.save(as_text)))
        for tags, scope in ((["a", "serve"], None), ({"b"}, None), (["serve", "a"], "z")):
            with tf.Graph().as_default() as graph, tf.Session() as session:
                loaded = tf.saved_model.load(session, tags, f"m{number}", import_scope=scope)
                prefix = f"{scope}/" if scope else ""
                feed = {f"{prefix}x:0": [[1, 2]]}
                results += [
                    _summary(loaded),
                    session.run(prefix + "y:0", feed),
                    sorted(op.name for op in graph.get_operations()),
                    sorted(graph.get_all_collection_keys()),
                ]
    return [results, listing()]


@in_a_folder
def _assets(tf):
    for folder, text in (("p", "one"), ("q", "two"), ("r", "one")):
        Path(folder).mkdir()
        Path(folder, "words.txt").write_text(text, "utf-8")
    with tf.Graph().as_default(), tf.Session() as session:
        names = [tf.constant(f"{folder}/words.txt", name=folder) for folder in "pqrp"]
        read = tf.Variable("", name="read", use_resource=False, collections=[])
        main = tf.group(tf.assign(read, tf.string_join(list(map(tf.read_file, names)))))
        tf.get_variable("v", [2])
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=names, main_op=main
        )
        builder.save()
    files = listing()
    for path in ("p", "q", "r"):
        Path(path, "words.txt").unlink()
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], "m", import_scope="z")
        value = session.run("z/read:0")
        packed = loaded.collection_def["saved_model_assets"].any_list.value
        kept = [str(item.value) for item in packed]
        return [
            files,
            value,
            kept,
            sorted(loaded.collection_def),
            session.run("z/p:0"),
            len(tf.get_collection("saved_model_assets")),
        ]


@in_a_folder
def _invalid_assets(tf):
    Path("a").write_text("a", "utf-8")
    invalid = [
        tf.placeholder(tf.string, []),
        tf.constant(1),
        tf.constant(["a", "b"]),
        tf.constant([]),
        tf.constant(""),
        "a",
        tf.constant("not there"),
        tf.constant(["a"]),
    ]
    outcomes = []
    for number, asset in enumerate(invalid):
        with tf.Session() as session:
            v = tf.Variable(1.0)
            session.run(v.initializer)
            builder = tf.saved_model.Builder(f"m{number}")
            outcomes += attempt(
                lambda b=builder, s=session, a=asset, v=v: b.add_meta_graph_and_variables(
                    s, ["x"], assets_collection=[a], saver=tf.train.Saver([v])
                )
            )
    return [outcomes, listing(), len(tf.get_collection("saved_model_assets"))]


@in_a_folder
def _order_of_calls(tf):
    builder = tf.saved_model.Builder("m")
    outcomes = attempt(lambda: builder.add_meta_graph(["a"]))
    with tf.Session() as session:
        _, _, kernel = _model(tf)
        outcomes += attempt(lambda: builder.add_meta_graph_and_variables(session, ["a"]))
        session.run(tf.global_variables_initializer())
        outcomes += attempt(
            lambda: builder.add_meta_graph_and_variables(session, ["a"]),
            lambda: builder.add_meta_graph_and_variables(session, ["a"]),
            lambda: builder.add_meta_graph(["b"], main_op=kernel),
            lambda: builder.add_meta_graph(["b"], main_op=tf.no_op(name="main")),
            lambda: builder.add_meta_graph(["b"], main_op=tf.no_op()),
            lambda: builder.add_meta_graph(["b"], legacy_init_op=tf.no_op()),
            lambda: str(builder.save()),
            lambda: tf.saved_model.Builder("m"),
            lambda: tf.saved_model.Builder("checkpoint"),
            lambda: tf.saved_model.Builder("x/y/z"),
            lambda: builder.save(experimental_image_format=True),
        )
    return [outcomes, listing()]


@in_a_folder
def _loading_what_is_not_there(tf):
    sm = tf.saved_model
    _saved(tf).save()
    session = tf.Session()
    Path("broken").mkdir()
    Path("broken/saved_model.pb").write_bytes(b"\xff\xff\xff")
    Path("broken_text").mkdir()
    Path("broken_text/saved_model.pbtxt").write_text("nonsense {", "utf-8")
    outcomes = attempt(
        lambda: sm.load(session, ["serve"], "none"),
        lambda: sm.load(session, [], "m"),
        lambda: sm.load(session, ["other"], "m"),
        lambda: sm.load(session, ["serve", "x"], "m"),
        lambda: sm.load(session, "serve", "m"),
        lambda: sm.load(session, ["serve"], "broken"),
        lambda: sm.load(session, ["serve"], "broken_text"),
        lambda: sm.maybe_saved_model_directory("m"),
        lambda: sm.contains_saved_model("none"),
        lambda: sm.loader.maybe_saved_model_directory("broken_text"),
        lambda: sm.load(session, ["serve"], "m", bad=1),
    )
    Path("m/variables/variables.index").unlink()
    return [outcomes, attempt(lambda: sm.load(session, ["serve"], "m"))]


@in_a_folder
def _options_of_building(tf):
    results = []
    for number, options in enumerate(({"clear_devices": True}, {"strip_default_attrs": True}, {})):
        with tf.Graph().as_default(), tf.Session() as session:
            with tf.device("/cpu:0"):
                _model(tf)
            session.run(tf.global_variables_initializer())
            builder = tf.saved_model.Builder(f"m{number}")
            builder.add_meta_graph_and_variables(session, ["t"], **options)
            builder.save()
        with tf.Graph().as_default(), tf.Session() as session:
            results.append(_summary(tf.saved_model.load(session, ["t"], f"m{number}")))
    return results


@in_a_folder
def _own_saver(tf):
    with tf.Graph().as_default(), tf.Session() as session:
        _, _, kernel = _model(tf)
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(session, ["t"], saver=tf.train.Saver({"k": kernel}))
        builder.save()
    names = [name for name, _ in tf.train.list_variables("m/variables/variables")]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["t"], "m")
        return [names, session.run("v:0"), attempt(lambda: session.run("w/Read/ReadVariableOp:0"))]


@in_a_folder
def _without_variables(tf):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant([1, 2], name="c")
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(session, ["t"])
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["t"], "m")
        return [listing(), _summary(loaded), session.run("c:0")]


@in_a_folder
def _simple(tf):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y, kernel = _model(tf)
        session.run(tf.global_variables_initializer())
        outcomes = attempt(
            lambda: tf.saved_model.simple_save(session, "no", {}, {"y": y}),
            lambda: tf.saved_model.simple_save(session, "no", {"x": x}, None),
            lambda: tf.saved_model.simple_save(session, "m", {"x": x, "v": kernel}, {"y": y}),
        )
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], "m")
        return [outcomes, listing(), _summary(loaded)]


def _main_ops(tf):
    _, _, kernel = _model(tf)
    tf.Variable(3, name="local", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    first = tf.saved_model.main_op.main_op()
    second = tf.saved_model.main_op_with_restore(tf.assign(kernel, tf.zeros_like(kernel)).op)
    with tf.Session() as session:
        session.run(first)
        before = session.run([kernel, "local:0"])
        session.run(second)
        return [first, second, before, session.run(kernel).sum().shape]


def _signatures(tf):
    sm = tf.saved_model
    text = tf.placeholder(tf.string, [None], name="text")
    number = tf.placeholder(tf.float32, [None, 2], name="number")
    other = tf.placeholder(tf.int32, None, name="other")
    sparse = tf.sparse_placeholder(tf.float32, name="sparse")
    outcomes = attempt(
        lambda: sm.regression_signature_def(text, number),
        lambda: sm.classification_signature_def(text, text, number),
        lambda: sm.classification_signature_def(text, None, number),
        lambda: sm.classification_signature_def(text, text, None),
        lambda: sm.predict_signature_def({"a": other, "s": sparse}, {"b": number}),
        lambda: sm.build_signature_def(),
        lambda: sm.build_signature_def({"a": sm.build_tensor_info(other)}, None, "m"),
        lambda: sm.build_signature_def(defaults={"a": tf.constant([1, 2])}),
        lambda: sm.build_signature_def(defaults={"a": number}),
    )
    refused = attempt(
        lambda: sm.regression_signature_def(None, number),
        lambda: sm.regression_signature_def(text, None),
        lambda: sm.regression_signature_def("text", number),
        lambda: sm.regression_signature_def(number, number),
        lambda: sm.regression_signature_def(text, other),
        lambda: sm.classification_signature_def(None, text, number),
        lambda: sm.classification_signature_def(text, None, None),
        lambda: sm.classification_signature_def(number, text, number),
        lambda: sm.classification_signature_def(text, number, number),
        lambda: sm.classification_signature_def(text, text, other),
        lambda: sm.classification_signature_def(5, text, other),
        lambda: sm.predict_signature_def({}, {"b": number}),
        lambda: sm.predict_signature_def({"b": number}, {}),
        lambda: sm.predict_signature_def({"b": 5}, {"b": number}),
    )
    return [outcomes, refused]


def _valid_signatures(tf):
    sm = tf.saved_model
    info = {
        name: sm.build_tensor_info(tf.placeholder(dtype, [None]))
        for name, dtype in (("s", tf.string), ("f", tf.float32), ("i", tf.int32))
    }
    results = []
    for method in (sm.PREDICT_METHOD_NAME, sm.REGRESS_METHOD_NAME, sm.CLASSIFY_METHOD_NAME, "x"):
        for source in ({}, {"inputs": "s"}, {"inputs": "f"}, {"x": "s"}, {"inputs": "s", "x": "s"}):
            for target in (
                {},
                {"outputs": "f"},
                {"outputs": "i"},
                {"classes": "s"},
                {"scores": "f"},
                {"classes": "s", "scores": "f"},
                {"classes": "f"},
                {"scores": "s"},
                {"scores": "f", "x": "f"},
            ):
                parts = [{k: info[kind] for k, kind in part.items()} for part in (source, target)]
                results.append(sm.is_valid_signature(sm.build_signature_def(*parts, method)))
    return [results, sm.is_valid_signature(None)]


def _tensor_infos(tf):
    sm = tf.saved_model
    sparse = tf.sparse_placeholder(tf.float32, [2, 3], name="sparse")
    dense = tf.placeholder(tf.int64, [None, 3], name="dense")
    variable = tf.get_variable("v", [2], use_resource=True)
    infos = [sm.build_tensor_info(tensor) for tensor in (sparse, dense, variable, tf.constant(1))]
    with tf.name_scope("z"):
        tf.constant(5, name="dense")
    empty = type(infos[0])()
    return [
        infos,
        attempt(*(lambda i=i: sm.get_tensor_from_tensor_info(i) for i in infos)),
        attempt(
            lambda: sm.get_tensor_from_tensor_info(infos[1], import_scope="z"),
            lambda: sm.get_tensor_from_tensor_info(infos[1], import_scope="q"),
            lambda: sm.get_tensor_from_tensor_info(infos[1], tf.Graph()),
            lambda: sm.utils.get_tensor_from_tensor_info(empty),
            lambda: sm.build_tensor_info(5),
        ),
    ]


@in_a_folder
def _unfit_signatures(tf):
    sm = tf.saved_model
    x = tf.placeholder(tf.float32, [], name="x")
    good = sm.build_tensor_info(x)
    nameless, typeless = type(good)(), type(good)()
    nameless.dtype, typeless.name = good.dtype, "x:0"
    v = tf.Variable(1.0)
    outcomes = []
    with tf.Session() as session:
        session.run(v.initializer)
        builder = sm.Builder("m")
        for info in (nameless, typeless, good):
            for part in ("inputs", "outputs"):
                signature = sm.build_signature_def(**{part: {"a": info}})
                outcomes += attempt(
                    lambda m=signature: builder.add_meta_graph_and_variables(
                        session, ["t"], {"s": m}
                    )
                )
        for key in ("__saved_model_init_op", "__saved_model_train_op", "fine"):
            outcomes += attempt(lambda k=key, m=signature: builder.add_meta_graph(["t"], {k: m}))
    return outcomes


@in_a_folder
def _method_names(tf):
    _saved(tf).save()
    _saved_again = attempt(lambda: tf.saved_model.signature_def_utils.MethodNameUpdater("none"))
    updater = tf.saved_model.signature_def_utils.MethodNameUpdater("m")
    outcomes = attempt(
        lambda: updater.replace_method_name("", "x"),
        lambda: updater.replace_method_name("s", ""),
        lambda: updater.replace_method_name("q", "x"),
        lambda: updater.replace_method_name("s", "x", tags="other"),
        lambda: updater.replace_method_name("s", "x", tags="serve"),
        lambda: updater.save(),
        lambda: updater.save("m/variables"),
    )
    with tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], "m")
        return [_saved_again, outcomes, loaded.signature_def["s"].method_name, listing()]


def _names(tf):
    groups = (
        "builder",
        "constants",
        "loader",
        "main_op",
        "signature_constants",
        "signature_def_utils",
        "tag_constants",
        "utils",
    )
    results = []
    for group in groups:
        module = getattr(tf.saved_model, group)
        names = [name for name in dir(module) if not name.startswith("_")]
        results.append([group, names, [getattr(module, name) for name in names if name.isupper()]])
    constants = [name for name in dir(tf.saved_model) if name.isupper()]
    return [results, [[name, getattr(tf.saved_model, name)] for name in constants]]


BEHAVIOURS = {
    "there-and-back": _there_and_back,
    "assets": _assets,
    "odd-assets": _invalid_assets,
    "order-of-calls": _order_of_calls,
    "loading-what-is-not-there": _loading_what_is_not_there,
    "options-of-building": _options_of_building,
    "own-saver": _own_saver,
    "without-variables": _without_variables,
    "simple": _simple,
    "main-ops": _main_ops,
    "signatures": _signatures,
    "valid-signatures": _valid_signatures,
    "tensor-infos": _tensor_infos,
    "unfit-signatures": _unfit_signatures,
    "method-names": _method_names,
    "names": _names,
}
