"""A first declaration of a backend: what of the table of `inference` it answers at all.

Each cell is asked in a few cases. One that answers most of them is declared, rightly or wrongly:
to leave out what is answered wrongly would hide it, and answering it undeclared is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.conformance.properties import generate
from sessrun.conformance.runner import Runner
from sessrun.spec.cases.model import Case
from sessrun.spec.inference import cells, demand_of, table

__all__ = ["Measured", "declaration", "declaration_toml", "measure"]

#: The property whose cases ask the cells.
_PROPERTY: Final = "inference-cells"


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of the cases of one cell.

    Attributes:
      operation: the op type.
      dtypes: the dtypes of its values, sorted.
      answered: how many cases were answered with values.
      wrong: how many of these with wrong ones.
      asked: how many cases there were.

    """

    operation: str
    dtypes: tuple[str, ...]
    answered: int
    wrong: int
    asked: int

    @property
    def is_offered(self) -> bool:
        """Whether most cases were answered."""
        return 2 * self.answered > self.asked


def measure(
    runner: Runner, seed: int, count: int, progress: Callable[[int, int], None]
) -> tuple[Measured, ...]:
    """Ask every cell.

    Args:
      runner: the backend's runner, which asks whatever the backend declares.
      seed: of the cases.
      count: how many cases of each cell.
      progress: called with how many cases are done, and how many there are.

    """
    asked = [generate(_PROPERTY, seed, index) for index in range(count * len(cells()))]
    outcomes: dict[tuple[str, tuple[str, ...]], list[tuple[bool, bool]]] = {}
    for number, case in enumerate(asked, 1):
        outcomes.setdefault(_cell_of(case), []).append(_outcome(runner.run_once(case)))
        progress(number, len(asked))
    return tuple(
        Measured(
            operation,
            dtypes,
            sum(answered for answered, _ in results),
            sum(wrong for _, wrong in results),
            len(results),
        )
        for (operation, dtypes), results in outcomes.items()
    )


def _cell_of(case: Case) -> tuple[str, tuple[str, ...]]:
    demand = demand_of(case)
    assert demand is not None
    ((operation, dtypes),) = demand.operations.items()
    return operation, tuple(dtypes)


def _outcome(line: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether a case was answered with values, and whether with wrong ones."""
    if line["result"] == "pass":
        return True, False
    answered = any(entry["outcome"] == "values" for entry in line.get("observations", ()))
    return answered, answered


def declaration(measured: Iterable[Measured]) -> dict[str, list[str]]:
    """Op types in the order of the table, each with dtypes all of whose cells are offered."""
    offered: dict[str, set[tuple[str, ...]]] = {}
    for cell in measured:
        if cell.is_offered:
            offered.setdefault(cell.operation, set()).add(cell.dtypes)
    chosen = {
        name: _closed(row.dtypes, offered[name], _combinations(name))
        for name, row in table().items()
        if name in offered
    }
    return {name: dtypes for name, dtypes in chosen.items() if dtypes}


def _combinations(operation: str) -> set[tuple[str, ...]]:
    """The sets of dtypes of an operation's cells, each sorted."""
    return {
        tuple(sorted(set(cell.dtypes))) for cell in cells() if cell.row.operation.name == operation
    }


def _closed(
    dtypes: Sequence[str], offered: set[tuple[str, ...]], combinations: set[tuple[str, ...]]
) -> list[str]:
    """As many dtypes as can be declared together: a cell that combines two of them is offered."""
    alone = not any(len(combination) == 1 for combination in combinations)
    chosen: list[str] = []
    for dtype in dtypes:
        together = {*chosen, dtype}
        needed = {c for c in combinations if together.issuperset(c) and dtype in c}
        if needed <= offered and (needed or alone):
            chosen.append(dtype)
    covered = {dtype for combination in offered for dtype in combination}
    return [dtype for dtype in chosen if dtype in covered]


def declaration_toml(measured: Sequence[Measured], title: str) -> str:
    """The declaration as a TOML file: an operation a line; what was answered wrongly is noted."""
    wrong: dict[str, list[str]] = {}
    for cell in measured:
        if cell.wrong:
            words = f"{' and '.join(cell.dtypes)} {cell.wrong} of {cell.asked}"
            wrong.setdefault(cell.operation, []).append(words)
    lines = [
        f"# {title}",
        "# An operation is declared in a dtype if most of its cases were answered.",
        "",
    ]
    for name, dtypes in declaration(measured).items():
        note = f"  # wrong: {', '.join(wrong[name])}" if name in wrong else ""
        lines.append(f"{name} = [{', '.join(f'{d!r}' for d in dtypes)}]".replace("'", '"') + note)
    return "\n".join(lines) + "\n"
