"""The temporary folder of tests, which goes when the process ends."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile

__all__ = ["get_temp_dir"]


@functools.cache
def get_temp_dir() -> str:
    """The folder of this process for the files of tests, under `$TEST_TMPDIR` if that is set."""
    folder = tempfile.mkdtemp(prefix="sessrun_test_", dir=os.environ.get("TEST_TMPDIR") or None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
