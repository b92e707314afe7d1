"""Programs of functions in imported GraphDefs: with attributes, ill-formed, and in containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action, Structure

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import FunctionDef

__all__ = ["BEHAVIOURS"]


def _defun(tf):
    return module_of(tf, "framework.function").Defun


def _with_attributes(tf):
    """Functions with attributes that are set by every call."""

    def called(kept: bool | None, change: Callable[[FunctionDef], None] = lambda _: None) -> Action:
        def program():
            with tf.Graph().as_default():
                graph = _summing(tf)
                change(graph.library.function[0])
                call = graph.node.add(name="call", op="Summing", input=["x"])
                if kept is not None:
                    call.attr["kept"].b = kept
                x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
                (y,) = tf.import_graph_def(graph, {"x": x}, ["call:0"])
                return y.dtype.name, tf.Session().run(y)

        return program

    def of_any_dtype(function) -> None:
        attr = function.signature.attr.add(name="T", type="type")
        attr.default_value.type = tf.float32.as_datatype_enum
        function.signature.input_arg[0].type = 0
        function.signature.input_arg[0].type_attr = "T"

    def by_default(function) -> None:
        function.signature.attr[0].default_value.b = True

    return attempt(
        called(True),
        called(False),
        called(None),
        called(True, of_any_dtype),
        called(None, by_default),
        called(False, by_default),
    )


def _summing(tf):
    """A graph whose function sums a matrix; an attribute of it says whether dimensions are kept."""
    graph = tf.GraphDef()
    kind = tf.float32.as_datatype_enum
    function = graph.library.function.add()
    signature = function.signature
    signature.name = "Summing"
    signature.attr.add(name="kept", type="bool")
    signature.input_arg.add(name="x", type=kind)
    signature.output_arg.add(name="y", type=kind)
    axis = function.node_def.add(name="axis", op="Const")
    axis.attr["dtype"].type = tf.int32.as_datatype_enum
    axis.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0))
    node = function.node_def.add(name="sum", op="Sum", input=["x", "axis:output:0"])
    node.attr["T"].type = kind
    node.attr["keep_dims"].placeholder = "kept"
    function.ret["y"] = "sum:output:0"
    argument = graph.node.add(name="x", op="Placeholder")
    argument.attr["dtype"].type = kind
    return graph


def _ill_formed(tf):
    """Functions whose nodes or results name nodes that do not exist."""
    halves = _defun(tf)(tf.float32, func_name="Halves")(lambda x: tf.split(x, 2)[1] * 2.0)
    with tf.Graph().as_default() as graph:
        halves(tf.placeholder(tf.float32, [2], name="x"), name="y")
        definition = graph.as_graph_def()

    def changed(change: Callable[[FunctionDef], None]) -> Action:
        def program():
            with tf.Graph().as_default():
                copy = tf.GraphDef()
                copy.CopyFrom(definition)
                change(copy.library.function[0])
                (y,) = tf.import_graph_def(copy, {"x": tf.constant([1.0, 2.0])}, ["y:0"])
                return tf.Session().run(y)

        return program

    def result(text: str) -> Callable[[FunctionDef], None]:
        def change(function) -> None:
            function.ret[function.signature.output_arg[0].name] = text

        return change

    def source(text: str) -> Callable[[FunctionDef], None]:
        def change(function) -> None:
            node = next(node for node in function.node_def if node.op == "Mul")
            node.input[0] = text

        return change

    def unreturned(function) -> None:
        function.ret.clear()

    def untyped(kind: str) -> Callable[[FunctionDef], None]:
        return lambda function: getattr(function.signature, kind)[0].ClearField("type")

    split = next(n.name for n in definition.library.function[0].node_def if n.op == "Split")
    return attempt(
        changed(lambda _: None),
        changed(result(f"{split}:output:0")),
        changed(unreturned),
        changed(result("nothing:z:0")),
        changed(source(f"{split}:nothing:0")),
        changed(source(f"{split}:output:x")),
        changed(source("nothing:z:0")),
        changed(untyped("input_arg")),
        changed(untyped("output_arg")),
    )


def _lists_of_outputs(tf):
    """Results that follow outputs which are lists, of equal or of several dtypes."""
    feature = {"a": tf.VarLenFeature(tf.float32), "b": tf.VarLenFeature(tf.int64)}

    @_defun(tf)(tf.string, func_name="Parsed")
    def parsed(text):
        features = tf.io.parse_single_example(text, feature)
        return features["a"].dense_shape, features["b"].values, features["b"].dense_shape

    ints = tf.train.Feature(int64_list=tf.train.Int64List(value=[5, 6]))
    example = tf.train.Example(features=tf.train.Features(feature={"b": ints}))
    return tf.Session().run(parsed(example.SerializeToString()))


def _containers(tf):
    """Variables that a function creates are outside of it, in the container that is open there."""

    @_defun(tf)(tf.float32, func_name="Contained")
    def contained(x):
        with tf.container("mine"):
            v = tf.get_variable("v", initializer=2.0)
        return x * v

    y = contained(tf.constant(3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        containers = [[v.name, v.op.get_attr("container")] for v in tf.global_variables()]
        return containers, session.run(y), contained.cached_definition.signature.name


def _named(tf):
    """Names of results and of arguments that are already in use."""
    defun = _defun(tf)

    def of(body: Callable[..., Structure], *dtypes, **options) -> Action:
        def program():
            function_def = defun(*dtypes, func_name="F", **options)(body).definition
            return [
                [arg.name for arg in function_def.signature.input_arg],
                [arg.name for arg in function_def.signature.output_arg],
                [[node.name, list(node.input)] for node in function_def.node_def],
            ]

        return program

    def alike(x, x_1):
        return tf.identity(x, name="x"), tf.identity(x_1, name="X"), tf.identity(x, name="x_0")

    return attempt(
        of(alike, tf.float32, tf.float32),
        of(lambda x: (x, x), tf.float32, out_names=["a", "a"]),
        of(lambda x: (x, x), tf.float32, out_names=["a", "b"]),
        of(lambda x: tf.unstack(x, 3)[2], tf.float32),
        of(lambda x: (x, x, x), tf.float32),
    )


BEHAVIOURS = {
    function.__name__.removeprefix("_"): function
    for function in (_with_attributes, _ill_formed, _lists_of_outputs, _containers, _named)
}
