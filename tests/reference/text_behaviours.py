"""Programs that show tensors as text, and that split and search strings."""

from __future__ import annotations

import collections
import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from described import attempt, run

__all__ = ["BEHAVIOURS"]


def _shown(tf: Any) -> list[Any]:
    """Tensors that stand for all that is shown in a way of its own."""
    halves = [tf.constant(0.1, dtype) for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64)]
    return [
        *halves, tf.constant([1, 2, 3]), tf.constant(np.arange(20.0).reshape(4, 5) / 3, tf.float32),
        tf.constant(["a", 'b\n"', "\u00e9"]), tf.constant("s"), tf.constant(True),
        tf.constant([[1.5]], tf.float64), tf.constant([1e-7, 1e20, 1e5, 1e6, 16777216.0]),
        tf.constant([np.inf, -np.inf, np.nan]), tf.constant(1 + 2j), tf.constant([], tf.float32),
        tf.zeros([0, 2]), tf.zeros([2, 0]), tf.constant(1 / 3, tf.float64), tf.constant(3, tf.int8),
        tf.constant(np.arange(120).reshape(4, 5, 6)), tf.constant(np.arange(8)),
        tf.constant([True, False, True, True]), tf.constant(123456.789), tf.constant(-0.0),
    ]  # fmt: skip


def _formatted(tf: Any) -> Any:
    texts = [
        tf.strings.format("<{}>", tensor, summarize=count)
        for tensor in _shown(tf)
        for count in (3, 1, -1)
    ]
    one, text = tf.constant([1, 2, 3]), tf.constant("s")
    return [run(tf, texts)] + attempt(
        lambda: run(tf, tf.strings.format("a {} b {}", [one, text])),
        lambda: run(tf, tf.strings.format("%s", one, placeholder="%s")),
        lambda: run(tf, tf.strings.format("no", [])),
        lambda: tf.strings.format("{} {}", one),
        lambda: tf.strings.format("{}", one, name="named"),
    )


def _printed(tf: Any) -> Any:
    """What `Print` passes on; what it writes only we can see from here."""
    one = tf.constant([1, 2, 3])
    found = [
        tf.Print(one, [one]), tf.Print(one, []), tf.Print(1, [1, "a"], "m", 2, 3, "named"),
        tf.Print("s", [one], message="x", summarize=-1),
    ]  # fmt: skip
    with contextlib.redirect_stderr(io.StringIO()):
        return [found, run(tf, found), [found[2].op.get_attr(key)
                for key in ("message", "first_n", "summarize")]]  # fmt: skip


def _templates(tf: Any) -> Any:
    one = tf.constant([1, 2, 3])
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    pair = collections.namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - as programs have it
    programs: list[Callable[[], Any]] = [
        lambda: tf.print(1),
        lambda: tf.print("a", one),
        lambda: tf.print(one, name="named"),
        lambda: tf.print([1, one, {"b": one, "a": "q"}]),
        lambda: tf.print(collections.OrderedDict([("z", 1), ("y", one)])),
        lambda: tf.print(pair(one, 2)),
        tf.print,
        lambda: tf.print("x", "y", sep="--", end="!\n"),
        lambda: tf.print(None, (1, 2), 1.5),
        lambda: tf.print(sparse),
        lambda: tf.print("{}", one),
        lambda: tf.print("a", output_stream=sys.stdout),
        lambda: tf.print("a", output_stream=tf.logging.info),
        lambda: tf.print("a", output_stream="file:///nowhere"),
        lambda: tf.print("a", output_stream=3),
        lambda: tf.print("a", nothing=3),
        lambda: tf.print(np.array([1, 2]), [np.array([1.0])]),
    ]

    def told(program: Callable[[], Any]) -> list[Any]:
        op = program()
        source = op.inputs[0].op
        return [op, op.get_attr("output_stream"), op.get_attr("end"), source.get_attr("template"),
                source.get_attr("placeholder"), source.get_attr("summarize")]  # fmt: skip

    return attempt(*(lambda program=program: told(program) for program in programs),
                   lambda: tf.print(tf.constant("s")))  # fmt: skip


def _written(tf: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "told"
        stream = f"file://{path}"
        values = tf.constant([[1.5, 2.0]])
        run(tf, [tf.print("values", values, output_stream=stream)])
        run(tf, [tf.print(values, {"a": 1}, sep="|", end=".", output_stream=stream)])
        return path.read_text(encoding="utf-8")


def _split(tf: Any) -> Any:
    programs: list[Callable[[], Any]] = [
        lambda: tf.string_split(["a b", "c"]),
        lambda: tf.string_split("a b"),
        lambda: tf.string_split(["a b", "", ";;"], ";", skip_empty=False),
        lambda: tf.string_split(["a,;b"], ",;"),
        lambda: tf.string_split(["abc", ""], ""),
        lambda: tf.string_split(["a b "], skip_empty=False),
        lambda: tf.string_split(["a b"], delimiter=["a"]),
        lambda: tf.string_split(["a b"], sep=" ", delimiter="b"),
        lambda: tf.string_split([], ","),
        lambda: tf.string_split(tf.placeholder_with_default("a b", None)),
        lambda: tf.strings.split([" a  b "]),
        lambda: tf.strings.split("a b"),
        lambda: tf.strings.split(["a,,b,c"], ",", maxsplit=1),
        lambda: tf.strings.split(["", "a"], ","),
        lambda: tf.strings.split(["a b c"], maxsplit=0),
        lambda: tf.strings.split(source=["a--b"], sep="--", name="named"),
    ]
    nodes = [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node]
    return [nodes, attempt(*(lambda program=program: run(tf, program()) for program in programs))]


def _searched(tf: Any) -> Any:
    text = tf.constant(["hello world", "foo bar", ""])
    programs: list[Callable[[], Any]] = [
        lambda: tf.regex_replace(text, "o", "0"),
        lambda: tf.regex_replace(text, "o", "0", replace_global=False),
        lambda: tf.regex_replace(text, r"(\w+) (\w+)", r"\2-\1-\0"),
        lambda: tf.regex_replace(text, tf.constant("[lo]+"), "*"),
        lambda: tf.regex_replace(text, "(", ""),
        lambda: tf.regex_replace(text, "o", r"\1"),
        lambda: tf.regex_replace(text, ["o"], "x"),
        lambda: tf.strings.regex_full_match(text, "foo.*"),
        lambda: tf.strings.regex_full_match(text, "foo"),
        lambda: tf.strings.regex_full_match(text, tf.constant(".*")),
        lambda: tf.strings.regex_full_match(text, tf.constant("[")),
    ]
    found = attempt(*(lambda program=program: run(tf, program()) for program in programs))
    return [found, [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node]]


BEHAVIOURS: dict[str, Callable[[Any], Any]] = {
    "formatted": _formatted, "printed": _printed, "templates": _templates, "written": _written,
    "split": _split, "searched": _searched,
}  # fmt: skip
