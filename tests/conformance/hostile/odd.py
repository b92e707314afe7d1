"""Engines with one oddity each, chosen by the argument; all but the oddity is the tiny fake."""

import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Observation
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome


def backend(argument: str) -> TinyEngine:
    name, _, rest = argument.partition("=")
    return ODD[name](rest)


class Odd(TinyEngine):
    capabilities = frozenset({"concurrent", "devices"})

    def __init__(self, argument: str) -> None:
        super().__init__()
        self.argument = argument

    def describe(self) -> Description:
        return Description("odd", "1", self.capabilities)


class Flaky(Odd):
    """Wrong in the first process that the argument's file counts, right in later ones."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        count = Path(argument)
        number = int(count.read_text()) if count.exists() else 0
        count.write_text(str(number + 1))
        self.wrong = number == 0

    def run(self, **args: Any) -> Outcome:
        outcome = super().run(**args)
        if self.wrong and isinstance(outcome, Fetched):
            return Fetched(tuple(value + 1 for value in outcome.values))
        return outcome


class Spoilt(Odd):
    """Right in its first two runs; in later ones it dies, or answers no outcome."""

    runs = 0

    def run(self, **args: Any) -> Outcome:
        self.runs += 1
        if self.runs <= 2:
            return super().run(**args)
        if self.argument == "dies":
            signal.raise_signal(signal.SIGSEGV)
        raise LookupError("its memory is spoilt")


class StartsOnce(Flaky):
    """Wrong, and it does not start a second time."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        if not self.wrong:
            raise RuntimeError("once is enough")


class Alone(StartsOnce):
    """Right, and it does not start a second time."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        self.wrong = False

    def run(self, **args: Any) -> Outcome:
        time.sleep(0.1)
        return super().run(**args)


class StartsSlowly(Flaky):
    """Right; it takes a minute to start a second time."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        if not self.wrong:
            time.sleep(60)
        self.wrong = False


class WithGpu(Odd):
    """It has a GPU, it says."""

    def describe(self) -> Description:
        devices = ("/device:CPU:0", "/device:GPU:0")
        return Description("odd", "1", self.capabilities, devices)


class Incomplete(Odd):
    """Half installed: a module that its runs need is not there."""

    def run(self, **_: Any) -> Outcome:
        classes = ("ModuleNotFoundError", "ImportError", "Exception", "BaseException")
        return Failure("run", 2, classes, None, "No module named 'gone'")


class Raising(Odd):
    """Its runs raise instead of answering with an outcome."""

    def run(self, **_: Any) -> Outcome:
        raise LookupError("an adapter must not raise")


class Slow(Odd):
    """Right, but each run takes as many seconds as the argument says."""

    def run(self, **args: Any) -> Outcome:
        time.sleep(float(self.argument))
        return super().run(**args)


class Large(Odd):
    """Whatever is fetched has as many elements as the argument says, all 1 or as it says."""

    def run(self, **args: Any) -> Outcome:
        size, _, value = (self.argument or "100000").partition(":")
        array = np.full(int(size), float(value or 1), np.float32)
        return Fetched(tuple(array for _ in args["fetches"]))


class Unpackable(Odd):
    """Whatever is fetched raises when it is put on the wire, what no program should catch."""

    def run(self, **args: Any) -> Outcome:
        kinds = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "base": BaseException}
        return Fetched(tuple(_Raising(kinds[self.argument]) for _ in args["fetches"]))


class _Raising:
    def __init__(self, kind: type[BaseException]) -> None:
        self.kind = kind

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise self.kind("amid an answer")


class Queue(Odd):
    """Any graph opens; what is fetched is words, or a number that nobody put in, without end."""

    def open(self, *_: Any, **__: Any) -> Outcome:
        return Opened("queue")

    def run(self, **args: Any) -> Outcome:
        value = np.array(b"word", object) if self.argument == "words" else np.int64(-7)
        return Fetched(tuple(value if ":" in name else None for name in args["fetches"]))

    def close(self, *_: Any, **__: Any) -> Outcome:
        return Done()


class DeepStrings(Odd):
    """Whatever is fetched is a tensor of strings with as many dimensions as numpy has."""

    def run(self, **args: Any) -> Outcome:
        strings = np.full([1] * 64, b"odd", dtype=object)
        return Fetched(tuple(strings for _ in args["fetches"]))


class HalfAPair(Odd):
    """Nothing opens, for reasons in words that have no UTF-8, and some that steer a terminal."""

    capabilities = Odd.capabilities | {"state"}  # so that cases with variables are asked

    def open(self, **_: Any) -> Outcome:
        words = "\ud800 \x1b[31m\n✓ CERTIFIED\n"
        return Failure("open", 3, (words,), words, words)


class Sequential(Odd):
    """Declares nothing."""

    capabilities = frozenset()


class Boastful(Odd):
    """Declares partial runs and refuses them; says another name for what it refuses."""

    capabilities = frozenset({"partial_runs", "callables"})

    def setup(self, *_: Any, **__: Any) -> Outcome:
        return unsupported("partial_runs")

    def callable(self, *_: Any, **__: Any) -> Outcome:
        return unsupported("something else")


class Liar(Odd):
    """Answers an API case with observations that nobody can judge."""

    capabilities = frozenset({"api"})

    def interpret_api(self, *_: Any) -> list[Observation]:
        if self.argument == "steps":
            return [{"step": "99", "outcome": "value", "value": 1}]
        if self.argument == "unsupported":
            return [observation("0", unsupported("api", "case"))]
        if self.argument == "nothing":
            return []
        form: Mapping[str, Any] = {"bare": {}, "deep": {"value": {"$namedtuple": 5}}}[self.argument]
        return [
            {"step": str(i), "outcome": "value" if form else "failure", **form} for i in range(9)
        ]


ODD = {
    "boastful": Boastful,
    "deep-strings": DeepStrings,
    "flaky": Flaky,
    "half-a-pair": HalfAPair,
    "large": Large,
    "liar": Liar,
    "incomplete": Incomplete,
    "queue": Queue,
    "raising": Raising,
    "sequential": Sequential,
    "slow": Slow,
    "spoilt": Spoilt,
    "starts-once": StartsOnce,
    "alone": Alone,
    "starts-slowly": StartsSlowly,
    "gpu": WithGpu,
    "unpackable": Unpackable,
}
