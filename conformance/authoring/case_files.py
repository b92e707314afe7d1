"""How authored cases write their files: steps, and paths in what the namespace has built."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final, cast

from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import Step
from sessrun.spec.forms import Json

__all__ = ["file_step", "text64", "with_paths"]

_HEAD: Final = f"{STAND_IN}/".encode()
#: How base64 of the stand-in begins: what does not begin so is not looked at.
_HEAD64: Final = base64.b64encode(STAND_IN.encode()[:15]).decode()


def text64(data: bytes) -> str:
    """Bytes as a case has them."""
    return base64.b64encode(data).decode()


def file_step(name: str, how: Mapping[str, Json | bytes]) -> Step:
    """A `file` step; `write` and `append` are given bytes (None: a folder)."""
    coded = {
        key: text64(value) if isinstance(value, bytes) else value for key, value in how.items()
    }
    return cast("Step", {"do": "file", "name": name, **coded})


def with_paths(form: Any) -> Any:
    """A GraphDef or a tensor as JSON, with `{"$path": …}` for base64 of a path of the case."""
    if isinstance(form, list):
        return [with_paths(part) for part in form]
    if isinstance(form, dict):
        return {key: with_paths(part) for key, part in form.items()}
    if not isinstance(form, str) or not form.startswith(_HEAD64):
        return form
    raw = base64.b64decode(form)
    if raw == STAND_IN.encode():
        return {"$path": ""}
    return {"$path": raw[len(_HEAD) :].decode()} if raw.startswith(_HEAD) else form
