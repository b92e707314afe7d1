"""Programs of layers within layers, of other dtypes, and over sequences of unequal lengths."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.layered_graphs import examples
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _training_within(tf):
    """A layer called without `training` uses the value of the layer that calls it."""
    seen = []

    class Inner(tf.keras.layers.Layer):
        def call(self, inputs, factor=2.0, training=None):
            seen.append([self.name, repr(training) if tf.is_tensor(training) else training, factor])
            return inputs * factor

    class Plain(tf.keras.layers.Layer):
        def call(self, inputs):
            return Inner(name="deep")(inputs)

    class Open(tf.keras.layers.Layer):
        def call(self, inputs, **options):
            seen.append([self.name, sorted(options), options.get("training")])
            return inputs

    class Outer(tf.keras.layers.Layer):
        def call(self, inputs, training=None):
            one = Inner(name="bare")(inputs)
            two = Inner(name="placed")(inputs, 3.0)
            three = Inner(name="all_placed")(inputs, 4.0, None)
            four = Inner(name="told")(inputs, training=not training)
            five = Inner(name="unsaid")(inputs, training=None)
            return one + two + three + four + five + Plain()(inputs) + Open(name="open")(inputs)

    x = tf.constant([1.0, 2.0])
    results = attempt(
        *(
            lambda t=training, n=number: Outer(name=f"outer_{n}")(x, training=t)
            for number, training in enumerate((True, False, None, 1, 0))
        )
    )
    return results, seen, attempt(lambda: Inner(name="alone")(x), lambda: Inner()(x, 5.0, True))


def _cast_inputs(tf):
    """A layer with `autocast` casts floating-point inputs to its dtype, and no others."""
    seen = []

    class Telling(tf.keras.layers.Layer):
        def call(self, inputs):
            seen.append([item.dtype.name for item in tf.nest.flatten(inputs)])
            return tf.nest.flatten(inputs)[0]

    values = [tf.constant([1.0], dtype) for dtype in ("float16", "float32", "float64")]
    values += [tf.constant([1]), tf.constant([True])]
    for options in (
        {},
        {"autocast": True},
        {"autocast": False},
        {"autocast": True, "dtype": "float64"},
        {"autocast": True, "dtype": "int32"},
        {"autocast": True, "dtype": None},
    ):
        outcomes = attempt(lambda o=options: Telling(**o)(values))
        outcomes += attempt(lambda o=options: Telling(**o)({"b": values[2], "a": [values[0]]}))
        seen.append(outcomes)
    return seen


def _metrics(tf):
    layer = tf.keras.layers.Dense(2, name="dense")
    layer(tf.constant([[1.0]]))
    return attempt(
        lambda: layer.metrics,
        lambda: tf.keras.layers.Layer().metrics,
        lambda: tf.layers.Dense(2).metrics,
    )


def _unequal_sequences(tf):
    """`backend.rnn` with `input_length` as tensors and numbers, forwards and backwards."""
    inputs, start = tf.constant(examples(3, 4, 2)), tf.zeros([3, 2])

    def step(x, states):
        total = x + states[0]
        return total * 2.0, [total]

    results = []
    for lengths in (tf.constant([4, 2, 0]), tf.constant([1, 3, 3]), None, 3):
        for backwards in (False, True):
            unrolled = tf.keras.backend.rnn(
                step, inputs, [start], go_backwards=backwards, input_length=lengths
            )
            with tf.Session() as session:
                last, outputs, states = unrolled
                results.append(session.run([last, outputs, states]))
    return results


def _nested_inputs(tf):
    """A recurrent layer over nested inputs, whose cell gets one step of each of them."""

    class Pair(tf.keras.layers.Layer):
        state_size, output_size = 3, 3
        seen = None

        def build(self, input_shape) -> None:
            Pair.seen = [str(part) for part in tf.nest.flatten(input_shape)] or str(input_shape)
            self.built = True

        def call(self, inputs, states):
            first, second = tf.nest.flatten(inputs)
            total = states[0] + first[:, :3] + tf.reduce_sum(second, axis=[1, 2])[:, None]
            return total, [total]

    one, two = tf.constant(examples(2, 4, 3)), tf.constant(examples(2, 4, 2, 2) * 0.5)

    def ran(inputs, **options):
        layer = tf.keras.layers.RNN(Pair(), **options)
        outputs = layer(inputs)
        spec = tf.nest.map_structure(lambda part: part.shape, layer.input_spec)
        with tf.Session() as session:
            return session.run(outputs), spec, Pair.seen

    return attempt(
        lambda: ran((one, two)),
        lambda: ran([one, two], return_sequences=True),
        lambda: ran({"a": one, "b": two}),
        lambda: ran((one, two), unroll=True),
    )


def _in_another_thread(function: Action):
    """What a function returns in a new thread, which has its own stack of default graphs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def _sessions_of_keras(tf):
    """`clear_session` resets the learning phase of the graph."""
    backend = tf.keras.backend

    def cleared():
        graph = tf.get_default_graph()
        backend.set_learning_phase(1)
        before = attempt(backend.learning_phase)
        backend.clear_session()
        outcomes = attempt(backend.learning_phase, lambda: tf.get_default_graph() is graph)
        with graph.as_default():
            return before, outcomes, attempt(backend.learning_phase)

    backend.set_learning_phase(1)
    before = attempt(backend.learning_phase)
    with tf.Graph().as_default():
        backend.set_learning_phase(0)
        inner = attempt(backend.learning_phase)
    return before, inner, attempt(backend.learning_phase), _in_another_thread(cleared)


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _training_within,
        _cast_inputs,
        _metrics,
        _unequal_sequences,
        _nested_inputs,
        _sessions_of_keras,
    )
}
