"""Pillow, the library of picture files, imported once a program reads or writes one."""

from __future__ import annotations

from typing import Any

__all__ = ["pillow", "too_large"]


def pillow() -> Any:
    """Its package, with the modules that are used here imported."""
    import PIL.Image  # noqa: PLC0415 - few programs read or write pictures
    import PIL.ImageFile  # noqa: PLC0415 - the same
    import PIL.ImageSequence  # noqa: PLC0415 - the same

    return PIL


def too_large() -> tuple[type[Exception], ...]:
    """What it raises of a picture of 180 million pixels (90, where warnings are errors) or more."""
    image = pillow().Image
    return (image.DecompressionBombError, image.DecompressionBombWarning)
