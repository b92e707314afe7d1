"""Programs of rare members: tracebacks, copies of errors, consumers, ragged values, specs."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _narrower_dtypes(tf):
    dtypes = (tf.int32, tf.int64, tf.bool, tf.string)
    return [
        [one.is_subtype_of(other) for one in dtypes for other in dtypes],
        [one.most_specific_common_supertype([other]) for one in dtypes for other in dtypes],
        attempt(
            lambda: tf.int32.most_specific_common_supertype([]),
            lambda: tf.int32.most_specific_common_supertype([tf.int32, tf.int32]),
            lambda: tf.int32.most_specific_common_supertype([tf.int32, tf.int64]),
            lambda: tf.int32.is_subtype_of(tf.Variable(1).dtype),
        ),
    ]


def _narrower_shapes(tf):
    shapes = [
        tf.TensorShape(sizes)
        for sizes in (None, [], [2], [3], [None], [2, 3], [None, 3], [2, None], [None, None])
    ]
    return [[int(one.is_subtype_of(other)) for other in shapes] for one in shapes], attempt(
        lambda: shapes[2].is_subtype_of([2]),
        lambda: shapes[2].is_subtype_of(2),
        lambda: shapes[0].is_subtype_of(None),
    )


def _copied(tf):
    x = tf.constant(1.0, name="x")
    shape, dtype = tf.TensorShape([2, None]), tf.bfloat16
    return attempt(
        lambda: copy.copy(x).name,
        lambda: copy.copy(x).op is x.op,
        lambda: copy.copy(x.op),
        lambda: copy.deepcopy(x.op),
        lambda: copy.deepcopy({"a": [x.op]}),
        lambda: copy.copy(dtype) is dtype,
        lambda: copy.deepcopy(dtype) is dtype,
        lambda: copy.deepcopy(shape),
    )


def _copied_errors(tf):
    """Errors and their copies: class, message, code."""
    errors, node = tf.errors, tf.NodeDef(name="where", op="Add")
    kinds = (
        errors.CancelledError,
        errors.UnknownError,
        errors.InvalidArgumentError,
        errors.DataLossError,
        errors.UnauthenticatedError,
    )
    instances = [kind(node, None, f"message {number}") for number, kind in enumerate(kinds)]
    instances += [errors.OpError(node, None, "bare", code) for code in (0, 3, 77)]
    instances += [errors.OpError(None, None, "nothing", 5), errors.NotFoundError(None, None, "")]
    return [
        [
            type(again).__name__,
            again.error_code,
            again.message,
            again.op,
            None if again.node_def is None else again.node_def.name,
            str(again) == str(error),
        ]
        for error in instances
        for again in (copy.deepcopy(error), copy.copy(error))
    ]


def _statuses(tf):
    """`raise_exception_on_not_ok_status`, and errors that are raised within it."""
    status = tf.errors.raise_exception_on_not_ok_status

    def done(value):
        with status():
            return value

    def failed(error: Exception) -> None:
        with status() as given:
            assert given is not None
            raise error

    return attempt(
        lambda: done(3),
        lambda: failed(KeyError("k")),
        lambda: failed(ValueError("v")),
        lambda: failed(tf.errors.AbortedError(None, None, "a")),
    )


def _helper_of_a_program(tf):
    return tf.negative(tf.constant(2.0), name="made")


def _traced_back(tf):
    """The stack trace of an operation: functions and lines."""
    first = tf.constant(1.0).op
    second = _helper_of_a_program(tf).op
    results = []
    for op in (first, second):
        own = [frame for frame in op.traceback if Path(frame.filename).name == Path(__file__).name]
        results.append([frame.name for frame in own])
        results.append([frame.lineno - own[0].lineno for frame in own])
    return results, first.traceback[-1].lineno > 0, len(first.traceback) > 1


def _references(tf):
    x, v = tf.placeholder(tf.float32, [2], name="x"), tf.get_variable("v", [])
    return attempt(
        lambda: repr(x.ref()),
        lambda: repr(v.ref()),
        lambda: x.experimental_ref() == x.ref(),
        lambda: x.experimental_ref().deref() is x,
        lambda: x.experimental_ref() == v.ref(),
        lambda: repr(x.experimental_ref()),
        lambda: x.ref() == x,
        lambda: x.ref() != v.ref(),
    )


def _scope_names(tf):
    names = []
    for arguments in (("a",), ("a/b/",), (None, "default"), ("given", "default"), (None, "d", [])):
        scope = tf.name_scope(*arguments)
        before = scope.name
        with scope as opened:
            names.append([before, opened, scope.name, tf.get_default_graph().get_name_scope()])
    return names, attempt(
        lambda: tf.name_scope(None).name,
        lambda: tf.name_scope("").name,
        lambda: setattr(tf.name_scope("a"), "name", "b"),
    )


def _consumers(tf):
    """`consumers()` of IndexedSlices, sparse and ragged tensors."""
    rows = tf.IndexedSlices(tf.constant([[1.0]], name="rows"), tf.constant([0], name="places"))
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    ragged = tf.RaggedTensor.from_row_splits(tf.constant([1, 2], name="flat"), [0, 2])
    shaped = tf.IndexedSlices(rows.values, rows.indices, tf.constant([4, 1], name="whole"))

    def names(value):
        return sorted(op.name for op in value.consumers())

    before = attempt(lambda: names(rows), lambda: names(sparse), lambda: names(shaped))
    tf.negative(rows.values, name="takes_rows")
    tf.identity(rows.indices, name="takes_places")
    tf.abs(sparse.values, name="takes_values")
    tf.abs(ragged.values, name="takes_flat")
    tf.size(shaped.dense_shape, name="takes_shape")
    tf.add(shaped.values, tf.cast(shaped.dense_shape, tf.float32), name="takes_both")
    return before, [names(value) for value in (rows, sparse, shaped, ragged.values)]


def _ragged_members(tf):
    plain = tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 3])
    nested = tf.ragged.constant([[[1.0], []], [[2.0, 3.0]]])
    values = (
        tf.ragged.constant_value([[1], [2, 3]]),
        tf.ragged.constant_value([[[1.5], []]]),
        tf.ragged.constant_value([[b"a"]], row_splits_dtype="int32"),
    )
    return (
        [repr(plain), repr(nested), str(plain)],
        [plain.get_shape(), nested.get_shape()],
        [[repr(value), str(value)] for value in values],
    )


def _ragged_of_fetched(tf):
    """Operations on ragged values (`RaggedTensorValue`) in place of ragged tensors."""
    outer = tf.RaggedTensor.from_row_splits(tf.ragged.constant_value([[1], [2, 3], []]), [0, 2, 3])
    deep = tf.ragged.constant_value([[[1], [2, 3]], [], [[4]]])
    deeper = tf.RaggedTensor.from_row_splits(deep, [0, 1, 3])
    words = tf.ragged.constant_value([[b"a b", b"c"], [], [b"d,e f"]])
    tensors = [
        outer,
        deeper,
        tf.strings.split(words, result_type="RaggedTensor"),
        tf.strings.split(words, ",", result_type="RaggedTensor"),
    ]
    with tf.Session() as session:
        return [value.to_list() for value in session.run(tensors)]


def _arguments_by_name(tf):
    """`sparse_split`, whose arguments must all be passed by name."""
    parameters = inspect.signature(tf.sparse_split).parameters
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 4])
    return (
        repr(parameters["keyword_required"].default),
        list(parameters),
        attempt(
            lambda: tf.sparse_split(sparse, 2, 1),
            lambda: tf.sparse_split(None, sparse, 2, 1),
            lambda: tf.sparse_split(sp_input=sparse, num_split=2, axis=1),
        ),
    )


def _identities(tf):
    """`tf.identity` of IndexedSlices and sparse tensors."""
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [6.0, 9.0], [2, 2])
    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([4, 1]))
    tensors = [
        tf.identity(sparse),
        tf.identity(sparse, name="same"),
        tf.identity(rows),
        tf.identity(tf.sparse_placeholder(tf.int32, [2, None], name="fed")),
    ]
    return tensors, tensors[3].shape, run(tf, tensors[:3]), nodes(tf.get_default_graph())


def _sparse_quotients(tf):
    """`__div__` of sparse tensors, which Python 2 called for `/`."""
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [6.0, 9.0], [2, 2])
    integral = tf.SparseTensor([[0, 1], [1, 0]], [7, -7], [2, 2])
    quotients = [
        sparse.__div__([[1.0, 4.0], [2.0, 8.0]]),
        sparse.__div__(3.0),
        integral.__div__(2),
        sparse / [[1.0, 4.0], [2.0, 8.0]],
        integral / 2,
    ]
    with tf.Session() as session:
        values = [session.run(item.values) for item in quotients]
    return (
        quotients,
        values,
        attempt(
            lambda: sparse.__div__(integral),
            lambda: sparse.__div__([1, 2]),
            lambda: integral.__div__(np.float32(2)),
        ),
    )


def _names_of_the_namespace(tf):
    names = dir(tf)
    asked = ("constant", "Session", "train", "nn", "float32", "layers", "no_such_name", "GraphDef")
    return (
        [name in names for name in asked],
        names == sorted(names),
        [name for name in names if name.startswith(("placeholder", "get_default", "AUTO"))],
    )


def _wider_specs(tf):
    """`most_specific_compatible_type` of specs of IndexedSlices."""
    spec = tf.IndexedSlicesSpec
    specs = (
        spec([2, 3]),
        spec([None, 3]),
        spec([4, 3]),
        spec(),
        spec([2, 3], tf.int32),
        spec([2, 3], indices_dtype=tf.int32),
        spec([2, 3], dense_shape_dtype=tf.int32),
    )
    return [
        attempt(
            lambda o=one, t=other: repr(o.most_specific_compatible_type(t)),
            lambda o=one, t=other: repr(o.most_specific_common_supertype([t])),
        )
        for one in specs
        for other in specs
    ]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _narrower_dtypes,
        _narrower_shapes,
        _copied,
        _copied_errors,
        _statuses,
        _traced_back,
        _references,
        _scope_names,
        _consumers,
        _ragged_members,
        _ragged_of_fetched,
        _arguments_by_name,
        _names_of_the_namespace,
        _wider_specs,
        _sparse_quotients,
        _identities,
    )
}
