"""Programs that call Python functions."""

from __future__ import annotations

import gc
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

_DTYPES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
)


def _returned(tf: Any, value: Any, types: Any, *, stateful: bool = True) -> Callable[[], Any]:
    """A program that runs a function that returns `value`."""

    def program() -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            return session.run(tf.py_func(lambda: value, [], types, stateful=stateful))

    return program


def _arguments(tf: Any) -> Any:
    """What a function of each dtype gets, and what comes back."""
    seen: list[Any] = []

    def same(*values: Any) -> Any:
        for value in values:
            kind = type(value).__name__ if isinstance(value, np.ndarray | bytes) else "scalar"
            told = (str(value.dtype), value.shape) if hasattr(value, "dtype") else value
            seen.append((kind, told, kind == "ndarray" and value.flags.writeable))
        return list(values)

    found = []
    for name in _DTYPES:
        dtype = getattr(tf, name)
        inputs = [tf.cast(2, dtype), tf.cast([1, 0], dtype), tf.zeros([0, 2], dtype)]
        found.append(run(tf, tf.py_func(same, inputs, [dtype] * 3)))
    texts = [tf.constant("a"), tf.constant([["b"], ["cd"]]), tf.constant([], tf.string)]
    found.append(run(tf, tf.py_func(same, texts, (tf.string,) * 3)))
    return found, seen


def _results(tf: Any) -> Any:
    """What may be returned for which dtypes."""

    class Like:
        def __array__(self, *_: Any, **__: Any) -> Any:
            return np.array([1.0, 2.0])

    texts = [
        b"a\0",
        "é",
        np.str_("x"),
        np.bytes_(b"y"),
        [["p", "qr"]],
        [[b"p", b"q\0"]],
        np.array([b"a", b"bc"]),
        np.array(["a", "bc"]),
        np.array(["é", b"\xff"], object),
        np.array(["é"]),
        np.array([1], object),
    ]
    pairs: list[tuple[Any, Any]] = [
        (None, []),
        ([], []),
        ((), []),
        (5, []),
        (None, tf.float32),
        ([], [tf.float32]),
        ([None], tf.float32),
        ("a", tf.float32),
        (True, tf.bool),
        (3, tf.int64),
        (3, tf.int32),
        (3.5, tf.float64),
        (3.5, tf.float32),
        (3j, tf.complex128),
        ({1}, tf.int64),
        ({"a": 1}, tf.int64),
        (range(3), tf.int64),
        ((1, (2, 3)), [tf.int64] * 2),
        (np.array([1, 2]), [tf.int64] * 2),
        ([1, 2], tf.int64),
        ([[1, 2]], tf.int64),
        ([[[1], [1, 2]]], tf.int64),
        (np.longdouble(1), tf.float64),
        (Like(), tf.float64),
        (np.array([[1, 2], [3, 4]], order="F"), tf.int64),
        (np.matrix([[1.0, 2]]), tf.float64),
        (memoryview(b"x"), tf.uint8),
        (np.array([1], object), tf.int64),
        (3, "int64"),
        (np.zeros((0, 3)), np.float64),
    ]
    pairs += [(text, tf.string) for text in texts]
    return attempt(*(_returned(tf, value, types) for value, types in pairs))


def _forms(tf: Any) -> Any:
    """What `py_func` makes, and the arguments it refuses."""

    def built(*args: Any, **kwargs: Any) -> Any:
        with tf.Graph().as_default() as graph:
            made = getattr(tf, kwargs.pop("by", "py_func"))(*args, **kwargs)
        nodes = [(op.name, op.type, op.device) for op in graph.get_operations()]
        kind = "list" if isinstance(made, list) else "op" if made is not None else None
        shapes = [str(each.shape) for each in made] if isinstance(made, list) else []
        return kind, shapes, nodes

    def decorated(x: Any) -> Any:
        twice = tf.numpy_function(Tout=tf.float32, name="twice")(lambda x: x + x)
        return run(tf, twice(x))

    one = tf.float32
    return attempt(
        lambda: built(int, [], one),
        lambda: built(int, [], ["float32", tf.int32]),
        lambda: built(int, [1, 2.0, "x"], ()),
        lambda: built(int, [], [], stateful=False),
        lambda: built(int, [1], [], name="a"),
        lambda: built(int, (1,), one, False, "a"),
        lambda: built(int, np.array([1.0, 2.0]), [one]),
        lambda: built(int, 3, one),
        lambda: built(int, None, one),
        lambda: built(int, [], None),
        lambda: built(int, [], "nope"),
        lambda: built(int, [], [[one]]),
        lambda: built(3, [], one),
        lambda: built(None, [], one),
        lambda: decorated(1.5),
        lambda: built(int, [1], one, by="numpy_function"),
        lambda: built(int, [1], one, False, "a", by="numpy_function"),
        lambda: built(int, by="numpy_function"),
        lambda: built(int, Tout=one, by="numpy_function"),
        lambda: built(inp=[1], Tout=one, by="numpy_function"),
    )


def _exceptions(tf: Any) -> Any:
    """The error of each exception, and what its message keeps of it."""

    class Odd(BaseException):
        pass

    kinds: tuple[Any, ...] = (
        ValueError,
        UnicodeError,
        TypeError,
        StopIteration,
        MemoryError,
        NotImplementedError,
        KeyError,
        IndexError,
        ZeroDivisionError,
        OSError,
        RuntimeError,
        RecursionError,
        KeyboardInterrupt,
        SystemExit,
        Odd,
    )

    def error_of(exception: BaseException) -> Any:
        def inner() -> None:
            raise exception

        try:
            _raising(tf, inner)
        except tf.errors.OpError as error:
            kind = type(exception).__name__
            return (
                type(error).__name__,
                error.error_code,
                error.op.name,
                [part in error.message for part in (f"{kind}: ", "in inner", "some text")],
            )

    errors = tf.errors
    own = (errors.OutOfRangeError, errors.InvalidArgumentError, errors.AbortedError)
    return [
        *(error_of(kind("some text")) for kind in kinds),
        *(error_of(cls(None, None, "some text")) for cls in own),
    ]


def _raising(tf: Any, function: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.py_func(function, [], [], name="raises"))


def _effects(tf: Any) -> Any:
    """How often a function is called, and who sees what it writes to its input."""
    calls: list[str] = []

    def counted(text: str) -> Callable[..., Any]:
        def function(*_: Any) -> Any:
            calls.append(text)
            return np.int64(len(calls))

        return function

    def overwrite(x: Any) -> Any:
        x[0] = 9
        return x

    own = np.array([1.0, 2.0])
    fed = tf.placeholder(tf.float32)
    effect = tf.py_func(counted("stateful"), [], tf.int64)
    pure = tf.py_func(counted("stateless"), [], tf.int64, stateful=False)
    of_fed = tf.py_func(counted("of fed"), [fed], tf.int64, stateful=False)
    last = tf.py_func(calls.append, ["last"], [])
    with tf.control_dependencies([last]):
        after = tf.constant(1.0) + 1
    given = tf.py_func(lambda: own, [], tf.float64)
    base = tf.constant([1.0, 2.0])
    changed = tf.py_func(overwrite, [base], tf.float32)
    with tf.Session() as session:
        runs = [session.run([effect, of_fed], {fed: 1}) for _ in range(3)]
        same = [session.run(pure) for _ in range(3)]
        values = [session.run(fetch) for fetch in (after, changed, base, given + 1)]
    count = calls.count("stateless")
    return (
        [len(set(map(float, run))) for run in runs],
        len(set(same)),
        count,
        values,
        (sorted((call for call in calls if call != "stateless"), key=str), own),
    )


def _side_by_side(tf: Any) -> Any:
    """Functions of one run that wait for each other, in threads that have no default session."""
    handed: queue.Queue[int] = queue.Queue(1)
    taken = threading.Event()

    def put() -> Any:
        handed.put(42, timeout=20)
        return 42 if taken.wait(20) else 0  # a wait without an end would hang whoever tests

    def take() -> Any:
        value = handed.get(timeout=20)
        taken.set()
        return value

    def where() -> Any:
        main = threading.current_thread() is threading.main_thread()
        return main, tf.get_default_session() is None

    pair = [tf.py_func(put, [], tf.int64), tf.py_func(take, [], tf.int64)]
    inner = tf.constant(2.0) * 3
    # Threads of its own: those of the process may all be busy.
    config = tf.ConfigProto(inter_op_parallelism_threads=4, use_per_session_threads=True)
    with tf.Session(config=config) as session:
        nested = tf.py_func(lambda: session.run(inner), [], tf.float32)
        places = tf.py_func(where, [], [tf.bool, tf.bool])
        return session.run(pair), session.run(places), session.run(nested)


def _late(tf: Any) -> Any:
    """A run past its deadline fails once its function has ended."""
    ended = []

    def slow() -> None:
        time.sleep(0.4)
        ended.append(True)

    call = tf.py_func(slow, [], [])
    with tf.Session() as session:
        options = tf.RunOptions(timeout_in_ms=50)
        found = attempt(lambda: session.run(call, options=options))
        return found, list(ended)


def _life(tf: Any) -> Any:
    """A function lives as long as the graph that calls it; a copy of the graph finds it."""
    known: list[Any] = []

    def made() -> Any:
        def function(x: Any) -> Any:
            return x + 1

        known.append(weakref.ref(function))
        with tf.Graph().as_default() as graph:
            tf.py_func(function, [[1.0]], tf.float32, name="f")
        return graph

    def copied(graph_def: Any) -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            (found,) = tf.import_graph_def(graph_def, return_elements=["f:0"])
            return session.run(found)

    graph = made()
    graph_def = graph.as_graph_def()
    alive = attempt(lambda: copied(graph_def))
    del graph
    gc.collect()
    return alive, known[0]() is None, attempt(lambda: copied(graph_def))


def _of_tensors(tf: Any) -> Any:
    """Functions that get tensors with a value, and what they may return."""
    seen: list[Any] = []

    def look(x: Any, text: Any) -> Any:
        seen.extend([x.numpy(), x.shape.as_list(), x.dtype.name, x.ndim, len(x), text.numpy()])
        seen.extend([float(x[0]), [float(row) for row in x], bool(x[0] > 0), np.asarray(x)])
        return x * 2 + 1, text.numpy() + b"!"

    def outcome(function: Any, inputs: Any, types: Any) -> Any:
        def program() -> Any:
            with tf.Graph().as_default(), tf.Session() as session:
                return session.run(tf.py_function(function, inputs, types))

        return attempt(program)

    inputs = [tf.constant([1.0, 2.0]), tf.constant("s")]
    with tf.Session() as session:
        values = session.run(tf.py_function(look, inputs, [tf.float32, tf.string]))
        decorated = tf.py_function(Tout=tf.float32, name="named")(lambda x: x.numpy() + 1)(2.0)
        values += [session.run(decorated), decorated.op.name, decorated.shape.rank]
    effect = tf.py_function(lambda: None, [], [])
    return (
        values,
        seen,
        isinstance(effect, tf.Operation),
        [
            outcome(*arguments)
            for arguments in (
                (lambda x: x, [1], tf.float32),
                (lambda _: 1, [1], tf.float32),
                (lambda _: None, [1], tf.int32),
                (lambda _: [2, 3], [1], tf.int32),
                (lambda _: {}["a"], [1], tf.int32),
                (3, [1], tf.int32),
                (int, 3, tf.int32),
            )
        ],
    )


BEHAVIOURS = {
    "arguments of every dtype": _arguments,
    "what they return": _results,
    "functions of tensors": _of_tensors,
    "forms and refusals": _forms,
    "exceptions": _exceptions,
    "effects": _effects,
    "side by side": _side_by_side,
    "a deadline": _late,
    "how long they live": _life,
}
