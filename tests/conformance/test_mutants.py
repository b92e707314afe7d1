"""Mutants of the reference: what is changed, where it lives, and that killed ones are killed."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")

from sessrun.cli.main import main
from sessrun.conformance.selfcheck.mutation.campaign import draw_mutants
from sessrun.conformance.selfcheck.mutation.edits import edits_of
from sessrun.conformance.selfcheck.mutation.equivalents import load_equivalents, mutation_key
from sessrun.conformance.selfcheck.mutation.functions import functions_of
from sessrun.conformance.selfcheck.mutation.sites import changed, sites_of
from sessrun.spec.schema import SpecError

#: Operator, a piece of source, and the source with its first edit.
OWN = [
    ("AxisOffByOne", "f(x, axis=1)", "f(x, axis=(1) - 1)"),
    ("AxisOffByOne", "f(x, axis)", "f(x, axis - 1)"),
    ("DefaultDtype", "f(x, dtype=y.dtype)", "f(x, dtype=None)"),
    (
        "DroppedControlInputs",
        "with control_dependencies(x): pass",
        "with control_dependencies([]): pass",
    ),
    ("SwappedArguments", "f(x, y)", "f(x, x)"),
    ("LostCopy", "y = x.copy()", "y = (x)"),
    ("LostCopy", "y = xp.array(x)", "y = xp.asarray(x)"),
    ("DroppedCall", "f(x)", "None"),
    ("UncaughtError", "try: x\nexcept a.B as b: pass", "try: x\nexcept () as b: pass"),
    ("DroppedConjugate", "é = math_ops.conj(x)", "é = (x)"),
    ("FirstOfSeveral", "def f():\n    return a, b", "def f():\n    return a, a"),
]


@pytest.mark.parametrize(("operator", "source", "expected"), OWN)
def test_an_operator_makes_its_mistake(operator: str, source: str, expected: str) -> None:
    edit = next(e for e in edits_of(source, ast.parse(source)) if e.operator == operator)
    assert source[: edit.start] + edit.text + source[edit.end :] == expected


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "area.py").write_text(
        "def area(a: int = 2, b: int = 3) -> int:\n"
        '    """1 * 1."""\n'
        "    if a < 0:\n"
        '        raise ValueError(f"{a + 1} < 0")\n'
        "    def inner():\n"
        "        return b + 1\n"
        "    return a * inner()\n"
    )
    return folder


def test_only_what_a_program_can_see_is_changed(package: Path) -> None:
    outer, inner = functions_of(package)
    assert (outer.id, inner.id) == ("area.py:area", "area.py:area.inner")
    changes = {changed(outer.path, site).splitlines()[site.line - 1] for site in sites_of(outer)}
    assert changes <= {
        "    if not a < 0:",
        "    if a <= 0:",
        "    if a < 1:",
        "    if a < -1:",
        "    if a <  1:",
        "    if a <  -1:",
        "    return a / inner()",
    }
    assert "    return a / inner()" in changes
    assert {site.line for site in sites_of(inner)} == {6}


def test_a_size_that_is_left_open_is_any_negative_number(package: Path) -> None:
    (package / "area.py").write_text("def area(a):\n    return a.reshape((-1, 3))\n")
    (area,) = functions_of(package)
    changes = {changed(area.path, site).splitlines()[1] for site in sites_of(area)}
    assert "    return a.reshape((+1, 3))" in changes
    assert not any("2, 3" in change for change in changes)


def test_the_key_of_a_mutant_survives_layout_and_lapses_with_the_code(package: Path) -> None:
    def key(text: str, name: str) -> str:
        path = package / name
        path.write_text(text)
        function = next(f for f in functions_of(package) if f.module == name)
        site = next(s for s in sites_of(function) if "Mul" in s.operator)
        diff = ("-return a * b", "+return a / b")
        return mutation_key(function, site, diff)

    first = key("def f(a, b):\n    return a * b\n", "one.py")
    assert key('def f(a, b):\n    "Doc."\n    # why\n    return (a *  b)\n', "two.py") == first
    assert key("def f(a, b):\n    a = b\n    return a * b\n", "three.py") != first


def test_an_equivalent_mutant_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "equivalents.toml"
    path.write_text('[0123456789abcdef]\nreason = ""\n')
    with pytest.raises(SpecError, match="reason"):
        load_equivalents(path)


def test_the_same_seed_draws_the_same_mutants(package: Path) -> None:
    functions = functions_of(package)
    first, second = ([mutant.key for mutant in draw_mutants(functions, 4, seed)] for seed in (1, 1))
    assert first == second
    assert len(set(first)) == 4


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_only_the_named_module_has_other_source() -> None:
    code = (
        "from sessrun.conformance.selfcheck.mutation.changed_source import import_changed\n"
        "import_changed('sessrun.spec.errors', 'BY_CODE = 7')\n"
        "import sessrun.spec.errors, sessrun.spec.dtypes\n"
        "print(sessrun.spec.errors.BY_CODE, len(sessrun.spec.dtypes.BY_NAME) > 1)"
    )
    assert run_python(code) == "7 True"
    assert run_python("import sessrun.spec.errors as e; print(len(e.BY_CODE) > 1)") == "True"


def test_a_mutant_writes_in_its_own_folder_only(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("kept")
    code = (
        "import os, shutil\n"
        "from pathlib import Path\n"
        "from sessrun.conformance.selfcheck.mutation.changed_source import confine\n"
        f"inside, outside = Path({str(inside)!r}), Path({str(outside)!r})\n"
        "confine(inside)\n"
        "(inside / 'file').write_text('x')\n"
        "tries = [lambda: outside.write_text('x'), lambda: outside.unlink(),\n"
        "         lambda: os.rename(outside, inside / 'moved'),\n"
        "         lambda: shutil.rmtree(outside.parent), lambda: os.system('true')]\n"
        "for attempt in tries:\n"
        "    try:\n"
        "        attempt()\n"
        "    except PermissionError:\n"
        "        print('refused')\n"
    )
    assert run_python(code).split() == ["refused"] * 5
    assert outside.read_text() == "kept"


@pytest.mark.slow
def test_mutants_of_what_cases_enter_are_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mutants of the fetch and feed code, asked of the cases of the profile `structures`."""
    entries, results = tmp_path / "entries.jsonl", tmp_path / "results.jsonl"
    command = ["selfcheck", "--mutants", "8", "--in", "session/resolve", "--profile", "structures"]
    options = ["--generated", "1", "--entries", str(entries), "--results", str(results)]
    counted = tmp_path / "summary.json"
    assert main([*command, *options, "--summary", str(counted)]) == 0
    told = capsys.readouterr().out
    assert "in the code that it enters" in told
    lines = results.read_text().splitlines(keepends=True)
    mutants = [json.loads(line) for line in lines]
    entered = [mutant for mutant in mutants if mutant["entered_by"]]
    killed = [mutant for mutant in entered if mutant["killed_by"]]
    assert len(mutants) == 8
    assert killed
    counts = json.loads(counted.read_text())
    assert (counts["all"]["mutants"], counts["all"]["killed"]) == (8, len(killed))
    share = counts["in_the_code_that_a_profile_enters"]["structures"]
    assert share["percent"] == share["percent_by_its_own_cases"]
    assert len(counts["survivors"]) == 8 - len(killed)

    results.write_text("".join(lines[:6]) + lines[6][:20])  # cut: the rest is asked anew
    assert main([*command, *options]) == 0
    again = [json.loads(line) for line in results.read_text().splitlines() if line.endswith("}")]
    assert again == mutants
    summary = "in the code that it enters"
    assert told.partition(summary)[2] == capsys.readouterr().out.partition(summary)[2]


@pytest.mark.parametrize(
    ("options", "reason"),
    [(["--mutants", "0"], "at least 1"), (["--mutants", "1", "--in", "nowhere"], "no folder")],
)
def test_mistakes_in_the_command_are_told(
    options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfcheck", *options]) == 2
    assert reason in capsys.readouterr().err
