"""Programs with `tf.function`: when it traces, which operations a call adds, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _operations(tf):
    """The operations of the default graph: name, type, inputs, control inputs, static shapes."""
    return [
        (
            op.name,
            op.type,
            [tensor.name for tensor in op.inputs],
            [op.name for op in op.control_inputs],
            [str(output.shape) for output in op.outputs],
        )
        for op in tf.get_default_graph().get_operations()
    ]


def _value(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def _structures(tf):
    @tf.function
    def scaled(x, factor=2):
        """Scale it."""
        return x * factor, {"more": [x + 1, None]}

    x = tf.placeholder_with_default([1.0, 2.0], [None])
    first, rest = scaled(x)
    again = [scaled(np.array([3.0], np.float32)), scaled(3), scaled(x, factor=np.float32(4))]
    return [
        scaled.__name__,
        scaled.__doc__,
        rest["more"][1],
        scaled.experimental_get_tracing_count(),
        _operations(tf),
        _value(tf, [first, rest["more"][0], *(pair[0] for pair in again)]),
    ]


def _traces(tf):
    traced = []

    @tf.function
    def noted(x, *more, word: str = "a"):
        traced.append((str(x), word, len(more)))
        return x

    for dtype in (tf.float32, tf.int32, tf.float32):
        noted(tf.zeros([2], dtype))
    noted(tf.zeros([3]))
    noted(tf.zeros([3]), word="b")
    noted(1)
    noted(1)
    noted(2, tf.zeros([]))
    noted([1, 2])
    return traced


def _outside(tf):
    outer = tf.constant(3.0)
    variable = tf.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def joined(x):
        return outer * variable + x

    @tf.function
    def twice(x):
        return joined(joined(x))

    output = twice(tf.constant(1.0))
    slopes = tf.gradients(output, [outer, variable])
    return [[tensor.op.type for tensor in (output, *slopes)], _value(tf, [output, *slopes])]


def _effects(tf):
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def doubled_then_added(x):
        variable.assign(variable * 2)
        variable.assign_add(x)
        return variable.read_value()

    @tf.function
    def checked(x):
        tf.debugging.assert_less(x, 5.0)
        variable.assign_add(x)
        return x

    output = doubled_then_added(tf.constant(10.0))
    x = tf.placeholder(tf.float32, [])
    late = checked(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = [session.run(output), session.run(variable), session.run(late, {x: 1.0})]
        refused = attempt(lambda: session.run(late, {x: 6.0}))
        return [output.op.type, seen, refused]


def _signatures(tf):
    spec = tf.TensorSpec([None], tf.float32)

    @tf.function(input_signature=[spec, [tf.TensorSpec([], tf.int32)]])
    def taken(x, parts):
        return x * tf.cast(parts[0], tf.float32)

    output = taken([1, 2], [3])
    taken(tf.zeros([4]), [5])
    refusals = attempt(
        taken,
        lambda: taken([1.0]),
        lambda: taken([1.0], [2], 3),
        lambda: taken([[1.0]], [2]),
        lambda: taken(["a"], [2]),
        lambda: tf.function(taken, input_signature=spec),
    )
    return [
        str(output.shape),
        _value(tf, output),
        taken.experimental_get_tracing_count(),
        refusals,
        len(taken.input_signature),
    ]


def _variables(tf):
    held = []

    @tf.function
    def once(x):
        if not held:
            held.append(tf.Variable(3.0, use_resource=True, name="mine"))
        return held[0] * x

    @tf.function
    def always(x):
        return tf.Variable(3.0, use_resource=True) * x

    output = once(tf.constant(2.0))
    return [
        [variable.name for variable in tf.global_variables()],
        _value(tf, output),
        attempt(lambda: always(tf.constant(1.0))),
        once.experimental_get_tracing_count(),
    ]


def _results(tf):
    @tf.function
    def nothing() -> None:
        return None

    @tf.function
    def odd():
        return object()

    @tf.function
    def plain():
        return 1, "a", [2.0]

    @tf.function
    def rows(x):
        return tf.IndexedSlices(x, tf.constant([1]))

    @tf.function
    def read(name):
        return tf.read_file(name)

    number, text, (half,) = plain()
    slices = rows(tf.ones([1, 2]))
    return [
        nothing(),
        attempt(odd),
        _value(tf, [number, text, half]),
        type(slices).__name__,
        _value(tf, tf.convert_to_tensor(slices.values)),
        attempt(lambda: _value(tf, read(tf.constant("there is/no such file")))),
    ]


def _methods(tf):
    class Scaled:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @tf.function
        def of(self, x):
            return x * self.factor

    two, three = Scaled(2.0), Scaled(3.0)
    return _value(tf, [two.of(tf.constant(1.0)), three.of(tf.constant(1.0)), two.of(4.0)])


def _concrete(tf):
    outer = tf.constant(1.0)

    @tf.function
    def added(x, y):
        return {"sum": x + y + outer}

    concrete = added.get_concrete_function(tf.TensorSpec([2], tf.float32), tf.TensorSpec([]))
    called = concrete(tf.constant([1.0, 2.0]), tf.constant(3.0))
    return [
        [tensor.name for tensor in concrete.inputs[:2]],
        len(concrete.captured_inputs),
        len(concrete.outputs),
        sorted(concrete.structured_outputs),
        _value(tf, called),
        added.python_function.__name__,
    ]


def _slopes(tf):
    @tf.function
    def cubed(x):
        return x * x * x

    x = tf.constant(2.0)
    (first,) = tf.gradients(cubed(x), x)
    (second,) = tf.gradients(first, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cubed(x)
    return _value(tf, [first, second, tape.gradient(y, x)])


def _branches(tf):
    @tf.function
    def chosen(x):
        larger = tf.cond(x > 0.0, lambda: x * 2.0, lambda: -x)
        return tf.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, [larger])

    return _value(tf, [chosen(tf.constant(1.0)), chosen(tf.constant(-3.0))])


def _at_once(tf):
    module = module_of(tf, "eager.def_function")
    traced = module.function(lambda x: x + 1.0)
    module.run_functions_eagerly(True)
    try:
        outcome = traced(tf.constant(1.0)).op.type, module.functions_run_eagerly()
    finally:
        module.run_functions_eagerly(False)
    return (
        outcome,
        traced(tf.constant(1.0)).op.type,
        module.functions_run_eagerly(),
        attempt(lambda: traced(tf.constant([1.0, 2.0])).op.type),
    )


BEHAVIOURS = {
    "at_once": _at_once,
    "structures": _structures,
    "traces": _traces,
    "outside": _outside,
    "effects": _effects,
    "signatures": _signatures,
    "variables": _variables,
    "results": _results,
    "methods": _methods,
    "concrete": _concrete,
    "slopes": _slopes,
    "branches": _branches,
}
