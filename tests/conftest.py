"""The tests' order (slow ones first: none is left alone at the end), selections and time limits."""

import gc
import os
import random
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any, Final

import pytest

#: The marks of tests that need an engine of the same name; `--without-engines` leaves them out.
_ENGINES: Final = ("tensorflow", "onnxruntime", "jax", "openvino", "litert", "tfjs")
#: Seconds that a test may take, and a slow one: several times what it takes on a busy machine.
_LIMIT, _SLOW_LIMIT = 300, 900

#: Tests with at least so many sets of parameters are sampled; smaller ones run in full.
_SAMPLED_FROM = 100
#: How many tests `--without-engines` and `--without-slow` left out, by engine or as `slow`.
_LEFT_OUT: Final = pytest.StashKey[dict[str, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in",
        type=int,
        default=1,
        metavar="N",
        help=f"of a test with {_SAMPLED_FROM} parameters or more run one in N, by --slice-seed",
    )
    parser.addoption(
        "--slice-seed",
        type=int,
        default=1,
        metavar="SEED",
        help="the seed of --one-in (default: 1)",
    )
    parser.addoption(
        "--without-engines",
        action="store_true",
        help=f"leave out the tests that need {', '.join(_ENGINES)}, and say how many those are",
    )
    parser.addoption(
        "--without-slow",
        action="store_true",
        help="leave out the tests that take more than ten seconds, and say how many those are",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, a quarter of the time, nor in what stays to the end.

    What tests start from here on has one thread for products of matrices: more would wait for work
    in a loop, a tenth of the processor time of a short program. This process has its own already.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out: dict[pytest.Item, str] = {}
    if config.getoption("--without-slow"):
        left_out |= {item: "slow" for item in items if item.get_closest_marker("slow")}
    if config.getoption("--without-engines"):
        left_out |= {item: engine for item in items if (engine := _engine(item))}
    config.stash[_LEFT_OUT] = dict(Counter(left_out.values()))
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = config.stash[_LEFT_OUT]
    _deselect(config, items, set(left_out))
    one_in = config.getoption("--one-in")
    if one_in > 1:
        kept = _sample(items, one_in, config.getoption("--slice-seed"))
        _deselect(config, items, set(items) - kept)
    for item in items:
        if item.get_closest_marker("timeout") is None:
            slow = item.get_closest_marker("slow") is not None
            item.add_marker(pytest.mark.timeout(_SLOW_LIMIT if slow else _LIMIT))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a worker of xdist left out: every worker leaves out the same."""
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[_LEFT_OUT] = left_out


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    counted: dict[str, int] = config.stash.get(_LEFT_OUT, {})
    left_out = counted.copy()
    if slow := left_out.pop("slow", 0):
        terminalreporter.write_line(
            f"left out: {slow} tests that take more than ten seconds: `make test-slow` runs them"
        )
    if left_out:
        terminalreporter.write_line(
            f"left out: {sum(left_out.values())} tests that need an engine, "
            f"{left_out.get('tensorflow', 0)} of them TensorFlow: `make test-tensorflow` runs "
            "those, `make test-all` all"
        )


def _engine(item: pytest.Item) -> str | None:
    """The first of the engines that a test needs."""
    return next((name for name in _ENGINES if item.get_closest_marker(name)), None)


def _deselect(config: pytest.Config, items: list[pytest.Item], gone: set[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    items[:] = [item for item in items if item not in gone]


def _sample(items: list[pytest.Item], one_in: int, seed: int) -> set[pytest.Item]:
    """One in `one_in` items of each large test, rounded up; the seed makes workers agree."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    draw = random.Random(seed)
    return {
        item
        for members in tests.values()
        for item in (
            members
            if len(members) < _SAMPLED_FROM
            else draw.sample(members, -(-len(members) // one_in))
        )
    }
