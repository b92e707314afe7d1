"""Whole sessions for simulated GPUs: what they compute, and what they may cost.

Each is built twice, for the CPU and for the GPU, and takes the same steps on both: the values are
to be the same. On the GPU a step that is not among the first may cost no more than the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Session, Tensor

__all__ = ["SESSIONS", "ProgramSession", "Step"]

#: Images of a batch: so many that their windows are more than one block of a processor's cache.
_BATCH: Final = 256

#: One step of a session: the values that it gives.
Step = Callable[[Any], list[Any]]


@dataclass(frozen=True, slots=True)
class ProgramSession:
    """A program and its budget.

    Attributes:
      build: makes the graph with a namespace like TensorFlow's; gets the name of a second device.
      budget: counters of the simulated GPU, each with the most that a step may count.
      devices: how many GPUs there are.

    """

    build: Callable[[Any, str], Step]
    budget: Mapping[str, int]
    devices: int = 1


def network(tf: Namespace, _: str) -> Step:
    """Two steps of Adam on a residual network of convolutions; the second one's loss is read."""
    chance = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, (_BATCH, 8, 8, 1))
    labels = tf.placeholder(tf.int64, (_BATCH,))

    def weights(name: str, *shape: int) -> Any:
        return tf.get_variable(name, initializer=chance.randn(*shape).astype(np.float32) / 4)

    def convolved(name: str, x: Tensor, *shape: int) -> Any:
        return tf.nn.conv2d(x, weights(name, *shape), [1, 1, 1, 1], "SAME")

    first = convolved("first", images, 3, 3, 1, 4)
    hidden = first + convolved("second", tf.nn.relu(first), 3, 3, 4, 4) + weights("bias", 4)
    hidden = tf.nn.max_pool(tf.nn.relu(hidden), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    logits = tf.matmul(tf.reshape(hidden, (-1, 64)), weights("dense", 64, 3))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

    def batch() -> dict[Any, Any]:
        return {images: chance.randn(_BATCH, 8, 8, 1), labels: chance.randint(0, 3, _BATCH)}

    def step(session: Session) -> list[Any]:
        session.run(train, batch())
        return [session.run([loss, train], batch())[0]]

    return step


def loop(tf: Namespace, _: str) -> Step:
    """A recurrence over elements that the CPU has written, its gradient, and packed numbers."""
    words = tf.placeholder(tf.string, (3,))
    with tf.device("/cpu:0"):
        listed = tf.raw_ops.TensorListFromTensor(
            tensor=tf.strings.to_number(words), element_shape=tf.constant([], tf.int32)
        )
    numbers = tf.TensorArray(tf.float32, 3).unstack(
        tf.raw_ops.TensorListStack(
            input_handle=listed, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32
        )
    )
    weight = tf.get_variable("weight", initializer=np.float32(0.5))
    _, state, states = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, state, states: (
            i + 1,
            tf.tanh(state * weight + numbers.read(i)),
            states.write(i, state),
        ),
        [tf.constant(0), tf.constant(0.0), tf.TensorArray(tf.float32, 3)],
    )
    loss = tf.square(state)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    fetches = [states.stack(), tf.stack([loss, weight, state]), train]

    def step(session: Session) -> list[Any]:
        return [*session.run(fetches, {words: ["1", "0.5", "-2"]})[:2]]

    return step


def held_values(tf: Namespace, _: str) -> Step:
    """What was read of a variable, and what a handle keeps of it, while the variable is trained."""
    variable = tf.get_variable("variable", initializer=np.arange(4, dtype=np.float32))
    handle = tf.get_session_handle(tf.identity(variable))
    seen = tf.get_variable("seen", initializer=np.zeros(4, np.float32), use_resource=True)
    before = seen.read_value()
    with tf.control_dependencies([before]):
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        terms = [seen.read_value(), tf.square(seen - 1), tf.square(variable - 1)]
        loss = tf.reduce_sum(tf.add_n(terms))
        train = optimizer.minimize(loss)

    def step(session: Session) -> list[Any]:
        kept = session.run(handle)
        read, cost, _ = session.run([before, loss, train])
        values = [read, cost, kept.eval(), session.run(variable)]
        kept.delete()
        return values

    return step


def matrices(tf: Namespace, _: str) -> Step:
    """Determinants, inverses and solutions, and the refusal of a singular matrix."""
    given = tf.placeholder(tf.float32, (None, 3, 3))
    solved = tf.matrix_solve(given, tf.ones_like(given))
    fetches = [tf.matrix_determinant(given) * 2, tf.matrix_inverse(given), solved]
    regular = np.eye(3) * 4 + np.arange(18).reshape(2, 3, 3) / 9

    def step(session: Session) -> list[Any]:
        values = session.run(fetches, {given: regular})
        try:
            return [*values, session.run(fetches[1], {given: np.ones((1, 3, 3))})]
        except tf.errors.OpError as error:
            return [*values, error.error_code]

    return step


def rows(tf: Namespace, _: str) -> Step:
    """Rows of a table that several examples share: gathered, stitched, summed, trained."""
    table = tf.get_variable("table", initializer=np.arange(24, dtype=np.float32).reshape(8, 3))
    ids = tf.placeholder(tf.int32, (6,))
    taken = tf.gather(table, ids)
    sums = tf.unsorted_segment_sum(taken, ids, 8)
    largest = tf.unsorted_segment_max(tf.cast(taken, tf.float16), ids, 8)
    stitched = tf.dynamic_stitch([ids, ids[::-1] + 1], [taken, -taken])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(taken)))
    fetches = [sums, largest, stitched, train]

    def step(session: Session) -> list[Any]:
        return [*session.run(fetches, {ids: [5, 1, 4, 1, 6, 2]})[:3]]

    return step


def two_devices(tf: Namespace, other: str) -> Step:
    """Values that cross between two devices, in runs of two threads at a time."""
    given = tf.placeholder(tf.float32, (3,))
    with tf.device(other):
        weight = tf.get_variable("weight", initializer=np.eye(3, dtype=np.float32))
        scaled = tf.matrix_diag(given) + tf.constant([1.0, 2.0, 3.0])
        columns = scaled[:, 1:]
    total = tf.matmul(weight, columns + tf.constant([1.0, 1.0]))

    def step(session: Session) -> list[Any]:
        with ThreadPoolExecutor(2) as pool:
            return [*pool.map(lambda n: session.run(total, {given: np.full(3, n)}), range(2))]

    return step


def _budget(launches: int, uploads: int, downloads: int, checks: int = 0) -> dict[str, int]:
    """What a step may count, with so many checks that wait; else it waits for downloads alone."""
    return {
        "launches": launches,
        "uploads": uploads,
        "downloads": downloads + checks,
        "synchronizations": downloads,
        "hidden_synchronizations": checks,
        "compilations": 0,
    }


#: By name. The network uploads two batches of two arrays, and downloads one loss; what else is
#: downloaded is fetched but for checks that matrices are regular.
SESSIONS: Final[dict[str, ProgramSession]] = {
    "network": ProgramSession(network, _budget(266, 4, 1)),
    "loop": ProgramSession(loop, _budget(44, 0, 2)),
    "held-values": ProgramSession(held_values, _budget(22, 0, 4)),
    "matrices": ProgramSession(matrices, _budget(16, 2, 3, checks=5)),
    "rows": ProgramSession(rows, _budget(38, 8, 3)),
    "two-devices": ProgramSession(two_devices, _budget(16, 6, 6), devices=2),
}
