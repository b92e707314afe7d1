"""The pytest plug-in: the suite as tests of any backend, in any project's own CI.

    pytest --pyargs sessrun.conformance --sessrun-backend tensorflow --sessrun-profile core

One test per case of the plan; `-k`, `-x`, `--lf`, `-n` and JUnit work as always. Without
`--sessrun-backend` the plug-in does nothing but skip the suite's tests. What is wrong with the
options ends the run before it starts, with pytest's usage error (exit status 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from sessrun.conformance.expectations import Expectation
    from sessrun.conformance.runner import Runner
    from sessrun.spec.cases.model import Case

__all__ = ["sessrun_runner"]


@dataclass(slots=True)
class _Run:
    """A run of the suite: its options, the backend, and the results."""

    cases: tuple[Case, ...]
    expectations: tuple[Expectation, ...]
    runner: Runner
    results: dict[str, str] = field(default_factory=dict)
    clauses: dict[str, list[str]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


_RUN: Final = pytest.StashKey[_Run]()


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
    group.addoption("--sessrun-seed", type=int, metavar="N", help="the seed of the generated cases")
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


def pytest_configure(config: pytest.Config) -> None:
    """Read what the options name, if there is a backend to test."""
    spec = config.getoption("--sessrun-backend")
    if not spec:
        return
    # Imported here, so that the runs of projects that do not use sessrun pay nothing.
    from sessrun.conformance import plan  # noqa: PLC0415 - as above
    from sessrun.conformance.expectations import load_expectations  # noqa: PLC0415 - as above
    from sessrun.conformance.runner import Runner  # noqa: PLC0415 - as above
    from sessrun.spec.schema import SpecError  # noqa: PLC0415 - as above

    profile = config.getoption("--sessrun-profile")
    path = config.getoption("--sessrun-expectations")
    seed, count = config.getoption("--sessrun-seed"), config.getoption("--sessrun-generated")
    try:
        cases = plan.build_plan(
            profile,
            plan.CERTIFY_SEED if seed is None else seed,
            plan.CERTIFY_COUNT if count is None else count,
        ).cases
        expectations = load_expectations(path) if path is not None else ()
    except (plan.PlanError, SpecError) as error:
        raise pytest.UsageError(str(error)) from error
    if not cases:
        raise pytest.UsageError(
            f"--sessrun-profile {profile} and --sessrun-generated choose no case: "
            "nothing would be tested"
        )
    runner = Runner(spec, in_process=config.getoption("--sessrun-in-process"))
    run = config.stash[_RUN] = _Run(cases, expectations, runner)
    config.pluginmanager.register(_Results(run), "sessrun-results")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the backend: one that does not start is a usage error, not a thousand failures."""
    run = session.config.stash.get(_RUN, None)
    if run is None or _is_worker(session.config) or session.config.getoption("collectonly"):
        return
    from sessrun.adapters.errors import AdapterError  # noqa: PLC0415 - as above

    try:
        run.runner.describe()
    except AdapterError as error:
        raise pytest.UsageError(f"--sessrun-backend: {error}") from error
    if session.config.getoption("tx", None):  # with xdist the workers have runners of their own
        run.runner.shutdown()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each suite test its cases of the plan."""
    if "sessrun_case" not in metafunc.fixturenames:
        return
    if _is_worker(metafunc.config) and _is_second_copy(metafunc.module):
        # A worker's usage error would be taken for its crash.
        raise pytest.Collector.CollectError(_second_copy(metafunc.module))
    run = metafunc.config.stash.get(_RUN, None)
    generated = metafunc.function.__name__ == "test_generated"
    cases = () if run is None else run.cases
    chosen = [pytest.param(c, id=c.id) for c in cases if (":" in c.id) == generated]
    reason = "needs --sessrun-backend" if run is None else "the profile has no such cases"
    nothing = [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    metafunc.parametrize("sessrun_case", chosen or nothing)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a suite that was collected as a second copy of itself."""
    for item in items:
        if "sessrun_case" not in getattr(item, "fixturenames", ()):
            continue
        module = getattr(item, "module", None)
        if _is_second_copy(module):
            raise pytest.UsageError(_second_copy(module))


def _is_second_copy(module: ModuleType | None) -> bool:
    return not getattr(module, "__name__", "").startswith("sessrun.")


def _second_copy(module: ModuleType | None) -> str:
    return (
        f"the suite was collected as {getattr(module, '__name__', '')!r}, a second copy of the "
        "package: run it as `pytest --pyargs sessrun.conformance`"
    )


@pytest.fixture(scope="session")
def sessrun_runner(pytestconfig: pytest.Config) -> Iterator[Runner]:
    """The runner of the backend under test; its worker ends with the session."""
    runner = pytestconfig.stash[_RUN].runner
    yield runner
    runner.shutdown()


@pytest.fixture(scope="session")
def sessrun_expectations(pytestconfig: pytest.Config) -> tuple[Expectation, ...]:
    """The expectations of `--sessrun-expectations`, or none."""
    return pytestconfig.stash[_RUN].expectations


class _Results:
    """Keeps the results of cases as tests report them; with xdist, those of every worker."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the result of a case."""
        properties: dict[str, object] = dict(report.user_properties)
        if report.when == "call" and "sessrun_case" in properties:
            id_ = str(properties["sessrun_case"])
            self._run.results[id_] = str(properties["sessrun_result"])
            self._run.clauses[id_] = str(properties["sessrun_clauses"]).split(", ")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if an expectation has expired, or if all that it speaks of passes."""
    run = session.config.stash.get(_RUN, None)
    if run is None or _is_worker(session.config):
        return
    run.runner.shutdown()
    run.complaints.extend(_complaints(run))
    if run.complaints and session.exitstatus in {pytest.ExitCode.OK, 5}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what is wrong with the expectations."""
    run = config.stash.get(_RUN, None)
    if run is not None and run.complaints:
        terminalreporter.section("sessrun expectations", red=True)
        for complaint in run.complaints:
            terminalreporter.write_line(complaint, red=True)


def _complaints(run: _Run) -> tuple[str, ...]:
    import datetime  # noqa: PLC0415 - as above

    from sessrun.conformance.expectations import review_lines  # noqa: PLC0415 - as above

    today = datetime.datetime.now(datetime.UTC).date()
    # A selection (-k, -x, --lf) shows nothing of the cases that it leaves out: they have no result.
    lines = [
        {
            "id": case.id,
            "clauses": run.clauses.get(case.id, case.clauses),
            "result": run.results.get(case.id, ""),
        }
        for case in run.cases
    ]
    return review_lines(lines, run.expectations, today).complaints


def _is_worker(config: pytest.Config) -> bool:
    """Whether this is a worker of xdist; its controller judges the whole."""
    return hasattr(config, "workerinput")
