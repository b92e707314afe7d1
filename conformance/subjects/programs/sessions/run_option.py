"""Programs that pass valid and invalid options and metadata to `run`."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, without_gpus

__all__ = ["BEHAVIOURS"]


class _Given:
    """An object that serializes to these bytes."""

    def __init__(self, data) -> None:
        self._data = data

    def SerializeToString(self):  # noqa: N802 - a message's name
        return self._data


def _given(tf):
    """Run with options of these bytes: the value, and whether there is a trace."""
    x = tf.placeholder_with_default(2.0, [], name="x")
    y = tf.negative(x, name="y")
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

    def asked(options, *, with_metadata: bool):
        metadata = tf.RunMetadata() if with_metadata else None
        value = session.run(y, options=options, run_metadata=metadata)
        return value, None if metadata is None else bool(metadata.step_stats.dev_stats)

    options = (
        None,
        tf.RunOptions(),
        full,
        tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE),
        tf.RunOptions(trace_level=tf.RunOptions.HARDWARE_TRACE),
        tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE, output_partition_graphs=True),
        tf.RunOptions(timeout_in_ms=60_000),
        tf.RunOptions(inter_op_thread_pool=0),
        tf.RunOptions(inter_op_thread_pool=-1),
        tf.RunOptions(inter_op_thread_pool=1),
        tf.RunOptions(report_tensor_allocations_upon_oom=True),
        tf.RunMetadata(),
        tf.ConfigProto(),
        _Given(b""),
        _Given(full.SerializeToString()),
        _Given(b"\xff\xff\xff"),
        _Given(b"\x08"),
        _Given(""),
        _Given(3),
        _Given(None),
        3,
        "a",
        object(),
    )
    with tf.Session() as session:
        return attempt(
            *(
                lambda o=option, m=with_metadata: asked(o, with_metadata=m)
                for option in options
                for with_metadata in (False, True)
            )
        )


def _metadata(tf):
    """Objects as metadata, and metadata that an earlier run has filled."""
    y = tf.negative(tf.placeholder_with_default(2.0, []), name="y")
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    graphs = tf.RunOptions(output_partition_graphs=True)
    run_metadata = tf.RunMetadata()

    def facts():
        return len(run_metadata.step_stats.dev_stats) > 0, len(run_metadata.partition_graphs)

    def given(change):
        config = tf.ConfigProto()
        change(config)
        with tf.Session(config=config) as session:
            return session.run(y)

    with without_gpus(tf) as session:

        def run(options, metadata=run_metadata):
            return session.run(y, options=options, run_metadata=metadata), facts()

        return attempt(
            lambda: given(
                lambda config: setattr(config.experimental.session_metadata, "name", "a")
            ),
            lambda: given(lambda config: setattr(config.gpu_options, "visible_device_list", "0")),
            lambda: run(full),
            lambda: run(graphs),
            lambda: run(None),
            lambda: run(full),
            lambda: run(tf.RunOptions()),
            lambda: run(None, 3),
            lambda: run(full, "a"),
            lambda: run(full, tf.RunOptions()),
            lambda: run(full, object()),
            lambda: run(graphs, None),
        )


def _closed(tf):
    """The methods of a closed session, and those of a session of another graph."""
    x = tf.placeholder_with_default(2.0, [], name="x")
    y = tf.negative(x, name="y")
    session = tf.Session()
    before, handle = session.make_callable(y, [x]), session.partial_run_setup([y], [x])
    seen = before(1.0)
    session.close()
    other = tf.Session(graph=tf.Graph())
    return seen, attempt(
        lambda: session.run(y),
        lambda: session.run([]),
        lambda: session.run(None),
        lambda: before(1.0),
        lambda: session.make_callable(y),
        lambda: session.list_devices(),
        lambda: session.partial_run(handle, y, {x: 1.0}),
        lambda: session.partial_run_setup([y], [x]),
        lambda: session.close(),
        lambda: session.run(y, options=tf.RunOptions()),
        lambda: other.run(y),
        lambda: other.run("y:0"),
        lambda: other.make_callable(y),
        lambda: other.run([]),
        lambda: other.partial_run_setup([y], [x]),
        lambda: other.run(tf.no_op()),
    )


def _dtypes(tf):
    """Objects that are converted to dtypes, and those that are refused."""
    things = (
        None,
        0,
        1,
        3,
        19,
        101,
        99,
        -1,
        "float",
        "float32",
        "double",
        "int",
        "half",
        "str",
        "string",
        "float32_ref",
        "qint8",
        "",
        "Float",
        b"float32",
        float,
        int,
        bool,
        str,
        bytes,
        object,
        complex,
        list,
        [],
        {},
        [1],
        (1,),
        set(),
        np.float32,
        np.dtype("float64"),
        np.dtype("O"),
        np.dtype("S3"),
        np.dtype("U2"),
        np.dtype("M8[s]"),
        np.dtype([("a", "i4")]),
        tf.float16,
        tf.float32._as_ref,
        np.longdouble,
        Ellipsis,
    )
    return attempt(*(lambda t=thing: tf.as_dtype(t) for thing in things))


BEHAVIOURS = {"given": _given, "metadata": _metadata, "closed": _closed, "dtypes": _dtypes}
