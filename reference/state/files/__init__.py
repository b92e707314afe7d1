"""Files outside of graphs: paths, patterns, file objects, gfile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATER"]

#: The modules of this room, and the public names for which each is imported.
LATER: Final[Mapping[str, str]] = {
    "state.files.files": (
        "gfile.Copy gfile.DeleteRecursively gfile.Exists gfile.FastGFile gfile.GFile gfile.Glob "
        "gfile.IsDirectory gfile.ListDirectory gfile.MakeDirs gfile.MkDir gfile.Open gfile.Remove"
        " gfile.Rename gfile.Stat gfile.Walk io.gfile.GFile io.gfile.copy io.gfile.exists "
        "io.gfile.get_registered_schemes io.gfile.glob io.gfile.isdir io.gfile.join "
        "io.gfile.listdir io.gfile.makedirs io.gfile.mkdir io.gfile.remove io.gfile.rename "
        "io.gfile.rmtree io.gfile.stat io.gfile.walk"
    ),
}
