"""Vectors of QUEUES: what fills a queue: readers of files, queue runners and their coordinator."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, EngineAuthor, api_case, engine_case

# --- readers ------------------------------------------------------------------------------


@engine_case("QUEUES-013", title="A WholeFileReader's read of a name that is no file's: code 5.")
def a_file_that_is_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(4, tf.string, shapes=[[]], name="queue")
        queue.enqueue(tf.placeholder(tf.string, [], name="x"), name="put")
        tf.WholeFileReader(name="reader").read(queue, name="read")
        queue.size(name="size")
    s = c.open()
    s.run(["put"], {"x:0": np.array(b"no/such/file", object)}, values=[None])
    s.run(["read:0", "read:1"], error=[5])
    s.run(["size:0"], values=[np.int32(0)])


@engine_case("QUEUES-013", title="So does a TextLineReader's.")
def lines_of_a_file_that_is_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        queue = tf.FIFOQueue(4, tf.string, shapes=[[]], name="queue")
        queue.enqueue("no/such/file", name="put")
        tf.TextLineReader(name="reader").read(queue, name="read")
    s = c.open()
    s.run(["put"], values=[None])
    s.run(["read:1"], error=[5])


@api_case("QUEUES-013", title="A read of a name that is no file's is NotFoundError.")
def a_read_is_not_found(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.FIFOQueue(4, tf.string, shapes=[[]])
    put, read = queue.enqueue("no/such/file"), tf.WholeFileReader().read(queue)
    sess = tf.Session()
    sess.run(put)
    c.raises("NotFoundError", lambda: sess.run(read[1]))


@api_case("QUEUES-014", title="A WholeFileReader gives each file's name and its bytes.")
def whole_files(c: ApiAuthor) -> None:
    contents = [b"", b"one line\n", b"\x00\xff\r\n\x1a\x80 bytes of all kinds", b"a" * 5000]
    want = [[True, content] for content in contents]
    c.named_check("queue_runners.whole_file", want, contents=contents)


# --- runners ------------------------------------------------------------------------------


@api_case("QUEUES-067", title="A runner fills its queue until its operation is out of range.")
def a_runner_fills_its_queue(c: ApiAuthor) -> None:
    c.named_check("queue_runners.filled_queue", [0, 1, 2, "OutOfRangeError", True])


@api_case("QUEUES-068", title="The runners of the graph's collection are started.")
def runners_of_the_collection(c: ApiAuthor) -> None:
    want = [[0, 1, "OutOfRangeError"], [0, 1, 2, 3, "OutOfRangeError"]]
    c.named_check("queue_runners.started_runners", want)


@api_case("QUEUES-074", title="A runner that waits for room ends when it is to stop.")
def a_runner_is_stopped(c: ApiAuthor) -> None:
    c.named_check("queue_runners.stopped_runner", [True, True])


@api_case("QUEUES-075", title="The error of a runner's operation is raised by the join.")
def a_runner_fails(c: ApiAuthor) -> None:
    c.named_check("queue_runners.raised_by_a_runner", "InvalidArgumentError")


@api_case("QUEUES-076", title="A runner without a queue, or without operations, is no runner.")
def a_runner_of_nothing(c: ApiAuthor) -> None:
    tf = c.tf
    queue = tf.FIFOQueue(4, tf.int32)
    put = queue.enqueue(1)
    c.raises("ValueError", lambda: tf.train.QueueRunner(queue, []))
    c.raises("ValueError", lambda: tf.train.QueueRunner(None, [put]))
    c.raises("ValueError", lambda: tf.train.QueueRunner(queue))


# --- coordinators -------------------------------------------------------------------------


@api_case("QUEUES-069", title="A coordinator says stop once somebody asked for it.")
def a_stop_that_was_asked_for(c: ApiAuthor) -> None:
    coordinator = c.tf.train.Coordinator()
    c.check(coordinator.should_stop(), False)
    c.check(coordinator.wait_for_stop(0.01), False)
    coordinator.request_stop()
    c.check(coordinator.should_stop(), True)
    c.check(coordinator.wait_for_stop(0.01), True)
    coordinator.clear_stop()
    c.check(coordinator.should_stop(), False)


@api_case("QUEUES-070", title="The first error for which a stop was asked is raised by the join.")
def the_first_error_is_raised(c: ApiAuthor) -> None:
    coordinator = c.tf.train.Coordinator()
    for error in (c.py.ValueError, c.py.KeyError):
        with c.within(coordinator.stop_on_exception()):
            c.throw(error)
    c.raises("ValueError", lambda: coordinator.join([]))


@api_case("QUEUES-071", title="That there is no more is no error to a coordinator.")
def out_of_range_is_no_error(c: ApiAuthor) -> None:
    tf = c.tf
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "all"))
    c.check(coordinator.should_stop(), True)
    c.check(coordinator.join([]), None)


@api_case("QUEUES-072", title="A thread that goes on after the grace period fails the join.")
def a_thread_goes_on(c: ApiAuthor) -> None:
    c.named_check("queue_runners.late_thread", "RuntimeError")


@api_case("QUEUES-073", title="An error in the block asks for a stop, and is raised by the join.")
def an_error_in_the_block(c: ApiAuthor) -> None:
    tf = c.tf
    coordinator = tf.train.Coordinator()
    with c.within(coordinator.stop_on_exception()):
        c.throw(c.py.ValueError)
    c.check(coordinator.should_stop(), True)
    c.raises("ValueError", lambda: coordinator.join([]))
