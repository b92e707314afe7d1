"""Nodes and frames: what the operations and loops of a graph with control flow are compiled to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels.registry import Entry
from sessrun.reference.session.execute.steps import Kernel, Reader
from sessrun.reference.session.execute.straight_flow import StraightLoop

__all__ = ["FrameShape", "Node"]


@dataclass(slots=True, eq=False)
class FrameShape:
    """What every iteration of a frame begins with.

    Attributes:
      name: the frame's name; empty for the run itself.
      around: the frame around it; None for the run itself.
      pending: for each node, how much it waits for (see `Node.needs`).
      slots: how many inputs its nodes have together.
      enters: how many `Enter` bring values into it.
      limit: how many of its iterations may be under way.
      straight: the same as lists of steps, or None.
      exits: the `Exit` nodes of `straight`, in the order of its results.

    """

    name: str
    around: FrameShape | None = None
    pending: list[int] = field(default_factory=list)
    slots: int = 0
    enters: int = 0
    limit: int = 1
    straight: StraightLoop | None = None
    exits: Sequence[Node] = ()


@dataclass(slots=True, eq=False)
class Node:
    """An operation to execute.

    Attributes:
      op: the operation.
      device: where it is placed.
      kind: its op type without `Ref`, if it is one of control flow; else empty.
      function: the bound kernel.
      entry: the registered kernel, which says whether it takes the running `Step` first.
      frame: the frame that it is in.
      child: for `Enter` the frame that it brings values into.
      number: its number in the frame.
      first: the slot of its first input.
      count: how many inputs it has.
      needs: what `FrameShape.pending` begins with: inputs and control inputs; for `Merge` twice
        its control inputs, and one for the first value that lives.
      sources: for each input the tensor that its value is; a reference may be in place of a read.
      waits: the nodes that it waits for.
      readers: for each input what makes of a value what the kernel takes, or None.
      edges: for each output the nodes and slots that it goes to.
      controls: the nodes that wait for it.
      fetched: for each output the register of a fetch, or -1.

    """

    op: Operation
    device: LocalDevice
    kind: str
    function: Kernel
    entry: Entry
    frame: FrameShape
    number: int
    first: int
    count: int
    child: FrameShape | None = None
    needs: int = 0
    sources: Sequence[Tensor] = ()
    waits: Sequence[Node] = ()
    readers: tuple[Reader | None, ...] = ()
    edges: list[list[tuple[Node, int]]] = field(default_factory=list)
    controls: list[Node] = field(default_factory=list)
    fetched: list[int] = field(default_factory=list)
