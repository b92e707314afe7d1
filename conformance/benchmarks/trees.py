"""The two trees of `sessrun bench --against`: a revision of a repository, and what is there now.

The revision is checked out in a folder of its own that is removed afterwards. Of both trees `src`
and the root are where a side's modules are looked for first, and before them those of the folder in
which one is; a command that builds them may put more into a folder that comes before all these.
Where the repository is sessrun's own, both sides have
the benchmarks of the tree that is there now: else a job that changed would be taken for a change of
speed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import sessrun
from sessrun.adapters.errors import AdapterError
from sessrun.conformance.benchmarks.processes import Side

__all__ = ["check_imports", "git", "sides_of_trees"]

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
    root = Path(git(Path.cwd(), "rev-parse", "--show-toplevel"))
    here = git(Path.cwd(), "rev-parse", "--show-prefix")
    commit = _commit(root, revision)
    names = f"{backend}@{commit[:8]}", f"{backend}@{_now(root, commit)}"
    with tempfile.TemporaryDirectory(prefix="sessrun-") as temporary:
        tree = Path(temporary, "tree")
        try:
            git(root, "worktree", "add", "--detach", str(tree), commit)
            if (tree / ".gitmodules").exists():
                with suppress(AdapterError):  # out of reach: what needs them tells
                    git(tree, "submodule", "update", "--init", "--recursive")
            if (root / "src" / "sessrun").is_dir():
                shutil.rmtree(tree / _BENCHMARKS, ignore_errors=True)
                shutil.copytree(root / _BENCHMARKS, tree / _BENCHMARKS)
            yield (
                _side(names[0], backend, (tree, here), Path(temporary, "old"), build),
                _side(names[1], backend, (root, here), Path(temporary, "new"), build),
            )
        finally:
            with suppress(AdapterError):  # twice: one that was interrupted is locked
                git(root, "worktree", "remove", "--force", "--force", str(tree))


def _commit(root: Path, revision: str) -> str:
    try:
        return git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except AdapterError as error:
        shallow = git(root, "rev-parse", "--is-shallow-repository") == "true"
        why = "; the clone is shallow: fetch more of it" if shallow else ""
        raise AdapterError(f"{root} has no revision {revision!r}{why}") from error


def _side(name: str, backend: str, within: tuple[Path, str], site: Path, build: str) -> Side:
    """A side of a tree and the folder of it in which one is, built into `site`."""
    tree, here = within[0], within[0] / within[1]
    site.mkdir()
    if build:
        done = subprocess.run(  # noqa: S602 - the user's own command
            build,
            shell=True,
            cwd=tree,
            env=os.environ | {"SITE": str(site)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip()[-600:]
            raise AdapterError(f"{name}: its build ended with {done.returncode}: {last}")
    roots = [site, here / "src", here, tree / "src", tree]
    for folder in roots:
        if os.pathsep in str(folder):
            raise AdapterError(
                f"no modules are looked for in {folder}: it has {os.pathsep!r} in it"
            )
    there = dict.fromkeys(folder for folder in roots if folder.is_dir())
    return Side(name, backend, tuple(there), here if here.is_dir() else tree)


def check_imports(side: Side, others: Iterable[Side], files: Iterable[str]) -> None:
    """Refuse a side that measures something else than its tree.

    What its tree lacks is imported from where the project is installed, which may be the other
    tree: then the same code would be compared with itself.

    Args:
      side: the side; one without roots may import what it likes.
      others: the other sides.
      files: of the modules that its process has imported.

    Raises:
      AdapterError: no module is of its tree, or one is of another side's.

    """
    if not side.roots:
        return
    own = _resolved(side.roots)
    installed = _resolved([Path(sys.prefix), Path(sys.base_prefix), Path(sessrun.__file__).parent])
    foreign = _resolved(root for other in others if other is not side for root in other.roots)
    imported = _resolved(map(Path, files))
    elsewhere = [file for file in imported if not _within(file, own)]
    if len(elsewhere) == len(imported):
        raise AdapterError(
            f"{side.name}: nothing that it imports is of its tree, but of what is installed; "
            "--build says how a tree is built"
        )
    for file in elsewhere:
        packaged = {"site-packages", "dist-packages"} & set(file.parts)
        if _within(file, foreign) and not packaged and not _within(file, installed):
            raise AdapterError(f"{side.name}: its tree lacks what is imported from {file}")


def _resolved(paths: Iterable[Path]) -> list[Path]:
    return list(dict.fromkeys(path.resolve() for path in paths))


def _within(file: Path, folders: Iterable[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)


def _now(root: Path, old: str) -> str:
    """What the tree that is there now is called: its commit, with `+` if files differ from it.

    It has the `+` too where its commit is the old one: the sides need two names.
    """
    head = git(root, "rev-parse", "HEAD")
    changed = head == old or git(root, "status", "--porcelain", "--untracked-files=no")
    return head[:8] + ("+" if changed else "")


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints in a folder, without its last line break.

    Raises:
      AdapterError: git cannot be run, or refuses.

    """
    try:
        done = subprocess.run(  # noqa: S603 - git, with a revision that cannot be an option
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=folder,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
    except OSError as error:
        raise AdapterError(f"git cannot be run: {error}") from error
    if done.returncode:
        raise AdapterError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.removesuffix("\n")
