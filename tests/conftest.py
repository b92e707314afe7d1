"""The order of the tests, slow ones first, so that none is left alone at the end; and slices."""

import random
from collections import defaultdict

import pytest

#: A test of fewer parameters runs with all of them in a slice too.
_FEW = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in", type=int, default=1, metavar="N",
        help=f"of a test with {_FEW} parameters or more run one in N, drawn by --slice-seed",
    )  # fmt: skip
    parser.addoption("--slice-seed", type=int, default=1, metavar="SEED")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every = config.getoption("--one-in")
    if every > 1:
        kept = _slice(items, every, config.getoption("--slice-seed"))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _slice(items: list[pytest.Item], every: int, seed: int) -> set[pytest.Item]:
    """The items of a slice: of each test with many parameters so many, the same in every worker."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    draw = random.Random(seed)
    return {
        item
        for members in tests.values()
        for item in (
            members if len(members) < _FEW else draw.sample(members, -(-len(members) // every))
        )
    }
