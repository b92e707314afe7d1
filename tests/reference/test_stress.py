"""64 threads on one session: no lost update, no deadlock, flat memory.

`SESSRUN_STRESS=100000` sets how many runs there are; by default a tenth of that.
"""

import gc
import os
import random
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import sessrun.reference as tf

RUNS = int(os.environ.get("SESSRUN_STRESS", "10000"))
THREADS = 64
#: Bytes by which what 10,000 runs leave behind may differ from what 1,000 do.
SLACK = 100_000


class Program:
    """A graph with a counter of each kind, a partial run and queues; its session."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            one = tf.constant(1, tf.int64)
            resource = tf.Variable(0, dtype=tf.int64, use_resource=True)
            reference = tf.Variable(0, dtype=tf.int64, use_resource=False)
            self.adds = (
                tf.raw_ops.AssignAddVariableOp(resource=resource.handle, value=one),
                tf.assign_add(reference, one, use_locking=True),
            )
            self.reads = (resource.read_value(), tf.identity(reference))
            self.p, self.q = (tf.placeholder(tf.float32, [2]) for _ in "pq")
            self.feeds = {self.p: [1, 2], self.q: [3, 4]}
            self.first = self.p * 2.0
            self.second = self.first + self.q
            queue = tf.FIFOQueue(10, tf.float32, [])
            self.put, self.take = queue.enqueue(1.0), queue.dequeue()
            self.blocked = tf.FIFOQueue(1, tf.float32, []).dequeue()
            self.init = tf.global_variables_initializer()
        self.session = self.opened()

    def opened(self) -> Any:
        session = tf.Session(graph=self.graph)
        session.run(self.init)
        return session

    def partial(self, number: float) -> None:
        run = self.session
        handle = run.partial_run_setup([self.first, self.second], [self.p, self.q])
        assert run.partial_run(handle, self.first, {self.p: [number, 1]})[0] == 2 * number
        assert run.partial_run(handle, self.second, {self.q: [1, 1]})[0] == 2 * number + 1


def in_threads(work: Callable[[int], None], count: int = THREADS) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    return threads


def joined(threads: list[threading.Thread]) -> None:
    deadline = time.monotonic() + 120
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "a deadlock"


def test_no_update_is_lost_and_nothing_deadlocks() -> None:
    program = Program()
    run = program.session.run
    added: list[tuple[int, int]] = []
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        counts, last = [0, 0], 0
        try:
            for number in range(RUNS // THREADS):
                match draw.randrange(6):
                    case (0 | 1) as kind:
                        run(program.adds[kind])
                        counts[kind] += 1
                    case 2:
                        seen = run(program.reads[0])
                        assert seen >= last, "a counter went back"
                        last = seen
                    case 3:
                        run([program.reads[1], program.second], program.feeds)
                    case 4:
                        program.partial(number)
                    case _:
                        run(program.put)
                        assert run(program.take) == 1.0
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            failures.append(error)
        added.append((counts[0], counts[1]))

    joined(in_threads(work))
    assert not failures, failures[:3]
    assert run(list(program.reads)) == [sum(each) for each in zip(*added, strict=True)]


@pytest.mark.parametrize("waits", [False, True])
def test_a_close_ends_every_thread(waits: bool) -> None:
    program = Program()
    for _ in range(5):
        session = program.opened()
        odd: list[BaseException] = []

        def work(_: int, session: Any = session, odd: list[BaseException] = odd) -> None:
            try:
                while True:
                    session.run([program.reads[0], program.adds[0]])
                    if waits:
                        session.run(program.blocked)
            except (RuntimeError, tf.errors.CancelledError):
                pass
            except BaseException as error:  # noqa: BLE001 - told by the test's own thread
                odd.append(error)

        threads = in_threads(work)
        time.sleep(0.02)
        session.close()
        joined(threads)
        assert not odd, odd[:3]


def test_memory_is_flat_over_ten_thousand_runs() -> None:
    program = Program()

    def kept(count: int) -> int:
        for number in range(count):
            program.session.run([program.reads[1], program.second], program.feeds)
            program.session.run(program.adds[0])
            if number % 10 == 0:
                program.partial(1.0)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        after_a_thousand = kept(1000)
        assert abs(kept(9000) - after_a_thousand) < SLACK
    finally:
        tracemalloc.stop()
