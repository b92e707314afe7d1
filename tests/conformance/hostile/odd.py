"""Engines with one oddity each, chosen by the argument; all but the oddity is the tiny fake."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.cases.outcomes import Fetched, Outcome


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


class StartsOnce(Flaky):
    """Wrong, and it does not start a second time."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        if not self.wrong:
            raise RuntimeError("once is enough")


class Raising(Odd):
    """Its runs raise instead of answering with an outcome."""

    def run(self, **_: Any) -> Outcome:
        raise LookupError("an adapter must not raise")


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

    def interpret_api(self, case: Case) -> list[Observation]:
        if self.argument == "steps":
            return [{"step": "99", "outcome": "value", "value": 1}]
        if self.argument == "unsupported":
            return [observation("0", unsupported("api", case.id))]
        if self.argument == "nothing":
            return []
        form: Mapping[str, Any] = {"bare": {}, "deep": {"value": {"$namedtuple": 5}}}[self.argument]
        return [
            {"step": str(i), "outcome": "value" if form else "failure", **form} for i in range(9)
        ]


ODD = {
    "boastful": Boastful,
    "flaky": Flaky,
    "liar": Liar,
    "raising": Raising,
    "sequential": Sequential,
    "starts-once": StartsOnce,
}
