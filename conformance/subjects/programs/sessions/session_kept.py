"""Programs of tensor handles, of named sessions, and of dtypes that cannot be fed."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, without_gpus

__all__ = ["BEHAVIOURS"]


def _handles(tf):
    """The members of a tensor handle, and its deletion."""

    def written(handle):
        array = handle.to_numpy_array()
        return array.tobytes(), array.shape, array.dtype.names, array.itemsize

    value = tf.get_session_handle(tf.constant([1.5, 2.5], name="kept"))
    with without_gpus(tf) as session:
        handle = session.run(value)
        parts = handle.handle.split(";")
        outcomes = attempt(
            lambda: written(handle),
            handle.eval,
            lambda: parts[0] == "kept:0" or len(parts),
            lambda: str(handle) == handle.handle,
            lambda: len(parts),
            lambda: parts[0],
            lambda: parts[2],
            lambda: hasattr(handle, "dtype"),
            lambda: handle.get_raw_handle() == handle.handle,
            handle.eval,
            handle.delete,
        )
        other = session.run(value)
        outcomes += attempt(other.delete, other.eval, other.delete, lambda: written(other))
        third = session.run(value)
        holder, delete = tf.delete_session_tensor(third.handle)
        session.run(delete, {holder: third.handle})
        outcomes += attempt(third.delete, third.eval)
    return outcomes


def _named_sessions(tf):
    """Sessions with a name and a version, which must be unique among open sessions."""

    def config(name: str | None, version: int):
        config = tf.ConfigProto()
        if name is not None:
            config.experimental.session_metadata.name = name
            config.experimental.session_metadata.version = version
        return config

    def opened(name: str | None, version: int):
        session = tf.Session(config=config(name, version))
        held.append(session)
        return session.run(tf.constant(len(held)))

    held = []
    try:
        outcomes = attempt(
            lambda: opened("spec", 1),
            lambda: opened("spec", 2),
            lambda: opened("spec", 1),
            lambda: opened("other", 1),
            lambda: opened("spec", -1),
            lambda: opened(None, 0),
            lambda: opened(None, 0),
            lambda: opened("", 1),
            lambda: opened("", 1),
            lambda: opened("spec", 0),
            lambda: opened("spec", 0),
        )
    finally:
        for session in held:
            session.close()
        held.clear()
    return outcomes


def _unfeedable(tf):
    """Feeds of placeholders of dtype variant and resource."""
    values = (3, [1, 2], "text", None, np.ones(2), np.array([b"a"], object), object())
    results = []
    for dtype in (tf.variant, tf.resource):
        x = tf.placeholder(dtype, [])
        y = tf.placeholder(tf.float32, [])
        with tf.Session() as session:
            results.append(
                attempt(
                    *(lambda v=value, x=x, y=y: session.run(y, {y: 2.0, x: v}) for value in values)
                )
            )
    return results


BEHAVIOURS = {
    function.__name__.strip("_"): function for function in (_handles, _named_sessions, _unfeedable)
}
