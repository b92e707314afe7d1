"""Collections of graphs as data: names of nodes, numbers, texts, messages of variables and such."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.text import as_text
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_prefixes import under, without
from sessrun.spec.proto import (
    CollectionDef,
    CondContextDef,
    MetaGraphDef,
    QueueRunnerDef,
    SaverDef,
    VariableDef,
    WhileContextDef,
)

__all__ = ["add_collection", "restore_collections"]

_LOGGER: Final = logging.getLogger("sessrun")
#: The collections of variables.
_VARIABLES: Final = frozenset(
    {
        GraphKeys.GLOBAL_VARIABLES,
        GraphKeys.LOCAL_VARIABLES,
        GraphKeys.MODEL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES,
        GraphKeys.MOVING_AVERAGE_VARIABLES,
        GraphKeys.METRIC_VARIABLES,
        GraphKeys.GLOBAL_STEP,
    }
)
#: Collections whose items are serialized messages: the message class, and the function that
_MESSAGES: Final[Mapping[str, tuple[type[Message], str]]] = {
    GraphKeys.SAVERS: (SaverDef, "Saver.from_proto"),
    GraphKeys.COND_CONTEXT: (CondContextDef, "Conditional.from_proto"),
    GraphKeys.WHILE_CONTEXT: (WhileContextDef, "Loop.from_proto"),
    GraphKeys.QUEUE_RUNNERS: (QueueRunnerDef, "QueueRunner.from_proto"),
}


def add_collection(
    target: MetaGraphDef, key: object, items: Sequence[object], scope: str | None
) -> None:
    """Write a collection; one that cannot be written is left out, with a warning.

    Args:
      target: where to.
      key: its name; one that is no text is left out.
      items: the collection's items.
      scope: a name scope that is taken out of names, or None.

    """
    if not isinstance(key, str | bytes):
        _LOGGER.warning(
            "Only collections with string type keys will be serialized. This key has %s", type(key)
        )
        return
    if not items:
        return
    try:
        definition = _collection(as_text(key), items, scope)
    except Exception as error:  # noqa: BLE001 - a program may put anything into a collection
        _LOGGER.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.\n%s",
            key,
            error,
        )
        return
    target.collection_def[as_text(key)].CopyFrom(definition)


def _collection(key: str, items: Sequence[Any], scope: str | None) -> CollectionDef:
    definition = CollectionDef()
    if key in _VARIABLES or key in _MESSAGES:
        for item in items:
            message = item if isinstance(item, Message) else item.to_proto(export_scope=scope)
            if message is not None:
                definition.bytes_list.value.append(message.SerializeToString(deterministic=True))
    elif isinstance(items[0], str | bytes):
        definition.bytes_list.value.extend(_encoded(item) for item in items)
    elif isinstance(items[0], int):
        definition.int64_list.value.extend(items)
    elif isinstance(items[0], float):
        definition.float_list.value.extend(items)
    elif isinstance(items[0], AnyMessage):
        definition.any_list.value.extend(items)
    else:
        definition.node_list.value.extend(without(scope, item.name) for item in items)
    return definition


def _encoded(item: str | bytes) -> bytes:
    return item.encode() if isinstance(item, str) else item


def restore_collections(
    source: MetaGraphDef, graph: Graph, scope: str, without_keys: Collection[str]
) -> None:
    """Add the items of CollectionDefs to the collections of a graph.

    Args:
      source: what they say.
      graph: the graph, which is the default graph.
      scope: the name scope that the graph's operations were imported under, or empty.
      without_keys: collections that are left out.

    Raises:
      KeyError: the graph does not have what one names.

    """
    variables: dict[bytes, object] = {}
    for key, definition in sorted(source.collection_def.items()):
        if key in without_keys:
            continue
        kind = definition.WhichOneof("kind")
        if kind is None:
            _LOGGER.error("Cannot identify data type for collection %s. Skipping.", key)
            continue
        for value in getattr(definition, kind).value:
            if kind == "bytes_list" and key in _VARIABLES:
                if value not in variables:
                    variables[value] = Variable.from_proto(VariableDef.FromString(value), scope)
                item = variables[value]
            else:
                item = _item(key, kind, value, graph, scope)
            graph.add_to_collection(key, item)


def _item(key: str, kind: str, value: Any, graph: Graph, scope: str) -> Any:
    if kind == "bytes_list" and key in _MESSAGES:
        message, from_proto = _MESSAGES[key]
        return UPPER[from_proto](message.FromString(value), import_scope=scope)
    if kind == "node_list":
        return graph.as_graph_element(under(scope, value))
    if kind == "bytes_list" and scope:
        return under(scope, as_text(value))
    return value
