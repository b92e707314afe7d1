"""Steps of an optimizer for many small variables become one step of a plan.

A step may come later than its turn if what is between does not look at its variable, nor has to
come after it: operations without state, and reads of other variables. Casts and reads that were
there already, such as those of Adam's powers for each variable, are left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.operation import Operation
from sessrun.reference.kernels.constants import identity
from sessrun.reference.kernels.optimizer_batches import LARGEST, Batch
from sessrun.reference.kernels.optimizer_steps import DenseStep
from sessrun.reference.kernels.resources import Handle
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.steps import Value
from sessrun.reference.session.plan.drafts import Draft

__all__ = ["batched"]

#: The fewest steps that are worth being batched.
_FEWEST: Final = 4
#: The rules whose formulas are but exact operations, so that no bit depends on an element's place.
_EXACT: Final = ("GradientDescent", "Momentum", "Adam")
_DTYPES: Final = frozenset({"float32", "float64"})

#: What identifies a read: the variable, how it is read, and the dtype.
_Read = tuple[Hashable, str, str]


def batched(
    ops: Sequence[Operation],
    drafts: list[Draft],
    given: Mapping[int, Value],
    lasting: Collection[int],
) -> list[Draft]:
    """The steps of a plan, those of one optimizer for small variables together.

    Args:
      ops: the operations of the plan in order.
      drafts: their steps in order.
      given: the registers with the same value in every run.
      lasting: the registers that are read after the last step.

    """
    steps = [draft for draft in drafts if isinstance(draft.function, DenseStep)]
    if len(steps) >= _FEWEST:
        read = {register for draft in drafts for register in draft.inputs}.union(lasting)
        steps = [draft for draft in steps if _is_small_step(draft, given, read)]
    if len(steps) < _FEWEST:
        return drafts
    batching = _Batching(iter(ops), given, frozenset(lasting), frozenset(map(id, steps)))
    for draft in drafts:
        batching.add(draft)
    batching.close()
    return [draft for draft in batching.drafts if draft is not None]


def _is_small_step(draft: Draft, given: Mapping[int, Value], read: Collection[int]) -> bool:
    step = draft.function
    if not isinstance(step, DenseStep) or not draft.op.type.endswith(_EXACT):
        return False
    shape = draft.op.inputs[step.slope].sizes
    size = 1
    for count in shape or ():
        size *= LARGEST + 1 if count is None else count
    variables = [_key(draft.inputs[number], given) for number in step.held]
    return (
        bool(shape)
        and 0 < size <= LARGEST
        and draft.op.attrs["T"] in _DTYPES
        and not any(output in read for output in draft.outputs)
        and None not in variables
        and len(set(variables)) == len(variables)
    )


def _key(register: int, given: Mapping[int, Value]) -> Hashable:
    """What identifies the variable of a register; None if it holds none, or not in every run."""
    value = given.get(register)
    if isinstance(value, Handle):
        return value.container, value.name, value.scope
    return id(value) if isinstance(value, VariableBuffer) else None


@dataclass(slots=True)
class _Batching:
    """One pass over the drafts of a plan.

    Attributes:
      ops: the operations of the plan that have not been looked at yet, in order.
      given: the registers with the same value in every run.
      lasting: the registers that are read after the last step.
      steps: the identities of the drafts that may be batched.
      drafts: the drafts so far, None in place of one that was left out.
      same: for a register another one with the same value.
      known: for each read or cast that was there its register.
      members: the numbers of the drafts of the open batch.
      written: the variables and slots of the open batch.
      kind: what its members have in common.
      batch: the number of the open batch.
      last: for an operation the number of the last batch with a member that it comes after, or is.

    """

    ops: Iterator[Operation]
    given: Mapping[int, Value]
    lasting: frozenset[int]
    steps: frozenset[int]
    drafts: list[Draft | None] = field(default_factory=list)
    same: dict[int, int] = field(default_factory=dict)
    known: dict[_Read, int] = field(default_factory=dict)
    members: list[int] = field(default_factory=list)
    written: set[Hashable] = field(default_factory=set)
    kind: Hashable = None
    batch: int = 1
    last: dict[Operation, int] = field(default_factory=dict)

    def add(self, draft: Draft) -> None:
        """Add the next draft, or leave it out."""
        draft.inputs = tuple(self.same.get(register, register) for register in draft.inputs)
        source = self._source(draft)
        is_read = draft.role == "read" or draft.op.type == "ReadVariableOp"
        register = draft.outputs[0] if draft.outputs else None
        if source is not None and register is not None and register not in self.lasting:
            if isinstance(source, int):
                self.same[register] = source
                return
            if source in self.known:
                self.same[register] = self.known[source]
                return
            self.known[source] = register
        if id(draft) in self.steps:
            self._add_step(draft)
        else:
            if self._last_before(draft.op) == self.batch:
                self.close()
            if draft.role == "region":  # it may have any effects
                self.close()
                self.known.clear()
            elif is_read:
                variable = _key(draft.inputs[0], self.given)
                if variable is None or variable in self.written:
                    self.close()
            elif (
                draft.op.declaration.stateful
                or any(arg.is_ref for arg in draft.op.declaration.inputs)
                or any(isinstance(self.given.get(register), Handle) for register in draft.inputs)
            ):
                self.close()
                self.known.clear()
            self.drafts.append(draft)

    def _last_before(self, op: Operation) -> int:
        """The number of the last batch with a member that an operation comes after, or 0.

        An operation that fails leaves what came before it done, and what comes after it undone.
        """
        while op not in self.last:
            following = next(self.ops)
            before = [*(tensor.op for tensor in following.inputs), *following.control_inputs]
            self.last[following] = max((self.last.get(other, 0) for other in before), default=0)
        return self.last[op]

    def _source(self, draft: Draft) -> int | _Read | None:
        """The register whose value a draft hands on; or what identifies a read; else None."""
        if len(draft.outputs) != 1:
            return None
        function = draft.function
        if isinstance(function, functools.partial) and function.func is identity:
            return draft.inputs[0] if draft.op.type == "Cast" else None
        variable = _key(draft.inputs[0], self.given) if draft.inputs else None
        if variable is not None and draft.role == "read":
            return variable, "reference", ""
        if variable is not None and draft.op.type == "ReadVariableOp":
            return variable, "resource", draft.op.outputs[0].dtype.name
        return None

    def _add_step(self, draft: Draft) -> None:
        """Add a step to the open batch, or to a new one."""
        step = draft.function
        assert isinstance(step, DenseStep)
        kind = (
            step.formula,
            tuple(step.attrs.items()),
            draft.op.attrs["T"],
            len(draft.inputs),
            draft.device.name,
        )
        variables = [_key(draft.inputs[number], self.given) for number in step.held]
        if kind != self.kind or not self.written.isdisjoint(variables):
            self.close()
        self.kind = kind
        self.written.update(variables)
        for variable in variables:
            for known in [known for known in self.known if known[0] == variable]:
                del self.known[known]
        self.members.append(len(self.drafts))
        self._last_before(draft.op)
        self.last[draft.op] = self.batch
        self.drafts.append(draft)

    def close(self) -> None:
        """End the open batch: its draft takes the place of the last of its members."""
        members = [self.drafts[number] for number in self.members]
        if len(members) >= _FEWEST:
            for number in self.members:
                self.drafts[number] = None
            self.drafts[self.members[-1]] = _batch(
                [m for m in members if m is not None], self.given
            )
        self.members, self.kind = [], None
        self.batch += 1
        self.written.clear()


def _batch(members: Sequence[Draft], given: Mapping[int, Value]) -> Draft:
    """The draft of a batch of steps."""
    steps = [draft.function for draft in members if isinstance(draft.function, DenseStep)]
    sources = [
        [given[draft.inputs[number]] for number in step.held]
        for step, draft in zip(steps, members, strict=True)
    ]
    function = Batch(steps, sources, _failed(members))
    inputs = [draft.inputs[step.slope] for step, draft in zip(steps, members, strict=True)]
    for step, draft in zip(steps, members, strict=True):
        inputs.extend(draft.inputs[number] for number in step.scalars.values())
    return Draft(members[-1].op, members[-1].device, function, tuple(inputs), ())


def _failed(members: Sequence[Draft]) -> Callable[[int, Exception], Exception]:
    ops = [(draft.op, draft.device.name) for draft in members]
    return lambda number, error: run_error(error, *ops[number])
