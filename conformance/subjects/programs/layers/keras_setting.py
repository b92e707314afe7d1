"""Programs of global settings of Keras: epsilon, float type, learning phase, names, session."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, caught

__all__ = ["BEHAVIOURS"]


def _settings(tf):
    """Settings that are changed, used by layers, and restored."""
    backend, layers = tf.keras.backend, tf.keras.layers
    before = [backend.epsilon(), backend.image_data_format(), backend.floatx()]
    outcomes = [before]
    try:
        backend.set_epsilon(0.01)
        backend.set_image_data_format("channels_first")
        outcomes += [
            backend.epsilon(),
            backend.image_data_format(),
            layers.Conv2D(2, 3).data_format,
            layers.Flatten().data_format,
        ]
        outcomes += attempt(
            lambda: backend.set_image_data_format("nowhere"), lambda: backend.set_floatx("int32")
        )
    finally:
        backend.set_epsilon(before[0])
        backend.set_image_data_format(before[1])
    return outcomes


def _phases(tf):
    """The learning phase within `learning_phase_scope`."""
    backend = tf.keras.backend
    x = tf.constant([1.0, 2.0])

    class Turning(tf.keras.layers.Layer):  # type: ignore[misc,name-defined]  # of the namespace
        """A layer that negates its inputs unless it trains."""

        def call(self, inputs, training=None):
            return inputs if training else -inputs

    outcomes = []
    for value in (0, 1):
        with backend.learning_phase_scope(value):
            chosen = backend.in_train_phase(x, -x)
            outcomes += [backend.learning_phase(), tf.Session().run([chosen, Turning()(x)])]
            outcomes += [tf.Session().run([Turning()(x, training=False), Turning()(x, True)])]
    outcomes.append(backend.learning_phase())
    outcomes.append(caught(lambda: _entered(backend.learning_phase_scope(2))))
    backend.set_learning_phase(1)
    with backend.learning_phase_scope(0):
        outcomes.append(backend.learning_phase())
    return [*outcomes, backend.learning_phase()]


def _entered(scope) -> None:
    with scope:
        pass


def _sessions(tf):
    """`get_session` initializes the variables of layers that the program has not initialized."""
    backend = tf.keras.backend
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    out = layer(tf.ones([1, 3]))
    outcomes = []
    backend.manual_variable_initialization(True)
    try:
        session = backend.get_session()
        outcomes.append(session.run(tf.report_uninitialized_variables()).tolist())
    finally:
        backend.manual_variable_initialization(False)
    outcomes += [backend.get_session() is session, backend.eval(out)]
    sparse = tf.SparseTensor([[0, 1]], [3.0], [1, 2])
    outcomes += attempt(
        lambda: backend.eval(sparse),
        lambda: backend.get_value(layer.kernel),
        lambda: backend.get_value(3.0),
    )
    return outcomes


def _cleared(tf):
    """After `clear_session` names are counted from 0, in a new graph."""
    backend, layers = tf.keras.backend, tf.keras.layers
    backend.reset_uids()
    names = [layers.Dense(1).name, layers.Dense(1).name]
    backend.reset_uids()
    names.append(layers.Dense(1).name)
    in_a_graph = caught(backend.clear_session)  # it replaces the default graph
    return [names, backend.get_uid("mine"), backend.get_uid("mine"), in_a_graph]


def _tensors(tf):
    backend = tf.keras.backend
    x = tf.zeros([2, 3])
    return attempt(
        lambda: backend.count_params(x),
        lambda: backend.count_params(tf.zeros([])),
        lambda: backend.placeholder([2, None]),
        lambda: backend.placeholder(ndim=2),
        lambda: backend.placeholder([2], dtype="int32", name="given"),
        lambda: backend.placeholder([2, 3], sparse=True),
        lambda: backend.placeholder(),
        lambda: backend.clip(x, 1, 0),
        lambda: backend.clip(x, tf.constant(-1.0), 2.0),
        lambda: backend.constant(np.pi),
        lambda: backend.ndim(tf.placeholder(tf.float32)),
        lambda: backend.stop_gradient([x, x]),
        lambda: "reset_uids" in dir(backend),
    )


def _activations(tf):
    x = tf.constant([-3.0, -1.0, 0.0, 2.0])
    kinds = tf.keras.activations
    with tf.Session() as session:
        return [
            session.run(kinds.mish(x)),
            session.run(kinds.selu(x)),
            caught(lambda: kinds.softmax(x)),
            kinds.softmax(x[None], axis=[0, 1]),
        ]


BEHAVIOURS = {
    "settings": _settings,
    "phases": _phases,
    "sessions": _sessions,
    "cleared": _cleared,
    "tensors": _tensors,
    "activations": _activations,
}
