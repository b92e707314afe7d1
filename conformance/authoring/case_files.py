"""The files of authored cases: steps that change them, and their paths in graphs and tensors."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final, cast

from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import Step
from sessrun.spec.forms import Json, JsonObject

__all__ = ["file_step", "text64", "with_paths"]

_HEAD: Final = f"{STAND_IN}/".encode()
#: The beginning of the stand-in in base64: a text that begins otherwise is no path of a case.
_HEAD64: Final = base64.b64encode(STAND_IN.encode()[:15]).decode()


def text64(data: bytes) -> str:
    """Bytes in base64, as a case holds them."""
    return base64.b64encode(data).decode()


def file_step(name: str, how: Mapping[str, Json | bytes]) -> Step:
    """A `file` step; `write` and `append` are given bytes (None: a folder)."""
    coded = {
        key: text64(value) if isinstance(value, bytes) else value for key, value in how.items()
    }
    return cast("Step", {"do": "file", "name": name, **coded})


def with_paths(form: JsonObject) -> JsonObject:
    """A GraphDef or a tensor as JSON, with `{"$path": …}` for base64 of a path of the case."""
    return {key: _with_paths(part) for key, part in form.items()}


def _with_paths(form: Json) -> Json:
    if isinstance(form, list):
        return [_with_paths(part) for part in form]
    if isinstance(form, dict):
        return with_paths(form)
    if not isinstance(form, str) or not form.startswith(_HEAD64):
        return form
    raw = base64.b64decode(form)
    if raw == STAND_IN.encode():
        return {"$path": ""}
    return {"$path": raw[len(_HEAD) :].decode()} if raw.startswith(_HEAD) else form
