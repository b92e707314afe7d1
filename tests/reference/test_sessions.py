"""Sessions: fetch structures, feeds, errors, life cycle, placement, traces."""

from __future__ import annotations

import collections
import pickle
import threading
import time

import numpy as np
import pytest

import sessrun.reference as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


Pair = collections.namedtuple("Pair", ["u", "v"])  # noqa: PYI024 - the type under test


def test_values_come_back_in_the_structure_of_the_fetches() -> None:
    c, op = tf.constant([1.0, 2.0], name="c"), tf.no_op()
    with tf.Session() as sess:
        got = sess.run({"k": Pair(c, op), "l": [c, "c:0", (op,)], "e": []})
    assert type(got["k"]) is Pair
    assert got["k"].v is None
    assert got["l"][0] is got["k"].u
    assert got["l"][2] == (None,)
    assert got["e"] == []


def test_a_resource_is_fetched_as_the_bytes_of_its_handle() -> None:
    """As an array of TensorFlow's own dtype; what the bytes are is an engine's own matter."""
    handle = tf.Variable(1.0, use_resource=True, name="v").handle
    table = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)
    with tf.Session() as sess:
        fetched = [*sess.run([handle, table]), sess.run(handle), sess.make_callable(handle)()]
    for value in fetched:
        assert value.dtype == np.dtype([("resource", np.ubyte, (1,))])
        assert len(value) > 0


def test_a_handle_keeps_its_session() -> None:
    handle = tf.Session().run(tf.get_session_handle(tf.constant([1.0, 2.0])))
    assert handle.eval().tolist() == [1.0, 2.0]


def test_what_was_fetched_may_be_written_to() -> None:
    c = tf.constant([1.0, 2.0])
    x = tf.placeholder(tf.float32, [2])
    same = tf.identity(x)
    fed = np.zeros(2, np.float32)
    with tf.Session() as sess:
        for fetched, feed in ((c, {}), (same, {x: fed}), (c[::-1], {})):
            sess.run(fetched, feed)[:] = 7
        assert sess.run(c).tolist() == [1.0, 2.0]
    assert fed.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("keeper", ["variable", "queue"])
def test_a_view_of_an_array_that_is_kept_since_may_be_written_to(keeper: str) -> None:
    computed = tf.placeholder(tf.float32, [3]) + 1.0
    view = tf.reshape(computed, [1, 3])
    variable = tf.Variable(tf.zeros([3]))
    queue = tf.FIFOQueue(1, [tf.float32])
    with tf.control_dependencies([view]):
        kept = variable.assign(computed) if keeper == "variable" else queue.enqueue([computed])
    with tf.control_dependencies([kept]):
        view = tf.identity(view)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(view, {computed.op.inputs[0]: np.zeros(3)})[:] = 7
        value = session.run(variable if keeper == "variable" else queue.dequeue())
    assert value.tolist() == [1, 1, 1]


def test_a_fed_array_that_is_fetched_is_the_very_object() -> None:
    x = tf.placeholder(tf.float32, [2])
    fed = np.zeros(2, np.float32)
    with tf.Session() as sess:
        assert sess.run(x, {x: fed}) is fed
        assert type(sess.run(tf.constant(1.0))) is np.float32


@pytest.mark.parametrize("fetch", [None, 3, {1, 2}, np.zeros(2), (x for x in "a")])
def test_a_fetch_of_another_type_is_a_type_error(fetch) -> None:
    tf.no_op()
    with tf.Session() as sess, pytest.raises(TypeError):
        sess.run(fetch)


def test_a_bad_feed_is_refused_before_anything_runs() -> None:
    x = tf.placeholder(tf.float32, [None, 224, 224, 3], name="x")
    with tf.Session() as sess, pytest.raises(ValueError) as caught:
        sess.run(x + 1.0, {x: np.zeros((32, 224, 224))})
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)
    assert "Cannot feed value of shape (32, 224, 224) for Tensor x:0" in str(caught.value)


def test_a_failure_names_its_operation_and_where_it_was_made() -> None:
    p = tf.placeholder(tf.float32, name="p")
    product = tf.constant(0.0, shape=[2, 3]) @ p
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(product, {p: np.zeros((2, 2))})
    error = caught.value
    assert error.op is product.op
    assert error.node_def.name == product.op.name
    assert "test_sessions.py" in error.message
    assert pickle.loads(pickle.dumps(error)).message == error.message  # noqa: S301 - our own bytes


def test_a_missing_feed_names_the_placeholder() -> None:
    p = tf.placeholder(tf.float32, name="p")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(p + 1.0)
    assert caught.value.op is p.op


def test_a_closed_session_runs_nothing_and_closes_again_silently() -> None:
    c = tf.constant(1)
    sess = tf.Session()
    sess.run(c)
    bare = sess.make_callable(c)
    sess.close()
    sess.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(c)
    with pytest.raises(tf.errors.CancelledError):
        bare()
    with pytest.raises(tf.errors.CancelledError):
        sess.list_devices()


def test_a_reset_cancels_open_sessions_only() -> None:
    c = tf.constant(1)
    before = tf.Session()
    before.run(c)
    tf.Session.reset("")
    with pytest.raises(tf.errors.CancelledError):
        before.run(c)
    assert tf.Session().run(c) == 1


def test_a_session_places_the_whole_graph_and_an_interactive_one_what_is_needed() -> None:
    a = tf.constant(1.0)
    with tf.device("/device:GPU:7"):
        b = tf.constant(2.0, name="b")
    with tf.Session() as sess:
        assert sess.run(a, {a: 3.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="available devices are") as caught:
            sess.run(a)
        assert caught.value.op is None
    interactive = tf.InteractiveSession()
    assert a.eval() == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        b.eval()
    interactive.close()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(b) == 2.0


def test_an_operation_added_later_must_fit_the_only_device_too() -> None:
    a = tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(a) == 1.0
        with tf.device("/device:GPU:7"):
            tf.constant(2.0, name="b")
        with pytest.raises(tf.errors.InvalidArgumentError, match="operation b"):
            sess.run(a + a)


def test_what_is_placed_beside_an_operation_that_fitted_before_goes_to_its_device() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(v.initializer)
        with tf.device("/device:GPU:7"):
            doubled = v.assign_add(v)
        assert sess.run(doubled) == 2.0


def test_a_config_may_have_several_cpus() -> None:
    with tf.device("/cpu:1"):
        value = tf.constant([1.0]) + 1.0
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        names = [device.name for device in sess.list_devices()]
        assert sess.run(value).tolist() == [2.0]
    assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(2)]


def test_a_memory_limit_is_an_error_that_says_what_was_wanted_where() -> None:
    zeros = tf.constant(0.0, shape=[1000])
    big = zeros + 1.0
    tf.experimental.set_memory_limit("/cpu:0", 2000)
    try:
        with tf.Session() as sess, pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            sess.run(big)
    finally:
        tf.experimental.set_memory_limit("/cpu:0", None)
    for part in ("shape[1000]", "float", "device:CPU:0", "allocator cpu"):
        assert part in str(caught.value)


def test_a_full_trace_has_every_node_that_ran() -> None:
    total = tf.constant(1.0) + 2.0
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        assert sess.run(total, options=options, run_metadata=metadata) == 3.0
    (device,) = metadata.step_stats.dev_stats
    names = [node.node_name for node in device.node_stats]
    assert names == ["Const", "add/y", "add", "_retval_add_0_0"]


def test_a_callable_takes_its_feeds_in_order() -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with tf.Session() as sess:
        subtract = sess.make_callable(a - b, [a, b])
        assert subtract(5.0, 3.0) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            subtract(5.0)


def test_the_default_session_belongs_to_the_thread() -> None:
    seen = []
    with tf.Session() as sess:
        assert tf.get_default_session() is sess
        thread = threading.Thread(target=lambda: seen.append(tf.get_default_session()))
        thread.start()
        thread.join()
    assert seen == [None]
    assert tf.get_default_session() is None


def test_an_empty_graph_is_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="graph is empty"):
        tf.Session().run([])


def test_a_long_chain_needs_no_recursion() -> None:
    total = one = tf.constant(1.0)
    for _ in range(3000):
        total = total + one
    with tf.Session() as sess:
        assert sess.run(total) == 3001.0


def test_a_run_that_a_close_overtakes_says_that_the_session_was_closed() -> None:
    v = tf.Variable(0, use_resource=True)
    bump = v.assign_add(1, read_value=False)
    seen: list[BaseException] = []

    def run_on(sess: tf.Session) -> None:
        try:
            while True:
                sess.run(bump)
        except Exception as error:  # noqa: BLE001 - its class is what is looked at
            seen.append(error)

    for _ in range(5):
        sess = tf.Session()
        sess.run(v.initializer)
        threads = [threading.Thread(target=run_on, args=(sess,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        sess.close()
        for thread in threads:
            thread.join(30)
    assert len(seen) == 40
    assert {type(error) for error in seen} <= {RuntimeError, tf.errors.CancelledError}


def test_threads_on_one_session_lose_no_update_and_leave_no_partial_run() -> None:
    v = tf.Variable(0, use_resource=False)
    bump = tf.assign_add(v, 1, use_locking=True)
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    total = x + y
    product = total * y
    wrong: list[str] = []

    def work(number: int) -> None:
        for _ in range(20):
            sess.run(bump)
            call()
            handle = sess.partial_run_setup([total, product], [x, y])
            first = sess.partial_run(handle, total, {x: number, y: 2.0})
            if (first, sess.partial_run(handle, product)) != (number + 2, 2 * number + 4):
                wrong.append(handle)

    with tf.Session() as sess:
        sess.run(v.initializer)
        call = sess.make_callable(bump)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sess.run(v) == 16 * 20 * 2
    assert not wrong


def test_operations_whose_attributes_stand_in_another_order_have_kernels_of_their_own() -> None:
    x = tf.placeholder(tf.float32, [])
    double = tf.cast(x, tf.float64)
    single = tf.cast(double, tf.float32)
    single.op.attrs = {name: single.op.attrs[name] for name in ("DstT", "SrcT", "Truncate")}
    double.op.attrs = {name: double.op.attrs[name] for name in ("SrcT", "DstT", "Truncate")}
    with tf.Session() as sess:
        values = sess.run([double, single], {x: 1.5})
    assert [value.dtype for value in values] == [np.float64, np.float32]


def test_a_device_that_is_set_after_an_operation_was_made_places_it() -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:
        sess.run(a)
        late = tf.identity(b)
        late.op._set_device("/gpu:0")
        with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned to /gpu:0"):
            sess.run(a)
    with tf.Session() as sess:
        late.op._set_device("")
        assert sess.run([a, late]) == [1.0, 2.0]
        tf.identity(late)
        assert sess.run(late) == 2.0
