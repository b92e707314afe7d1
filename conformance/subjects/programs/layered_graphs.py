"""The nodes, collections and values of layers in graphs of their own, with a known seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Graph

__all__ = ["collected", "examples", "layered", "look_for_gpus"]

_KEYS = ("variables", "trainable_variables", "regularization_losses", "update_ops")


def collected(graph: Graph) -> dict[str, list[str]]:
    """The collections that layers fill, with the names of their items."""
    keys = [key for key in graph.get_all_collection_keys() if key in _KEYS]
    return {key: [item.name for item in graph.get_collection(key)] for key in sorted(keys)}


def examples(*shape: int) -> np.ndarray:
    """Different numbers of both signs, in this shape."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 % 101) / 53.7 - 0.93).reshape(shape).astype(np.float32)


def look_for_gpus(tf: Namespace) -> None:
    """Let Keras look for GPUs, as it does once in a process: that would add nodes later."""
    with tf.Graph().as_default():
        tf.keras.layers.MaxPooling1D(data_format="channels_first")(tf.zeros([1, 2, 3]))


def _rounded(values: Sequence[Array]) -> list[Array]:
    """The values rounded, so that the order in which a sum was computed does not show."""
    return [
        np.round(value.astype("float64"), 3) if value.dtype.kind == "f" else value
        for value in values
    ]


def layered(
    tf: Namespace,
    build: Callable[..., object],
    *inputs: Array,
    shape: Sequence[int | None] | None = None,
) -> list[Plain]:
    """The result of a function of placeholders, its graph, the collections, and the values.

    Args:
      tf: the namespace.
      build: the function; it is called with one placeholder for each input.
      *inputs: the arrays that are fed.
      shape: the shape of the first placeholder; by default its array's without the batch.

    """

    def build_and_run() -> list[object]:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(7)
            places = [
                tf.placeholder(
                    value.dtype.name,
                    [None, *value.shape[1:]] if shape is None or n else shape,
                    name=f"p{n}",
                )
                for n, value in enumerate(inputs)
            ]
            outputs = build(*places)
            facts = [outputs, nodes(graph), collected(graph)]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                feeds = dict(zip(places, inputs, strict=True))
                wanted = [t for t in tf.nest.flatten(outputs) if tf.is_tensor(t)]
                values = attempt(lambda: _rounded(session.run(wanted, feeds)))
                updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
                session.run(updates, feeds)
                after = _rounded(session.run(tf.global_variables()))
            return [*facts, values, after]

    return attempt(build_and_run)
