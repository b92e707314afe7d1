"""Programs with gradient tapes: which operations they record, and errors."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import TensorFunction

__all__ = ["BEHAVIOURS"]


def _values(tf, *programs: TensorFunction):
    """The values of the structure of tensors that each program returns, in a graph of its own."""

    def value(program: TensorFunction):
        with tf.Graph().as_default(), tf.Session() as session:
            results = program(tf.constant([3.0, 2.0]))
            session.run(tf.global_variables_initializer())
            return [
                None if value is None else session.run(value) for value in tf.nest.flatten(results)
            ]

    return attempt(*(lambda program=program: value(program) for program in programs))


def _of(tf, x, make, watched: bool = True):
    with tf.GradientTape() as tape:
        if watched:
            tape.watch(x)
        y = make(x, tape)
    return tape.gradient(y, x)


def _recorded(tf):
    def computed_before(x):
        twice = x * 2
        return _of(tf, x, lambda x, _: twice * x)

    def computed_after(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y * y, x)

    def watched_late(x):
        with tf.GradientTape() as tape:
            twice = x * 2
            tape.watch(twice)
            y = twice * twice
        return tape.gradient(y, [x, twice])

    def read_before_it_is_watched(x):
        with tf.GradientTape() as tape:
            squared = x * x
            tape.watch(x)
            y = squared * x
        return tape.gradient(y, x)

    return _values(
        tf,
        lambda x: _of(tf, x, lambda x, _: x * x),
        lambda x: _of(tf, x, lambda x, _: x * x, watched=False),
        computed_before,
        computed_after,
        watched_late,
        read_before_it_is_watched,
        lambda x: _of(tf, x, lambda x, _: x),
        lambda x: _of(tf, x, lambda x, _: tf.cast(x * x, tf.int32)),
        lambda x: _of(tf, x, lambda x, _: tf.cond(x[0] > 1, lambda: x * x, lambda: x)),
        lambda x: _of(
            tf,
            x,
            lambda x, _: tf.while_loop(
                lambda i, _: i < 3, lambda i, a: (i + 1, a * x), [0, tf.ones([2])]
            )[1],
        ),
    )


def _in_and_out(tf):
    def not_recorded(x, tape):
        squared = x * x
        with tape.stop_recording():
            doubled = squared * 2.0
        return squared * doubled

    def begun_again(x, tape):
        squared = x * x
        tape.reset()
        tape.watch(x)
        return squared * x

    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            return tape.gradient(x * x, x)

    def of_a_gradient(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            slope = _of(tf, x, lambda x, _: x * x * x)
        return outer.gradient(slope, x)

    return _values(
        tf,
        lambda x: _of(tf, x, not_recorded),
        lambda x: _of(tf, x, begun_again),
        inside,
        of_a_gradient,
    )


def _variables(tf):
    def of(x, watches: bool = True):
        one = tf.Variable([2.0, 4.0], use_resource=True)
        fixed = tf.Variable(5.0, trainable=False, use_resource=True)
        with tf.GradientTape(watch_accessed_variables=watches) as tape:
            y = one * one * fixed * x
        assert [v.name for v in tape.watched_variables()] == [one.name] * watches
        return tape.gradient(y, [one, fixed, x])

    def rows(_):
        table = tf.Variable([[2.0], [3.0]], use_resource=True)
        with tf.GradientTape() as tape:
            y = tf.square(tf.gather(table, [1]))
        gradient = tape.gradient(y, table)
        return gradient.values, gradient.indices

    return _values(tf, of, lambda x: of(x, watches=False), rows)


def _asked_for(tf):
    def taped(x, make: TensorFunction = lambda x: x * x, **options):
        with tf.GradientTape(**options) as tape:
            tape.watch(x)
            y = make(x)
        return tape, y

    def twice(x, **options):
        tape, y = taped(x, **options)
        return [tape.gradient(y, x), tape.gradient(y, x)]

    def other(x, way="none"):
        unused = tf.ones([2])
        tape, y = taped(x)
        return tape.gradient(y, {"b": x, "a": unused}, unconnected_gradients=way)

    def weighted(x):
        tape, y = taped(x)
        return tape.gradient(y, x, output_gradients=tf.constant([2.0, 3.0]))

    def again(x):
        tape, _ = taped(x)
        with tape, tape:
            return x

    def many(x):
        tape, y = taped(x, lambda x: [x * x, x * 2.0])
        return tape.gradient(y, x)

    def nothing(x):
        return taped(x)[0].gradient(None, x)

    return _values(
        tf,
        twice,
        lambda x: twice(x, persistent=True),
        other,
        lambda x: other(x, tf.UnconnectedGradients.ZERO),
        weighted,
        again,
        many,
        nothing,
        lambda _: tf.GradientTape().watch(3.0),
        lambda _: tf.GradientTape().stop_recording().__enter__(),
    )


def _jacobians(tf):
    def of(x, make: TensorFunction, way: str = "jacobian"):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = make(x)
        return getattr(tape, way)(y, x, experimental_use_pfor=False)

    def batch(x, make: TensorFunction):
        return of(tf.stack([x, x + 1.0, x * 2.0]), make, "batch_jacobian")

    return _values(
        tf,
        lambda x: of(x, tf.square),
        lambda x: of(x, lambda x: tf.tensordot(x, x, 0)),
        lambda x: of(x, lambda _: tf.ones([3])),
        lambda x: of(x, lambda x: x[0] * x[1]),
        lambda x: batch(x, tf.square),
        lambda x: batch(x, lambda x: x[:, :1, None] * x[:, None]),
        lambda x: batch(x, lambda _: tf.ones([3, 4])),
        lambda x: batch(x, lambda x: x[:2]),
    )


BEHAVIOURS = {
    "what-is-recorded": _recorded,
    "recording-in-parts": _in_and_out,
    "variables-are-watched": _variables,
    "what-is-asked-for": _asked_for,
    "jacobians": _jacobians,
}
