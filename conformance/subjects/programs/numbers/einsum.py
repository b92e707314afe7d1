"""Programs of `einsum`: equations, nodes, gradients, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_DRAW = np.random.RandomState(0)
_A, _B, _C, _T = (_DRAW.randn(*shape).astype("f") for shape in ((2, 3), (3, 4), (4, 5), (2, 2, 3)))
_CASES = [
    ("ij,jk->ik", (_A, _B)),
    ("ij,jk", (_A, _B)),
    ("ij->ji", (_A,)),
    ("ij->", (_A,)),
    ("ij", (_A,)),
    ("ij->j", (_A,)),
    ("aab->ab", (_T,)),
    ("aab->b", (_T,)),
    ("...ij,jk->...ik", (_T, _B)),
    ("ij,jk,kl->il", (_A, _B, _C)),
    ("ij,jk,kl", (_A, _B, _C)),
    ("ij,kl->ijkl", (_A, _B)),
    ("...j,jk,kl->...l", (_T, _B, _C)),
    ("i...->...", (_T,)),
    ("ij,ij->", (_A, _A)),
    (" i j , j k -> i k", (_A, _B)),
    ("ij,jk->iz", (_A, _B)),
    ("ij,jk->ii", (_A, _B)),
    ("ij,jk", (_A,)),
    ("i1->i", (_A,)),
    ("ii", (_T[:, :, 0],)),
    ("ijk->ij", (_A,)),
    ("...ij,...jk->...ik", (_T, _DRAW.randn(1, 3, 2).astype("f"))),
    ("ij,jk,kl,lm->im", (_A, _B, _C, _C.T)),
]


def _equations(tf):
    return shown(
        tf,
        *(lambda tf, case=case: tf.einsum(case[0], *map(tf.constant, case[1])) for case in _CASES),
        lambda tf: tf.einsum("ij->ji", tf.constant(_A), other=1),
        lambda tf: tf.einsum("ij->ji", tf.constant(_A), name="n"),
    )


def _slopes(tf):
    def slope(tf, case):
        given = [
            fed(tf, value, value.shape if number % 2 else None)
            for number, value in enumerate(case[1])
        ]
        return tf.gradients(tf.einsum(case[0], *given), given)

    # TensorFlow reduces a single operand over a set of labels, whose order varies.
    some = [case for case in _CASES if case[0] not in {"ij->", "ijk->ij"}]
    return shown(tf, *(lambda tf, case=case: slope(tf, case) for case in some))


BEHAVIOURS = {"equations": _equations, "slopes": _slopes}
