"""The spec: the shared language of run, feed and fetch, as data and the modules that read it."""

from typing import Final

__all__ = ["SPEC_VERSION"]

#: The version a certificate names: that of the volume on the runtime (`volumes.toml`). A minor
#: version may add clauses and withdraw some, whose successors say what they said.
SPEC_VERSION: Final = "0.2"
