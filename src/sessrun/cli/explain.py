"""Explain a clause: statement, sources, vectors, properties, last results; or an operation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sessrun.cli.failure import UserError
from sessrun.cli.wrapped import print_wrapped

if TYPE_CHECKING:
    from sessrun.spec.loader import Clause

SUMMARY = "print a clause with its sources, tests and last results, or an operation"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "id", help="a clause's id, such as FEED-007, a vector's id, or an operation, such as AddV2"
    )
    parser.add_argument("--record", type=Path, help="a run record to take last results from")


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from sessrun.conformance.plan import case_of
    from sessrun.conformance.replay import python_lines
    from sessrun.spec.loader import load_clauses, load_withdrawn
    from sessrun.spec.tables.ops import OPERATIONS

    clauses = load_clauses()
    if args.id in clauses:
        _clause(args.id, args.record)
        return 0
    if args.id in load_withdrawn():
        _sentence(load_withdrawn()[args.id])
        return 0
    if args.id in OPERATIONS:
        _operation(args.id)
        return 0
    if "/" in args.id or ":" in args.id:
        case = case_of(args.id)
        print(f"{case.id} ({case.surface} surface): {case.title}")
        print(f"clauses: {', '.join(case.clauses)}\n")
        print("\n".join(python_lines(case)))
        return 0
    subject = args.id.rpartition("-")[0] or args.id
    near = [id_ for id_ in clauses if id_.startswith(subject.upper())]
    raise UserError(
        f"no clause is called {args.id!r}"
        + (f"; of that subject there are {near[0]} to {near[-1]}" if near else "")
    )


def _clause(id_: str, record: Path | None) -> None:
    from sessrun.spec.loader import load_clauses, load_debt
    from sessrun.spec.records import blamed, read_record

    lines = () if record is None else read_record(record).results.values()
    _sentence(load_clauses()[id_])
    _tests(id_)
    if id_ in load_debt():
        print(f"  debt      lacks {', '.join(load_debt()[id_]['lacks'])}")
    for line in lines:
        if id_ in blamed(line):
            print(f"  result    {line['id']}: {line['result']}")


def _operation(name: str) -> None:
    from sessrun.spec.definitions import DEFINITIONS
    from sessrun.spec.loader import load_definitions
    from sessrun.spec.tables.manual import CONVENTIONS, rule_text
    from sessrun.spec.tables.ops import OPERATIONS
    from sessrun.spec.tables.wrappers import signature_text

    operation = OPERATIONS[name]
    print(f"{signature_text(operation)}\n")
    print_wrapped("  ", operation.summary)
    print()
    if name in load_definitions():
        print_wrapped("  ", load_definitions()[name])
        print()
        print_wrapped("  all       ", CONVENTIONS)
    for kind, contract in (operation.numeric or {}).items():
        print(f"  numeric   {kind}: {contract}")
    if operation.domain is not None:
        print(f"  domain    {rule_text(operation.domain)}, of sessrun.spec.rules.domains")
    for rule in operation.errors:
        print(f"  refused   {rule_text(rule)}, of sessrun.spec.rules.faults")
    if name in DEFINITIONS:
        print(f"  computed  {DEFINITIONS[name].function.__module__}")


def _tests(id_: str) -> None:
    from sessrun.conformance.faulty.framework import load_all
    from sessrun.conformance.properties import PROPERTIES
    from sessrun.spec.loader import vectors_of

    for case in vectors_of({id_}):
        print_wrapped("  vector    ", f"{case.id}: {case.title}")
    for prop in PROPERTIES.values():
        if id_ in prop.clauses:
            print_wrapped("  property  ", f"{prop.name}: {prop.summary}")
    for fault in load_all().values():
        if fault.clause == id_:
            print_wrapped("  fault     ", f"{fault.name}: {fault.summary}")


def _sentence(clause: Clause) -> None:
    from sessrun.spec.volumes import chapter_of, load_volumes

    chapter = chapter_of(clause)
    volume = load_volumes()[chapter.volume]
    surface = "both surfaces" if clause.surface == "both" else f"{clause.surface} surface"
    if clause.layer == "client":
        surface += ", of TensorFlow's client"
    print(
        f"{clause.id}  {clause.level}, {surface}, profile {clause.profile}, since {clause.since}\n"
        f"{volume.title} {volume.version}, chapter {chapter.number}: {chapter.title}\n"
    )
    if clause.withdrawn is not None:
        heirs = ", ".join(clause.successors)
        print(f"  withdrawn since {clause.withdrawn}; what it said is said by {heirs}\n")
    print_wrapped("  ", clause.statement)
    print()
    for source in clause.sources:
        print_wrapped("  source    ", source)
    if clause.condition:
        print(f"  applies   only with: {clause.condition}")
    if clause.note:
        print_wrapped("  note      ", clause.note)
