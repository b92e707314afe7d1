"""Where the values of a graph go: which operations they reach, and whether as data only.

Data moves on through arithmetic, state and queues; a shape, an axis, an index, a count decides what
happens, and keeps its value.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable, Mapping
from typing import Final

from sessrun.spec.cases.graph_forms import GraphForm, NodeForm
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Flow"]

_ALL: Final = ("*",)
#: Operations that take these inputs as data, whatever the integers or strings in them are.
_DATA: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            "Add",
            "AddV2",
            "AddN",
            "Sub",
            "Mul",
            "Neg",
            "Square",
            "Maximum",
            "Minimum",
            "Abs",
            "Sign",
            "Identity",
            "IdentityN",
            "Snapshot",
            "StopGradient",
            "Pack",
            "ZerosLike",
            "OnesLike",
            "Shape",
            "ShapeN",
            "Rank",
            "Size",
            "Equal",
            "NotEqual",
            "Less",
            "LessEqual",
            "Greater",
            "GreaterEqual",
            "RealDiv",
            "Div",
            "FloorDiv",
            "FloorMod",
            "TruncateDiv",
            "TruncateMod",
            "Merge",
            "Exit",
            "NextIteration",
            "Enter",
            "RefIdentity",
            "RefMerge",
            "RefExit",
            "RefEnter",
            "RefNextIteration",
            "DeepCopy",
            "PreventGradient",
            "SquaredDifference",
            "MatMul",
            "Cast",
            "PlaceholderWithDefault",
            "Stage",
            "StringLength",
            "StringJoin",
            "Print",
            "BatchMatMulV2",
        ),
        _ALL,
    ),
    "ConcatV2": ("values",),
    "Concat": ("values",),
    "Reshape": ("tensor",),
    "Transpose": ("x",),
    "ExpandDims": ("input",),
    "Squeeze": ("input",),
    "Tile": ("input",),
    "Slice": ("input",),
    "StridedSlice": ("input",),
    "GatherV2": ("params",),
    "Gather": ("params",),
    "GatherNd": ("params",),
    "ScatterNd": ("updates",),
    "Fill": ("value",),
    "Select": ("t", "e"),
    "SelectV2": ("t", "e"),
    "Split": ("value",),
    "SplitV": ("value",),
    "Unpack": ("value",),
    "ReverseV2": ("tensor",),
    "Sum": ("input",),
    "Prod": ("input",),
    "Max": ("input",),
    "Min": ("input",),
    "Mean": ("input",),
    "Cumsum": ("x",),
    "Cumprod": ("x",),
    "BroadcastTo": ("input",),
    "Pad": ("input",),
    "PadV2": ("input", "constant_values"),
    "MirrorPad": ("input",),
    "Switch": ("data",),
    "RefSwitch": ("data",),
    "Assign": ("ref", "value"),
    "AssignAdd": ("ref", "value"),
    "AssignSub": ("ref", "value"),
    "AssignVariableOp": ("value",),
    "AssignAddVariableOp": ("value",),
    "AssignSubVariableOp": ("value",),
    **dict.fromkeys(
        (
            f"{kind}Scatter{how}"
            for kind in ("", "Resource")
            for how in (
                "Update",
                "Add",
                "Sub",
                "Mul",
                "Div",
                "Min",
                "Max",
                "NdUpdate",
                "NdAdd",
                "NdSub",
            )
        ),
        ("ref", "updates"),
    ),
    "Assert": ("data",),
    "SerializeTensor": ("tensor",),
    "WriteFile": ("contents",),
    "QueueEnqueueV2": ("components",),
    "QueueEnqueueManyV2": ("components",),
    "QueueEnqueue": ("components",),
    "QueueEnqueueMany": ("components",),
    "StackPushV2": ("elem",),
    "StackPush": ("elem",),
    "TensorArrayWriteV3": ("value",),
    "TensorArrayScatterV3": ("value",),
    "TensorArraySplitV3": ("value",),
    "TensorArrayUnpack": ("value",),
    "BarrierInsertMany": ("keys", "values"),
    "MapStage": ("values",),
    "OrderedMapStage": ("values",),
    "LookupTableFindV2": ("keys", "default_value"),
    "LookupTableInsertV2": ("keys", "values"),
    "LookupTableImportV2": ("keys", "values"),
    "LookupTableRemoveV2": ("keys",),
    "InitializeTableV2": ("keys", "values"),
}
#: Operations that read a state or describe it, with the inputs that lead to the state.
_READS: Final = frozenset(
    {
        "ReadVariableOp",
        "VarIsInitializedOp",
        "IsVariableInitialized",
        "DestroyResourceOp",
        "QueueDequeueV2",
        "QueueDequeueManyV2",
        "QueueDequeueUpToV2",
        "QueueSizeV2",
        "QueueCloseV2",
        "QueueIsClosedV2",
        "QueueDequeue",
        "QueueDequeueMany",
        "QueueSize",
        "QueueClose",
        "StackPopV2",
        "StackCloseV2",
        "StackPop",
        "TensorArrayReadV3",
        "TensorArrayGatherV3",
        "TensorArraySizeV3",
        "TensorArrayConcatV3",
        "TensorArrayCloseV3",
        "TensorArrayGradV3",
        "BarrierTakeMany",
        "BarrierClose",
        "BarrierReadySize",
        "BarrierIncompleteSize",
        "LookupTableSizeV2",
        "LookupTableExportV2",
        "MapUnstage",
        "MapPeek",
        "OrderedMapUnstage",
        "OrderedMapPeek",
    }
)
_TO_A_STATE: Final = frozenset({"handle", "resource", "ref", "table_handle", "flow_in", "key"})
#: Operations that share a state without a handle: by their attributes, or as files.
_SHARING: Final = (
    ("Stage", "Unstage", "MapStage", "MapUnstage", "MapPeek", "OrderedMap"),
    ("Save", "Restore", "MergeV2", "ReadFile", "WriteFile", "ReaderRead"),
    ("AddSparse", "AddManySparse", "TakeManySparse"),
)


class Flow:
    """The edges of a case's graphs, including those through state.

    Args:
      graphs: the GraphDefs in JSON; a name stands for the same node in all of them.

    """

    def __init__(self, graphs: Iterable[GraphForm]) -> None:
        self.nodes: dict[str, NodeForm] = {}
        self._consumers: dict[str, list[tuple[str, int, int]]] = {}
        self._shared: dict[str, list[str]] = {}
        for graph in graphs:
            for node in graph.get("node", ()):
                self.nodes[node["name"]] = node
                if _makes_a_handle(node["op"]):
                    self._shared.setdefault(_shared_name(node), []).append(node["name"])
                for position, text in enumerate(_data_inputs(node)):
                    name, _, output = text.partition(":")
                    edge = (node["name"], position, int(output or 0))
                    self._consumers.setdefault(name, []).append(edge)

    def reached(self, name: str, *, output: int | None = None) -> tuple[frozenset[str], bool]:
        """The nodes that depend on a node, also through state; and whether all take it as data.

        Args:
          name: the node's name.
          output: the output that is fed; all of them if None.

        """
        names: set[str] = set()
        as_data = True
        # (node, output): None for all outputs
        waiting: list[tuple[str, int | None]] = [(name, output)]
        while waiting:
            source, index = waiting.pop()
            for consumer, position, edge in self._consumers.get(source, ()):
                if index is not None and edge != index:
                    continue
                as_data = as_data and _takes_as_data(self.nodes[consumer], position)
                for other in (consumer, *self._holders(consumer)):
                    if other not in names:
                        names.add(other)
                        waiting.append((other, None))
        return frozenset(names), as_data

    def _holders(self, name: str) -> Iterable[str]:
        """The nodes that create the handles of this node, or that share its state."""
        node = self.nodes[name]
        for prefixes in _SHARING:
            if node["op"].startswith(prefixes):
                yield from (other for other in self.nodes if self._op(other).startswith(prefixes))
        seen: set[str] = set()
        waiting = [text.partition(":")[0] for text in _data_inputs(node)]
        while waiting:
            source = waiting.pop()
            if source in seen or source not in self.nodes:
                continue
            seen.add(source)
            if _makes_a_handle(self._op(source)):
                yield from self._shared[_shared_name(self.nodes[source])]
            waiting += [text.partition(":")[0] for text in _data_inputs(self.nodes[source])]

    def _op(self, name: str) -> str:
        return self.nodes[name]["op"]


def _shared_name(node: NodeForm) -> str:
    """The name of the resource that a node's handle refers to."""
    given = base64.b64decode(node.get("attr", {}).get("shared_name", {}).get("s", ""))
    return given.decode("utf-8", "replace") or node["name"]


def _data_inputs(node: NodeForm) -> list[str]:
    return [text for text in node.get("input", ()) if not text.startswith("^")]


@functools.cache
def _makes_a_handle(op: str) -> bool:
    operation = OPERATIONS.get(op)
    if operation is None:
        return True
    return any(
        out.is_ref or out.dtype == "resource" or out.name in {"handle", "table_handle"}
        for out in operation.outputs
    )


def _takes_as_data(node: NodeForm, position: int) -> bool:
    names = _DATA.get(node["op"])
    if names is _ALL:
        return True
    if names is None and node["op"] not in _READS:
        return False
    argument = _argument(node, position)
    return argument in _TO_A_STATE or argument in (names or ())


def _argument(node: NodeForm, position: int) -> str:
    """The name of the argument that an input belongs to."""
    attrs = node.get("attr", {})
    for declared in OPERATIONS[node["op"]].inputs:
        if declared.type_list_attr is not None:
            count = len(attrs.get(declared.type_list_attr, {}).get("list", {}).get("type", ()))
        elif declared.number_attr is not None:
            count = int(attrs.get(declared.number_attr, {}).get("i", 0))
        else:
            count = 1
        if position < count:
            return declared.name
        position -= count
    return ""
