"""The build of the wheel, which has all vectors in one archive; pyproject.toml has the rest."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    """Packs the vectors and says in the spec's statement that the archive is of checked files."""

    def run(self) -> None:
        """Build; an editable install has the checkout's folder."""
        super().run()
        if not self.editable_mode:
            spec = Path(self.build_lib, "sessrun", "spec")
            raw = _packed(Path(__file__).parent / "spec" / "vectors")
            (spec / "vectors.tar.xz").write_bytes(raw)
            statement = spec / "checked.sha256"
            lines = statement.read_text("utf-8").splitlines(keepends=True)
            kept = "".join(line for line in lines if "  vectors/" not in line)
            line = f"{hashlib.sha256(raw).hexdigest()}  vectors.tar.xz\n"
            statement.write_text(kept + line, "utf-8")


def _packed(folder: Path) -> bytes:
    """The archive: the same bytes of the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz", preset=9) as archive:
        paths = folder.glob("*/*.json")
        for path in sorted(paths, key=lambda path: path.with_suffix("").as_posix()):
            raw = path.read_bytes()
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    return buffer.getvalue()


setup(cmdclass={"build_py": BuildPy})
