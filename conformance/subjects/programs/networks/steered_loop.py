"""Programs of `raw_rnn`: structures that differ between steps are refused."""

from __future__ import annotations

import itertools

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Structure

__all__ = ["BEHAVIOURS"]


class _Cell:
    """A cell with a given state and output."""

    def __init__(self, tf, output, state) -> None:
        self._output, self._state = output, state
        self.output_size = tf.nest.map_structure(lambda value: value.shape[1], output)
        self.state_size = tf.nest.map_structure(lambda value: value.shape[1], state)

    def zero_state(self, _batch_size, _dtype):
        """The state."""
        return self._state

    def __call__(self, *_):
        """The same output and state for every input."""
        return self._output, self._state


def _nested(a, b) -> list[Structure]:
    """Two tensors in several structures, and one tensor."""
    return [a, (a, b), [a, b], {"a": a, "b": b}, (a, [b]), (a,), None, (a, b, a)]


def _loop(tf, first, later, **options):
    """A `raw_rnn` of two steps.

    Args:
      tf: the namespace.
      first: `(inputs, state, emitted, kept)` as the loop function returns it before the first step.
      later: the same after a step.
      options: the cell's `output` and `state`, by default those of `first`.

    """
    cell = _Cell(tf, options.get("output", first[2]), options.get("state", first[1]))

    def steer(time, output, _state, _kept):
        inputs, state, emitted, kept = first if output is None else later
        return time >= tf.constant([2, 1]), inputs, state, emitted, kept

    arrays, state, kept = tf.nn.raw_rnn(cell, steer)
    stacked = tf.nest.map_structure(lambda array: array.stack(), arrays)
    return run(tf, [stacked, state, [] if kept is None else kept])


def _refused(tf):
    """Parts whose structure after a step differs from the first one."""
    a, b = tf.constant([[1.0], [2.0]]), tf.constant([[3.0, 4.0], [5.0, 6.0]])
    parts = _nested(a, b)
    pairs = list(itertools.product((parts[1], parts[3]), parts[:-1]))
    other = {"z": a}
    return [
        attempt(*(lambda p=p, q=q: _loop(tf, (p, a, a, None), (q, a, a, None)) for p, q in pairs)),
        attempt(
            *(lambda p=p, q=q: _loop(tf, (p, a, [a], None), (q, a, other, None)) for p, q in pairs)
        ),
        attempt(*(lambda p=p, q=q: _loop(tf, (a, p, a, None), (a, q, a, None)) for p, q in pairs)),
        attempt(
            *(
                lambda p=p, q=q: _loop(tf, (a, p, [a], None), (other, q, other, None))
                for p, q in pairs
            )
        ),
        attempt(*(lambda p=p, q=q: _loop(tf, (a, a, p, None), (a, a, q, None)) for p, q in pairs)),
        attempt(*(lambda p=p, q=q: _loop(tf, (a, a, a, p), (a, a, a, q)) for p, q in pairs)),
        attempt(
            *(
                lambda p=p, q=q: _loop(tf, (a, p, a, None), (a, p, a, None), state=q)
                for p, q in pairs
                if q is not None
            )
        ),
        attempt(
            *(
                lambda p=p, q=q: _loop(tf, (a, a, p, None), (a, a, p, None), output=q)
                for p, q in pairs
                if q is not None
            )
        ),
    ]


def _batches(tf):
    """Inputs whose batch sizes differ or are unknown."""
    fixed = ([3, 1], [2])
    shapes = ([2, 1], [None, 1], None, *fixed)

    def looped(one, other):
        given = [
            tf.zeros(shape)
            if shape in fixed
            else tf.placeholder_with_default([[1.0], [2.0]], shape)
            for shape in (one, other)
        ]
        state = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        return _loop(tf, (given, state, state, None), (given, state * 2.0, state + 1.0, None))

    return attempt(*(lambda pair=pair: looped(*pair) for pair in itertools.product(shapes, shapes)))


BEHAVIOURS = {"batches": _batches, "refused": _refused}
