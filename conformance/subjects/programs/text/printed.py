"""Programs of `tf.print` and `tf.strings.format`: structures, files, streams."""

from __future__ import annotations

import collections
import sys
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.built_graphs import nodes
from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder

__all__ = ["BEHAVIOURS"]

_Pair = collections.namedtuple("_Pair", ["first", "second"])  # noqa: PYI024 - as older programs


@in_a_folder
def _into_files(tf):
    """`tf.print` into a file: structures as Python writes them, with the values of tensors."""
    x = tf.constant(np.arange(12).reshape(3, 4))
    text, sparse = tf.constant("te{}xt"), tf.SparseTensor([[0, 1]], [7], [2, 2])
    given = [
        ((x,), {}),
        ((x, "and", 3, None), {"sep": "|"}),
        (({"b": x, "a": [text, 2]},), {}),
        ((text,), {}),
        ((text, text), {"end": ""}),
        ((sparse,), {}),
        ((_Pair(x[0], "x"),), {}),
        (([x[0], (x[1], {"k": text})],), {"summarize": 1}),
        (("{}", x[0]), {"name": "named"}),
        (("{}{}5", x[0], {"k": "{}"}), {}),
        ((tf.zeros([9]),), {"summarize": -1}),
        ((), {}),
        ((tf.Variable(3.0, use_resource=True).initial_value, 1.5), {"end": "!\n"}),
    ]

    def printed(number: int) -> Action:
        inputs, options = given[number]

        def call():
            path = f"{Path.cwd()}/{number}"
            run(tf, tf.print(*inputs, output_stream=f"file://{path}", **options))
            return Path(path).read_text("utf-8")

        return call

    return attempt(*map(printed, range(len(given))))


def _streams(tf):
    """The output streams, by the attribute of the operation."""
    x = tf.constant([1, 2])

    def stream(where, **options) -> Action:
        def call():
            op = tf.print(x, output_stream=where, **options)
            return [op.get_attr("output_stream"), op.get_attr("end"), op.name]

        return call

    return attempt(
        stream(sys.stdout),
        stream(sys.stderr),
        stream(tf.logging.info),
        stream(tf.logging.INFO),
        stream(tf.logging.warning),
        stream(tf.logging.error),
        stream("file:///tmp/x", end="|"),
        stream("nowhere"),
        stream(3),
        stream(sys.stderr, nothing=3),
        stream(sys.stderr, name="p"),
        lambda: nodes(tf.get_default_graph()),
    )


def _formats(tf):
    x, y = tf.constant([[1, 2], [3, 4]]), tf.constant("a")
    formatted = tf.strings.format
    return attempt(
        lambda: run(tf, formatted("x: {}", x)),
        lambda: run(tf, formatted("{} and {}", [x, y])),
        lambda: run(tf, formatted("%t!", (y,), placeholder="%t")),
        lambda: run(tf, formatted("{}", tf.range(20), summarize=2)),
        lambda: run(tf, formatted("{}", tf.range(20), summarize=-1)),
        lambda: run(tf, formatted("nothing", [])),
        lambda: formatted("{}", [x, y]),
        lambda: formatted("{} {}", x),
        lambda: formatted("{}", 3.5, name="f"),
        lambda: run(tf, formatted("{}", [tf.constant([True, False])])),
    )


def _older(tf):
    """`tf.Print`, which returns its input and writes to the error stream."""
    x = tf.constant([1.0, 2.0])
    outputs = [tf.Print(x, [x, "text"], "now: ", first_n=0, summarize=2, name="p"), tf.Print(x, [])]
    return [outputs, nodes(tf.get_default_graph()), run(tf, outputs[0])]


BEHAVIOURS = {
    "into files": _into_files,
    "streams": _streams,
    "formats": _formats,
    "older": _older,
}
