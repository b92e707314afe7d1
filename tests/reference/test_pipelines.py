"""Input pipelines under threads: no element is lost or doubled, whatever ends them."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sessrun.reference as tf

FILES, LINES = 5, 40


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def until_over(session: Any, fetch: Any) -> list[Any]:
    """What a fetch gives before OutOfRangeError."""
    found = []
    while True:
        try:
            found.append(session.run(fetch))
        except tf.errors.OutOfRangeError:
            return found


def everything(fetch: Any) -> list[Any]:
    """What a pipeline gives until it is over."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = until_over(session, fetch)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)
        assert not any(thread.is_alive() for thread in threads)
    return found


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    made = []
    for number in range(FILES):
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{number},{line}\n" for line in range(LINES)))
        made.append(str(path))
    return made


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [1, 4])
def test_every_line_of_every_epoch_comes_once(
    paths: list[str], threads: int, shuffle: bool
) -> None:
    names = tf.train.string_input_producer(paths, num_epochs=2, shuffle=shuffle)
    reader = tf.TextLineReader()
    row = tf.stack(tf.decode_csv(reader.read(names).value, [[0], [0]]))
    if shuffle:
        batch = tf.train.shuffle_batch(
            [row], 16, 64, 20, num_threads=threads, allow_smaller_final_batch=True
        )
    else:
        batch = tf.train.batch([row], 16, threads, allow_smaller_final_batch=True)
    rows = [tuple(each) for values in everything(batch) for each in values.tolist()]
    wanted = {(number, line): 2 for number in range(FILES) for line in range(LINES)}
    assert collections.Counter(rows) == wanted


def test_several_readers_share_the_files(paths: list[str]) -> None:
    names = tf.train.string_input_producer(paths, num_epochs=1)
    sets = [[tf.TextLineReader(name=f"r{i}").read(names).value] for i in range(3)]
    batch = tf.train.batch_join(sets, 7, allow_smaller_final_batch=True)
    lines = [line for values in everything(batch) for line in values.tolist()]
    wanted = {b"%d,%d" % (number, line) for number in range(FILES) for line in range(LINES)}
    assert len(lines) == len(wanted)
    assert set(lines) == wanted


def test_one_reader_in_several_threads_gives_each_record_once(paths: list[str]) -> None:
    names = tf.train.string_input_producer(paths, num_epochs=1, capacity=1)
    keys, values = tf.TextLineReader().read_up_to(names, 9)
    batch = tf.train.batch(
        [keys, values], 10, num_threads=6, enqueue_many=True, allow_smaller_final_batch=True
    )
    found = [key for keys, _ in everything(batch) for key in keys.tolist()]
    assert len(found) == len(set(found)) == FILES * LINES


def test_a_reader_that_waits_ends_with_its_session() -> None:
    queue = tf.FIFOQueue(1, [tf.string], [()])
    reader = tf.IdentityReader()
    read, count = reader.read(queue).value, reader.num_records_produced()
    soon = tf.RunOptions(timeout_in_ms=200)
    with tf.Session() as session:
        for fetch in (read, [read, reader.read(queue).value], [read, count]):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(fetch, options=soon)
        session.run(queue.enqueue("left"))
        assert session.run(read) == b"left"


def test_two_reads_of_a_run_lose_no_file(paths: list[str]) -> None:
    """A file taken by a read that then finds the reader in another file is read later."""
    queue = tf.FIFOQueue(9, [tf.string], [()])
    reader = tf.TextLineReader()
    first, second = reader.read(queue).value, reader.read(queue).value
    put, close = queue.enqueue_many([paths]), queue.close()
    lines = []
    with tf.Session() as session:
        lines += session.run([first, second, put])[:2]
        session.run(close)
        lines += until_over(session, first)
    assert len(lines) == len(set(lines)) == FILES * LINES
