"""Source: the Python source of one signature's run, the second tier of the executor.

For `run(x + y, {x: 1.0, y: 2.0})` with scalar placeholders it is

    def steps(r1, r2):
        try:
            r1 = r1 + r2
        except Exception as error:
            raise failure_of(error)
        return r1 if isinstance(r1, generic) else fetched_value(r1)
    def link(steps):
        def run(v0, v1):
            r1 = v0 if type(v0) is t0 and not unfeedable else f0(v0)[()]
            r2 = v1 if type(v1) is t1 and not unfeedable else f1(v1)[()]
            try:
                return quiet.run(steps, r1, r2)
            except RuntimeError as error:
                return quietly_within(error, steps, r1, r2)
        def proceed(a0, a1):
            r1 = a0[()]
            r2 = a1[()]
            ...
        return run, proceed

Every name is a letter with a number, or one of this module's: `r` is a register of the plan, `c`
one that a constant or a variable keeps, `k` a kernel by the number of its step; of a feed `v` is
the value as given, `f` the conversion, `a` the array, `w` what makes of that the kernels' view, and
`t`, `d`, `s`, `x` are the type, dtype, shape and tensor of a value that needs no conversion; `q` is
a value without readers. No name and no value of a graph enters the text. A step has a line of its
own, so that the line of a traceback tells which operation has failed. Registers are those of the
first tier: a local variable is overwritten or emptied after the last step that reads it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from sessrun.reference.base.dtypes import string
from sessrun.reference.base.quiet_arithmetic import QUIET, quietly_within
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels.constants import identity
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.session.execute.infix import infix_of
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import Call, Kernel, read_reference
from sessrun.reference.session.resolve.fetches import Leading
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.session.resolve.unpacking import Source, fetched_value, unshared
from sessrun.spec.feeds import FEEDABLE

__all__ = ["FIRST_STEP_LINE", "RunSource", "write_source"]

#: The line of the first step.
FIRST_STEP_LINE: Final = 3

#: Operations that move values and compute none, so that numpy has nothing to warn of.
_HANDLING: Final = frozenset({"QueueDequeueV2", "QueueEnqueueV2", "Stage", "Unstage"})


class RunSource(NamedTuple):
    """The source of a run.

    Attributes:
      text: it defines `steps`, which executes the steps, and `link`, which makes of it `run`, a
        function of the values of the feeds, and `proceed`, one of their converted arrays.
      names: what its names stand for, but `failure_of(error)`, which gives the error of a failed
        run, and `check_open()`, which refuses an ended session.

    """

    text: str
    names: dict[str, object]


def write_source(plan: Plan, signature: Signature, *, checks_open: bool) -> RunSource:
    """The source of a run.

    Args:
      plan: the plan, on CPUs, without operations that may wait.
      signature: the signature that it was made of.
      checks_open: whether `run` looks whether the session has ended.

    """
    return _Writer(plan, signature).source(checks_open=checks_open)


class _Writer:
    """Writes the source of one signature; `names` fills as names are used."""

    def __init__(self, plan: Plan, signature: Signature) -> None:
        self.plan = plan
        self.signature = signature
        self.variable = set(plan.feeds)  # registers that a run writes
        self.kernels: dict[int, str] = {}
        self.needs_quiet = False
        self.names: dict[str, object] = {
            "__builtins__": {},
            "Exception": Exception,
            "abs": abs,
            "build": signature.build,
            "fetched_value": fetched_value,
            "generic": np.generic,
            "isinstance": isinstance,
            "ndarray": np.ndarray,
            "quiet": QUIET,
            "quietly_within": quietly_within,
            "RuntimeError": RuntimeError,
            "sources": signature.sources,
            "tuple": tuple,
            "type": type,
            "unshared": unshared,
        }

    def source(self, *, checks_open: bool) -> RunSource:
        lines = [self._step(number, call) for number, call in enumerate(self.plan.calls)]
        fed = [f"r{register}" for register in self.plan.feeds]
        fed += [f"a{number}" for number in self._fetched_feeds()]
        value, is_built = self._value()
        call = value
        text: list[str] = []
        if lines:
            call = f"steps({', '.join(fed)})"
            text = [f"def {call}:", " try:", *(f"  {line}" for line in lines)]
            text += [" except Exception as error:", "  raise failure_of(error)", f" return {value}"]
        end = list(self._end(call, fed, is_built=is_built))
        count = len(self.plan.feeds)
        text += [
            "def link(steps):",
            f" def run({_numbered('v', count)}):",
            *(["  if over: check_open()"] if checks_open else []),
            *self._conversions(),
            *end,
            f" def proceed({_numbered('a', count)}):",
            *self._views(range(count)),
            *end,
            " return run, proceed",
            "",
        ]
        return RunSource("\n".join(text), self.names)

    def _end(self, call: str, fed: Sequence[str], *, is_built: bool) -> Iterator[str]:
        """The lines from registers to the caller's structure: a call, mostly that of `steps`."""
        form = "  return {}" if is_built else "  return build({})"
        if not self.needs_quiet:
            yield form.format(call)
            return
        arguments = ", ".join(["steps", *fed])
        yield "  try:"
        yield f" {form.format(f'quiet.run({arguments})')}"
        yield "  except RuntimeError as error:"
        yield f" {form.format(f'quietly_within(error, {arguments})')}"

    # -- steps

    def _step(self, number: int, call: Call) -> str:
        """The line of a step."""
        function, inputs, outputs, dying = call
        arguments = [self._register(register) for register in inputs]
        expression = self._expression(number, function, arguments)
        reads_variable = function is read_reference and self._kept(inputs[0], VariableBuffer)
        self.variable.update(output for output in outputs if output is not None)
        targets = ["q" if output is None else f"r{output}" for output in outputs]
        if reads_variable and not dying and targets != ["q"]:
            (target,), (buffer,) = targets, arguments
            return f"if ({target} := {buffer}.value) is None: {target} = {expression}"
        if targets == ["q"] or not targets:
            line = expression
        else:
            line = f"{', '.join(targets)} = {expression}"
        emptied = [f"r{register}" for register in dying]
        emptied += ["q"] if len(targets) > 1 and "q" in targets else []
        return "; ".join([line, *(f"{name} = None" for name in emptied)])

    def _expression(self, number: int, function: Kernel, arguments: Sequence[str]) -> str:
        """The expression of a step's result."""
        if isinstance(function, functools.partial) and function.func is identity:
            return arguments[0]
        form = infix_of(function, self.plan.ops[number][0].inputs)
        self.needs_quiet |= (
            function is not read_reference and self.plan.ops[number][0].type not in _HANDLING
        )
        if form is not None:
            return form.format(*arguments)
        kernel = self.kernels.setdefault(id(function), f"k{number}")
        self.names[kernel] = function
        return f"{kernel}({', '.join(arguments)})"

    def _register(self, register: int) -> str:
        """The name of a register that is read."""
        if register in self.variable:
            return f"r{register}"
        self.names[f"c{register}"] = self.plan.template[register]
        return f"c{register}"

    def _kept(self, register: int, kind: type) -> bool:
        """Whether a register keeps the same object, of this type, in every run."""
        return register not in self.variable and isinstance(self.plan.template[register], kind)

    # -- feeds

    def _conversions(self) -> Iterator[str]:
        """The lines from the values of the feeds to registers: all are checked before any step."""
        signature, fetched = self.signature, self._fetched_feeds()
        left = []
        for number, (tensor, feeder) in enumerate(
            zip(signature.fed, signature.feeders, strict=True)
        ):
            self.names[f"f{number}"] = feeder
            is_right = self._check(number, tensor)
            if self._is_scalar(number) and number not in fetched and is_right:
                yield (
                    f"  r{self.plan.feeds[number]} = v{number} if {is_right} "
                    f"else f{number}(v{number})[()]"
                )
                continue
            left.append(number)
            if is_right and not self._is_scalar(number):
                yield f"  a{number} = v{number} if {is_right} else f{number}(v{number})"
            else:
                yield f"  a{number} = f{number}(v{number})"
        yield from self._views(left)

    def _check(self, number: int, tensor: Tensor) -> str | None:
        """The condition under which a fed value needs no conversion; None if it always does.

        It is a scalar or an array of the tensor's dtype and shape. A shape is a tuple that
        `set_shape` replaces, so that its identity tells that the code knows it.
        """
        dtype, sizes = tensor.dtype.base_dtype, tensor.sizes
        if (
            dtype.spec_name not in FEEDABLE
            or dtype.is_quantized
            or dtype == string
            or sizes is None
        ):
            return None
        self.names["unfeedable"] = tensor.graph.unfeedable
        value = f"v{number}"
        if sizes == ():
            if not self._is_scalar(number):  # the shape was set after the plan was made
                return None
            self.names[f"t{number}"] = dtype_of(dtype.spec_name).type
            return f"type({value}) is t{number} and not unfeedable"
        if None not in sizes:
            fits = f"{value}.shape == s{number}"
        elif set(sizes) == {None}:
            fits = f"{value}.ndim == {len(sizes)}"
        else:
            return None
        self.names[f"d{number}"] = dtype_of(dtype.spec_name)
        self.names[f"s{number}"], self.names[f"x{number}"] = sizes, tensor
        return (
            f"type({value}) is ndarray and {value}.dtype is d{number} and {fits} "
            f"and x{number}._sizes is s{number} and not unfeedable"
        )

    def _views(self, feeds: Iterable[int]) -> Iterator[str]:
        """The lines from the arrays of these feeds to registers."""
        for number in feeds:
            target = f"  r{self.plan.feeds[number]} = "
            if self._is_scalar(number):
                yield f"{target}a{number}[()]"
            else:
                self.names[f"w{number}"] = self.signature.views[number]
                yield f"{target}w{number}(a{number})"

    def _is_scalar(self, feed: int) -> bool:
        """Whether kernels get a numpy scalar for a fed value."""
        return isinstance(self.signature.views[feed], operator.itemgetter)

    def _fetched_feeds(self) -> Sequence[int]:
        """The feeds that are fetched, too: the caller gets their arrays."""
        return sorted({number for is_fed, number in filter(None, self.signature.sources) if is_fed})

    # -- fetches

    def _value(self) -> tuple[str, bool]:
        """The expression of the fetched values; whether it has the caller's structure already."""
        sources, build = self.signature.sources, self.signature.build
        values = [self._fetched(source) for source in sources]
        if isinstance(build, operator.itemgetter):  # one tensor or operation
            return values[0], True
        value = f"[{', '.join(values)}]"
        if len(values) > 1 and not all(map(self._is_number, sources)):
            value = f"unshared({value}, sources)"
        if isinstance(build, Leading) and build.count == len(values):
            return value if build.kind is list else f"tuple({value})", True
        return value, False

    def _fetched(self, source: Source) -> str:
        """The expression of one fetched value."""
        if source is None:
            return "None"
        is_fed, number = source
        if is_fed:
            return f"a{number}"
        register = self.plan.fetches[number]
        name = self._register(register)
        if self._kept(register, np.generic):
            return name
        computed = f"fetched_value({name})"
        if register in self.variable:
            return f"{name} if isinstance({name}, generic) else {computed}"
        return computed

    def _is_number(self, source: Source) -> bool:
        """Whether no two fetches can share memory for the sake of this one."""
        if source is None or source[0]:
            return True
        return self.signature.tensors[source[1]].sizes == ()


def _numbered(letter: str, count: int) -> str:
    """`v0, v1`: the parameters of a function."""
    return ", ".join(f"{letter}{number}" for number in range(count))
