"""Jobs whose inputs stay on the device: products, sums, scatters, chains of small steps.

What they compute is not fetched; a few elements are, apart from what is timed, for the check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from sessrun.adapters.peer import Peer
from sessrun.conformance.benchmarks.jobs import Job, Prepared
from sessrun.spec.cases.namespace import Namespace

__all__ = ["chain", "feed_variable", "matmul", "numbers", "reduction", "scatter", "total"]

_MB: Final = 2**20
#: How far an element of a product may be off, as a share of the root of the inner dimension.
_PRODUCT_TOLERANCE: Final = {"float32": 1e-4, "float64": 1e-11, "bfloat16": 0.05}
_BYTES: Final = {"float32": 4, "float64": 8, "bfloat16": 2}
#: Columns of the table that a scatter adds to.
_COLUMNS: Final = 64


def numbers(*shape: int) -> np.ndarray:
    """Normally distributed float32 numbers, the first million again and again.

    A GPU that multiplies zeros or ones draws less power and has higher clocks.
    """
    block = np.random.default_rng(1).standard_normal(min(int(np.prod(shape)), _MB + 7), np.float32)
    return np.resize(block, shape)


def feed_variable(
    tf: Namespace, name: str, value: np.ndarray, dtype: str, feeds: dict[Any, Any]
) -> Any:
    """A variable whose first value is fed: it may be too large for a graph's constant.

    Args:
      tf: the namespace.
      name: the variable's name.
      value: the first value.
      dtype: the dtype that it is converted to on the device.
      feeds: the feeds of the initializer's run, to which this adds the value.

    """
    first = tf.placeholder(value.dtype.name, value.shape)
    feeds[first] = value
    first = first if value.dtype == dtype else tf.cast(first, dtype)
    return tf.get_variable(name, initializer=first, use_resource=True)


@dataclass(frozen=True, slots=True)
class _Formula:
    """One operation on resident arrays.

    Attributes:
      arrays: the inputs.
      dtype: the dtype that they are converted to.
      build: from the namespace and the inputs to the result.
      few: the part of the result that is checked.
      want: that part, in float64.
      atol: how far it may be off.
      peer: the operation of a peer; None where peers do not do it.

    """

    arrays: Callable[[], Sequence[np.ndarray]]
    dtype: str
    build: Callable[..., Any]
    few: Callable[[Any], Any]
    want: Callable[..., np.ndarray]
    atol: float
    peer: Callable[[Peer], Callable[..., Any]] | None = None

    def prepare(self, tf: Namespace, device: str, sets: int) -> Prepared:
        """The operation in a session, on `sets` sets of variables."""
        arrays = self.arrays()
        graph = tf.Graph()
        feeds: dict[Any, Any] = {}
        with graph.as_default(), tf.device(device):
            variables = [
                [
                    feed_variable(tf, f"v{number}_{index}", value, self.dtype, feeds)
                    for index, value in enumerate(arrays)
                ]
                for number in range(sets)
            ]
            results = [self.build(tf, *inputs) for inputs in variables]
            few = self.few(results[0])
            initializers = [variable.initializer for inputs in variables for variable in inputs]
        session = tf.Session(graph=graph)
        session.run(initializers, feeds)
        calls = tuple(_runs(session, result.op) for result in results)
        return Prepared(
            calls[0],
            self._check(arrays),
            session.close,
            lambda: session.run(few),
            calls[1:] and calls,
        )

    def prepare_peer(self, peer: Peer, sets: int) -> Prepared:
        """The operation by a peer, on `sets` sets of its arrays."""
        assert self.peer is not None
        arrays = self.arrays()
        inputs = [[peer.put(value, self.dtype) for value in arrays] for _ in range(sets)]
        operation = self.peer(peer)
        last: list[Any] = [None]

        def on(its: Sequence[Any]) -> Callable[[], None]:
            def call() -> None:
                last[0] = operation(*its)

            return call

        calls = tuple(map(on, inputs))
        return Prepared(
            calls[0],
            self._check(arrays),
            inputs.clear,
            lambda: peer.get(self.few(operation(*inputs[0]))),
            calls[1:] and calls,
            lambda: peer.settle(last[0]),
        )

    def _check(self, arrays: Sequence[np.ndarray]) -> Callable[[Any], str | None]:
        want = self.want(*arrays)

        def check(got: Any) -> str | None:
            values = np.asarray(got).astype(np.float64)
            if values.shape == want.shape and np.allclose(values, want, 1e-5, self.atol):
                return None
            return f"want {want.ravel()[:3]}…, got {values.ravel()[:3]}…"

        return check


def _runs(session: Any, operation: Any) -> Callable[[], Any]:
    run = session.run
    return lambda: run(operation)


def _job(name: str, size: int, sets: int, formula: _Formula, make: Any, **facts: Any) -> Job:
    return Job(
        name=f"{name}-{size}",
        prepare=lambda tf, device: formula.prepare(tf, device, sets),
        peer=None if formula.peer is None else lambda peer: formula.prepare_peer(peer, sets),
        dtype=formula.dtype,
        size=size,
        resized=make,
        held_bytes=facts.pop("inputs") * sets,
        working_bytes=facts.pop("working"),
        **facts,
    )


def matmul(dtype: str) -> Callable[[int, int], Job]:
    """Makes the job of a product of two square matrices of `size` rows."""

    def make(size: int, sets: int = 1) -> Job:
        step = max(1, size // 2)

        def want(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            rows, columns = left[::step], right[:, ::step]
            if dtype == "bfloat16":
                rows, columns = (it.astype(ml_dtypes.bfloat16) for it in (rows, columns))
            return rows.astype(np.float64) @ columns.astype(np.float64)

        formula = _Formula(
            arrays=lambda: (numbers(size, size), numbers(size + 1, size)[1:]),
            dtype=dtype,
            build=lambda tf, left, right: tf.matmul(left, right),
            few=lambda result: result[::step, ::step],
            want=want,
            atol=_PRODUCT_TOLERANCE[dtype] * size**0.5,
            peer=lambda peer: peer.product,
        )
        nbytes = 3 * size * size * _BYTES[dtype]
        return _job(
            f"matmul-{dtype}",
            size,
            sets,
            formula,
            make,
            nbytes=nbytes,
            flops=2 * size**3,
            inputs=2 * nbytes // 3,
            working=nbytes // 3 + 8 * size * size,  # the inputs are fed in float32
            summary=f"product of two resident {size:,} by {size:,} matrices in {dtype}",
        )

    return make


def total(size: int, sets: int = 1) -> Job:
    """The sum of two arrays of so many megabytes each."""
    count = size * _MB // 4
    step = max(1, count // 7)
    formula = _Formula(
        arrays=lambda: (numbers(count), numbers(count + 1)[1:]),
        dtype="float32",
        build=lambda tf, left, right: tf.add(left, right),
        few=lambda result: result[::step],
        want=lambda left, right: left[::step].astype(np.float64) + right[::step],
        atol=1e-5,
        peer=lambda peer: peer.total,
    )
    return _job(
        "add-float32",
        size,
        sets,
        formula,
        total,
        nbytes=3 * size * _MB,
        flops=count,
        inputs=2 * size * _MB,
        working=2 * size * _MB,
        summary=f"sum of two resident arrays of {size:,} MB, element by element",
    )


def reduction(size: int, sets: int = 1) -> Job:
    """The sum of the elements of an array of so many megabytes."""
    count = size * _MB // 4
    formula = _Formula(
        arrays=lambda: (np.abs(numbers(count)),),
        dtype="float32",
        build=lambda tf, value: tf.reduce_sum(value),
        few=lambda result: result,
        want=lambda value: value.sum(dtype=np.float64),
        atol=1e-4 * count,
    )
    return _job(
        "sum-float32",
        size,
        sets,
        formula,
        reduction,
        nbytes=size * _MB,
        flops=count,
        inputs=size * _MB,
        working=size * _MB,
        summary=f"sum of the elements of a resident array of {size:,} MB",
    )


def chain(size: int, sets: int = 1) -> Job:  # noqa: ARG001 - as the others are called
    """A chain of `size` additions of 1,024 numbers each: the cost of starting a kernel."""

    def build(tf: Namespace, value: Any) -> Any:
        for _ in range(size):
            value = tf.add(value, 1.0)
        return value

    formula = _Formula(
        arrays=lambda: (numbers(1024),),
        dtype="float32",
        build=build,
        few=lambda result: result[::100],
        want=lambda value: value[::100].astype(np.float64) + size,
        atol=1e-6 * size,
    )
    return _job(
        "chain-resident",
        size,
        1,
        formula,
        chain,
        inputs=4096,
        working=8192,
        flops=1024 * size,
        summary=f"{size:,} additions in a row of 1,024 resident numbers",
    )


def scatter(size: int, sets: int = 1) -> Job:  # noqa: ARG001 - as the others are called
    """So many rows of 64 numbers added to as many rows by chance, some of them several times."""
    rows = np.random.default_rng(1).integers(0, size, size)
    few = rows[:: max(1, size // 7)]

    def prepare(tf: Namespace, device: str) -> Prepared:
        graph = tf.Graph()
        feeds: dict[Any, Any] = {}
        with graph.as_default(), tf.device(device):
            table = tf.get_variable("t", initializer=tf.zeros([size, _COLUMNS]), use_resource=True)
            where = feed_variable(tf, "i", rows, "int64", feeds)
            updates = feed_variable(
                tf, "u", np.ones((size, _COLUMNS), np.float32), "float32", feeds
            )
            update = tf.scatter_add(table, where, updates).op
            checked = tf.gather(table, few)[:, 0]
            initializers = [it.initializer for it in (table, where, updates)]
        session = tf.Session(graph=graph)
        session.run(initializers, feeds)
        return _counted(session, update, checked, np.bincount(rows, minlength=size)[few])

    return Job(
        f"scatter-float32-{size}",
        f"{size:,} rows of {_COLUMNS} numbers added to rows by chance of a resident table",
        prepare,
        3 * 4 * _COLUMNS * size,
        _COLUMNS * size,
        "float32",
        held_bytes=2 * 4 * _COLUMNS * size,
        working_bytes=4 * _COLUMNS * size,
        size=size,
        resized=scatter,
    )


def _counted(session: Any, update: Any, checked: Any, times: np.ndarray) -> Prepared:
    """An update by ones that adds up: after each call the rows have so much more."""
    calls = [0]

    def call() -> None:
        calls[0] += 1
        session.run(update)

    def check(got: Any) -> str | None:
        want = calls[0] * times
        return (
            None if np.array_equal(got, want) else f"want {want[:3]}…, got {np.asarray(got)[:3]}…"
        )

    return Prepared(call, check, session.close, lambda: session.run(checked))
