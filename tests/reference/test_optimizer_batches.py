"""Steps of an optimizer for many variables are one step of a plan, and give the same bits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference.kernels.optimizer_batches import Batch
from sessrun.reference.session.plan import optimizer_batching

COUNT = 8
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
}


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """The batches that plans are made with."""
    made: list[Batch] = []

    class Counted(Batch):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(optimizer_batching, "Batch", Counted)
    return made


class Training:
    """A session that trains variables of several shapes by gradients that are fed."""

    def __init__(self, optimizer: Callable[[], Any], *, use_resource: bool) -> None:
        self.graph = tf.Graph()
        draw = np.random.default_rng(1)
        with self.graph.as_default():
            self.variables = [
                tf.get_variable(
                    f"v{number}",
                    initializer=draw.standard_normal((number + 1, 3)).astype(np.float32),
                    use_resource=use_resource,
                )
                for number in range(COUNT)
            ]
            self.fed = [tf.placeholder(tf.float32, [n + 1, 3]) for n in range(COUNT)]
            pairs = list(zip(self.fed, self.variables, strict=True))
            self.optimizer = optimizer()
            self.train = self.optimizer.apply_gradients(pairs)
            self.add = tf.assign_add(self.variables[2], tf.ones([3, 3]))
            initializer = tf.global_variables_initializer()
            self.everything = tf.global_variables()
        self.session = tf.Session(graph=self.graph)
        self.session.run(initializer)

    def step(self, number: int) -> None:
        """One step by gradients that follow from a number."""
        draw = np.random.default_rng(number)
        feeds = {x: draw.standard_normal(x.shape.as_list()).astype(np.float32) for x in self.fed}
        self.session.run(self.train, feeds)

    def values(self) -> list[np.ndarray]:
        """The values of all variables and slots."""
        values: list[np.ndarray] = self.session.run(self.everything)
        return values


def assert_same(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> None:
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_batched_steps_are_those_of_single_variables(
    name: str, use_resource: bool, batches: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = Training(OPTIMIZERS[name], use_resource=use_resource)
    for number in range(25):  # beyond the change of tiers
        together.step(number)
    assert len(batches) == 1
    monkeypatch.setattr(optimizer_batching, "_FEWEST", COUNT + 1)
    alone = Training(OPTIMIZERS[name], use_resource=use_resource)
    for number in range(25):
        alone.step(number)
    assert len(batches) == 1
    assert_same(together.values(), alone.values())


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_was_fetched_does_not_change(use_resource: bool, batches: list[Batch]) -> None:
    training = Training(OPTIMIZERS["momentum"], use_resource=use_resource)
    training.step(0)
    assert batches
    before = training.values()
    copies = [value.copy() for value in before]
    training.step(1)
    assert_same(before, copies)
    before[0][...] = 7  # and is the caller's own
    assert not np.any(training.values()[0] == 7)


def test_a_variable_that_is_set_otherwise_is_laid_out_anew(batches: list[Batch]) -> None:
    training = Training(OPTIMIZERS["sgd"], use_resource=True)
    training.step(0)
    before = training.values()[2]
    training.session.run(training.add)
    np.testing.assert_array_equal(training.values()[2], before + 1)
    training.step(1)
    training.step(2)
    other = Training(OPTIMIZERS["sgd"], use_resource=True)
    for number in range(3):
        other.step(number)
    np.testing.assert_allclose(training.values()[2], other.values()[2] + 1, rtol=1e-6)
    assert len(batches) == 2


def test_a_step_that_is_refused_names_its_operation(batches: list[Batch]) -> None:
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.get_variable(f"v{n}", initializer=tf.ones([2])) for n in range(COUNT)]
        pairs = [(tf.ones([2]), variable) for variable in variables]
        train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(pairs)
    with tf.Session(graph=graph) as session:
        for variable in variables[:5] + variables[6:]:
            session.run(variable.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            session.run(train)
        assert batches
        assert caught.value.op is not None
        assert "v5" in caught.value.op.name
        session.run(variables[5].initializer)
        session.run(train)
        np.testing.assert_allclose(session.run(variables[5]), [0.9, 0.9], rtol=1e-6)


def test_a_read_between_two_updates_sees_what_its_control_inputs_say(batches: list[Batch]) -> None:
    graph = tf.Graph()
    with graph.as_default():
        variables = [
            tf.get_variable(f"v{n}", initializer=tf.ones([2]), use_resource=True)
            for n in range(COUNT)
        ]
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        gradient, previous = tf.ones([2]), None
        for variable in variables:  # each by what the one before became
            updated = optimizer.apply_gradients([(gradient, variable)])
            with tf.control_dependencies([updated]):
                previous = variable.read_value()
            gradient = previous + 1.0
    with tf.Session(graph=graph) as session:
        session.run([variable.initializer for variable in variables])
        # 1 - 1 = 0; then 1 - (0 + 1) = 0, and so on
        np.testing.assert_array_equal(session.run(previous), [0, 0])
        values = session.run(variables)
        assert all(np.array_equal(value, [0, 0]) for value in values)
    assert not batches


def test_readers_in_other_threads_see_no_half_written_variable(batches: list[Batch]) -> None:
    graph = tf.Graph()
    with graph.as_default():
        variables = [
            tf.get_variable(f"v{n}", initializer=tf.zeros([500]), use_resource=True)
            for n in range(COUNT)
        ]
        pairs = [(-tf.ones([500]), variable) for variable in variables]
        train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(pairs)
        initializer = tf.global_variables_initializer()
        reads = [variable.read_value() for variable in variables]
    with tf.Session(graph=graph) as session:
        session.run(initializer)
        session.run(train)
        assert batches
        mixed: list[np.ndarray] = []
        done = threading.Event()

        def read() -> None:
            while not done.is_set():
                mixed.extend(value for value in session.run(reads) if value.min() != value.max())

        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(300):
            session.run(train)
        done.set()
        reader.join()
        assert not mixed
        assert session.run(reads)[0][0] == 301


def _apply(variable: Any, gradient: Any, accumulator: Any = None) -> Any:
    """The step of gradient descent, or of momentum, by a reference variable."""
    rate = tf.constant(0.5)
    if accumulator is None:
        return tf.raw_ops.ApplyGradientDescent(var=variable, alpha=rate, delta=gradient).op
    return tf.raw_ops.ApplyMomentum(
        var=variable, accum=accumulator, lr=rate, grad=gradient, momentum=tf.constant(1.0)
    ).op


def _references(count: int) -> list[Any]:
    return [
        tf.Variable(tf.zeros([3]), use_resource=False, name=f"v{number}")._ref()
        for number in range(count)
    ]


def test_steps_before_an_operation_that_fails_are_done(batches: list[Batch]) -> None:
    shape = tf.placeholder(tf.int32, [1])
    variables = _references(8)
    first = [_apply(variable, tf.ones([3])) for variable in variables[:4]]
    with tf.control_dependencies([tf.group(*first)]):
        gradient = tf.ensure_shape(tf.reshape(tf.ones([3]), shape), [3])
    second = [_apply(variable, gradient) for variable in variables[4:]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([first, second], {shape: [2]})
        assert [value[0] for value in session.run(variables)] == [-0.5] * 4 + [0.0] * 4
    assert len(batches) == 2


def test_a_variable_that_is_its_own_slot_is_no_member_of_a_batch(batches: list[Batch]) -> None:
    own, *others = _references(9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        pairs = zip(others[::2], others[1::2], strict=True)
        steps = [_apply(own, tf.ones([3]), own), *(_apply(v, tf.ones([3]), a) for v, a in pairs)]
        session.run(steps)
        assert session.run(own).tolist() == [0.5] * 3  # 0 + 1, the sum, less half of it
        assert session.run(others[0]).tolist() == [-0.5] * 3
    assert [len(batch._sources) for batch in batches] == [4]


def test_a_read_after_an_update_through_the_result_of_an_assignment_is_a_new_one() -> None:
    variable, *others = _references(5)
    assigned = tf.raw_ops.Assign(ref=variable, value=tf.ones([3]))
    with tf.control_dependencies([assigned]):
        before = variable + 0.0
    with tf.control_dependencies([before]):
        added = tf.raw_ops.AssignAdd(ref=assigned, value=tf.ones([3]))
    with tf.control_dependencies([added]):
        after = variable + 0.0
    with tf.control_dependencies([after]):
        steps = [_apply(other, tf.ones([3])) for other in others]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([before, after, steps])
    assert [values[0][0], values[1][0]] == [1.0, 2.0]
