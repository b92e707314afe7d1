"""The order of the tests, slow ones first, so that none is left alone at the end; and slices."""

import random
from collections import defaultdict

import pytest

#: Tests with at least so many sets of parameters are sampled; smaller ones run in full.
_SAMPLED_FROM = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in", type=int, default=1, metavar="N",
        help=f"of a test with {_SAMPLED_FROM} parameters or more run one in N, by --slice-seed",
    )  # fmt: skip
    parser.addoption(
        "--slice-seed",
        type=int,
        default=1,
        metavar="SEED",
        help="the seed of --one-in (default: 1)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    one_in = config.getoption("--one-in")
    if one_in > 1:
        kept = _sample(items, one_in, config.getoption("--slice-seed"))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


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
