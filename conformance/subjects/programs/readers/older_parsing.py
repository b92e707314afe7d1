"""Programs of parse operations of earlier releases, and of ragged features."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _example(tf, **features: list[int]) -> bytes:
    example = tf.train.Example()
    for name, values in features.items():
        example.features.feature[name].int64_list.value.extend(values)
    return bytes(example.SerializeToString())


def _sequence(tf, context: list[int], **lists: list[list[int]]) -> bytes:
    example = tf.train.SequenceExample()
    example.context.feature["c"].int64_list.value.extend(context)
    for name, steps in lists.items():
        for step in steps:
            example.feature_lists.feature_list[name].feature.add().int64_list.value.extend(step)
    return bytes(example.SerializeToString())


def _examples(tf):
    first, second = _example(tf, a=[1, 2], b=[3]), _example(tf, a=[4])
    default = tf.constant([7], tf.int64)

    def parsed(serialized, names=()):
        groups = tf.raw_ops.ParseExample(
            serialized=serialized,
            names=tf.constant(names, tf.string, [len(names)]),
            sparse_keys=["a"],
            dense_keys=["b"],
            dense_defaults=[default],
            sparse_types=[tf.int64],
            dense_shapes=[[1]],
        )
        tensors = [tensor for group in groups for tensor in group]
        return [[tensor.shape for tensor in tensors], run(tf, tensors)]

    unknown = tf.placeholder_with_default(tf.constant([first]), None)
    return attempt(
        lambda: parsed([first, second]),
        lambda: parsed([second], ["x"]),
        lambda: parsed(first),
        lambda: parsed(unknown),
        lambda: parsed([b"bad"]),
        lambda: parsed([_example(tf, b=[1, 2])]),
    )


def _single_examples(tf):
    """`ParseSingleExample`, whose keys are attributes."""
    first, second = _example(tf, a=[1, 2], b=[3], e=[8, 9]), _example(tf, a=[4])
    defaults = [tf.constant([7], tf.int64), tf.constant([5, 6], tf.int64)]

    def parsed(serialized, dense=("b", "e"), sparse=("a",)):
        groups = tf.raw_ops.ParseSingleExample(
            serialized=serialized,
            dense_defaults=defaults[: len(dense)],
            num_sparse=len(sparse),
            sparse_keys=list(sparse),
            dense_keys=list(dense),
            sparse_types=[tf.int64] * len(sparse),
            dense_shapes=[[1], [2]][: len(dense)],
        )
        tensors = [tensor for group in groups for tensor in group]
        return [[tensor.shape for tensor in tensors], run(tf, tensors)]

    unknown = tf.placeholder_with_default(tf.constant([first]), None)
    return attempt(
        lambda: parsed(first),
        lambda: parsed(second),
        lambda: parsed(first, ("b",), ("a", "none")),
        lambda: parsed(first, (), ("e", "a")),
        lambda: parsed(unknown),
        lambda: parsed([first]),
        lambda: parsed(b"bad"),
        lambda: parsed(_example(tf, b=[1, 2])),
        lambda: parsed(first, ("b",), ()),
        lambda: parsed(b""),
    )


def _rows_of_sequences(tf):
    """Ragged features of the context and of feature lists."""
    first = _sequence(tf, [5], s=[[1], [2, 3], []], d=[[1], [2]])
    second, third = _sequence(tf, [6, 7], d=[[3]]), _sequence(tf, [], s=[[4, 5, 6]])

    def parsed(serialized, dtype=None, split=None):
        value, split = dtype or tf.int64, split or tf.int64
        words = tf.constant([], tf.string)
        groups = tf.raw_ops.ParseSequenceExampleV2(
            serialized=serialized,
            debug_name=words,
            context_sparse_keys=words,
            context_dense_keys=words,
            context_ragged_keys=["c"],
            feature_list_sparse_keys=words,
            feature_list_dense_keys=words,
            feature_list_ragged_keys=["s", "d"],
            feature_list_dense_missing_assumed_empty=tf.constant([], tf.bool),
            context_dense_defaults=[],
            context_ragged_value_types=[value],
            context_ragged_split_types=[split],
            feature_list_ragged_value_types=[value] * 2,
            feature_list_ragged_split_types=[split, tf.int32],
        )
        tensors = [tensor for group in groups for tensor in group]
        known = [[tensor.dtype, tensor.shape] for tensor in tensors]
        if isinstance(serialized, bytes):  # some splits are uninitialized memory
            del tensors[1], tensors[3:5]
        return known, run(tf, tensors)

    return attempt(
        lambda: parsed([first, second, third]),
        lambda: parsed([third]),
        lambda: parsed([]),
        *(lambda one=one: parsed(one) for one in (first, second, third)),
        lambda: parsed([first, third], split=tf.int32),
        lambda: parsed([first], tf.float32),
        lambda: parsed([first, b"bad"]),
    )


def _sequences(tf):
    first = _sequence(tf, [5], s=[[1], [2, 3]], d=[[1], [2]])
    second = _sequence(tf, [6, 7], d=[[3]])

    def parsed(serialized, missing=()):
        groups = tf.raw_ops.ParseSequenceExample(
            serialized=serialized,
            debug_name=tf.constant([], tf.string),
            context_dense_defaults=[],
            feature_list_dense_missing_assumed_empty=list(missing),
            context_sparse_keys=["c"],
            context_dense_keys=[],
            feature_list_sparse_keys=["s"],
            feature_list_dense_keys=["d"],
            Ncontext_sparse=1,
            Nfeature_list_sparse=1,
            Nfeature_list_dense=1,
            context_sparse_types=[tf.int64],
            feature_list_dense_types=[tf.int64],
            feature_list_sparse_types=[tf.int64],
            feature_list_dense_shapes=[[1]],
        )
        tensors = [tensor for group in groups for tensor in group]
        return [[tensor.shape for tensor in tensors], run(tf, tensors)]

    bare = _sequence(tf, [1])
    return attempt(
        lambda: parsed([first, second]),
        lambda: parsed([first]),
        lambda: parsed([bare]),
        lambda: parsed([bare, first], ["d"]),
    )


def _single_sequences(tf):
    def parsed(serialized, missing=()):
        groups = tf.raw_ops.ParseSingleSequenceExample(
            serialized=serialized,
            debug_name=tf.constant("it"),
            feature_list_dense_missing_assumed_empty=tf.constant(
                missing, tf.string, [len(missing)]
            ),
            context_sparse_keys=["n"],
            context_dense_keys=["c"],
            feature_list_sparse_keys=["s"],
            feature_list_dense_keys=["d"],
            context_dense_defaults=[tf.constant([9], tf.int64)],
            context_sparse_types=[tf.int64],
            context_dense_shapes=[[1]],
            feature_list_dense_types=[tf.int64],
            feature_list_sparse_types=[tf.int64],
            feature_list_dense_shapes=[[1]],
        )
        tensors = [tensor for group in groups for tensor in group]
        return [[tensor.shape for tensor in tensors], run(tf, tensors)]

    example = _sequence(tf, [5], s=[[1], [2, 3]], d=[[1], [2]])
    return attempt(
        lambda: parsed(example),
        lambda: parsed(_sequence(tf, [])),
        lambda: parsed(_sequence(tf, [4]), ["d"]),
        lambda: parsed([example]),
        lambda: parsed(_sequence(tf, [4], d=[[1, 2]])),
    )


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_examples, _sequences, _single_sequences, _single_examples, _rows_of_sequences)
}
