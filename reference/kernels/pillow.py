"""Pillow, the library of picture files, imported once a program reads or writes one."""

from __future__ import annotations

from types import ModuleType

__all__ = ["pillow", "too_large"]


def pillow() -> ModuleType:
    """The package `PIL`, with the submodules that kernels use imported."""
    import PIL.Image  # noqa: PLC0415 - few programs read or write pictures
    import PIL.ImageFile  # noqa: PLC0415 - the same
    import PIL.ImageSequence  # noqa: PLC0415 - the same

    return PIL


def too_large() -> tuple[type[Exception], ...]:
    """The exceptions of Pillow for pictures of 180 million pixels (90 if warnings are errors)."""
    image = pillow().Image
    return (image.DecompressionBombError, image.DecompressionBombWarning)
