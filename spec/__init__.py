"""The spec: the shared language of run, feed and fetch, as data and the modules that read it."""

from typing import Final

__all__ = ["SPEC_VERSION"]

#: The version a certificate names. A minor version may add clauses, never change one.
SPEC_VERSION: Final = "0.1"
