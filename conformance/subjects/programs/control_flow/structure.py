"""Programs of loops over elements whose functions return other structures, and of waiting."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import PairFunction, Structure, TensorFunction
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


class _Pair(NamedTuple):
    """Two tensors."""

    a: Tensor
    b: Tensor


#: A function's name, which ends with a number that the process counts.
_NAME: Final = re.compile(r'(name: "\w+?)_\d+"')
#: The structures in which a function may return two tensors.
_RETURNS = (
    lambda a, _: a,
    lambda a, b: (a, b),
    lambda a, b: [a, b],
    lambda a, b: (a, b, a),
    lambda a, b: ((a, b),),
    lambda a, b: {"a": a, "b": b},
    lambda a, b: {"a": a, "c": b},
    _Pair,
    lambda a, b: (a, [b]),
    lambda a, b: [(a, b)],
    lambda a, _: [a],
    lambda a, _: {"a": a},
    lambda *_: (),
    lambda a, b: collections.OrderedDict([("b", b), ("a", a)]),
    lambda a, _: (a, None),
)
#: The structures in which two tensors may be passed.
_GIVEN = (
    lambda a, _: a,
    lambda a, b: (a, b),
    lambda a, b: [a, b],
    lambda a, b: {"a": a, "b": b},
    _Pair,
    lambda a, b: (a, [b]),
)


def _every(
    tf,
    loop: Callable[[PairFunction, PairFunction], Structure],
    returns: Sequence[PairFunction] = _RETURNS,
):
    """Loops over two tensors that are passed and returned in different structures.

    Every pair of equal types is tried, and every second one of the other pairs.

    Args:
      tf: the namespace.
      loop: from the structures of the argument and of the result to the loop's output.
      returns: the structures of the results.

    """
    outputs = []

    def shown(given, returned):
        output = loop(given, returned)
        outputs.append(output)
        return str(tf.nest.map_structure(lambda tensor: (tensor.dtype, tensor.shape), output))

    pairs = [
        (given, returned)
        for (i, given), (j, returned) in itertools.product(enumerate(_GIVEN), enumerate(returns))
        if (i + j) % 2 == 0 or type(given(1, 2)) is type(returned(1, 2))
    ]
    seen = attempt(*(lambda pair=pair: shown(*pair) for pair in pairs))
    return seen, run(tf, outputs)


def _two(tf) -> tuple[Tensor, Tensor]:
    return tf.constant([[1.0, 2.0], [3.0, 5.0]]), tf.constant([7.0, 11.0])


def _parts(tf, nested) -> tuple[Tensor, Tensor]:
    """The first and the last of nested tensors."""
    flat = tf.nest.flatten(nested)
    return flat[0] * 2.0, flat[-1] + 1.0


def _mapped(tf):
    x, y = _two(tf)
    return _every(
        tf,
        lambda given, returned: tf.map_fn(
            lambda element: returned(*_parts(tf, element)), given(x, y)
        ),
    )


def _mapped_to_dtypes(tf):
    """The structure of `dtype` must be that of the results, not that of the elements."""
    x, _ = _two(tf)
    return _every(
        tf,
        lambda given, returned: tf.map_fn(
            lambda element: returned(element, tf.cast(element[0], tf.int32)),
            x,
            dtype=given(tf.float32, tf.int32),
        ),
    )


def _scanned(tf):
    x, y = _two(tf)
    return _every(
        tf,
        lambda given, returned: tf.scan(
            lambda accumulated, _: returned(*_parts(tf, accumulated)), given(x, y)
        ),
    )


def _scanned_from(tf):
    """The structure of the initializer must be that of the results, not that of the elements."""
    x, y = _two(tf)
    first = tf.constant(2.0), tf.constant([1.0, 4.0])
    return _every(
        tf,
        lambda given, returned: tf.scan(
            lambda accumulated, _: returned(*_parts(tf, accumulated)),
            (x, [y]),
            given(*first),
            reverse=True,
        ),
    )


def _folded(tf):
    x, y = _two(tf)
    first = tf.constant(2.0), tf.constant([1.0, 4.0])
    return [
        _every(
            tf,
            lambda given, returned, fold=fold: fold(
                lambda accumulated, _: returned(*_parts(tf, accumulated)), (x, [y]), given(*first)
            ),
        )
        for fold in (tf.foldl, tf.foldr)
    ]


def _looped(tf):
    first = tf.constant(2.0), tf.constant([1.0, 4.0])
    return _every(
        tf,
        lambda given, returned: tf.while_loop(
            lambda *state: tf.nest.flatten(state)[0] < 10.0,
            lambda *state: [returned(*_parts(tf, state))],
            [given(*first)],
        ),
        _RETURNS[:-1],
    )


def _chosen(tf):
    """Conditionals whose branches return two structures."""
    first = tf.constant(2.0), tf.constant([1.0, 4.0])
    which = tf.placeholder_with_default(False, [])
    return _every(
        tf,
        lambda given, returned: tf.cond(
            which, lambda: given(*first), lambda: returned(*_parts(tf, first))
        ),
    )


def _cased(tf):
    first = tf.constant(2.0), tf.constant([1.0, 4.0])
    which = tf.placeholder_with_default(1, [])
    return _every(
        tf,
        lambda given, returned: tf.switch_case(
            which, [lambda: given(*first), lambda: returned(*_parts(tf, first))]
        ),
    )


def _loops(tf) -> list[TensorFunction]:
    """Functions of a vector that build loops and branches."""

    def constant_in_loop(x):
        return tf.while_loop(lambda i: i < 3.0, lambda i: i + x[0] * tf.constant(2.0), [0.0])

    def starts_inside(x):
        y = tf.identity(x, name="y")
        return tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, z * y), [0, y])

    def waits_in_body(x):
        def body(i):
            with tf.control_dependencies([tf.no_op("inner"), x]):
                return i + tf.constant(1)

        return tf.while_loop(lambda i: i < 3, body, [0])

    def frees(x):
        with tf.control_dependencies(None):
            return tf.while_loop(lambda i: i < 3.0, lambda i: i + x[0], [0.0])

    return [
        constant_in_loop,
        starts_inside,
        waits_in_body,
        frees,
        lambda x: tf.cond(x[0] > 1.0, lambda: tf.constant(1.0), lambda: x[1]),
        lambda x: tf.cond(x[0] > 1.0, lambda: constant_in_loop(x), lambda: x[1]),
        lambda x: tf.while_loop(lambda i: i < 9.0, lambda i: i + constant_in_loop(x), [0.0]),
        lambda x: (
            tf.map_fn(lambda element: element * x[1], x),
            tf.scan(tf.add, x),
            tf.foldl(tf.add, x),
        ),
    ]


def _waiting(tf):
    """Loops and branches under control dependencies: which operations wait, and for which."""

    def built(make: TensorFunction, *, nested: bool):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            with tf.control_dependencies([tf.no_op("first")]):
                if nested:
                    with tf.control_dependencies([tf.no_op("second"), x]):
                        make(x)
                else:
                    make(x)
                tf.identity(x, name="later")
            return [_NAME.sub(r'\1"', line) for line in nodes(graph)]

    return attempt(
        *(
            lambda make=make, nested=nested: built(make, nested=nested)
            for make in _loops(tf)
            for nested in (False, True)
        )
    )


_PROGRAMS = (
    _mapped,
    _mapped_to_dtypes,
    _scanned,
    _scanned_from,
    _folded,
    _looped,
    _chosen,
    _cased,
    _waiting,
)
BEHAVIOURS = {
    **{program.__name__.strip("_").replace("_", "-"): program for program in _PROGRAMS},
    **{
        f"{program.__name__.strip('_').replace('_', '-')}-in-functions": functional(program)
        for program in (_mapped, _looped, _chosen, _waiting)
    },
}
