"""Functions of matrices: products, solutions, decompositions."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.subjects.gradients.functions.inputs import (
    ALL,
    COMPLEX,
    WIDE,
    Form,
    Inputs,
    function,
)

__all__: list[str] = []

#: Equations of `einsum`, with a number for each letter where it is not drawn.
_EQUATIONS: Final = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij->ji",
    "ij,ij->",
    "i,j->ij",
    "bij,kj->bki",
    "...ij,...jk->...ik",
    "ij->i",
    "ii->i",
    "abc,cd->abd",
    "ij,j",
    "...i->...",
    "ab,bc,cd->ad",
    "ii",
    "bii->bi",
)


def _regular(x: Inputs, shape: tuple[int, ...], *, kind: str = "any") -> Form:
    """Well-conditioned square matrices, of any kind or Hermitian with distinct eigenvalues."""
    size = shape[-1]
    count = int(np.prod(shape[:-2], dtype=int))
    values = []
    for _ in range(count):
        noise = np.array([[x.draw.uniform(-0.4, 0.4) for _ in range(size)] for _ in range(size)])
        if x.dtype in COMPLEX:
            noise = noise + 1j * np.array(
                [[x.draw.uniform(-0.4, 0.4) for _ in range(size)] for _ in range(size)]
            )
        if kind == "hermitian":
            noise = (noise + noise.conj().T) / 4
        values.append(noise + np.diag(np.arange(1.0, size + 1)))
    return x.given(np.reshape(values, shape), by=True)


def _batch(x: Inputs, size: int | None = None) -> tuple[int, ...]:
    size = size or x.draw.randint(1, 4)
    return (*x.shape(0, 1, 2, 2), size, size)


@function("matmul", ALL)
def _matmul(x: Inputs) -> Form:
    batches: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ()), ((2,), (2,)), ((0,), (0,))]
    if x.dtype != "float16":  # see `limits` of BatchMatMulV2
        batches += [((3, 2), (2,)), ((1,), (4,))]
    batch, other = x.choice(*batches)
    rows, inner, columns = (x.draw.randint(1, 4) for _ in range(3))
    left = [rows, inner]
    right = [inner, columns]
    kind = ("transpose", "adjoint")[x.draw.randrange(2)]
    flags = {f"{kind}_a": x.flag(), f"{kind}_b": x.flag()}
    left = left[::-1] if flags[f"{kind}_a"] else left
    right = right[::-1] if flags[f"{kind}_b"] else right
    return x.call("matmul", x.tensor((*batch, *left)), x.tensor((*other, *right)), **flags)


@function("matmul of sparse matrices", ("float32", "bfloat16"))
def _sparse_matmul(x: Inputs) -> Form:
    rows, inner, columns = (x.draw.randint(1, 4) for _ in range(3))
    flags = {"transpose_a": x.flag(), "transpose_b": x.flag()}
    left = (inner, rows) if flags["transpose_a"] else (rows, inner)
    right = (columns, inner) if flags["transpose_b"] else (inner, columns)
    return x.call(
        "matmul",
        x.tensor(left, way="known"),
        x.tensor(right, way="known"),
        **flags,
        a_is_sparse=x.flag(),
        b_is_sparse=x.flag(),
    )


@function("linalg.matvec", ALL)
def _matvec(x: Inputs) -> Form:
    rows, columns = x.draw.randint(1, 4), x.draw.randint(1, 4)
    flag = x.flag()
    shape = (columns, rows) if flag else (rows, columns)
    return x.call("linalg.matvec", x.tensor((2, *shape)), x.tensor((2, columns)), transpose_a=flag)


@function("einsum", ALL)
def _einsum(x: Inputs) -> Form:
    equation = x.choice(*_EQUATIONS)
    sizes = {letter: x.draw.randint(1, 3) for letter in "abcdijk"}
    terms = equation.partition("->")[0].split(",")
    many = x.draw.randint(0, 2)
    shapes = [
        (
            *((2,) * many if "..." in term else ()),
            *(sizes[letter] for letter in term if letter != "."),
        )
        for term in terms
    ]
    return x.call("einsum", equation, *(x.tensor(shape, way="known") for shape in shapes))


@function("tensordot", ALL)
def _tensordot(x: Inputs) -> Form:
    many = x.draw.randint(0, 2)
    shared = [x.draw.randint(1, 3) for _ in range(many)]
    left, right = [*x.shape(0, 2), *shared], [*shared, *x.shape(0, 2)]
    if many == 2 and x.flag():
        axes = [[-2, -1], [0, 1]]
        return x.call("tensordot", x.tensor(left), x.tensor(right, way="known"), axes)
    return x.call("tensordot", x.tensor(left, way="known"), x.tensor(right, way="known"), many)


def _square(name: str, dtypes: tuple[str, ...], *, second: bool = True) -> None:
    @function(name, dtypes, second=second)
    def _(x: Inputs) -> Form:
        return x.call(name, _regular(x, _batch(x)))


for _name in ("linalg.inv", "linalg.det", "linalg.trace", "linalg.adjoint", "linalg.diag_part"):
    _square(_name, ALL)
_square("linalg.pinv", WIDE, second=False)


@function("linalg.logdet", WIDE, differences=False)
def _logdet(x: Inputs) -> Form:
    return x.call("linalg.logdet", _regular(x, _batch(x), kind="hermitian"))


@function("linalg.eigvalsh", WIDE, differences=False)
def _eigvalsh(x: Inputs) -> Form:
    return x.call("linalg.eigvalsh", _regular(x, _batch(x), kind="hermitian"))


@function("linalg.slogdet", WIDE)
def _slogdet(x: Inputs) -> Form:
    return {"$item": [x.call("linalg.slogdet", _regular(x, _batch(x))), 1]}


@function("linalg.cholesky", ALL, differences=False)
def _cholesky(x: Inputs) -> Form:
    return x.call("linalg.cholesky", _regular(x, _batch(x), kind="hermitian"))


@function("linalg.cholesky_solve", WIDE, differences=False)
def _cholesky_solve(x: Inputs) -> Form:
    factor = x.call("linalg.cholesky", _regular(x, (3, 3), kind="hermitian"))
    return x.call("linalg.cholesky_solve", factor, x.tensor((3, 2)))


@function("linalg.solve", ALL)
def _solve(x: Inputs) -> Form:
    shape = _batch(x)
    return x.call("linalg.solve", _regular(x, shape), x.tensor((*shape[:-1], 2)), x.flag())


@function("linalg.triangular_solve", ALL)
def _triangular_solve(x: Inputs) -> Form:
    shape = _batch(x)
    return x.call(
        "linalg.triangular_solve",
        _regular(x, shape),
        x.tensor((*shape[:-1], 2)),
        x.flag(),
        x.flag(),
    )


@function("linalg.lstsq", WIDE)
def _lstsq(x: Inputs) -> Form:
    rows, columns = x.choice((4, 2), (2, 4), (3, 3))
    shape = (rows, columns)
    matrix = np.eye(*shape) * 2 + np.reshape(
        [x.draw.uniform(-0.4, 0.4) for _ in range(rows * columns)], shape
    )
    return x.call("linalg.lstsq", x.given(matrix, by=True), x.tensor((rows, 2)), 0.1)


@function("linalg.qr", WIDE, second=False)
def _qr(x: Inputs) -> Form:
    parts = x.call("linalg.qr", _regular(x, _batch(x)))
    return x.call("abs", {"$item": [parts, x.choice(0, 1)]})


@function("linalg.svd", WIDE, second=False)
def _svd(x: Inputs) -> Form:
    return x.call("linalg.svd", _regular(x, _batch(x)), compute_uv=False)


@function("linalg.eigh", WIDE, second=False, differences=False)
def _eigh(x: Inputs) -> Form:
    parts = x.call("linalg.eigh", _regular(x, _batch(x), kind="hermitian"))
    return x.call("abs", {"$item": [parts, x.choice(0, 1)]})


@function("linalg.band_part", ALL)
def _band_part(x: Inputs) -> Form:
    return x.call(
        "linalg.band_part",
        x.tensor(x.shape(2, 3, 2, 4)),
        x.draw.randint(-1, 2),
        x.draw.randint(-1, 2),
    )


@function("linalg.diag", ALL)
def _diag(x: Inputs) -> Form:
    return x.call("linalg.diag", x.tensor(x.shape(1, 3)), k=x.draw.randint(-2, 2))


@function("linalg.diag_part of a band", WIDE)
def _diag_part(x: Inputs) -> Form:
    low, high = x.choice((0, 1), (-1, 1), (-1, 0))
    return x.call(
        "linalg.diag_part",
        x.tensor((2, 3, 4), way="known"),
        k=[low, high],
        padding_value=0.0,
        align=x.choice("LEFT_RIGHT", "RIGHT_LEFT"),
    )


@function("linalg.set_diag", WIDE)
def _set_diag(x: Inputs) -> Form:
    return x.call(
        "linalg.set_diag", x.tensor((2, 3, 4), way="known"), x.tensor((2, 3), way="known")
    )


@function("linalg.cross", WIDE)
def _cross(x: Inputs) -> Form:
    shape = (*x.shape(0, 2), 3)
    return x.call("linalg.cross", x.tensor(shape), x.tensor(shape))


@function("linalg.tensor_diag", ALL)
def _tensor_diag(x: Inputs) -> Form:
    return x.call(
        "linalg.tensor_diag_part",
        x.call("square", x.call("linalg.tensor_diag", x.tensor(x.shape(1, 2)))),
    )


@function("linalg.tridiagonal_solve", WIDE, second=False)
def _tridiagonal_solve(x: Inputs) -> Form:
    diagonals = x.given(
        np.reshape(
            [x.draw.uniform(0.1, 0.4) + (2 if at == 1 else 0) for at in range(3) for _ in range(4)],
            (3, 4),
        ),
        by=True,
    )
    return x.call(
        "linalg.tridiagonal_solve",
        diagonals,
        x.tensor((4, 2), way="known"),
        diagonals_format="compact",
    )
