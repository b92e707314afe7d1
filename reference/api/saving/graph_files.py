"""`tf.train.write_graph`: a graph definition as a file. Source: TF 2.21."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import text_format

from sessrun.reference.graph.graph import Graph
from sessrun.reference.public import public

__all__ = ["write_graph"]


@public("io.write_graph", "train.write_graph")
def write_graph(
    graph_or_graph_def: Any,
    logdir: Any,
    name: str,
    as_text: bool = True,
) -> str:
    """Write a graph to a file.

    Args:
      graph_or_graph_def: a Graph, or a GraphDef.
      logdir: the folder, which is created if it does not exist.
      name: the file's name.
      as_text: whether it is written as text.

    Returns:
      The file's path.

    """
    graph = graph_or_graph_def
    definition = graph.as_graph_def() if isinstance(graph, Graph) else graph
    path = Path(logdir) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if as_text:
        path.write_text(text_format.MessageToString(definition), "utf-8")
    else:
        path.write_bytes(definition.SerializeToString(deterministic=True))
    return str(path)
