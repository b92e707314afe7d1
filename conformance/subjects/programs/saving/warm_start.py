"""Programs of `tf.train.warm_start`: variables, names, vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder
from sessrun.spec.cases.objects import Variable

__all__ = ["BEHAVIOURS"]


def _saved(tf) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        for name in ("a", "net/b", "net/c"):
            tf.get_variable(name, initializer=np.full([4, 2], len(name), np.float32))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")


def _model(tf, *, parts: bool = False) -> list[Variable]:
    cut = tf.fixed_size_partitioner(2) if parts else None
    a = tf.get_variable("a", [4, 2], initializer=tf.zeros_initializer(), partitioner=cut)
    b = tf.get_variable("net/b", [4, 2], initializer=tf.zeros_initializer(), use_resource=True)
    c = tf.get_variable("net/c", [4, 2], initializer=tf.zeros_initializer(), trainable=False)
    return [a, b, c]


def _started(wanted: Callable[[list[Variable]], object], *, parts: bool = False, **names):
    @in_a_folder
    def program(tf):
        _saved(tf)
        results = []
        for path in ("d/x", "d"):
            with tf.Graph().as_default(), tf.Session() as session:
                variables = _model(tf, parts=parts)
                refused = attempt(
                    lambda p=path, m=variables: tf.train.warm_start(p, wanted(m), **names)
                )
                session.run(tf.global_variables_initializer())
                held = [tf.convert_to_tensor(variable) for variable in variables]
                results.append([refused, session.run(held)])
        return results

    return program


@in_a_folder
def _refused(tf):
    _saved(tf)
    _model(tf)
    extra = tf.get_variable("extra", [4, 2])
    start = tf.train.warm_start
    return attempt(
        lambda: start("none"),
        lambda: start("d/x"),
        lambda: start("d/x", [extra]),
        lambda: start("d/x", 5),
        lambda: start("d/x", ["a", extra]),
        lambda: start("d/x", {"a"}),
        lambda: start("d/x", "a", var_name_to_prev_var_name={"nope": "a"}),
        lambda: start("d/x", "a", var_name_to_prev_var_name={"a": "nope"}),
    )


def _words(path: str, words: str) -> str:
    Path(path).write_text("\n".join(words) + "\n")
    return path


@in_a_folder
def _other_words(tf):
    """Vocabularies of rows or of columns, for variables and for partitioned ones."""
    with tf.Graph().as_default(), tf.Session() as session:
        for name, start in (("rows", 0), ("columns", 100), ("plain", 200)):
            values = np.arange(start, start + 8.0, dtype="f").reshape(4, 2)
            tf.get_variable(name, initializer=values)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")
    info = tf.train.VocabInfo
    row_words = (_words("r1", "dbxa"), 4, 2, _words("r0", "abcd"))
    column_words = info(_words("c1", "zyx"), 3, 0, _words("c0", "xy"), axis=1)
    ones = tf.ones_initializer()
    results = []
    for infos in (
        {"rows": info(*row_words), "columns": column_words},
        {"rows": info(*row_words, old_vocab_size=2, backup_initializer=ones)},
    ):
        for cut in (None, tf.fixed_size_partitioner(2)):
            for wanted in (".*", None):
                with tf.Graph().as_default() as graph, tf.Session() as session:
                    for name, shape in (("rows", [6, 2]), ("columns", [4, 3]), ("plain", [4, 2])):
                        zeros = tf.zeros_initializer()
                        tf.get_variable(name, shape, initializer=zeros, partitioner=cut)
                    if "columns" not in infos:
                        wanted = wanted and "rows|plain"  # noqa: PLW2901 - its shape is another
                    tf.train.warm_start("d", wanted, var_name_to_vocab_info=infos)
                    session.run(tf.global_variables_initializer())
                    values = [value.tolist() for value in session.run(tf.global_variables())]
                    kinds = [op.type for op in graph.get_operations()]
                    results.append((values, kinds))
    return results


@in_a_folder
def _refused_words(tf):
    _saved(tf)
    tf.get_variable("a", [4, 2])
    info, start = tf.train.VocabInfo, tf.train.warm_start
    old, new = _words("r0", "abcd"), _words("r1", "dbxa")
    vocab_info = info(new, 4, 0, old)
    session = tf.Session()

    def run(**names):
        start("d", "a", var_name_to_vocab_info=names)
        return session.run(tf.global_variables_initializer())

    return [vocab_info._asdict()], attempt(
        lambda: info(new, 4, 0, old, axis=2),
        lambda: start("d", "a", var_name_to_vocab_info={"b": vocab_info}),
        lambda: start("", "a", var_name_to_vocab_info={"a": vocab_info}),
        lambda: run(a=info("", 4, 0, old)),
        lambda: run(a=info(new, 0, 0, old)),
        lambda: run(a=info(new, 3, 0, old)),
        lambda: run(a=info(new, 4, -1, old)),
        lambda: run(a=info(new, 5, 0, old)),
        lambda: run(a=info("none", 4, 0, old)),
        lambda: run(a=info(new, 2, 0, old, axis=1, old_vocab_size=1)),
        lambda: run(a=info(new, 4, 0, old, backup_initializer=5)),
    )


@in_a_folder
def _remapped(tf):
    _saved(tf)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("vector", initializer=[1.0])
        tf.get_variable("whole", initializer=[[1]])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/y")
    raw = tf.raw_ops
    old, new = _words("r0", "abcd"), _words("r1", "dbxa")
    _words("twice", "aa")
    session = tf.Session()

    def lines(first: int, count: int, *files: str, size: int = -1):
        outputs = raw.GenerateVocabRemapping(
            new_vocab_file=files[0],
            old_vocab_file=files[1],
            new_vocab_offset=first,
            num_new_vocab=count,
            old_vocab_size=size,
        )
        return [output.shape for output in outputs], session.run(list(outputs))

    def matrix(name: str, rows, columns, values, shape, at: str = "d/x"):
        output = raw.LoadAndRemapMatrix(
            ckpt_path=at,
            old_tensor_name=name,
            row_remapping=rows,
            col_remapping=columns,
            initializing_values=values,
            num_rows=shape[0],
            num_cols=shape[1],
        )
        return output.shape, session.run(output).tolist()

    return attempt(
        lambda: lines(0, 4, new, old),
        lambda: lines(1, 2, new, old),
        lambda: lines(0, 0, new, old),
        lambda: lines(0, 4, new, old, size=2),
        lambda: lines(0, 4, new, old, size=5),
        lambda: lines(1, 4, new, old),
        lambda: lines(0, 2, new, "twice"),
        lambda: lines(-1, 2, new, old),
        lambda: lines(0, 2, "", old),
        lambda: lines(0, 2, "none", old),
        lambda: lines(0, 1, [new], old),
        lambda: matrix("a", [3, -1, 0], [], [8, 9], (3, 2)),
        lambda: matrix("a", [3, -1], [-1, 0], [7, 8, 9], (2, 2)),
        lambda: matrix("a", [-1], [-1, -1], [7, 8], (1, 2)),
        lambda: matrix("a", [0, 4], [], [], (2, 2)),
        lambda: matrix("a", [0, 0], [], [], (2, 2)),
        lambda: matrix("a", [0], [1, 1], [], (1, 2)),
        lambda: matrix("a", [0], [1], [], (1, 2)),
        lambda: matrix("a", [0], [], [], (1, 3)),
        lambda: matrix("a", [0], [], [], (2, 2)),
        lambda: matrix("a", [[0]], [], [], (1, 2)),
        lambda: matrix("a", [-1], [], [1], (1, 2)),
        lambda: matrix("a", [-1], [], [1, 2, 3], (1, 2)),
        lambda: matrix("b", [0], [], [], (1, 2)),
        lambda: matrix("vector", [0], [], [], (1, 2), "d/y"),
        lambda: matrix("whole", [0], [], [], (1, 1), "d/y"),
        lambda: matrix(["a"], [0], [], [], (1, 2)),
    )


BEHAVIOURS = {
    "other-words": _other_words,
    "other-words-refused": _refused_words,
    "remapped": _remapped,
    "all-trainable": _started(lambda _: ".*"),
    "by-pattern": _started(lambda _: "net"),
    "by-patterns": _started(lambda _: ["a", "net/c"]),
    "none": _started(lambda _: None),
    "by-variables": _started(lambda variables: variables[1:]),
    "in-parts": _started(lambda _: ".*", parts=True),
    "renamed": _started(lambda _: ".*", var_name_to_prev_var_name={"a": "net/c"}),
    "two-from-one": _started(lambda _: ".*", var_name_to_prev_var_name={"a": "net/b"}),
    "refused": _refused,
}
