"""Vectors of SPARSE: sparse tensors kept by number, and as bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, SessionAuthor, engine_case

#: Two sparse tensors of different shapes: indices, values, shape.
_FIRST = (np.array([[0, 0], [1, 2]]), np.array([1.5, -2.0], np.float32), np.array([2, 3]))
_OTHER = (np.array([[3, 1]]), np.array([4.0], np.float32), np.array([4, 2]))
_NONE = (np.zeros((0, 2), np.int64), np.zeros(0, np.float32), np.array([1, 5]))
_WORDS = (np.array([[0, 1], [0, 2]]), np.array([b"a", b"\0\xff"], object), np.array([1, 3]))


def _started(c: EngineAuthor, dtype: str = "float32") -> SessionAuthor:
    """A session of a graph that keeps, takes, writes and reads sparse tensors that are fed."""
    with c.graph() as tf:
        kind = getattr(tf, dtype)
        parts = {
            "sparse_indices": tf.placeholder(tf.int64, [None, None], name="indices"),
            "sparse_values": tf.placeholder(kind, [None], name="values"),
            "sparse_shape": tf.placeholder(tf.int64, [None], name="shape"),
        }
        raw = tf.raw_ops
        raw.AddSparseToTensorsMap(**parts, shared_name="kept", name="add")
        raw.AddManySparseToTensorsMap(**parts, shared_name="kept", name="add_rows")
        numbers = tf.placeholder(tf.int64, [None], name="numbers")
        raw.TakeManySparseFromTensorsMap(
            sparse_handles=numbers, dtype=kind, shared_name="kept", name="take"
        )
        written = raw.SerializeSparse(**parts, name="write")
        raw.DeserializeManySparse(
            serialized_sparse=tf.stack([written, written]), dtype=kind, name="read"
        )
    return c.open()


def _fed(parts: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip(("indices:0", "values:0", "shape:0"), parts, strict=True))


def _take(
    s: SessionAuthor,
    numbers: list[int],
    values: Sequence[np.ndarray] | None = None,
    error: Sequence[int] | None = None,
) -> None:
    s.run(
        ["take:0", "take:1", "take:2"],
        {"numbers:0": np.array(numbers, np.int64)},
        values=values,
        error=error,
    )


def _rows(*rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The parts of the sparse tensor of these rows."""
    indices = [[row, *index] for row, parts in enumerate(rows) for index in parts[0].tolist()]
    rank = 1 + len(rows[0][2])
    return [
        np.array(indices, np.int64).reshape(-1, rank),
        np.concatenate([parts[1] for parts in rows]),
        np.array([len(rows), *np.max([parts[2] for parts in rows], axis=0)], np.int64),
    ]


@engine_case("SPARSE-004", title="What was taken is not there a second time.")
def a_kept_one_is_taken_once(c: EngineAuthor) -> None:
    s = _started(c)
    s.run(["add:0"], _fed(_FIRST), values=[np.int64(0)])
    _take(s, [0], values=_rows(_FIRST))
    _take(s, [0], error=[3])
    s.run(["add:0"], _fed(_OTHER), values=[np.int64(1)])
    _take(s, [1], values=_rows(_OTHER))


@engine_case("SPARSE-004", title="A number twice in one batch, and one that never was.")
def a_number_twice(c: EngineAuthor) -> None:
    s = _started(c)
    s.run(["add:0"], _fed(_FIRST), values=[np.int64(0)])
    _take(s, [0, 0], error=[3])
    _take(s, [7], error=[3])


@engine_case("SPARSE-005", title="Rows in the order of the numbers, as large as the largest.")
def taken_together(c: EngineAuthor) -> None:
    s = _started(c)
    for number, parts in enumerate((_FIRST, _OTHER, _NONE)):
        s.run(["add:0"], _fed(parts), values=[np.int64(number)])
    _take(s, [1, 2, 0], values=_rows(_OTHER, _NONE, _FIRST))


@engine_case("SPARSE-005", title="Strings, and one of no elements alone.")
def strings_taken_together(c: EngineAuthor) -> None:
    s = _started(c, "string")
    empty = (_NONE[0], np.zeros(0, object), _NONE[2])
    for number, parts in enumerate((_WORDS, empty)):
        s.run(["add:0"], _fed(parts), values=[np.int64(number)])
    _take(s, [1], values=_rows(empty))
    _take(s, [0], values=_rows(_WORDS))


@engine_case("SPARSE-005", title="Sparse tensors of different ranks are not rows of one.")
def different_ranks(c: EngineAuthor) -> None:
    s = _started(c)
    s.run(["add:0"], _fed(_FIRST), values=[np.int64(0)])
    flat = (np.array([[1]]), np.array([3.0], np.float32), np.array([4]))
    s.run(["add:0"], _fed(flat), values=[np.int64(1)])
    _take(s, [0, 1], error=[3])


@engine_case("SPARSE-006", title="Three rows, the one in the middle without elements.")
def every_row_is_kept(c: EngineAuthor) -> None:
    with c.graph() as tf:
        raw = tf.raw_ops
        numbers = raw.AddManySparseToTensorsMap(
            sparse_indices=tf.placeholder(tf.int64, [None, 2], name="indices"),
            sparse_values=tf.placeholder(tf.float32, [None], name="values"),
            sparse_shape=tf.placeholder(tf.int64, [2], name="shape"),
            shared_name="kept",
            name="add_rows",
        )
        raw.TakeManySparseFromTensorsMap(
            sparse_handles=numbers, dtype=tf.float32, shared_name="kept", name="take"
        )
    s = c.open()
    rows = (
        np.array([[0, 1], [2, 0], [2, 2]]),
        np.array([1.0, 2.0, 3.0], np.float32),
        np.array([3, 4]),
    )
    s.run(["take:0", "take:1", "take:2"], _fed(rows), values=[*rows])
    last = (np.array([[0, 3]]), np.array([5.0], np.float32), np.array([2, 4]))
    s.run(["take:0", "take:1", "take:2"], _fed(last), values=[*last])


@engine_case("SPARSE-006", title="Rows out of order, out of range, or of one dimension.")
def rows_that_are_none(c: EngineAuthor) -> None:
    s = _started(c)
    for indices, shape in (
        ([[1, 0], [0, 0]], [2, 3]),
        ([[0, 0], [2, 0]], [2, 3]),
        ([[0], [1]], [2]),
    ):
        parts = (np.array(indices), np.array([1.0, 2.0], np.float32), np.array(shape))
        s.run(["add_rows:0"], _fed(parts), error=[3])


@engine_case("SPARSE-007", title="Written twice and read as two rows.")
def written_and_read(c: EngineAuthor) -> None:
    s = _started(c)
    for parts in (_FIRST, _OTHER, _NONE):
        s.run(["read:0", "read:1", "read:2"], _fed(parts), values=_rows(parts, parts))


@engine_case("SPARSE-007", title="Strings are written and read, a NUL among them.")
def strings_written_and_read(c: EngineAuthor) -> None:
    s = _started(c, "string")
    s.run(["read:0", "read:1", "read:2"], _fed(_WORDS), values=_rows(_WORDS, _WORDS))
