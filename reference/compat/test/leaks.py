"""Decorators that fail a test which leaves something behind: tensors, objects, garbage."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.tensor_shape import Dimension, TensorShape
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.session import Session

__all__ = [
    "assert_no_garbage_created",
    "assert_no_new_pyobjects_executing_eagerly",
    "assert_no_new_tensors",
]

_LOOKED_FOR = (Tensor, Variable, Dimension, TensorShape)


def assert_no_new_tensors(f: Any) -> Any:
    """Run a test in a new graph; fail if tensors, variables or shapes of it are still there.

    Raises:
      AssertionError: when the test runs: some are.

    """

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = {id(it) for it in _alive()}
        with Graph().as_default():
            result = f(self, *args, **kwargs)
        gc.collect()
        left = [it for it in _alive() if id(it) not in before]
        if left:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")
        return result

    return decorated


def _alive() -> list[Any]:
    # by type, not by isinstance: that asks a proxy, which may be dead, for its class
    return [it for it in gc.get_objects() if issubclass(type(it), _LOOKED_FOR)]


def assert_no_new_pyobjects_executing_eagerly(warmup_iters: Any = 2) -> Any:
    """Run a test several times, in new graphs; fail if the later times leave objects behind.

    Args:
      warmup_iters: how many times not to count, while caches fill; or the test itself.

    """
    if callable(warmup_iters):
        return assert_no_new_pyobjects_executing_eagerly()(warmup_iters)

    def decorator(f: Callable[..., object]) -> Any:
        @functools.wraps(f)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            for _ in range(warmup_iters):
                _run_once(f, self, *args, **kwargs)
            before = _counts()
            for _ in range(3):
                _run_once(f, self, *args, **kwargs)
            after = _counts()
            more = {name: count - before.get(name, 0) for name, count in after.items()}
            new = {name: count for name, count in more.items() if count > 0}
            if new:
                raise AssertionError(f"The following objects were newly created: {new}")

        return decorated

    return decorator


def _run_once(f: Callable[..., object], case: Any, *args: Any, **kwargs: Any) -> None:
    with _without_collection(), Graph().as_default(), Session():
        f(case, *args, **kwargs)
    case.doCleanups()


def _counts() -> dict[str, int]:
    """How many objects there are of each type."""
    while gc.collect():
        pass
    counts: dict[str, int] = {}  # no Counter, whose methods fill caches that would be counted
    for it in gc.get_objects():
        counts[type(it).__name__] = counts.get(type(it).__name__, 0) + 1
    return counts


def assert_no_garbage_created(f: Any) -> Any:
    """Run a test; fail if it makes cycles of objects that cannot be freed.

    Raises:
      AssertionError: when the test runs: it does.

    """

    @functools.wraps(f)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = len(gc.garbage)
        with _without_collection():
            result = f(self, *args, **kwargs)
            gc.collect()
        left = gc.garbage[before:]
        if left:
            raise AssertionError(f"{len(left)} objects cannot be freed: {left}")
        return result

    return decorated


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let no collection run by itself inside the `with`."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
