"""Programs of ragged tensors: constructors, members, conversions, errors."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _value(tf, fetches):
    with tf.Session() as session:
        return session.run(fetches)


def _rows(tf, ragged):
    return _value(tf, ragged).to_list(), str(ragged.shape), ragged.ragged_rank, ragged.dtype.name


def _constructed(tf):
    make = tf.RaggedTensor
    values = [1, 2, 3]
    return [
        _rows(tf, ragged)
        for ragged in (
            make.from_row_splits(values, [0, 1, 1, 3]),
            make.from_row_splits([[1.0, 2.0], [3.0, 4.0]], [0, 2]),
            make.from_row_lengths(values, [1, 0, 2]),
            make.from_value_rowids(values, [0, 2, 2]),
            make.from_value_rowids(values, [0, 2, 2], nrows=5),
            make.from_nested_row_splits([1, 2, 3, 4], [[0, 2, 2], [0, 1, 4]]),
            make.from_row_splits(tf.constant(["a"]), tf.constant([0, 1], tf.int32)),
        )
    ]


def _dense(tf, ragged, *default):
    """The rows as a dense tensor of unknown shape: its operations are not compared."""
    return tf.placeholder_with_default(ragged.to_tensor(*default), None)


def _parts_of_rows(tf):
    ragged = tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 1, 3])
    nested = tf.RaggedTensor.from_row_splits(ragged, [0, 2, 3])
    empty = tf.RaggedTensor.from_row_splits(tf.zeros([0]), [0])
    ids = tf.identity(ragged.value_rowids(), name="ids")
    parts = [
        ragged.row_lengths(),
        ragged.nrows(),
        ids,
        ragged.row_starts(),
        ragged.row_limits(),
        _dense(tf, ragged),
        _dense(tf, ragged, -1),
        _dense(tf, nested),
        nested.flat_values,
        nested.nested_row_splits,
        _dense(tf, empty),
    ]
    other = ragged.with_values([7, 8, 9]), nested.with_flat_values([7, 8, 9])
    return _value(tf, parts), [_value(tf, ragged).to_list() for ragged in other]


def _values(tf):
    value = _value(tf, tf.RaggedTensor.from_nested_row_splits([1, 2], [[0, 2], [0, 1, 2]]))
    return [
        str(value),
        value.shape,
        value.ragged_rank,
        value.dtype.name,
        value.flat_values,
        value.nested_row_splits,
        type(value).__name__,
    ]


def _refused(tf):
    make = tf.RaggedTensor.from_row_splits
    values = tf.constant([1, 2, 3])
    return attempt(
        lambda: make(values, []),
        lambda: make(values, [[0, 1]]),
        lambda: make(values, [0.0, 1.0]),
        lambda: make(values, [0, 3], validate=1),
        *(
            lambda splits=splits: _value(tf, make(values, splits))
            for splits in ([1, 3], [0, 3, 1, 3], [0, 2], [0, 4])
        ),
    )


def _constants(tf):
    lists = [[[1, 2], [], [3]], [[[1], [2, 3]], []], [[], []], [["a"], ["b", "c"]], [1, 2]]
    tensors = [tf.ragged.constant(rows) for rows in lists]
    values = [tf.ragged.constant_value(rows) for rows in lists[:4]]
    inner = tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1)
    refused = attempt(
        *(
            lambda given=given: tf.ragged.constant(*given)
            for given in (
                ([[1], 2],),
                ([1], None, 2),
                ([[1]], None, -1),
                ([[[1], [2, 3]]], None, 1),
                ([[1], [[]]],),
                (tensors[0],),
            )
        )
    )
    return [
        [
            _value(tf, tensor) if isinstance(tensor, tf.Tensor) else _rows(tf, tensor)
            for tensor in tensors
        ],
        [value.to_list() for value in values],
        str(inner.shape),
        _value(tf, inner).to_list(),
        refused,
    ]


def _strings(tf):
    split = tf.strings.bytes_split
    ragged = tf.ragged.constant([["ab", ""], ["c"]])
    outputs = split(["ab", ""]), split([["ab", "c"], ["", "d"]]), split(ragged)
    single = tf.identity(split("abc"), name="single")
    return [
        [_value(tf, output).to_list() for output in outputs],
        _value(tf, single),
        attempt(lambda: split(tf.placeholder(tf.string))),
    ]


def _splits(tf):
    ragged = tf.ragged.constant([["a b", "c"], ["d"]])
    split, older = tf.strings.split, tf.string_split
    outputs = [
        split(["a b", ""], result_type="RaggedTensor"),
        split("a,b", ",", result_type="RaggedTensor"),
        split([["a b c"], ["d"]], maxsplit=1, result_type="RaggedTensor"),
        split(ragged, result_type="RaggedTensor"),
        older(["a b", "c"], result_type="RaggedTensor"),
    ]
    sparse = [split(ragged), split([["a b"], ["c"]]), ragged.to_sparse(), outputs[0].to_sparse()]
    return [
        [_value(tf, output).to_list() for output in outputs],
        [_value(tf, tensor) for tensor in sparse],
        attempt(lambda: split("a", result_type="List"), lambda: older(["a"], result_type="List")),
    ]


def _slopes(tf):
    ragged = tf.RaggedTensor.from_row_splits([1.0, 2.0], [0, 1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(ragged.flat_values)
        squares = ragged.with_flat_values(ragged.flat_values**2)
        stopped = tf.stop_gradient(ragged)
    return [
        _value(tf, tape.gradient(squares, ragged.flat_values)),
        _value(tf, tape.gradient(squares, ragged)).to_list(),
        tape.gradient(stopped, ragged),
    ]


def _structures(tf):
    ragged = tf.RaggedTensor.from_row_splits([1.0, 2.0], [0, 1, 2])
    flat = tf.nest.flatten([ragged], expand_composites=True)
    doubled = tf.nest.map_structure(tf.identity, ragged, expand_composites=True)
    stopped = tf.stop_gradient(ragged)
    sparse = tf.stop_gradient(tf.SparseTensor([[0]], [1.0], [1]))
    with tf.Session() as session:
        fed = session.run(ragged, {ragged: session.run(ragged.with_values([5.0, 6.0]))})
    return [
        [tensor.dtype.name for tensor in flat],
        _value(tf, doubled).to_list(),
        fed.to_list(),
        _value(tf, stopped).to_list(),
        stopped.flat_values.op.type,
        sparse.values.op.type,
        tf.is_tensor(ragged),
        tf.gradients(stopped.flat_values, ragged.flat_values),
    ]


BEHAVIOURS = {
    "made": _constructed,
    "told": _parts_of_rows,
    "values": _values,
    "refused": _refused,
    "constants": _constants,
    "strings": _strings,
    "splits": _splits,
    "slopes": _slopes,
    "structures": _structures,
}
