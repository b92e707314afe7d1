"""Files and folders by the names of `tensorflow.python.lib.io.file_io`. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.state.files.file_names import FilePath
from sessrun.reference.state.files.file_object import GFile
from sessrun.reference.state.files.files import (
    copy,
    glob,
    isdir,
    join,
    listdir,
    remove,
    rename,
    walk,
)
from sessrun.reference.state.files.files import exists as file_exists
from sessrun.reference.state.files.files import makedirs as recursive_create_dir
from sessrun.reference.state.files.files import mkdir as create_dir
from sessrun.reference.state.files.files import rmtree as delete_recursively

__all__ = [
    "FileIO",
    "copy",
    "create_dir",
    "delete_file",
    "delete_recursively",
    "file_exists",
    "get_matching_files",
    "is_directory",
    "join",
    "list_directory",
    "read_file_to_string",
    "recursive_create_dir",
    "rename",
    "walk",
    "write_string_to_file",
]

FileIO = GFile
delete_file = remove
get_matching_files = glob
is_directory = isdir
list_directory = listdir


def write_string_to_file(filename: FilePath, file_content: str | bytes) -> None:
    """Write a text, or bytes, to a file.

    Raises:
      OpError: the file cannot be written.

    """
    with GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def read_file_to_string(filename: FilePath, binary_mode: bool = False) -> str | bytes:
    """The content of a file, as text, or with `binary_mode` as bytes.

    Raises:
      OpError: the file cannot be read.

    """
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()
