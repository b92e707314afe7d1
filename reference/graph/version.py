"""`tf.version`: which TensorFlow's namespace this is, for programs that choose by it."""

from __future__ import annotations

from typing import Final

from sessrun.reference.graph.graph import MIN_CONSUMER, PRODUCER
from sessrun.reference.public import public

__all__ = [
    "COMPILER_VERSION",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "VERSION",
]

#: The release whose `tensorflow.compat.v1` this namespace is held against.
VERSION: Final = "2.21.0"
GIT_VERSION: Final = "unknown"
COMPILER_VERSION: Final = "unknown"
GRAPH_DEF_VERSION: Final = PRODUCER
GRAPH_DEF_VERSION_MIN_CONSUMER: Final = MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER: Final = 0

public("COMPILER_VERSION", "__compiler_version__")(COMPILER_VERSION)
public("GIT_VERSION", "__git_version__")(GIT_VERSION)
public("GRAPH_DEF_VERSION")(GRAPH_DEF_VERSION)
public("GRAPH_DEF_VERSION_MIN_CONSUMER")(GRAPH_DEF_VERSION_MIN_CONSUMER)
public("GRAPH_DEF_VERSION_MIN_PRODUCER")(GRAPH_DEF_VERSION_MIN_PRODUCER)
public("VERSION", "__version__")(VERSION)
