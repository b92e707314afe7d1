"""The two trees of `sessrun bench --against`: a revision of a repository, and what is there now.

The revision is checked out in a folder of its own that is removed afterwards. Of both trees `src`
and the root are where a side's modules are looked for first; a command that builds them may put
more into a folder that comes before these. Where the repository is sessrun's own, both sides have
the benchmarks of the tree that is there now: else a job that changed would be taken for a change of
speed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks.processes import Side

__all__ = ["sides_of_trees"]

#: Where sessrun's own benchmarks are in its tree.
_BENCHMARKS: Final = Path("conformance", "benchmarks")


@contextmanager
def sides_of_trees(backend: str, revision: str, build: str = "") -> Iterator[tuple[Side, Side]]:
    """The backend as it was at a revision of this folder's repository, and as it is now.

    Args:
      backend: as `sessrun.adapters.registry.load` takes it.
      revision: what git calls a revision.
      build: a command of the shell that is run in each tree; the folder `$SITE` is where it may
        put what is to be imported (`pip install --no-deps --target "$SITE" .`).

    Raises:
      AdapterError: this is no repository, the revision is not in it, or the build fails.

    """
    root = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel"))
    commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="sessrun-") as temporary:
        tree = Path(temporary, "tree")
        _git(root, "worktree", "add", "--detach", str(tree), commit)
        try:
            if (root / "src" / "sessrun").is_dir():
                shutil.rmtree(tree / _BENCHMARKS, ignore_errors=True)
                shutil.copytree(root / _BENCHMARKS, tree / _BENCHMARKS)
            yield (
                _side(f"{backend}@{commit[:8]}", backend, tree, Path(temporary, "old"), build),
                _side(f"{backend}@{_now(root)}", backend, root, Path(temporary, "new"), build),
            )
        finally:
            _git(root, "worktree", "remove", "--force", str(tree))


def _side(name: str, backend: str, tree: Path, site: Path, build: str) -> Side:
    site.mkdir()
    if build:
        done = subprocess.run(  # noqa: S602 - the user's own command
            build,
            shell=True,
            cwd=tree,
            env=os.environ | {"SITE": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip()[-600:]
            raise AdapterError(f"{name}: its build ended with {done.returncode}: {last}")
    roots = [folder for folder in (site, tree / "src", tree) if folder.is_dir()]
    return Side(name, backend, tuple(roots), tree)


def _now(root: Path) -> str:
    """What the tree that is there now is called: its commit, with `+` if files differ from it."""
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return _git(root, "rev-parse", "HEAD")[:8] + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - git, with a revision that cannot be an option
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise AdapterError(f"git cannot be run: {error}") from error
    if done.returncode:
        raise AdapterError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
