"""Halves that are computed with in single precision are what numpy makes of halves, bit for bit."""

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.reference.base.half_arrays import Halves

EVERY = np.arange(2**16, dtype=np.uint16).view(np.float16)
TWO = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum]
ONE = [np.sqrt, np.sign, np.abs, np.negative]


def assert_same(got: np.ndarray, wanted: np.ndarray) -> None:
    equal = got.view(np.uint16) == wanted.view(np.uint16)
    assert (equal | (np.isnan(got) & np.isnan(wanted))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_half_comes_back() -> None:
    assert_same(Halves.of(EVERY).halves(), EVERY)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", TWO, ids=lambda each: each.__name__)
def test_a_function_of_two_rounds_as_halves_do(function: np.ufunc) -> None:
    draw = np.random.RandomState(5)
    for _ in range(10):
        other = draw.permutation(EVERY)
        got = function(Halves.of(EVERY), Halves.of(other))
        assert_same(got.halves(), function(EVERY, other))
        assert_same(function(Halves.of(EVERY), other[0]).halves(), function(EVERY, other[0]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", ONE, ids=lambda each: each.__name__)
def test_a_function_of_one_rounds_as_halves_do(function: np.ufunc) -> None:
    assert_same(function(Halves.of(EVERY)).halves(), function(EVERY))


def test_what_is_changed_in_place_is_rounded_and_comparisons_are_not() -> None:
    array = Halves.of(np.array([1, 2048, 1000], np.float16))
    array += np.float16(1)
    assert array.halves().tolist() == [2, 2048, 1001]
    assert (array > np.float16(2)).tolist() == [False, True, True]


OPTIMIZERS = {
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.5),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.5),
    "adam": lambda: tf.train.AdamOptimizer(0.5, epsilon=1e-3),
    "centered": lambda: tf.train.RMSPropOptimizer(0.5, momentum=0.5, centered=True),
    "descent": lambda: tf.train.GradientDescentOptimizer(0.5),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01),
    "momentum": lambda: tf.train.MomentumOptimizer(0.5, 0.9, use_nesterov=True),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("by_rows", [False, True], ids=["whole", "rows"])
def test_many_halves_are_trained_as_few_are(name: str, by_rows: bool) -> None:
    """A variable of many halves becomes what its parts do, each of which is computed plainly."""
    draw = np.random.RandomState(3)
    start, gradient = (draw.randn(8, 500).astype(np.float16) for _ in range(2))

    def trained(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable(values)
            rows = np.arange(len(values))[::-1]
            grad = tf.IndexedSlices(steps[rows], rows, values.shape) if by_rows else steps
            train = OPTIMIZERS[name]().apply_gradients([(grad, variable)])
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            return session.run(variable)

    parts = [trained(start[row : row + 1], gradient[row : row + 1]) for row in range(8)]
    assert_same(trained(start, gradient), np.concatenate(parts))
