"""The tree is light: what a command makes again is not in git, and no file is large by accident."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Bytes of all files in git: a bound to be lowered.
MOST = 26_840_000
#: Large files, each with its reason.
LARGE = {
    "spec/feed_table.json": "what TensorFlow did with every kind of value for every dtype",
    "spec/tables/ops.py": "a row for each operation, which the runtime imports",
    "spec/vectors/large-values/seventy-thousand-bytes-go-in-and-out.json": "a tensor at size",
}


def sizes() -> dict[str, int]:
    """The bytes of each file in git."""
    command = ["/usr/bin/env", "git", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return {
        path.relative_to(ROOT).as_posix(): path.lstat().st_size for path in paths if path.exists()
    }


def test_the_tree_is_light() -> None:
    assert sum(sizes().values()) < MOST


def test_no_file_is_large_without_a_reason() -> None:
    large = {
        name
        for name, size in sizes().items()
        if size > 150_000 and not name.startswith("reports/published/certificates/")
    }
    assert large == LARGE.keys()


def test_no_generated_page_is_in_git() -> None:
    pages = [name for name in sizes() if name.endswith(".html") or name == "docs/operations.md"]
    assert not pages
