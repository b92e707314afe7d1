"""Programs of when tapes record, of gradients of eigenvalues, and of branches with rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.program import PairFunction, TensorFunction
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _recording(tf):
    """The methods of a tape before, inside of and after its `with`."""

    def stopped(tape, x):
        with tape.stop_recording():
            y = x * 3.0
        return tape.gradient(y + x * x, x)

    def again(tape, x):
        with tape:
            y = x * x
        return tape.gradient(y, x)

    actions = [
        stopped,
        again,
        lambda tape, x: tape.gradient(x * x, x),
        lambda tape, x: tape.jacobian(x * x, x, experimental_use_pfor=False),
        lambda tape, _: tape.reset(),
        lambda tape, x: tape.watch(x),
        lambda tape, _: tape.watched_variables(),
    ]

    def tried(persistent: bool, first, second):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant([3.0, 2.0])
            tape = tf.GradientTape(persistent=persistent)
            outcomes = attempt(lambda: second(tape, x))
            with tape:
                tape.watch(x)
                inside = [_value(tf, session, action, tape, x) for action in (first, second)]
            return outcomes, inside, _value(tf, session, second, tape, x)

    return attempt(
        *(
            lambda case=case: tried(*case)
            for case in itertools.product((False, True), actions, actions)
        )
    )


def _value(tf, session, action, *arguments):
    """The value of an action's result under a name of its own: the names of a tape's nodes vary."""

    def value():
        result = action(*arguments)
        return session.run(tf.identity(result, "found")) if tf.is_tensor(result) else result

    return caught(value)


def _matrices() -> list[np.ndarray]:
    """Matrices whose eigenvalues differ: real, real with complex eigenvalues, and complex."""
    turning = np.array([[1.0, 2.0, 0.5], [-2.0, 1.5, 1.0], [0.25, -1.0, 3.0]])
    plain = np.array([[4.0, 1.0, 0.5], [0.5, 2.0, 0.25], [1.0, 0.5, -1.0]])
    mixed = turning + 1j * np.array([[0.5, 0.1, 0.3], [0.2, -1.0, 0.4], [0.7, 0.2, 2.0]])
    return [turning, plain, mixed]


def _eigen(tf):
    """Gradients of eigenvalues, and of absolute values of eigenvectors, which have no phase."""
    weights = np.array([[1.0], [2.0], [4.0]])

    def slope(matrix: np.ndarray, make: PairFunction):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(matrix)
            parts = (
                tf.linalg.eig(x)
                if hasattr(tf.linalg, "eig")
                else tf.raw_ops.Eig(input=x, compute_v=True, Tout=tf.complex128)
            )
            (by_x,) = tf.gradients(make(*parts), x)
            return np.round(session.run(by_x), 5)

    makes = [
        lambda _, v: tf.reduce_sum(tf.abs(v) ** 3.0 * weights),
        lambda e, v: tf.reduce_sum(tf.abs(v) ** 2.0 * weights * tf.math.real(e)),
        lambda e, v: tf.reduce_sum(tf.abs(v) ** 2.0 * weights * tf.math.imag(e) ** 2.0),
        lambda e, _: tf.reduce_sum(tf.abs(e) ** 3.0),
        lambda e, _: tf.reduce_sum(tf.math.imag(e * e * e)),
    ]
    return attempt(*(lambda m=m, f=f: slope(m, f) for m in _matrices() for f in makes))


def _symmetric(tf):
    """The same for self-adjoint matrices, and for singular values."""
    weights = np.array([[1.0], [2.0], [4.0]])

    def slope(matrix: np.ndarray, function: TensorFunction, make: Callable[..., Tensor]):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(matrix)
            (by_x,) = tf.gradients(make(*function(x)), x)
            return np.round(session.run(by_x), 5)

    adjoint = [matrix + matrix.conj().T for matrix in _matrices()]
    of_two = [
        lambda _, v: tf.reduce_sum(tf.abs(v) ** 3.0 * weights),
        lambda e, v: tf.reduce_sum(tf.abs(v) ** 2.0 * weights * tf.math.real(e)),
    ]
    of_three = [
        lambda _, u, __: tf.reduce_sum(tf.abs(u) ** 3.0 * weights),
        lambda s, _, v: tf.reduce_sum(tf.abs(v) ** 2.0 * weights * s),
        lambda s, *_: tf.reduce_sum(s**3.0),
    ]
    return attempt(
        *(lambda m=m, f=f: slope(m, tf.linalg.eigh, f) for m in adjoint for f in of_two),
        *(lambda m=m, f=f: slope(m, tf.linalg.svd, f) for m in _matrices()[:2] for f in of_three),
    )


def _rows(tf):
    """Branches of which one or both have IndexedSlices as gradients, as functions and as nodes."""

    def slopes(first, second, *, functional: bool):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder_with_default(np.arange(6.0, dtype=np.float32).reshape(3, 2), [3, 2])
            which = tf.placeholder(tf.bool, [])
            if functional:
                indices = tf.cast(which, tf.int32)
                y = tf.switch_case(indices, [lambda: first(x), lambda: second(x)])
            else:
                y = tf.cond(which, lambda: first(x), lambda: second(x))
            (gradient,) = tf.gradients(y, x)
            dense = tf.convert_to_tensor(gradient)
            values = [session.run(dense, {which: taken}) for taken in (True, False)]
            return isinstance(gradient, tf.IndexedSlices), values

    makes = [
        lambda x: tf.gather(x, [0, 2]) * 2.0,
        lambda x: x[:2] * 3.0,
        lambda x: tf.gather(x, [1, 1]) ** 2.0,
        lambda _: tf.zeros([2, 2]),
        lambda x: tf.gather(x, [0, 2]) + x[1:] * x[:2],
    ]
    pairs = itertools.combinations_with_replacement(makes, 2)
    return attempt(
        *(
            lambda pair=pair, kind=kind: slopes(*pair, functional=kind)
            for pair in pairs
            for kind in (False, True)
        )
    )


BEHAVIOURS = {
    "eigenvalues and vectors": _eigen,
    "recording": _recording,
    "rows of branches": _rows,
    "symmetric": _symmetric,
}
