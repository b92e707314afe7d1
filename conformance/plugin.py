"""The pytest plug-in: the suite as tests of any backend, in any project's own CI.

    pytest --pyargs sessrun.conformance --sessrun-backend tensorflow --sessrun-profile core

One test per case of the plan; `-k`, `-x`, `--lf`, `-n` and JUnit work as always. Without
`--sessrun-backend` the plug-in does nothing but skip the suite's tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sessrun.conformance.runner import Runner

__all__ = ["sessrun_runner"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the `--sessrun-*` options."""
    group = parser.getgroup("sessrun", "sessrun: conformance of a sess.run backend")
    group.addoption(
        "--sessrun-backend",
        metavar="BACKEND",
        help="the backend to test: an adapter's name, package.module:factory, or exec:command",
    )
    group.addoption(
        "--sessrun-profile", default="core", metavar="NAME", help="the profile (default: core)"
    )
    group.addoption(
        "--sessrun-seed", type=int, metavar="N", help="the seed of the generated cases"
    )
    group.addoption(
        "--sessrun-generated", type=int, metavar="N", help="generated cases per property"
    )
    group.addoption(
        "--sessrun-expectations", type=Path, metavar="FILE", help="what is known to fail, and why"
    )
    group.addoption(
        "--sessrun-in-process",
        action="store_true",
        help="run the backend in pytest's own process: for debugging only",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each suite test its cases of the plan."""
    if "sessrun_case" not in metafunc.fixturenames:
        return
    config = metafunc.config
    if not config.getoption("--sessrun-backend"):
        metafunc.parametrize("sessrun_case", [])
        return
    from sessrun.conformance import plan  # noqa: PLC0415 - other projects' runs pay nothing

    seed = config.getoption("--sessrun-seed")
    count = config.getoption("--sessrun-generated")
    try:
        cases = plan.build_plan(
            config.getoption("--sessrun-profile"),
            plan.CERTIFY_SEED if seed is None else seed,
            plan.CERTIFY_COUNT if count is None else count,
        ).cases
    except plan.PlanError as error:
        raise pytest.UsageError(str(error)) from error
    generated = metafunc.function.__name__ == "test_generated"
    chosen = [case for case in cases if (":" in case.id) == generated]
    metafunc.parametrize("sessrun_case", chosen, ids=[case.id for case in chosen])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a suite that was collected as a second copy of itself."""
    for item in items:
        if "sessrun_case" not in getattr(item, "fixturenames", ()):
            continue
        name = getattr(getattr(item, "module", None), "__name__", "")
        if not name.startswith("sessrun."):
            raise pytest.UsageError(
                f"the suite was collected as {name!r}, a second copy of the package: "
                "run it as `pytest --pyargs sessrun.conformance`"
            )


@pytest.fixture(scope="session")
def sessrun_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """The runner of the backend under test; its worker ends with the session."""
    from sessrun.adapters.registry import AdapterError  # noqa: PLC0415 - as above
    from sessrun.conformance.runner import Runner  # noqa: PLC0415 - as above

    config = request.config
    runner = Runner(
        config.getoption("--sessrun-backend"),
        in_process=config.getoption("--sessrun-in-process"),
    )
    try:
        runner.describe()
    except AdapterError as error:
        pytest.exit(f"--sessrun-backend: {error}", returncode=4)
    yield runner
    runner.shutdown()


@pytest.fixture(scope="session")
def sessrun_expectations(request: pytest.FixtureRequest) -> Any:
    """The expectations of `--sessrun-expectations`, or none."""
    path = request.config.getoption("--sessrun-expectations")
    if path is None:
        return ()
    from sessrun.conformance.expectations import load_expectations  # noqa: PLC0415 - as above
    from sessrun.spec.schema import SpecError  # noqa: PLC0415 - as above

    try:
        return load_expectations(path)
    except SpecError as error:
        raise pytest.UsageError(str(error)) from error
