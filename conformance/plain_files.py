"""The files of a case as lines of plain Python: part of `plain`, for people to read."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from sessrun.spec.cases.forms import Step
from sessrun.spec.forms import Json

__all__ = ["file_line", "folder_lines", "graph_text", "items_text", "path_text"]


def folder_lines(files: Mapping[str, str | None]) -> list[str]:
    """The lines that create the case's folder and its first files."""
    lines = ["import base64, os, pathlib, shutil, tempfile", "folder = tempfile.mkdtemp()"]
    lines += [line for name, data in files.items() for line in _put(name, data)]
    return lines


def path_text(name: str) -> str:
    """A path in the folder, as a str."""
    return f"os.path.join(folder, {name!r})" if name else "folder"


def file_line(step: Step) -> str:
    """A `file` step."""
    file = f"pathlib.Path({path_text(step['name'])})"
    if "write" in step:
        return "; ".join(_put(step["name"], step["write"]))
    if "append" in step:
        return f"{file}.open('ab').write({base64.b64decode(step['append'])!r})"
    if "truncate" in step:
        return f"{file}.write_bytes({file}.read_bytes()[:{step['truncate']}])"
    if "flip" in step:
        offset, bits = step["flip"]
        flip = f"raw[{offset}] ^= {bits}"
        return f"raw = bytearray({file}.read_bytes()); {flip}; {file}.write_bytes(raw)"
    if "rename" in step:
        return f"{file}.rename({path_text(step['rename'])})"
    if "mode" in step:
        return f"{file}.chmod({step['mode']:#o})"
    if step.get("read") == "names":
        return f"print(sorted({file}.rglob('*')))"
    if "read" in step:
        return f"print({file}.read_bytes() if {file}.is_file() else None)"
    return f"shutil.rmtree({file}) if {file}.is_dir() else {file}.unlink()"


def items_text(items: Sequence[str | Mapping[str, str]]) -> str:
    """The strings of a tensor, some of which are paths."""
    return f"[{', '.join(_item(item) for item in items)}]"


def graph_text(form: Json) -> str:
    """A GraphDef as the text of a dict, with expressions for the base64 of paths."""
    if isinstance(form, list):
        return f"[{', '.join(graph_text(part) for part in form)}]"
    if not isinstance(form, Mapping):
        return repr(form)
    if set(form) == {"$path"}:
        return f"base64.b64encode({path_text(str(form['$path']))}.encode()).decode()"
    return f"{{{', '.join(f'{key!r}: {graph_text(part)}' for key, part in form.items())}}}"


def _item(item: str | Mapping[str, str]) -> str:
    if isinstance(item, Mapping):
        return f"{path_text(item['$path'])}.encode()"
    return repr(base64.b64decode(item))


def _put(name: str, data: str | None) -> list[str]:
    file = f"pathlib.Path({path_text(name)})"
    if data is None:
        return [f"{file}.mkdir(parents=True, exist_ok=True)"]
    write = f"{file}.write_bytes({base64.b64decode(data)!r})"
    return [f"{file}.parent.mkdir(parents=True, exist_ok=True)", write] if "/" in name else [write]
