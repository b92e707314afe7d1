"""FunctionCalls: the body of a called function, placed and compiled once per call.

It is run within the step of the run that calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sessrun.reference import errors
from sessrun.reference.build.functions.function_bodies import Body, body_of, gradient_of, is_inlined
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.body_calls import BodyCall
from sessrun.reference.session.execute.generated import runs_before
from sessrun.reference.session.execute.steps import STEP_REGISTER
from sessrun.reference.session.plan.compiler import compile_plan
from sessrun.reference.session.plan.kernel_bindings import KernelBindings
from sessrun.reference.session.plan.placement import Placer
from sessrun.reference.session.plan.pruning import prune
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.proto import ConfigProto, NameAttrList

__all__ = ["FunctionCalls"]


class FunctionCalls:
    """Compiles the functions that operations of a session call.

    Args:
      devices: the session's devices.
      config: its configuration.
      resources: its resources, which bodies share.

    Attributes:
      bindings: the bound kernels of the session.

    """

    def __init__(
        self, devices: Sequence[LocalDevice], config: ConfigProto, resources: ResourceStore
    ) -> None:
        self._devices = devices
        self._calling: list[str] = []
        self._runs_before = runs_before()
        self._config = config
        self.bindings = KernelBindings(resources, self.of_call)

    def of_call(
        self,
        op: Operation,
        function: NameAttrList,
        takes: Sequence[str] | None = None,
        gives: Sequence[str] | None = None,
        *,
        is_gradient: bool = False,
        device: str | None = None,
        miscounted: str = "",
        wanted: frozenset[int] | None = None,
    ) -> BodyCall:
        """The body for one call.

        Args:
          op: the operation that calls.
          function: what it calls.
          takes: the dtypes of the arguments; by default those of the operation's inputs.
          gives: the dtypes of the results; by default those of its outputs.
          is_gradient: whether the gradients of the function are wanted instead, of its arguments
            and of what its results are multiplied by.
          device: the device of operations that request none; by default that of the call.
          miscounted: the message, with the number put in, if it returns another number of results.
          wanted: the numbers of the results that are looked at; all of them by default.

        Raises:
          InvalidArgumentError: there is no such function, or it cannot be instantiated or placed.

        """
        defined = op.graph.functions.gradient(function.name) if is_gradient else None
        if defined is not None:
            function, is_gradient = NameAttrList(name=defined, attr=function.attr), False
        if function.name in self._calling:
            around = " in ".join((function.name, *reversed(self._calling)))
            raise errors.InvalidArgumentError(op.node_def, op, f"A function calls itself: {around}")
        where = op.device if device is None else device
        body = body_of(op.graph.functions, function, op.name, where)
        if is_gradient:
            body = gradient_of(body, gives or ())
        if miscounted and gives is not None and len(body.outputs) != len(gives):
            text = f"{{{{node {op.name}}}}} {miscounted.format(len(body.outputs))}"
            raise errors.InvalidArgumentError(op.node_def, op, text)
        _check(op, function.name, body, takes, gives)
        self._calling.append(function.name)
        try:
            return self._compiled(op, body, wanted)
        finally:
            self._calling.pop()

    def _compiled(self, op: Operation, body: Body, wanted: frozenset[int] | None) -> BodyCall:
        placer = Placer(body.graph, self._devices, self._config)
        outputs = [
            output
            for number, output in enumerate(body.outputs)
            if wanted is None or number in wanted
        ]
        # Of an inlined function only needed operations run; of others all those with effects, too.
        effects = body.controls if is_inlined(op) else body.effects
        ops = prune(outputs, effects, frozenset(body.inputs))
        computed = [output for output in dict.fromkeys(outputs) if output not in body.inputs]
        bindings = replace(self.bindings, is_call=True)
        plan = compile_plan(ops, computed, body.inputs, placer.assign(ops), bindings)
        sources = {tensor: (True, index) for index, tensor in enumerate(body.inputs)}
        registers = ((False, register) for register in plan.fetches)
        sources.update(zip(computed, registers, strict=True))
        nothing = (False, STEP_REGISTER)  # where nobody looks
        results = [sources.get(tensor, nothing) for tensor in body.outputs]
        return BodyCall(plan, results, op.name, self._runs_before)


def _dtypes(tensors: Iterable[Tensor]) -> list[str]:
    return [tensor.dtype.base_dtype.name for tensor in tensors]


def _check(
    op: Operation,
    name: str,
    body: Body,
    takes: Sequence[str] | None,
    gives: Sequence[str] | None,
) -> None:
    """Check that the inputs and outputs of a call have the dtypes of the function."""
    inputs = _dtypes(op.inputs) if takes is None else list(takes)
    outputs = _dtypes(op.outputs) if gives is None else list(gives)
    for word, have, its in (("inputs", inputs, body.inputs), ("outputs", outputs, body.outputs)):
        wanted = _dtypes(its)
        if have != wanted:
            raise errors.InvalidArgumentError(
                op.node_def,
                op,
                f"{{{{node {op.name}}}}} calls {name} with {word} {have}, which has {wanted}",
            )
