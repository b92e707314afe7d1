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
            r1 = v0 if type(v0) is t0 and not unfeedable else f0(v0)
            r2 = v1 if type(v1) is t1 and not unfeedable else f1(v1)
            try:
                return quiet.run(steps, r1, r2)
            except RuntimeError as error:
                return quietly_within(error, steps, r1, r2)
        def proceed(a0, a1):
            r1 = a0[()]
            r2 = a1[()]
            ...
        def fed(fetches, d):
            if type(d) is not dict or len(d) != 2:
                return missed
            try:
                v0 = d[y0]; v1 = d[y1]
            except KeyError:
                return missed
            if type(v0) is t0 and not unfeedable and type(v1) is t1 and not unfeedable:
                r1 = v0
                r2 = v1
            elif [*d] != keys: return missed
            else:
                (as in `run`)
            ...
        return run, proceed, fed

Every name is a letter with a number, or one of this package's: `r` is a register of the plan, `c`
one that a constant or a variable keeps, `k` a kernel; of a feed `y` is the key, `v` the value as
given, `f` the conversion, `a` the array, `w` what makes of that the kernels' view, and `t`, `d`,
`s`, `x` are the type, dtype, shape and tensor of a value that needs no conversion; `q` is a value
without readers; `u` are the fetched values, `g` and `m` keys and classes of their structure. No
name and no value of a graph enters the text. A step has a line of its own, so that the line of a
traceback tells which operation has failed. Registers are those of the first tier: a local variable
is overwritten or emptied after the last step that reads it. `step_source` has the lines of the
steps, branches and loops among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from sessrun.reference.base.quiet_arithmetic import QUIET, quietly_within
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.feed_source import FeedWriter
from sessrun.reference.session.execute.fetch_source import structure_source
from sessrun.reference.session.execute.infix import gives_scalar, infix_of
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.step_source import Lines, StepWriter
from sessrun.reference.session.execute.steps import call_of
from sessrun.reference.session.execute.straight_flow import Steps
from sessrun.reference.session.resolve.builds import SequenceBuild, item_number
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.session.resolve.unpacking import Source, fetched_value, unshared

__all__ = ["FIRST_STEP_LINE", "RunSource", "write_source"]

#: The line of the first step.
FIRST_STEP_LINE: Final = 3


class RunSource(NamedTuple):
    """The source of a run.

    Attributes:
      text: it defines `steps`, which executes the steps, and `link`, which makes of it the three
        functions of a `GeneratedRun`.
      names: what its names stand for, but `failure_of(error)`, which gives the error of a failed
        run, and `check_open()`, which refuses an ended session.
      ops: for each line of `steps` the operation that it executes.
      devices: for each of them the name of the operation's device.

    """

    text: str
    names: dict[str, object]
    ops: Sequence[Operation]
    devices: Sequence[str]


def write_source(
    plan: Plan, signature: Signature, feed_keys: Sequence[object], *, checks_open: bool
) -> RunSource:
    """The source of a run.

    Args:
      plan: the plan, on CPUs.
      signature: the signature that it was made of.
      feed_keys: the key of each feed, as given; empty for a run that no feed_dict is given to.
      checks_open: whether `run` looks whether the session has ended.

    """
    return _Writer(plan, signature, feed_keys).source(checks_open=checks_open)


class _Writer:
    """Writes the source of one signature; `names` fills as names are used."""

    def __init__(self, plan: Plan, signature: Signature, feed_keys: Sequence[object]) -> None:
        self.plan = plan
        self.signature = signature
        self.feeds = FeedWriter(plan, signature, feed_keys)
        self.lines = Lines()
        self.steps = StepWriter(self.lines, plan.template, plan.feeds)
        self.names = self.lines.names
        self.names |= {
            "__builtins__": {},
            "Exception": Exception,
            "build": signature.build,
            "fetched_value": fetched_value,
            "generic": np.generic,
            "isinstance": isinstance,
            "quiet": QUIET,
            "quietly_within": quietly_within,
            "RuntimeError": RuntimeError,
            "sources": signature.sources,
            "tuple": tuple,
            "unshared": unshared,
        }

    def source(self, *, checks_open: bool) -> RunSource:
        plan, lines = self.plan, self.lines
        steps = Steps(plan.steps, plan.ops, plan.devices)
        self.steps.write(steps, 2, self._unneeded_steps())
        fed = [f"r{register}" for register in self.plan.feeds]
        fed += [f"a{number}" for number in self.feeds.fetched]
        values, value = self._values()
        is_built = value is not None
        call = value or values
        text: list[str] = []
        if lines.texts:
            call = f"steps({', '.join(fed)})"
            text = [f"def {call}:", " try:", *lines.texts]
            text += [" except Exception as error:", "  raise failure_of(error)"]
            unpacked = None if is_built else self._structure()
            if unpacked is not None:
                text.append(f" {_numbered('u', len(self.signature.sources))}, = {values}")
            text.append(f" return {value or unpacked or values}")
            is_built = is_built or unpacked is not None
        end = list(self._end(call, fed, is_built=is_built))
        count = len(self.plan.feeds)
        text += [
            "def link(steps):",
            f" def run({_numbered('v', count)}):",
            *(["  if over: check_open()"] if checks_open else []),
            *self.feeds.conversions(),
            *end,
            f" def proceed({_numbered('a', count)}):",
            *self.feeds.views(range(count)),
            *end,
            " def fed(fetches, d):",
            *self.feeds.look_up(),
            *end,
            " return run, proceed, fed",
            "",
        ]
        return RunSource("\n".join(text), self.names | self.feeds.names, lines.ops, lines.devices)

    def _end(self, call: str, fed: Sequence[str], *, is_built: bool) -> Iterator[str]:
        """The lines from registers to the caller's structure: a call, mostly that of `steps`."""
        form = "  return {}" if is_built else "  return build({})"
        if not self.lines.needs_quiet:
            yield form.format(call)
            return
        arguments = ", ".join(["steps", *fed])
        yield "  try:"
        yield f" {form.format(f'quiet.run({arguments})')}"
        yield "  except RuntimeError as error:"
        yield f" {form.format(f'quietly_within(error, {arguments})')}"

    def _unneeded_steps(self) -> frozenset[int]:
        """The numbers of the steps that are not to be executed.

        They are operators on scalars whose results nobody reads: a group of sums, say. They
        cannot fail, and TensorFlow's graph optimizer leaves them out, too.
        """
        plan = self.plan
        read: set[int | None] = set(plan.fetches)
        unneeded = []
        for number in reversed(range(len(plan.steps))):
            function, inputs, outputs, _ = call_of(plan.steps[number])
            operands = plan.ops[number].inputs
            if (
                read.isdisjoint(outputs)
                and outputs
                and infix_of(function, operands) is not None
                and gives_scalar(operands)
            ):
                unneeded.append(number)
                continue
            read.difference_update(outputs)
            read.update(inputs)
        return frozenset(unneeded)

    # -- fetches

    def _values(self) -> tuple[str, str | None]:
        """The expression of a list of the fetched values, and that of the caller's structure.

        The latter is None where it takes names for the values: if one that is not a name is
        fetched twice, the caller gets the same object twice.
        """
        sources, build = self.signature.sources, self.signature.build
        values = [self._fetched(source) for source in sources]
        value = f"[{', '.join(values)}]"
        if len(values) > 1 and not all(map(self._is_number, sources)):
            value = f"unshared({value}, sources)"
        elif item_number(build) is not None or all(map(str.isidentifier, values)):
            return value, structure_source(build, values, self.names)
        if not isinstance(build, SequenceBuild) or not build.is_leading:
            return value, None
        if build.kind not in {list, tuple} or len(build.parts) < len(values):
            return value, None
        return value, value if build.kind is list else f"tuple({value})"

    def _structure(self) -> str | None:
        """The expression of the caller's structure of the names `u0`, `u1` and so on."""
        count = len(self.signature.sources)
        if not count:
            return None
        names = [f"u{number}" for number in range(count)]
        return structure_source(self.signature.build, names, self.names)

    def _fetched(self, source: Source) -> str:
        """The expression of one fetched value."""
        if source is None:
            return "None"
        is_fed, number = source
        if is_fed:
            return f"a{number}"
        register = self.plan.fetches[number]
        name = self.steps.name(register)
        if name in self.steps.scalars or self.steps.keeps(register, np.generic):
            return name
        computed = f"fetched_value({name})"
        if self.steps.is_written(register):
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
