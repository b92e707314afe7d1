"""The command line: what goes wrong is told in one line, with exit status 2, never a traceback."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sessrun.cli.main import COMMANDS, main

SOURCE = Path(__file__).resolve().parents[2] / "src"
TINY = "sessrun.adapters.fakes.conforming:backend"
VECTOR = "run/only-the-needed-fragment-runs"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with some files that are not what they should be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    (tmp_path / "text.txt").write_text("no JSON, no TOML, no ZIP\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    (tmp_path / "replay.json").write_text('{"replay": 7}')
    (tmp_path / "dir").mkdir()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    return tmp_path


WRONG = [
    ("certify nobody", "no adapter is called 'nobody'"),
    ("certify reference --profile none", "no profile is called 'none'"),
    ("certify reference --expectations gone.toml", "gone.toml"),
    ("certify reference --expectations text.txt", "cannot be read as TOML"),
    ("certify reference --output text.txt", "text.txt"),
    ("certify reference --output text.txt/below", "text.txt"),
    ("certify exec:", "names no program"),
    ("certify tensorflow --simulated-gpu", "for the backend 'reference' alone"),
    ("run exec:cat --simulated-gpu=2", "for the backend 'reference' alone"),
    ("replay run/x --backend jax --simulated-gpu", "for the backend 'reference' alone"),
    ("doctor reference#simulated-gpu --simulated-gpu", "for the backend 'reference' alone"),
    ("certify exec:/nowhere/program", "/nowhere/program"),
    ("certify exec:false", "exited with status 1"),
    ("certify nowhere.module:backend", "cannot be imported"),
    ("certify json:nothing", "no factory 'nothing'"),
    ("run reference --profile none", "no profile is called 'none'"),
    ("run reference --only no-such-case --generated 0", "no case of the profile"),
    ("run reference --only floats-keep --without floats --generated 0", "no case of the profile"),
    ("run reference --seed -1", "a number from 0 to"),
    ("run reference --seed 1000000000000000000", "a number from 0 to"),
    ("run reference --generated -1", "from 0 to 100,000 cases"),
    ("run reference --generated 100001", "from 0 to 100,000 cases"),
    ("run reference --clause FEED-999", "no clause is called 'FEED-999'"),
    (
        "run reference --record other.zip --resume --only floats-keep --generated 0",
        "no record begins so",
    ),
    ("run reference --record dir --only floats-keep --generated 0", "dir"),
    ("run reference --record text.txt/r --only floats-keep --generated 0", "text.txt"),
    ("replay nothing/such", "no vector is called"),
    ("replay operations:x:1", "no `property:seed:index`"),
    ("replay gone.json", "cannot be read as JSON"),
    ("replay text.txt", "cannot be read as JSON"),
    ("replay bytes", "cannot be read as JSON"),
    ("replay dir", "cannot be read as JSON"),
    ("replay replay.json", "format 7 is not known"),
    (f"replay {VECTOR} --backend nobody", "no adapter is called 'nobody'"),
    ("explain FEED-999", "no clause is called 'FEED-999'"),
    ("explain no/such", "no vector is called 'no/such'"),
    ("explain RUN-001 --record text.txt", "line 1: not JSON"),
    ("verify gone.zip", "cannot be read"),
    ("verify other.zip --rerun -1", "--rerun"),
    ("verify text.txt", "text.txt: no package"),
    ("verify other.zip", "other.zip"),
    ("verify dir", "a folder without a package.zip"),
    ("pack gone.zip --output a.xz", "cannot be read"),
    ("pack other.zip --output a.tar", "ends in .xz or .zip"),
    ("diff gone.zip other.zip", "cannot be read"),
    ("diff text.txt other.zip", "text.txt: no package"),
    ("scoreboard other.zip --output site --findings gone", "no such folder"),
    ("expect text.txt", "line 1: not JSON"),
    ("expect empty", "no whole header line"),
    ("expect gone.jsonl", "cannot be read"),
    ("compare text.txt text.txt", "cannot be read as JSON"),
    ("compare a b --in gone.json", "cannot be read as JSON"),
    ("compare a b --seed -1", "--seed"),
    ("bench json:loads", "its factory raised TypeError"),
    ("bench os:getcwd", "its factory made no backend, but a str"),
    ("bench reference reference", "named twice"),
    ("bench reference --device nowhere", "--device: Unknown attribute 'nowhere'"),
    ("bench reference --device /gpu:77 --job no-op", "cannot do the job 'no-op'"),
    ("bench nobody", "no adapter is called 'nobody'"),
    ("bench reference --job nothing", "no job is called 'nothing'"),
    ("bench reference --rounds 0", "--rounds"),
    ("bench reference --against HEAD --rounds 9", "leave out --rounds"),
    ("bench reference tiny --decide --processes 2", "leave out --processes"),
    (f"bench {TINY} --job no-op", "no Python namespace"),
    ("history text.txt", "line 1: at the top: cannot be read as JSON"),
    ("history gone.jsonl", "gone.jsonl"),
    ("history h.jsonl --commit x", "--commit is for --add"),
    ("history h.jsonl --add text.txt", "cannot be read as JSON"),
    ("leaks reference --loop nothing", "no loop is called 'nothing'"),
    ("leaks reference --steps -1", "--steps must be at least 200"),
    ("leaks reference reference", "named twice"),
    ("leaks nobody --steps 200", "no adapter is called 'nobody'"),
    ("leaks reference --device nowhere", "--device: Unknown attribute 'nowhere'"),
    ("growth reference --cost nothing", "no cost is called 'nothing'"),
    ("growth reference --sizes 4 -8 16", "--sizes must be from 1 to 268,435,456"),
    ("growth reference --sizes 4 2 8", "--sizes must ascend"),
    ("growth reference --sizes 4 8", "--sizes must ascend, and be 3 at least"),
    ("growth reference --processes 0", "--processes"),
    ("growth reference --budget nan", "--budget"),
    ("growth reference reference", "named twice"),
    ("growth nobody --cost build", "no adapter is called 'nobody'"),
    ("growth reference --device nowhere", "--device: Unknown attribute 'nowhere'"),
    (f"growth {TINY} --cost build", "no Python namespace"),
    ("selfcheck no-such-fault", "no fault is called 'no-such-fault'"),
    ("selfcheck --profile none", "no profile is called 'none'"),
    ("selfcheck --slice 0", "--slice"),
    ("selfcheck --jobs 0", "--jobs"),
    ("selfcheck --base nope --slice 1", "no adapter is called 'nope'"),
    ("freeze no-such-subject", "no folder of vectors with authored cases is called"),
    ("freeze --as a/b", "exactly one replay file"),
    ("freeze replay.json --as ../../outside", "SUBJECT/SLUG"),
    ("freeze gone.json --as a/b", "cannot be read as JSON"),
    ("spec --prose .", "--site FOLDER"),
    ("spec --output text.txt/below", "text.txt"),
    ("spec --graphs text.txt", "text.txt"),
    ("spec --html text.txt/below", "text.txt"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "said"), WRONG, ids=[command for command, _ in WRONG])
def test_what_is_wrong_is_told_in_one_line(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1, told
    assert told.startswith(f"sessrun {command.split(maxsplit=1)[0]}: ")
    assert said in told


def tiny_case() -> dict[str, Any]:
    """A case that opens a graph without nodes and feeds a tensor to a run."""
    tensor = {"dtype": "float32", "shape": [1], "data": "AACAPw=="}
    run = {"do": "run", "session": "s", "fetches": [], "feeds": {"x:0": tensor}}
    steps = [{"do": "open", "session": "s", "graph": "g"}, run]
    return {
        "id": "written/by-hand",
        "title": "A case written by hand.",
        "surface": "engine",
        "clauses": ["RUN-001"],
        "graphs": {"g": {}},
        "steps": steps,
    }


ILL_FORMED = [
    ({"dtype": "float31"}, "steps.1.feeds.x:0: unknown tensor dtype 'float31'"),
    ({"dtype": 1}, "1 is not of type 'string'"),
    ({"shape": [2]}, "takes 8 bytes, data has 4"),
    ({"shape": [-1]}, "-1 is less than the minimum"),
    ({"shape": [10**12]}, "is too large"),
    ({"shape": [1.0]}, "a list of integers"),
    ({"data": "AACAPw="}, "not base64"),
    ({"data": "é"}, "not base64"),
    ({"data": ["AACAPw=="]}, "a base64 string"),
    ({"dtype": "string"}, "needs a list of 1 items"),
    ({"session": "t"}, "steps.1.session: no session is called 't' at this step"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", ["--in-process", "--python"])
@pytest.mark.parametrize(("change", "said"), ILL_FORMED, ids=[str(c) for c, _ in ILL_FORMED])
def test_an_ill_formed_replay_is_told_in_one_line(
    change: dict[str, Any], said: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tiny_case()
    run = case["steps"][1]
    (run if "session" in change else run["feeds"]["x:0"]).update(change)
    Path("odd.json").write_text(json.dumps({"replay": 1, "case": case}))
    assert main(["replay", "odd.json", option]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1, told
    assert "odd.json: at " in told
    assert said in told


@pytest.mark.usefixtures("folder")
def test_a_replay_that_is_cut_anywhere_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = json.dumps({"replay": 1, "case": tiny_case()})
    for end in range(0, len(text), 7):
        Path("cut.json").write_text(text[:end])
        assert main(["replay", "cut.json"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_what_a_backend_says_does_not_steer_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = folder / "rude.py"
    program.write_text("import sys; sys.exit('\\x1b]0;mine\\x07\\x1b[31mred')")
    assert main(["certify", f"exec:{sys.executable} {program}"]) == 2
    told = capsys.readouterr().err
    assert "\\x1b[31mred" in told
    assert not {"\x1b", "\x07"} & set(told)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["run"],
        ["run", "x", "--seed", "y"],
        ["certify", "--simulated-gpu", "reference"],
        ["run", "reference", "--simulated-gpu=0"],
    ],
)
def test_wrong_usage_is_argparse_s(arguments: list[str], folder: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert not (folder / "out").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert command in capsys.readouterr().out


def test_a_damaged_record_is_not_resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "r.jsonl"
    command = ["run", TINY, "--only", "h/floats-keep", "--generated", "0", "--record", str(path)]
    assert main(command) in {0, 1}
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{}", *lines[1:]]) + "\n")
    capsys.readouterr()
    assert main([*command, "--resume"]) == 2
    told = capsys.readouterr().err
    assert "line 2" in told
    assert told.count("\n") == 1
    path.write_text(lines[0].replace('"seed":1', '"seed":2') + "\n")
    assert main([*command, "--resume"]) == 2
    assert "cannot resume, the plan.seed differs" in capsys.readouterr().err
    assert (folder / "report.html").exists(), "what is refused takes nothing away"


def certified(folder: Path) -> Path:
    """The package of a tiny run, made of its record by hand of the command line's own parts."""
    from sessrun.cli.running import plan_facts, replay_of  # noqa: PLC0415 - heavy
    from sessrun.conformance.execution import execute  # noqa: PLC0415 - heavy
    from sessrun.conformance.plan import Plan, build_plan  # noqa: PLC0415 - heavy
    from sessrun.conformance.runner import Runner  # noqa: PLC0415 - heavy
    from sessrun.reports.package import write_package  # noqa: PLC0415 - heavy
    from sessrun.spec.loader import load_clauses  # noqa: PLC0415 - heavy

    tracing = build_plan("tracing", generated=0)
    plan = Plan("tracing", tracing.seed, 0, tracing.cases[:3])
    runner = Runner(f"exec:{sys.executable} -m sessrun.adapters.worker {TINY}")
    execute(plan, runner, folder / "record.jsonl")
    runner.shutdown()
    package = folder / "package.zip"
    write_package(
        package,
        folder / "record.jsonl",
        plan_facts(plan),
        load_clauses(),
        replay_of=replay_of(plan, runner.spec),
    )
    return package


@pytest.mark.slow
def test_verify_runs_no_command_that_a_package_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = certified(folder)
    assert main(["verify", str(package), "--rerun", "1"]) == 2
    told = capsys.readouterr().err
    assert "give --backend to run that" in told
    assert main(["verify", str(package), "--rerun", "1", "--backend", TINY, "--seed", "1"]) == 1


@pytest.mark.slow
def test_what_a_simulated_gpu_passes_is_simulated_on_every_face(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--simulated-gpu", "--profile", "tracing-engine", "--seed", "1", "--output", "made"]
    assert main(["certify", "reference", *options]) == 0
    assert "≈ SIMULATED" in capsys.readouterr().out
    made = folder / "made"
    assert ">simulated<" in (made / "badge.svg").read_text()
    assert 'name="verdict" value="SIMULATED"' in (made / "junit.xml").read_text()
    assert "CERTIFIED" not in (made / "report.html").read_text()
    assert main(["verify", str(made / "package.zip")]) == 3
    told = capsys.readouterr().out
    assert "VERIFIED  UNSIGNED  verdict: SIMULATED" in told
    assert "REFUSED as a certificate of a GPU" in told
    assert main(["scoreboard", str(made), "--output", "site"]) == 0
    assert "SIMULATED" in (folder / "site" / "index.html").read_text()


def test_output_that_nobody_reads_is_no_error(folder: Path) -> None:
    """`sessrun spec | head -1`: the pipe closes early."""
    with subprocess.Popen(
        [sys.executable, "-m", "sessrun.cli.main", "spec"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as spec:
        assert spec.stdout is not None
        assert spec.stderr is not None
        spec.stdout.readline()
        spec.stdout.close()
        told = spec.stderr.read()
        assert spec.wait(60) in {0, 1}, "0 where the pipe took it all"
    assert told == b""


@pytest.mark.parametrize("where", [[], ["--in-process"]], ids=["worker", "in process"])
def test_replay_shows_where_an_adapter_of_this_folder_raised(
    folder: Path, capsys: pytest.CaptureFixture[str], where: list[str]
) -> None:
    (folder / "raising_backend.py").write_text(
        "from sessrun.adapters.minimal import MinimalEngine\n\n\n"
        "class Raising(MinimalEngine):\n"
        "    def open(self, graph, config):\n"
        "        raise LookupError('nobody caught this')\n\n\n"
        "def backend():\n"
        "    return Raising()\n"
    )
    assert main(["replay", VECTOR, "--backend", "raising_backend:backend", *where]) == 1
    said = capsys.readouterr().out
    assert "LookupError: nobody caught this" in said
    assert "raising_backend.py" in said
    assert "in open" in said


def test_run_replay_expect_and_explain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One way through: a run, its replay, the expectations it drafts, the clause it broke."""
    fake = "sessrun.adapters.fakes.lying:backend"
    record = folder / "out" / "r.jsonl"
    command = ["run", fake, "--only", "h/floats-keep", "--generated", "0", "--record", str(record)]
    assert main(command) == 1
    assert "want dtype" in capsys.readouterr().out or record.exists()
    replays = sorted((folder / "out" / "replays").iterdir())
    assert len(replays) == 1
    assert main(["replay", str(replays[0]), "--backend", fake]) == 1
    assert "at step" in capsys.readouterr().out
    assert main(["replay", str(replays[0]), "--backend", "reference", "--json"]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown[shown.index("\n[") :])
    assert main(["replay", str(replays[0]), "--python"]) == 0
    assert "tf.Session" in capsys.readouterr().out
    expectations = folder / "expectations.toml"
    assert main(["expect", str(record), "--file", str(expectations)]) == 0
    assert "1 entries" in capsys.readouterr().err
    assert main(["expect", str(record)]) == 0
    assert capsys.readouterr().out == expectations.read_text()
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    clause = next(line["clauses"][0] for line in lines if line["kind"] == "result")
    assert main(["explain", clause, "--record", str(record)]) == 0
    assert "fail" in capsys.readouterr().out


def test_selfcheck_lists_a_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfcheck", "--list", "--slice", "12", "--seed", "1"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("\n") == 12
    assert main(["selfcheck", "--list", "--slice", "12", "--seed", "1"]) == 0
    assert capsys.readouterr().out == listed
    assert main(["selfcheck", "--list", "--profile", "core"]) == 0
    assert capsys.readouterr().out.count("\n") > 12
