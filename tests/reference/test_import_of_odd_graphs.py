"""GraphDefs that nobody would write: what TensorFlow imports is imported, the rest is refused."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from google.protobuf import text_format

import sessrun.reference as tf


def const(dims: str = "", values: str = "", dtype: str = "DT_FLOAT", more: str = "") -> str:
    tensor = f"tensor {{ dtype: {dtype} tensor_shape {{ {dims} }} {values} }}"
    return (
        f'node {{ name: "a" op: "Const" attr {{ key: "dtype" value {{ type: {dtype} }} }} '
        f'attr {{ key: "value" value {{ {tensor} }} }} {more} }}'
    )


def placeholder(shape: str, dtype: str = "type: DT_FLOAT") -> str:
    return (
        f'node {{ name: "a" op: "Placeholder" attr {{ key: "dtype" value {{ {dtype} }} }} '
        f'attr {{ key: "shape" value {{ {shape} }} }} }}'
    )


def written(shapes: str) -> str:
    """A constant of shape [2] with what its writer said of its outputs' shapes."""
    return const("dim { size: 2 }", more=f'attr {{ key: "_output_shapes" value {{ {shapes} }} }}')


def classed(value: str) -> str:
    return (
        f'node {{ name: "b" op: "NoOp" }} node {{ name: "a" op: "NoOp" '
        f'attr {{ key: "_class" value {{ {value} }} }} }}'
    )


def identity(source: str) -> str:
    return const().replace('"a"', '"b"') + (
        f'node {{ name: "a" op: "Identity" input: "{source}" '
        'attr { key: "T" value { type: DT_FLOAT } } }'
    )


def imported(text: str) -> tf.Graph:
    graph_def = text_format.Parse(text, tf.GraphDef())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    return graph


DIM_TWICE = "dim { size: 4611686018427387904 } dim { size: 2 }"
MANY = "dim { size: 1 } " * 255
SHAPED = "list { shape { dim { size: 2 } } %s }"


@pytest.mark.parametrize(
    "text",
    [
        const("dim { size: -2 }"),
        const("dim { size: -1 }"),
        const(DIM_TWICE),
        const(MANY),
        const(f"{DIM_TWICE} dim {{ size: 0 }}"),
        const(dtype="DT_FLOAT_REF"),
        const(dtype="99"),
        placeholder("shape { dim { size: -2 } }"),
        placeholder(f"shape {{ {DIM_TWICE} }}"),
        placeholder("shape { unknown_rank: true dim { size: 2 } }"),
        placeholder("i: 3"),
        placeholder(f"shape {{ {MANY} }}"),
        placeholder("shape {}", ""),
        placeholder("list {}"),
        placeholder('placeholder: "T"'),
        placeholder("shape {}", "type: DT_INVALID"),
        written(""),
        written("list {}"),
        written("list { shape {} }"),
        written("list { shape { dim { size: 3 } } }"),
        written("list { shape { dim { size: -2 } } }"),
        written("list { shape { unknown_rank: true dim { size: 2 } } }"),
        'node { name: "a" }',
        'node { op: "NoOp" }',
        'node { name: "a" op: "Nope" input: "zz" }',
        'node { name: "a" op: "NoOp" } versions { producer: -1 }',
        'node { name: "a" op: "NoOp" } versions { min_consumer: 99999 }',
        'node { name: "a" op: "NoOp" } versions { bad_consumers: 2474 }',
        'node { name: "a" op: "NoOp" input: "^a" }',
        'node { name: "a" op: "NoOp" input: "^a:0" }',
        'node { name: "a" op: "NoOp" device: "/device:1" }',
        'node { name: "a" op: "NoOp" device: "/cpu:x" }',
        classed(r'list { s: "\377" }'),
        classed('list { s: "loc:@zz" }'),
        'library { function { signature { name: "NoOp" } } }',
        *map(identity, ["b:1", "b:-1", "b:", "b:x", "^b", "b:99999999999999999999", "", "^", "b/"]),
    ],
    ids=lambda _: "",
)
def test_refused_as_a_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        imported(text)


@pytest.mark.parametrize("value", ['s: "loc:@b"', "i: 1", "list { i: 1 }", "func {}", "shape {}"])
def test_a_colocation_that_is_no_list_of_strings_is_a_type_error(value: str) -> None:
    with pytest.raises(TypeError):
        imported(classed(value))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (const("dim { size: 1000000000000 }"), [10**12]),
        (const("dim { size: 2 }", 'tensor_content: "abc"'), [2]),
        (const("dim { size: 1 }", "float_val: 1 float_val: 2"), [1]),
        (const("unknown_rank: true dim { size: 2 }"), [2]),
        (const(f"dim {{ size: 0 }} {DIM_TWICE}"), [0, 2**62, 2]),
        (const(dtype="DT_RESOURCE"), []),
        (const().replace("dtype: DT_FLOAT", "dtype: 200"), []),
        (placeholder(""), None),
        (placeholder("shape {}"), None),
        (placeholder("shape {}") + "versions { producer: 21 }", None),
        (placeholder("shape {}") + "versions { producer: 22 }", []),
        (placeholder(f"shape {{ dim {{ size: -1 }} {DIM_TWICE} }}"), [None, 2**62, 2]),
        (written(SHAPED % "shape { dim { size: -7 } }"), [2]),
        (written("i: 1"), [2]),
        (written("list { shape { unknown_rank: true } }"), [2]),
        (written("list { i: 1 }"), [2]),
        (
            placeholder("").replace(
                "} } } }",
                '} } } attr { key: "_output_shapes" value { '
                "list { shape { dim { size: 5 } } } } } }",
            ),
            None,
        ),
    ],
    ids=lambda _: "",
)
def test_imported_with_this_shape(text: str, shape: list[int | None] | None) -> None:
    found = imported(text).get_tensor_by_name("a:0").shape
    assert (found.as_list() if found.ndims is not None else None) == shape


@pytest.mark.parametrize(
    "text",
    [
        classed(""),
        classed("list {}"),
        classed('list { s: "loc:@b" i: 1 }'),
        classed('list { s: "loc:@a" }'),
        classed('list { s: "loc:@b" }').replace(
            'op: "NoOp" }', 'op: "NoOp" attr { key: "_class" value { list { s: "loc:@a" } } } }'
        ),
        'node { name: "a" op: "NoOp" device: "/device:CPU:-1" }',
        'node { name: "a" op: "NoOp" device: "/tpu:0" }',
        'node { name: "a/" op: "NoOp" }',
        'node { name: "a" op: "NoOp" attr { key: "zz" value { type: 200 } } }',
    ],
    ids=lambda _: "",
)
def test_imported(text: str) -> None:
    assert {op.name.rstrip("/") for op in imported(text).get_operations()} <= {"a", "b"}


def test_nodes_are_made_after_their_inputs_and_otherwise_in_their_order() -> None:
    parts = ['input: "^d" input: "^c"', 'input: "^d"', "", ""]
    text = "".join(
        f'node {{ name: "{name}" op: "NoOp" {inputs} }}'
        for name, inputs in zip("abcd", parts, strict=True)
    )
    assert [op.name for op in imported(text).get_operations()] == ["c", "d", "a", "b"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (const("dim { size: 3 }", "float_val: 1 float_val: 2"), [1, 2, 2]),
        (const("dim { size: 1 }", "float_val: 1 float_val: 2"), [1]),
        (const("dim { size: 2 }", "int_val: 3"), [0, 0]),
        (const("", "int_val: 300", "DT_INT8"), 44),
        (const("", "half_val: 80896", "DT_HALF"), 1),
        (const("dim { size: 2 }", 'string_val: "ab"', "DT_STRING"), [b"ab", b"ab"]),
    ],
    ids=lambda _: "",
)
def test_a_constant_that_says_too_few_or_too_many_values(text: str, value: object) -> None:
    with tf.Session(graph=imported(text)) as sess:
        found = sess.run("a:0")
    assert np.asarray(found).tolist() == value


@pytest.mark.parametrize(
    "text",
    [
        const("dim { size: 1000000000000 }", "float_val: 1"),
        const("", "", "DT_RESOURCE"),
        const("dim { size: 2 }", 'tensor_content: "abc"'),
        const("dim { size: 2 }", r'tensor_content: "\001\003"', "DT_BOOL"),
        const("dim { size: 2 }", 'tensor_content: "ab"', "DT_STRING"),
        const().replace("tensor { dtype: DT_FLOAT", "tensor { dtype: DT_INT32"),
        const().replace("tensor { dtype: DT_FLOAT", "tensor { dtype: 200"),
    ],
    ids=lambda _: "",
)
def test_a_constant_that_is_none_fails_when_it_is_run(text: str) -> None:
    with tf.Session(graph=imported(text)) as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run("a:0")


def test_what_is_not_understood_is_written_again() -> None:
    text = (
        'node { name: "a" op: "NoOp" experimental_debug_info { original_node_names: "z" } '
        "experimental_type { type_id: TFT_PRODUCT } } "
        'library { function { signature { name: "f" } } } '
        "versions { min_consumer: 13 bad_consumers: 7 }"
    )
    graph_def = text_format.Parse(text, tf.GraphDef())
    assert imported(text).as_graph_def() == graph_def
    large = text_format.Parse(const("dim { size: 1000000000000 }", "float_val: 1"), tf.GraphDef())
    assert imported(str(large)).as_graph_def().node == large.node


def test_a_function_of_the_same_name_must_be_the_same() -> None:
    one = text_format.Parse('library { function { signature { name: "f" } } }', tf.GraphDef())
    other = tf.GraphDef.FromString(one.SerializeToString())
    other.library.function[0].signature.description = "another"
    with tf.Graph().as_default():
        tf.import_graph_def(one)
        tf.import_graph_def(one)
        with pytest.raises(ValueError, match="different function"):
            tf.import_graph_def(other)


def large(op: str, attr: str, inputs: int) -> str:
    """A node whose attribute asks for more inputs or outputs than there is room for."""
    sources = "".join(f' input: "a{"" if n else ":0"}"' for n in range(inputs))
    return const("dim { size: 2 }") + (
        f'node {{ name: "z" op: "{op}"{sources} attr {{ key: "T" value {{ type: DT_FLOAT }} }} '
        f'attr {{ key: "{attr}" value {{ i: 4611686018427387904 }} }} }}'
    )


@pytest.mark.parametrize(
    "text",
    [
        large("Unpack", "num", 1),
        large("Pack", "N", 1),
        large("AddN", "N", 2),
        large("Unpack", "num", 1).replace("4611686018427387904", "2147483647"),
        const("dim { size: 2147483647 }", "float_val: 1"),
        const("dim { size: 2147483647 }"),
        const("dim { size: 2147483647 }", 'string_val: "a"', "DT_STRING"),
    ],
    ids=lambda _: "",
)
def test_a_few_bytes_take_no_more_than_a_few_bytes(text: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        imported(text).as_graph_def()
    except ValueError as error:
        assert "too big" in str(error) or "do not match" in str(error)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
