"""Named checks of GRADIENTS: a function of tensors is differentiated, and its gradients are run.

Whether there is a gradient is known only once `tf.gradients` has answered, and what multiplies the
targets has their shapes, which only a run tells: neither can be said in the case language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetches, Session, Tensor, Variable
from sessrun.spec.forms import Json

__all__ = ["error_of_differences", "gradients_among", "gradients_at", "second_gradients_at"]

#: Tensors in nested lists.
Nested: TypeAlias = "Tensor | list[Nested] | tuple[Nested, ...] | None"
#: A function of tensors that is differentiated.
Function: TypeAlias = Callable[..., Nested]
Arrays: TypeAlias = Sequence[np.ndarray]
#: A gradient; None where no target depends on the source. IndexedSlices count as a tensor here:
#: they have its attributes.
Gradient: TypeAlias = Tensor | None
#: No gradient is drawn that is as large.
_HUGE: Final = 1e100
_VARIABLES: Final = {"resource": True, "reference": False}


@dataclass(frozen=True, slots=True)
class _Program:
    """A graph of one function of tensors, in the default graph, with its session.

    Attributes:
      tf: the namespace.
      session: the session.
      inputs: the tensors and variables that the function is given.
      ways: how each is given, as `gradients_at` says.
      targets: the tensors of floating point that the function gives.
      sources: the inputs that it is differentiated by.

    """

    tf: Namespace
    session: Session
    inputs: list[Any]
    ways: Sequence[str]
    targets: list[Tensor]
    sources: list[Tensor]

    def run(self, fetches: Fetches, values: Arrays) -> list[Any]:
        """The values of the fetches where the inputs have these values."""
        feeds = {}
        for tensor, value, way in zip(self.inputs, values, self.ways, strict=True):
            if way in _VARIABLES:
                tensor.load(value, self.session)
            elif way != "constant":
                feeds[tensor] = value
        return self.session.run(fetches, feeds)

    def gradients(self, weights: Arrays) -> list[Gradient]:
        """The gradients of the targets by the sources, multiplied by these weights."""
        given = _constants(self.tf, weights)
        return list(self.tf.gradients(self.targets, self.sources, given))


def gradients_at(
    tf: Namespace,
    function: Function,
    points: Sequence[Arrays],
    ways: Sequence[str],
    by: Sequence[int],
) -> list[Json]:
    """The gradients of a function of tensors by some of them, at several points.

    Args:
      tf: the namespace.
      function: from tensors to a tensor or nested lists of them.
      points: values of the tensors; all points have the same shapes and dtypes.
      ways: how each tensor is given: `unknown` or `known` (a placeholder without or with its
        shape), `constant`, `resource` or `reference` (a variable of that kind).
      by: the numbers of the tensors that it is differentiated by.

    Returns:
      For each point a list: for each source None, an array, or [values, indices, dense_shape] of
      IndexedSlices. At last, of each gradient, its dtype and static shape.

    """
    with tf.Graph().as_default(), tf.Session() as session:
        program = _built(tf, session, function, points[0], ways, by)
        gradients = program.gradients(_weights_of(program, program.targets, points[0]))
        values = [_values(program, gradients, point) for point in points]
        return [*values, _static_types(tf, gradients)]


def second_gradients_at(
    tf: Namespace,
    function: Function,
    points: Sequence[Arrays],
    ways: Sequence[str],
    by: Sequence[int],
) -> list[Json]:
    """The gradients of a function's gradients by its sources, then by what multiplied its targets.

    Arguments and result are those of `gradients_at`.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        program = _built(tf, session, function, points[0], ways, by)
        given = _constants(tf, _weights_of(program, program.targets, points[0]))
        first = tf.gradients(program.targets, program.sources, given)
        dense = [tf.convert_to_tensor(gradient) for gradient in first if gradient is not None]
        if not dense:
            return []
        weights = _weights_of(program, dense, points[0], seed=3)
        second = tf.gradients(dense, [*program.sources, *given], _constants(tf, weights))
        values = [_values(program, second, point) for point in points]
        return [*values, _static_types(tf, second)]


def error_of_differences(
    tf: Namespace,
    function: Function,
    points: Sequence[Arrays],
    ways: Sequence[str],
    by: Sequence[int],
    step: float = 1e-5,
) -> np.float64:
    """The difference between gradients and the slope of a small step, relative to both.

    The targets are computed a step before and behind the first point, whose floating values are
    doubles, along a fixed direction; the gradients' inner product with that direction is compared
    with the slope. A source that has no gradient does not move. Other arguments as `gradients_at`.
    """
    point = list(points[0])
    with tf.Graph().as_default(), tf.Session() as session:
        program = _built(tf, session, function, point, ways, by)
        weights = _weights_of(program, program.targets, point)
        gradients = program.gradients(weights)
        dense = {
            number: tf.convert_to_tensor(gradient)
            for number, gradient in zip(by, gradients, strict=True)
            if gradient is not None
        }
        moves = {number: _direction(point[number], number) for number in dense}
        inner = _product(program.run(list(dense.values()), point), list(moves.values()))

        def level(size: float) -> float:
            moved = [
                value + size * moves[number] if number in moves else value
                for number, value in enumerate(point)
            ]
            return _product(weights, program.run(program.targets, moved))

        slope = (level(step) - level(-step)) / (2 * step)
    return np.float64(abs(inner - slope) / (1 + abs(inner) + abs(slope)))


def gradients_among(
    tf: Namespace,
    function: Callable[..., Sequence[Tensor]],
    inputs: Arrays,
    targets: Sequence[int],
    sources: Sequence[int],
    given: Sequence[float | None] | None = None,
    stopped: Sequence[int] | None = None,
    options: Mapping[str, Argument] | None = None,
) -> list[Json]:
    """The gradients of some tensors of a graph by others.

    Args:
      tf: the namespace.
      function: from tensors to the list of the graph's tensors.
      inputs: the values of the tensors that it takes.
      targets: the numbers of the targets in that list.
      sources: those of the sources.
      given: for each target what all elements of its gradient are, or None: `grad_ys`.
      stopped: the numbers of the tensors that count as constants: `stop_gradients`.
      options: more arguments of `gradients`.

    Returns:
      For each source None, an array, or [values, indices, dense_shape] of IndexedSlices.

    """
    more = dict(options or {})
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = function(*(tf.constant(value) for value in inputs))
        if given is not None:
            more["grad_ys"] = [
                None if size is None else tf.fill(tf.shape(tensors[target]), np.float32(size))
                for target, size in zip(targets, given, strict=True)
            ]
        if stopped is not None:
            more["stop_gradients"] = [tensors[number] for number in stopped]
        gradients = tf.gradients(
            [tensors[number] for number in targets],
            [tensors[number] for number in sources],
            **more,
        )
        values = iter(session.run([_parts(tf, item) for item in gradients if item is not None]))
        return [None if gradient is None else next(values) for gradient in gradients]


def _built(
    tf: Namespace,
    session: Session,
    function: Function,
    values: Arrays,
    ways: Sequence[str],
    by: Sequence[int],
) -> _Program:
    inputs = [_given(tf, value, way) for value, way in zip(values, ways, strict=True)]
    targets = [
        target
        for target in _flat(function(*inputs))
        if target.dtype.is_floating or target.dtype.is_complex
    ]
    if not _VARIABLES.keys().isdisjoint(ways):
        session.run(tf.global_variables_initializer())
    return _Program(tf, session, inputs, ways, targets, [inputs[number] for number in by])


def _given(tf: Namespace, value: np.ndarray, way: str) -> Tensor | Variable:
    if way in _VARIABLES:
        return tf.Variable(value, use_resource=_VARIABLES[way])
    if way == "constant":
        return tf.constant(value)
    return tf.placeholder(tf.as_dtype(value.dtype), value.shape if way == "known" else None)


def _values(program: _Program, gradients: Sequence[Gradient], point: Arrays) -> list[Json]:
    fetches = [_parts(program.tf, gradient) for gradient in gradients if gradient is not None]
    values = iter(program.run(fetches, point))
    return [None if gradient is None else next(values) for gradient in gradients]


def _static_types(tf: Namespace, gradients: Sequence[Gradient]) -> list[list[str]]:
    """Dtypes and static shapes; an engine may know the number of rows of IndexedSlices or not."""
    return [
        [gradient.dtype.name, str(gradient.values.shape[1:])]
        if isinstance(gradient, tf.IndexedSlices)
        else [gradient.dtype.name, str(gradient.shape)]
        for gradient in gradients
        if gradient is not None
    ]


def _flat(value: Nested) -> Iterator[Tensor]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    elif value is not None:
        yield value


def _constants(tf: Namespace, arrays: Arrays) -> list[Tensor]:
    return [tf.constant(array) for array in arrays]


def _parts(tf: Namespace, gradient: Tensor) -> Fetches:
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    parts = [gradient.values, gradient.indices]
    return parts if gradient.dense_shape is None else [*parts, gradient.dense_shape]


def _weights_of(
    program: _Program, tensors: Sequence[Tensor], point: Arrays, seed: int = 0
) -> list[np.ndarray]:
    """The array that multiplies each tensor, of its shape, which is known statically or fetched.

    Nothing is run where all shapes are known: a function call that has been run cannot be
    differentiated afterwards, since its gradient adds outputs to it.
    """
    values = [tensor for tensor in tensors if not tensor.shape.is_fully_defined()]
    run_values = iter(program.run(values, point) if values else [])
    return [
        _weights(
            _zeros(tensor) if tensor.shape.is_fully_defined() else next(run_values), seed + number
        )
        for number, tensor in enumerate(tensors)
    ]


def _zeros(tensor: Tensor) -> np.ndarray:
    return np.zeros(tensor.shape.as_list(), tensor.dtype.as_numpy_dtype)


def _weights(value: np.ndarray, seed: int) -> np.ndarray:
    """Odd eighths in [-1.375, 1.375] that repeat after twelve, of a value's dtype and shape.

    Complex ones have an imaginary part. They are exact in every dtype, and none is zero: what zero
    times infinity is depends in TensorFlow on an element's place.
    """
    value = np.asarray(value)
    eighths = ((np.arange(value.size) * 7 + 3 * seed + 2) % 12 - 5.5) / 4
    if value.dtype.kind == "c":
        eighths = eighths + 1j * eighths[::-1] * 0.5
    return eighths.reshape(value.shape).astype(value.dtype)


def _direction(value: np.ndarray, seed: int) -> np.ndarray:
    """A direction in which all elements move, by different amounts."""
    amounts = ((np.arange(value.size) * 5 + 3 * seed) % 13 + 1) / 13 - 0.53
    if value.dtype.kind == "c":
        amounts = amounts + 1j * ((np.arange(value.size) * 3 + seed) % 7 - 2.9) / 7
    return amounts.reshape(value.shape).astype(value.dtype)


def _product(left: Arrays, right: Arrays) -> float:
    """The real inner product of two lists of tensors.

    Elements as large as the extreme of an empty segment are left out: they depend on nothing.
    """
    pairs = [np.real(np.conj(a) * b) for a, b in zip(left, right, strict=True)]
    return float(sum(pair[~(np.abs(pair) > _HUGE)].sum() for pair in pairs))
