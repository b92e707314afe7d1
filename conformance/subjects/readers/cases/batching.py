"""Vectors of READERS on the API surface: producers of input, and batches of what they give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case

_LETTERS = np.array([b"a", b"b", b"c", b"d", b"e"], object)


@contextmanager
def _running(c: ApiAuthor) -> Iterator[Symbol]:
    """A session whose queues are fed, for as long as the block lasts."""
    tf = c.tf
    sess = tf.Session()
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    yield sess
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    sess.close()


def _ended(c: ApiAuthor, sess: Symbol, fetches: Symbol | list[Symbol]) -> None:
    c.raises("OutOfRangeError", lambda: sess.run(fetches))


@api_case("READERS-016", title="Two sessions of one Graph read a file, each for itself.")
def sessions_of_one_graph(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.FIFOQueue(4, tf.string, shapes=[[]])
    put = queue.enqueue(c.file("a.txt", b"one\ntwo\n"))
    line = tf.TextLineReader().read(queue)[1]
    first, second = tf.Session(), tf.Session()
    first.run(put)
    c.check(first.run(line), b"one")
    second.run(put)
    c.check(second.run(line), b"one")
    c.check(first.run(line), b"two")


@api_case("READERS-029", title="Strings come in order, as often as there are epochs.")
def strings_in_order(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.train.string_input_producer(["b", "a", "c"], num_epochs=2, shuffle=False)
    taken = queue.dequeue()
    with _running(c) as sess:
        for letter in (b"b", b"a", b"c") * 2:
            c.check(sess.run(taken), letter)
        _ended(c, sess, taken)


@api_case("READERS-029", title="Lines of the files that a producer names.")
def lines_of_produced_files(c: ApiAuthor) -> None:
    tf = c.tf
    a, b = c.file("a.txt", b"1,x\n2,y\n"), c.file("b.txt", b"3,z\n")
    queue = tf.train.string_input_producer([a, b], num_epochs=1, shuffle=False)
    key = tf.TextLineReader().read(queue)[0]
    with _running(c) as sess:
        for name in ("a.txt:1", "a.txt:2", "b.txt:1"):
            c.check(sess.run(key), c.seen(name).encode())
        _ended(c, sess, key)


@api_case("READERS-030", title="Batches of consecutive lines.")
def batches_of_lines(c: ApiAuthor) -> None:
    tf = c.tf
    a = c.file("a.txt", b"1,x\n2,y\n3,z\n4,w\n")
    queue = tf.train.string_input_producer([a], num_epochs=1, shuffle=False)
    record = tf.TextLineReader().read(queue)
    columns = tf.decode_csv(record[1], [[0], [""]])
    batch = tf.train.batch([columns[0], columns[1]], 2)
    with _running(c) as sess:
        for numbers, letters in (([1, 2], [b"x", b"y"]), ([3, 4], [b"z", b"w"])):
            c.check(
                sess.run([batch[0], batch[1]]),
                [np.array(numbers, np.int32), np.array(letters, object)],
            )
        _ended(c, sess, [batch[0], batch[1]])


@api_case("READERS-030", title="Batches of the rows of a tensor.")
def batches_of_rows(c: ApiAuthor) -> None:
    tf = c.tf
    rows = tf.train.input_producer(np.arange(12).reshape(6, 2), num_epochs=1, shuffle=False)
    batch = tf.train.batch({"rows": rows.dequeue_many(3)}, 2, enqueue_many=True)
    with _running(c) as sess:
        for first in (0, 4, 8):
            want = np.arange(first, first + 4).reshape(2, 2)
            c.check(sess.run(batch["rows"]), want)
        _ended(c, sess, batch["rows"])


@api_case("READERS-031", title="What is too little for a batch is dropped.")
def leftovers_are_dropped(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.train.string_input_producer(_LETTERS.tolist(), num_epochs=1, shuffle=False)
    batch = tf.train.batch([queue.dequeue()], 3)
    with _running(c) as sess:
        c.check(sess.run(batch), _LETTERS[:3])
        _ended(c, sess, batch)


@api_case("READERS-031", title="Or it is a smaller batch, if that is allowed.")
def leftovers_are_a_batch(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.train.string_input_producer(_LETTERS.tolist(), num_epochs=1, shuffle=False)
    batch = tf.train.batch([queue.dequeue()], 3, allow_smaller_final_batch=True)
    with _running(c) as sess:
        c.check(sess.run(batch), _LETTERS[:3])
        c.check(sess.run(batch), _LETTERS[3:])
        _ended(c, sess, batch)


@api_case("READERS-032", title="Elements of a batch are filled up to the longest of them.")
def dynamic_padding(c: ApiAuthor) -> None:
    tf = c.tf
    lengths = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    numbers, words = tf.range(1, lengths + 1), tf.fill([lengths], "w")
    truths = tf.cast(numbers, tf.bool)
    batch = tf.train.batch([numbers, words, truths], 2, dynamic_pad=True)
    with _running(c) as sess:
        for shorter in (0, 2):
            longer = shorter + 1
            wanted = np.zeros((2, longer), np.int32)
            wanted[0, :shorter] = np.arange(1, longer)
            wanted[1] = np.arange(1, longer + 1)
            strings = np.where(wanted > 0, b"w", b"").astype(object)
            c.check(sess.run([batch[0], batch[1], batch[2]]), [wanted, strings, wanted > 0])


@api_case("READERS-033", title="Shuffled batches have every element once.")
def shuffled_batches(c: ApiAuthor) -> None:
    tf = c.tf
    numbers = tf.train.range_input_producer(20, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.shuffle_batch([numbers], 20, capacity=40, min_after_dequeue=20)
    counts = tf.reduce_sum(tf.one_hot(batch, 20, dtype=tf.int32), 0)
    with _running(c) as sess:
        c.check(sess.run(counts), np.ones(20, np.int32))
        _ended(c, sess, batch)


@api_case("READERS-033", title="Shuffled batches of rows, the last one smaller.")
def shuffled_rows(c: ApiAuthor) -> None:
    tf = c.tf
    rows = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue_many(7)
    batch = tf.train.shuffle_batch(
        [rows],
        8,
        capacity=16,
        min_after_dequeue=8,
        enqueue_many=True,
        allow_smaller_final_batch=True,
    )
    counts = tf.reduce_sum(tf.one_hot(batch, 7, dtype=tf.int32), 0)
    with _running(c) as sess:
        c.check(sess.run(counts), np.ones(7, np.int32))


@api_case("READERS-034", title="Two lists in one batch, each once and in its order.")
def joined_batches(c: ApiAuthor) -> None:
    tf = c.tf
    low = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    high = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue() + 100
    batch = tf.train.batch_join([[low], [high]], 12)
    lower = tf.boolean_mask(batch, batch < 100)
    upper = tf.boolean_mask(batch, batch >= 100)
    with _running(c) as sess:
        numbers = np.arange(6, dtype=np.int32)
        c.check(sess.run([lower, upper]), [numbers, numbers + 100])


@api_case("READERS-035", title="Every index, every row, once in each epoch.")
def indices_and_rows(c: ApiAuthor) -> None:
    tf = c.tf
    index = tf.train.range_input_producer(3, num_epochs=2, shuffle=False).dequeue()
    rows = tf.train.slice_input_producer(
        [np.array([5, 6, 7]), _LETTERS[:3]], num_epochs=1, shuffle=False
    )
    number, letter = rows[0], rows[1]
    with _running(c) as sess:
        for value in (0, 1, 2, 0, 1, 2):
            c.check(sess.run(index), np.int32(value))
        _ended(c, sess, index)
        for value in range(3):
            c.check(sess.run([number, letter]), [np.int64(5 + value), _LETTERS[value]])


@api_case("READERS-035", title="Shuffled, too, an epoch has every index once.")
def shuffled_indices(c: ApiAuthor) -> None:
    tf = c.tf
    indices = tf.train.range_input_producer(9, num_epochs=2, shuffle=True, seed=3).dequeue_many(9)
    counts = tf.reduce_sum(tf.one_hot(indices, 9, dtype=tf.int32), 0)
    with _running(c) as sess:
        for _ in range(2):
            c.check(sess.run(counts), np.ones(9, np.int32))
        _ended(c, sess, indices)
