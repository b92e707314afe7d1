"""Rows taken from tensors and variables, whose gradients are IndexedSlices; sparse tensors."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.subjects.gradients.functions.inputs import WIDE, Form, Inputs, function

__all__: list[str] = []

_WAYS: Final = ("resource", "reference", "known")


def _table(x: Inputs, shape: tuple[int, ...]) -> Form:
    return x.tensor(shape, way=x.choice(*_WAYS))


def _rows(x: Inputs, count: int, shape: tuple[int, ...]) -> Form:
    """Numbers of rows, some of them several times."""
    return x.integers(shape, 0, count)


@function("gather of rows of a variable", WIDE)
def _gather(x: Inputs) -> Form:
    shape = x.shape(1, 3, 2, 3)
    return x.call("gather", _table(x, shape), _rows(x, shape[0], x.shape(0, 2)))


@function("gather_nd of a variable", WIDE)
def _gather_nd(x: Inputs) -> Form:
    return x.call("gather_nd", _table(x, (3, 2)), x.integers((4, x.choice(1, 2)), 0, 2))


@function("gather of a variable twice and whole", WIDE)
def _gather_twice(x: Inputs) -> Form:
    table = _table(x, (3, 2))
    parts = [x.call("gather", table, _rows(x, 3, (4,))), x.call("gather", table, _rows(x, 3, (2,)))]
    return [*parts, x.call("square", table)] if x.flag() else parts


@function("sparse_read of a variable", WIDE)
def _sparse_read(x: Inputs) -> Form:
    table = x.tensor((4, 2), way="resource")
    read = {"$getattr": [table, "sparse_read"]}
    return {"$call": read, "args": [_rows(x, 4, (3,))]}


@function("nn.embedding_lookup", WIDE)
def _embedding_lookup(x: Inputs) -> Form:
    tables = [_table(x, (3, 2)) for _ in range(x.choice(1, 2))]
    ids = _rows(x, 3 * len(tables), x.shape(1, 2))
    return x.call(
        "nn.embedding_lookup",
        tables,
        ids,
        partition_strategy=x.choice("mod", "div"),
        max_norm=x.choice(None, None, 1.0),
    )


def _ids(x: Inputs) -> Form:
    places = x.given([[0, 0], [0, 1], [2, 0]], "int64")
    return x.call("SparseTensor", places, x.integers((3,), 0, 4, "int64"), x.given([3, 2], "int64"))


def _sparse_weights(x: Inputs, corners: bool = False) -> Form:
    places = x.given([[0, 0], [0, 1], [2, 0]], "int64")
    values = x.tensor((3,), 0.5, corners=corners, way="known")
    return x.call("SparseTensor", places, values, x.given([3, 2], "int64"))


@function("nn.embedding_lookup_sparse", WIDE, second=False)
def _embedding_lookup_sparse(x: Inputs) -> Form:
    places = x.given([[0, 0], [0, 1], [1, 0]], "int64")
    ids = x.call("SparseTensor", places, x.integers((3,), 0, 4, "int64"), x.given([2, 2], "int64"))
    weights = None
    if x.flag():
        values = x.tensor((3,), 0.5, corners=False, way="known")
        weights = x.call("SparseTensor", places, values, x.given([2, 2], "int64"))
    return x.call(
        "nn.embedding_lookup_sparse",
        _table(x, (4, 2)),
        ids,
        weights,
        combiner=x.choice("sum", "mean", "sqrtn"),
    )


@function("nn.safe_embedding_lookup_sparse", WIDE, second=False)
def _safe_embedding_lookup_sparse(x: Inputs) -> Form:
    weights = _sparse_weights(x) if x.flag() else None
    return x.call(
        "nn.safe_embedding_lookup_sparse",
        [_table(x, (4, 2))],
        _ids(x),
        weights,
        combiner=x.choice("sum", "mean", "sqrtn"),
    )


@function("read of a variable", WIDE)
def _read(x: Inputs) -> Form:
    table = x.tensor(x.shape(0, 2), way=x.choice("resource", "reference"))
    way = x.choice("value", "read_value", "initialized_value")
    if way == "initialized_value":
        return x.call("multiply", table, x.call("identity", table))
    return x.call("exp", {"$call": {"$getattr": [table, way]}})


def _sparse(x: Inputs, shape: tuple[int, int] = (3, 4), count: int = 5) -> Form:
    cells = sorted(x.draw.sample(range(shape[0] * shape[1]), count))
    places = x.given(np.stack(np.unravel_index(cells, shape), -1), "int64")
    return x.call("SparseTensor", places, x.tensor((count,), way="known"), x.given(shape, "int64"))


@function("sparse.sparse_dense_matmul", WIDE)
def _sparse_dense_matmul(x: Inputs) -> Form:
    flags = {"adjoint_a": x.flag(), "adjoint_b": x.flag()}
    inner, columns = (3 if flags["adjoint_a"] else 4), 2
    shape = (columns, inner) if flags["adjoint_b"] else (inner, columns)
    return x.call("sparse.sparse_dense_matmul", _sparse(x), x.tensor(shape), **flags)


@function("sparse.reduce_sum", WIDE)
def _sparse_reduce_sum(x: Inputs) -> Form:
    return x.call(
        "sparse.reduce_sum", _sparse(x), axis=x.choice(None, 0, 1, -1, [0, 1]), keepdims=x.flag()
    )


@function("sparse.to_dense", WIDE)
def _to_dense(x: Inputs) -> Form:
    return x.call("sparse.to_dense", _sparse(x))


def _values(form: Form) -> Form:
    return {"$getattr": [form, "values"]}


@function("sparse.softmax", WIDE, second=False)
def _sparse_softmax(x: Inputs) -> Form:
    return _values(x.call("sparse.softmax", _sparse(x)))


@function("sparse.add", WIDE, second=False, differences=False)
def _sparse_add(x: Inputs) -> Form:
    return _values(x.call("sparse.add", _sparse(x), _sparse(x)))


@function("sparse.add to a dense tensor", WIDE)
def _sparse_add_dense(x: Inputs) -> Form:
    return x.call("sparse.add", _sparse(x), x.tensor((3, 4)))


@function("sparse.slice", WIDE, second=False)
def _sparse_slice(x: Inputs) -> Form:
    return _values(x.call("sparse.slice", _sparse(x), [0, 1], [2, 2]))


@function("sparse.reorder of a transposed tensor", WIDE)
def _sparse_transposed(x: Inputs) -> Form:
    return _values(x.call("sparse.transpose", _sparse(x)))


@function("products of sparse and dense", WIDE)
def _sparse_products(x: Inputs) -> Form:
    operator = x.choice("*", "/")
    dense = x.tensor(x.choice((3, 4), (1, 4)), 0.5, corners=operator == "*", way="known")
    return _values({"$op": [operator, _sparse(x), dense]})


@function("sparse_fill_empty_rows", WIDE, second=False)
def _fill_empty_rows(x: Inputs) -> Form:
    filled = x.call("sparse.fill_empty_rows", _sparse(x), x.tensor((), way="known"))
    return _values({"$item": [filled, 0]})
