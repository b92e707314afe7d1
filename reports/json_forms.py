"""The two forms that JSON has in a package, so that no two readers can see two different files."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_bytes", "line_bytes"]


def json_bytes(form: Any) -> bytes:
    """The one form of a JSON file in a package: sorted keys, ASCII, a newline at the end.

    Raises:
      ValueError: a number is not finite.

    """
    return (json.dumps(form, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")


def line_bytes(form: Any) -> bytes:
    """The one form of a line of a record: sorted keys, ASCII, no spaces, no newline.

    Raises:
      ValueError: a number is not finite.

    """
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")
