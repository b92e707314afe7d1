"""Backends that tests write: the reference, with something planted in `Session.run`."""

from __future__ import annotations

from pathlib import Path

_BACKEND = """
import sessrun.reference as tf
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.conformance.faulty.framework import override

KEPT = []

class Session(tf.Session):
    def run(self, fetches, feed_dict=None, *args, **kwargs):
        {planted}
        return super().run(fetches, feed_dict, *args, **kwargs)

def backend():
    return NamespaceBackend(override(tf, Session=Session), "planted", "1")
"""


def planted_backend(folder: Path, planted: str) -> str:
    """Write the module of a backend into a folder, from which processes must start; its name."""
    (folder / "planted_run.py").write_text(_BACKEND.format(planted=planted))
    return "planted_run:backend"
