"""Jobs of dispatch: the cost of a call of `run`, of an operation, and of a structure of fetches.

They are run where they are named, those of a family in any size: `fetch-list-100`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.jobs import Job, Prepared, equals, opened, run_job
from sessrun.spec.cases.namespace import Namespace

__all__ = [
    "DISPATCH_FAMILIES",
    "DISPATCH_JOBS",
    "chain",
    "fetch_list",
    "independent",
    "variable_updates",
    "while_loop",
]

#: From a namespace to the fetches, the feeds, the expected result, and the initializer.
Build = Callable[[Namespace], tuple[Any, dict[Any, Any], Any, Any]]
#: The numbers in each of many variables.
_SMALL: Final = 10


def _no_op(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
    return tf.no_op(), {}, None, None


def _scalar_add(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    return tf.add(x, y), {x: np.float32(1), y: np.float32(2)}, 3.0, None


def _callable(build: Build) -> Callable[[Namespace, str], Prepared]:
    """A job that times what `make_callable` gives."""

    def prepare(tf: Namespace, device: str) -> Prepared:
        session, fetch, feeds, want = opened(tf, device, lambda: build(tf))
        if not feeds:
            return Prepared(session.make_callable(fetch), equals(want), session.close)
        run, values = session.make_callable(fetch, list(feeds)), tuple(feeds.values())
        return Prepared(lambda: run(*values), equals(want), session.close)

    return prepare


def _assign_add(*, is_callable: bool) -> Callable[[Namespace, str], Prepared]:
    """A job that adds one to a scalar reference variable."""

    def prepare(tf: Namespace, device: str) -> Prepared:
        def build() -> tuple[Any, dict[Any, Any], Any, Any]:
            variable = tf.get_variable("v", initializer=np.float32(0), use_resource=False)
            return tf.assign_add(variable, 1.0), {}, None, variable.initializer

        session, update, _, _ = opened(tf, device, build)
        session_run = session.run
        run = session.make_callable(update) if is_callable else lambda: session_run(update)
        calls = iter(range(1, 10**9))

        def call() -> tuple[int, Any]:
            return next(calls), run()

        def check(got: tuple[int, Any]) -> str | None:
            return None if float(got[1]) == got[0] else f"after {got[0]} updates it is {got[1]}"

        return Prepared(call, check, session.close)

    return prepare


def _sums(tf: Namespace, count: int) -> tuple[Any, list[Any]]:
    """A placeholder, and its sums with 0, 1, 2, ...."""
    x = tf.placeholder(tf.float32, [])
    return x, [tf.add(x, float(number)) for number in range(count)]


def fetch_list(count: int) -> Build:
    """What builds a list of so many sums of a fed scalar, all of them fetched."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        x, sums = _sums(tf, count)
        return sums, {x: np.float32(1)}, np.arange(1.0, count + 1), None

    return build


def _fetch_dict(count: int) -> Callable[[Namespace, str], Prepared]:
    def prepare(tf: Namespace, device: str) -> Prepared:
        def build() -> tuple[Any, dict[Any, Any], Any, Any]:
            x, sums = _sums(tf, count)
            return {f"sum{number}": y for number, y in enumerate(sums)}, {x: np.float32(1)}, 0, None

        session, fetch, feeds, _ = opened(tf, device, build)
        check = equals(np.arange(1.0, count + 1))
        run = session.run
        return Prepared(
            lambda: run(fetch, feeds), lambda got: check(list(got.values())), session.close
        )

    return prepare


def chain(count: int) -> Build:
    """What builds so many additions of the fed number alone: none can be computed beforehand."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(count):
            y = tf.add(y, x)
        return y, {x: np.float32(1)}, float(count + 1), None

    return build


def independent(count: int) -> Build:
    """What builds so many sums of a fed scalar, none of them fetched."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        x, sums = _sums(tf, count)
        return tf.group(*sums), {x: np.float32(1)}, None, None

    return build


def variable_updates(count: int) -> Build:
    """What builds updates of so many variables of ten numbers, in one run."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        zeros = np.zeros(_SMALL, np.float32)
        variables = [
            tf.get_variable(f"v{number}", initializer=zeros, use_resource=False)
            for number in range(count)
        ]
        updates = [tf.assign_add(variable, zeros + 1) for variable in variables]
        initializers = tf.group(*(variable.initializer for variable in variables))
        return tf.group(*updates), {}, None, initializers

    return build


def branches(count: int) -> Build:
    """What builds so many conditionals in a row, each on the value of the one before."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(count):
            y = tf.cond(y > 0.0, lambda y=y: y - 2.0, lambda y=y: y + 3.0)
        want = 1.0
        for _ in range(count):
            want += -2.0 if want > 0 else 3.0
        return y, {x: np.float32(1)}, want, None

    return build


def while_loop(count: int) -> Build:
    """What builds a loop that counts to a fed number and adds."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        limit = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda number, _: number < limit,
            lambda number, total: (number + 1, total + 2.0),
            [tf.constant(0), tf.constant(0.0)],
        )
        return total, {limit: np.int32(count)}, 2.0 * count, None

    return build


def mapped(count: int) -> Build:
    """What builds a `map_fn` over so many numbers."""

    def build(tf: Namespace) -> tuple[Any, dict[Any, Any], Any, Any]:
        x = tf.placeholder(tf.float32, [count])
        numbers = np.arange(count, dtype=np.float32)
        return tf.map_fn(lambda number: number * 2.0 + 1.0, x), {x: numbers}, numbers * 2 + 1, None

    return build


DISPATCH_JOBS: Final = (
    Job("no-op-callable", "callable of no_op", _callable(_no_op)),
    Job("scalar-add-callable", "callable of x + y, both scalars fed", _callable(_scalar_add), 12),
    Job("assign-add", "run(assign_add(1)) of a scalar variable", _assign_add(is_callable=False)),
    Job("assign-add-callable", "callable of the same", _assign_add(is_callable=True)),
)
#: By family what makes the job of a size.
DISPATCH_FAMILIES: Final[dict[str, Callable[[int], Job]]] = {
    "fetch-list": lambda size: Job(
        f"fetch-list-{size}", f"run of a list of {size} sums", run_job(fetch_list(size))
    ),
    "fetch-dict": lambda size: Job(
        f"fetch-dict-{size}", f"run of a dict of {size} sums", _fetch_dict(size)
    ),
    "chain-fed": lambda size: Job(
        f"chain-fed-{size}", f"run of {size} additions of a fed scalar", run_job(chain(size))
    ),
    "independent": lambda size: Job(
        f"independent-{size}", f"run of {size} sums side by side", run_job(independent(size))
    ),
    "variables": lambda size: Job(
        f"variables-{size}", f"run of updates of {size} variables", run_job(variable_updates(size))
    ),
    "branches": lambda size: Job(
        f"branches-{size}", f"run of {size} conditionals in a row", run_job(branches(size))
    ),
    "while": lambda size: Job(
        f"while-{size}", f"run of a loop of {size} iterations", run_job(while_loop(size))
    ),
    "map": lambda size: Job(
        f"map-{size}", f"run of a map_fn over {size} numbers", run_job(mapped(size))
    ),
}
