"""Shape rules of files, readers and what records hold."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import Shape, ShapeError, ranked, rule, with_rank

__all__: list[str] = []


def _scalars(shapes: Sequence[Shape]) -> None:
    for shape in shapes:
        ranked(shape, 0, 0)


@rule
def scalar_of(*scalars: Shape) -> list[Shape]:
    """A scalar, of scalars."""
    _scalars(scalars)
    return [()]


@rule
def nothing_of(*scalars: Shape) -> list[Shape]:
    """No outputs, of scalars."""
    _scalars(scalars)
    return []


@rule
def record(*scalars: Shape) -> list[Shape]:
    """A key and a value."""
    _scalars(scalars)
    return [(), ()]


@rule
def records(*scalars: Shape) -> list[Shape]:
    """Keys and values, as many as there are."""
    _scalars(scalars)
    return [(None,), (None,)]


@rule
def file_names(pattern: Shape) -> list[Shape]:
    """A vector, of a pattern or a vector of them."""
    ranked(pattern, 0, 1)
    return [(None,)]


@rule
def columns(lines: Shape, defaults: Sequence[Shape]) -> list[Shape]:
    """A tensor like the lines for each default, which is one value or none."""
    for default in defaults:
        known = ranked(default, 0, 1)
        if known and known[0] is not None and known[0] > 1:
            raise ShapeError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [lines] * len(defaults)


@rule
def parsed_examples(
    serialized: Shape, num_sparse: int, dense_shapes: Sequence[Shape], ragged: Sequence[str]
) -> list[Shape]:
    """Sparse tensors' parts, dense tensors, values and row splits.

    Args:
      serialized: a vector of examples, or one.
      num_sparse: how many sparse tensors.
      dense_shapes: the shape of each dense feature, the first dimension unknown where it varies.
      ragged: the dtypes of the features in rows.

    """
    batch = ranked(serialized, 0, 1)
    rank = None if batch is None else len(batch) + 1
    splits = _splits(batch)
    return [
        *[(None, rank)] * num_sparse,
        *[(None,)] * num_sparse,
        *[(rank,)] * num_sparse,
        *(None if batch is None or shape is None else (*batch, *shape) for shape in dense_shapes),
        *[(None,)] * len(ragged),
        *[splits] * len(ragged),
    ]


def _splits(batch: Shape) -> Shape:
    """The shape of where the rows of examples begin and end."""
    return (batch[0] + 1,) if batch and batch[0] is not None else (None,)


@rule
def parsed_one(serialized: Shape, num_sparse: int, dense_shapes: Sequence[Shape]) -> list[Shape]:
    """As `parsed_examples` of one example, without features in rows."""
    return parsed_examples(with_rank(serialized, 0), num_sparse, dense_shapes, ())


@rule
def parsed_batch(serialized: Shape, num_sparse: int, dense_shapes: Sequence[Shape]) -> list[Shape]:
    """As `parsed_examples` of a vector of examples, without features in rows."""
    return parsed_examples(with_rank(serialized, 1), num_sparse, dense_shapes, ())


@rule
def parsed_sequences(
    serialized: Shape,
    num_sparse: int,
    dense_shapes: Sequence[Shape],
    ragged: Sequence[str],
    num_sparse_lists: int,
    dense_list_shapes: Sequence[Shape],
    ragged_lists: Sequence[str],
) -> list[Shape]:
    """What is parsed of the context, as of examples, then of the feature lists.

    Args:
      serialized: a vector of examples, or one.
      num_sparse: how many sparse tensors of the context.
      dense_shapes: the shape of each dense feature of the context.
      ragged: the dtypes of the features of the context in rows.
      num_sparse_lists: how many sparse tensors of feature lists.
      dense_list_shapes: the shape of a step of each dense feature list.
      ragged_lists: the dtypes of the feature lists in rows.

    """
    batch = ranked(serialized, 0, 1)
    rank = None if batch is None else len(batch) + 2
    context = parsed_examples(serialized, num_sparse, dense_shapes, ragged)
    lists = [
        *[(None, rank)] * num_sparse_lists,
        *[(None,)] * num_sparse_lists,
        *[(rank,)] * num_sparse_lists,
        *(
            None if batch is None or shape is None else (*batch, None, *shape)
            for shape in dense_list_shapes
        ),
        *[batch] * len(dense_list_shapes),
        *[(None,)] * len(ragged_lists),
        *[_splits(batch)] * len(ragged_lists),
        *[(None,)] * len(ragged_lists),
    ]
    return [*context, *lists]


@rule
def reordered(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """Indices and values as they were; that there are as many of both, a run finds out."""
    ranked(shape, 1, 1)
    return [with_rank(indices, 2), with_rank(values, 1)]


@rule
def parsed_sequence_batch(
    serialized: Shape,
    num_sparse: int,
    dense_shapes: Sequence[Shape],
    num_sparse_lists: int,
    dense_list_shapes: Sequence[Shape],
) -> list[Shape]:
    """As `parsed_sequences`, without features in rows."""
    return parsed_sequences(
        serialized, num_sparse, dense_shapes, (), num_sparse_lists, dense_list_shapes, ()
    )


@rule
def parsed_sequence(
    serialized: Shape,
    num_sparse: int,
    dense_shapes: Sequence[Shape],
    num_sparse_lists: int,
    dense_list_shapes: Sequence[Shape],
) -> list[Shape]:
    """As `parsed_sequence_batch` of one example, without the lengths of dense lists."""
    shapes = parsed_sequence_batch(
        with_rank(serialized, 0), num_sparse, dense_shapes, num_sparse_lists, dense_list_shapes
    )
    return shapes[: len(shapes) - len(dense_list_shapes)]
