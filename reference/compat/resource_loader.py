"""Files that lie beside a program's modules (`tf.resource_loader`)."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = [
    "get_data_files_path",
    "get_path_to_datafile",
    "get_root_dir_with_all_resources",
    "load_resource",
    "readahead_file_path",
]

_HERE = Path(__file__).parents[1]


def load_resource(path: str) -> bytes:
    """The content of a file, its path relative to this package.

    Raises:
      OSError: the file cannot be read.

    """
    return (_HERE / path).read_bytes()


def _folder_of_caller() -> str:
    frame = sys._getframe(2)  # noqa: SLF001 - the way to know the file
    return str(Path(frame.f_code.co_filename).parent)


def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder_of_caller()


def get_root_dir_with_all_resources() -> str:
    """The folder of this package."""
    return str(_HERE)


def get_path_to_datafile(path: str) -> str:
    """The path of a file in the folder of the file that calls this."""
    return str(Path(_folder_of_caller()) / path)


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path unchanged."""
    del readahead
    return path
