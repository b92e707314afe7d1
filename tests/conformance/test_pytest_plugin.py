"""The pytest plug-in, used as other projects use it: from elsewhere, with pytest's own options."""

import contextlib
import datetime
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import pytest
from cut_run import HOSTILE, PATHS

ROOT = Path(__file__).resolve().parents[2]
TINY = "sessrun.adapters.fakes.conforming:backend"
SUITE = ("--pyargs", "sessrun.conformance", "--sessrun-generated", "2", "--sessrun-backend")


#: Our plug-in and xdist alone, whatever else is installed here.
PLUGINS = ("-p", "no:cacheprovider", "-p", "sessrun.conformance.plugin", "-p", "xdist.plugin")
ENVIRONMENT = {"PYTHONPATH": PATHS, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run_pytest(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run pytest as a user does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGINS, *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | ENVIRONMENT,
    )


def run_here(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run pytest in this process, which has imported the suite and read the spec already."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, ENVIRONMENT),
        mock.patch.object(sys, "path", [*sys.path]),
        mock.patch.object(sys, "meta_path", [*sys.meta_path]),
    ):
        status = pytest.main([*PLUGINS, *args])
    return subprocess.CompletedProcess(args, int(status), out.getvalue(), err.getvalue())


FEW = ("-k", "session and (closed or context)", "--sessrun-generated", "1", "-q")


@pytest.mark.parametrize("where", ["root", "elsewhere"])
def test_the_suite_runs_from_anywhere(where: str, tmp_path: Path) -> None:
    ran = run_pytest(*SUITE, "reference", *FEW, cwd=ROOT if where == "root" else tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout


def test_it_runs_in_parallel_and_writes_junit(tmp_path: Path) -> None:
    xml = tmp_path / "junit.xml"
    few = (*FEW, "--sessrun-profile", "core-engine")
    ran = run_pytest(*SUITE, TINY, *few, "-n", "2", "--junitxml", str(xml), cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    suite = ElementTree.parse(xml).getroot()[0]  # noqa: S314 - our own file
    assert int(suite.attrib["tests"]) > 2
    assert int(suite.attrib["errors"]) == 0
    results = {
        entry.attrib["value"]
        for entry in suite.iter("property")
        if entry.attrib["name"] == "sessrun_result"
    }
    assert "unsupported" in results


def test_stop_at_the_first_and_only_the_last_failed(tmp_path: Path) -> None:
    command = [
        *SUITE,
        TINY,
        "-k",
        "session",
        "--sessrun-generated",
        "0",
        "-q",
        "-p",
        "cacheprovider",
        "-o",
        f"cache_dir={tmp_path / 'cache'}",
    ]
    first = run_here(*command, "-x", cwd=tmp_path)
    assert "1 failed" in first.stdout, first.stdout + first.stderr
    again = run_here(*command, "--lf", cwd=tmp_path)
    assert "1 failed" in again.stdout
    assert "deselected" in again.stdout


def test_a_failure_says_how_to_see_it_again(tmp_path: Path) -> None:
    ran = run_here(*SUITE, TINY, *FEW, "-x", cwd=tmp_path)
    assert "sessrun replay" in ran.stdout
    assert "the rule: " in ran.stdout
    assert "import tensorflow.compat.v1 as tf" in ran.stdout


@pytest.mark.slow
def test_a_second_copy_of_the_suite_is_a_usage_error(tmp_path: Path) -> None:
    for more in ((), ("--sessrun-backend", TINY, "--sessrun-generated", "0")):
        ran = run_pytest("conformance", *more, "-q", cwd=ROOT)
        assert ran.returncode == 4, ran.stdout
        assert "pytest --pyargs sessrun.conformance" in ran.stderr
    parallel = run_pytest(str(ROOT / "conformance"), "-n", "2", "-q", cwd=tmp_path)
    assert parallel.returncode != 0
    assert "pytest --pyargs sessrun.conformance" in parallel.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*SUITE, "nobody"), "no adapter is called 'nobody'"),
        ((*SUITE, "nobody", "-n", "2"), "no adapter is called 'nobody'"),
        ((*SUITE, TINY, "--sessrun-profile", "none"), "no profile is called 'none'"),
        ((*SUITE, TINY, "--sessrun-profile", "library-engine"), "choose no case"),
        (
            (*SUITE, TINY, "--sessrun-profile", "inference", "--sessrun-generated", "0"),
            "choose no case",
        ),
        ((*SUITE, TINY, "--sessrun-seed", "-1"), "a seed is a number from 0"),
        ((*SUITE, TINY, "--sessrun-expectations", "gone.toml"), "cannot be read"),
    ],
)
def test_wrong_options_are_usage_errors(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    ran = (run_pytest if "-n" in options else run_here)(*options, cwd=tmp_path)
    assert ran.returncode == 4, ran.stdout + ran.stderr
    assert said in ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr


def test_without_a_backend_nothing_runs(tmp_path: Path) -> None:
    ran = run_here("--pyargs", "sessrun.conformance", "-q", "-rs", cwd=tmp_path)
    assert ran.returncode == 0
    assert "needs --sessrun-backend" in ran.stdout
    assert "2 skipped" in ran.stdout


def test_projects_that_do_not_use_it_pay_nothing() -> None:
    program = (
        "import sys, sessrun.conformance.plugin\n"
        "heavy = {'numpy', 'jsonschema', 'hypothesis', 'google', 'rich'} & set(sys.modules)\n"
        "ours = [m for m in sys.modules if m.startswith('sessrun.') and m not in\n"
        "        ('sessrun.conformance', 'sessrun.conformance.plugin')]\n"
        "sys.exit(str((heavy, ours)) if heavy or ours else 0)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


# --- expectations -------------------------------------------------------------------------


def expecting(tmp_path: Path, entries: str, *more: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "expectations.toml"
    path.write_text(entries, encoding="utf-8")
    return (run_pytest if "-n" in more else run_here)(
        *SUITE,
        "hostile.one_error:backend",
        "--sessrun-expectations",
        str(path),
        "-q",
        "-rxf",
        "--sessrun-generated",
        "0",
        *more,
        cwd=HOSTILE,
    )


FAILING = "fetch/floats-keep-their-dtype"


def entry(expires: datetime.date | None = None, *, vector: str, expected: str = "fail") -> str:
    text = f'[[expect]]\nvector = "{vector}"\nexpected = "{expected}"\nwhy = "as known"\n'
    return text + (f"expires = {expires}\n" if expires else "")


@pytest.mark.slow
def test_an_expected_failure_is_an_xfail(tmp_path: Path) -> None:
    ran = expecting(tmp_path, entry(vector=FAILING), "-k", "floats-keep-their-dtype")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 xfailed" in ran.stdout
    assert "as known" in ran.stdout
    parallel = expecting(tmp_path, entry(vector=FAILING), "-k", "floats-keep-their-d", "-n", "2")
    assert "1 xfailed" in parallel.stdout


def test_another_result_than_the_expected_fails(tmp_path: Path) -> None:
    crash = entry(vector=FAILING, expected="crash")
    ran = expecting(tmp_path, crash, "-k", "floats-keep-their-dtype")
    assert ran.returncode == 1
    assert "1 failed" in ran.stdout


def test_an_unexpected_pass_fails(tmp_path: Path) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(entry(vector=FAILING), encoding="utf-8")
    ran = run_here(
        *SUITE,
        "reference",
        "--sessrun-expectations",
        str(path),
        "-k",
        "floats-keep-their-dtype",
        "-q",
        cwd=tmp_path,
    )
    assert ran.returncode == 1
    assert "passes, but is expected to end fail: remove the entry" in ran.stdout


@pytest.mark.parametrize("parallel", [(), ("-n", "2")])
def test_a_pattern_of_which_all_passes_fails_the_run(
    parallel: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(entry(vector="fetch/floats-keep-*"), encoding="utf-8")
    ran = (run_pytest if parallel else run_here)(
        *SUITE,
        "reference",
        "--sessrun-expectations",
        str(path),
        "-k",
        "floats-keep-their-d",
        "--sessrun-generated",
        "0",
        "-q",
        *parallel,
        cwd=tmp_path,
    )
    assert ran.returncode == 1, ran.stdout
    assert "all that the expectation of fetch/floats-keep-* speaks of passes" in ran.stdout
    assert "1 passed" in ran.stdout


def test_an_expired_entry_fails_the_run(tmp_path: Path) -> None:
    past = datetime.date(2020, 1, 1)
    ran = expecting(tmp_path, entry(past, vector=FAILING), "-k", "floats-keep-their-dtype")
    assert ran.returncode == 1
    assert "its expectation expired on 2020-01-01" in ran.stdout
    elsewhere = expecting(tmp_path, entry(past, vector="nothing/such"), "-k", "no-such-case-at-all")
    assert elsewhere.returncode == 1, "even where none of its cases runs"
    assert "the expectation of nothing/such expired on 2020-01-01" in elsewhere.stdout
