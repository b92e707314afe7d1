"""Programs of initializers that remap rows and columns of a checkpoint to another vocabulary."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]


def _saved(tf):
    """Write a checkpoint and vocabularies; return the module that has the initializers."""
    for path, words in (("old", "abcd"), ("new", "dbxa"), ("columns", "pq"), ("other", "qrp")):
        Path(path).write_text("\n".join(words) + "\n")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")
    return module_of(tf, "training.checkpoint_ops")


def _value(tf, initializer, shape, **options) -> Action:
    def run():
        with tf.Graph().as_default(), tf.Session() as session:
            value = tf.get_variable("v", shape, initializer=initializer, **options)
            session.run(tf.global_variables_initializer())
            return session.run(tf.convert_to_tensor(value))

    return run


@in_a_folder
def _embeddings(tf):
    make = _saved(tf)._load_embedding_initializer
    ones, constant = tf.ones_initializer(), tf.constant_initializer(-1.0)
    initializer = make("d/x", "m", 4, 2, "old", "new", num_oov_buckets=2, initializer=ones)
    drawn = make("d/x", "m", 2, 2, "old", "new")  # both words are known: no row is random
    return attempt(
        _value(tf, initializer, [6, 2]),
        _value(tf, drawn, [2, 2]),
        _value(tf, initializer, [6, 2], partitioner=tf.fixed_size_partitioner(2)),
        _value(tf, initializer, [6, 2], partitioner=tf.fixed_size_partitioner(5)),
        _value(tf, initializer, [6, 2], use_resource=True),
        _value(tf, initializer, [6, 3]),
        _value(tf, initializer, [6]),
        _value(tf, initializer, [0, 2]),
        _value(tf, initializer, [6, 2], dtype=tf.float64),
        _value(tf, make("d/x", "m", 4, 2, "old", "new", initializer=constant), [4, 2]),
        lambda: make("d/x", "m", 4, 2, "old", "new", initializer=3),
    )


@in_a_folder
def _matrices(tf):
    make = _saved(tf)._load_and_remap_matrix_initializer
    rows = {"old_row_vocab_file": "old", "new_row_vocab_file": "new"}
    columns = {"old_col_vocab_file": "columns", "new_col_vocab_file": "other"}
    ones = {"initializer": tf.ones_initializer()}
    return attempt(
        _value(tf, make("d/x", "m", 4, 3, **rows, **columns, **ones), [4, 3]),
        _value(tf, make("d/x", "m", 4, 3, **columns, num_col_oov_buckets=1, **ones), [4, 4]),
        _value(tf, make("d/x", "m", 4, 2, **rows, num_row_oov_buckets=1, **ones), [5, 2]),
        _value(tf, make("d/x", "m", 3, 2, old_row_vocab_size=2, **rows), [3, 2]),
        _value(tf, make("d/x", "m", 4, 2, max_rows_in_memory=1, **rows, **ones), [4, 2]),
        _value(tf, make("d/x", "m", 4, 2), [4, 2]),
        _value(tf, make("d/x", "m", 4, 2, old_row_vocab_file="old"), [4, 2]),
        _value(tf, make("d/x", "m", 4, 2, **rows, num_row_oov_buckets=-1), [3, 2]),
        _value(tf, make("d/x", "m", 4, 2, **rows, num_col_oov_buckets=-1), [4, 1]),
    )


BEHAVIOURS = {"embeddings": _embeddings, "matrices": _matrices}
