"""Freeze authored cases, or the case of a replay file, as vectors: TensorFlow must agree.

Needs the [tensorflow] extra, but for cases of GPUs alone: these the reference must pass on
simulated GPUs.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessrun.cli.failure import UserError
from sessrun.spec.cases.forms import Observation

if TYPE_CHECKING:
    from sessrun.conformance.authoring import freeze

SUMMARY = "freeze cases as vectors, after TensorFlow agreed"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "what", nargs="*", help="folders of vectors (default: all), or a replay file with --as"
    )
    parser.add_argument("--as", dest="id", metavar="SUBJECT/SLUG", help="the new vector's id")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose id contains this")
    parser.add_argument(
        "--replace", action="store_true", help="change vectors that no release has published"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="freeze nothing: record the cases again, and say which vectors differ",
    )
    parser.add_argument(
        "--prune", action="store_true", help="delete their vectors that no function records"
    )


def run(args: argparse.Namespace) -> int:
    """Freeze; 1 if the oracle refused any case."""
    from sessrun.adapters.process.host import spawn
    from sessrun.conformance.authoring import freeze
    from sessrun.conformance.observe import observe
    from sessrun.spec import checked

    _check(args)
    if args.check:
        return _compare(args)
    workers: dict[str, Any] = {}

    def observer(name: str) -> freeze.Observe:
        def seen(case: Any) -> list[Observation]:
            worker = workers.get(name) or workers.setdefault(name, spawn(name))
            observations = observe(worker, case, case.deadline_s)
            if case.isolated:
                worker.restart()
            return observations

        return seen

    def oracles(case: Any) -> Mapping[str, freeze.Observe]:
        names = freeze.SIMULATED_ORACLES if "gpu" in case.needs else freeze.ORACLES
        return {name: observer(name) for name in names}

    try:
        reports = [_replay(args, oracles)] if args.id else list(_folders(args, oracles))
    finally:
        for worker in workers.values():
            worker.shutdown()
    for report in reports:
        for id_ in report.written:
            print(f"frozen     {id_}")
        for id_, reason in report.refused.items():
            print(f"refused    {id_}: {reason}")
    written = sum(len(report.written) for report in reports)
    refused = sum(len(report.refused) for report in reports)
    unchanged = sum(len(report.unchanged) for report in reports)
    checked.write_statement(print)
    print(f"{written} frozen, {unchanged} unchanged, {refused} refused")
    return 1 if refused else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be frozen before any oracle is started."""
    from sessrun.conformance.authoring import freeze
    from sessrun.conformance.replay import read_replay
    from sessrun.spec.loader import SPEC_DIR
    from sessrun.spec.vector_files import archive_of

    if archive_of(SPEC_DIR / "vectors") is not None:
        raise UserError("vectors are frozen in a checkout, and this sessrun is of a wheel")
    if not args.id:
        known = freeze.authored_cases()
        unknown = [folder for folder in args.what if folder.replace("_", "-") not in known]
        if unknown:
            raise UserError(
                f"no folder of vectors with authored cases is called {unknown[0]!r}; there are "
                + ", ".join(known)
            )
        return
    if len(args.what) != 1:
        raise UserError("--as takes exactly one replay file")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*", args.id):
        raise UserError(
            f"--as: a vector is called SUBJECT/SLUG, in words with `-`, not {args.id!r}"
        )
    read_replay(Path(args.what[0]))


def _replay(args: argparse.Namespace, oracles: Any) -> Any:
    import dataclasses

    from sessrun.conformance.authoring import freeze
    from sessrun.conformance.replay import read_replay

    replayed = read_replay(Path(args.what[0]))
    case = dataclasses.replace(replayed, id=args.id, provenance={})
    return freeze.freeze_cases(
        [case], oracles, generator=f"finding {replayed.id}", replace=args.replace
    )


def _namespace() -> Any:
    """What builds the GraphDefs of engine cases."""
    from sessrun.adapters.registry import load

    return load("tensorflow").namespace  # type: ignore[attr-defined]


def _compare(args: argparse.Namespace) -> int:
    """Record again and print what disagrees; 1 if anything does."""
    from sessrun.conformance.authoring import freeze
    from sessrun.conformance.authoring.agreement import disagreements
    from sessrun.spec.loader import SPEC_DIR

    count = wrong = 0
    for name in args.what or freeze.authored_cases():
        folder = name.replace("_", "-")
        cases = freeze.record_folder(folder, _namespace)
        count += len(cases)
        for line in disagreements(folder, cases, SPEC_DIR / "vectors"):
            wrong += 1
            print(line)
    print(f"{count} cases recorded, {wrong} differ")
    return 1 if wrong else 0


def _folders(args: argparse.Namespace, oracles: Any) -> Any:
    from sessrun.conformance.authoring import freeze
    from sessrun.conformance.authoring.agreement import is_finding
    from sessrun.spec.loader import SPEC_DIR, read_json

    for name in args.what or freeze.authored_cases():
        folder = name.replace("_", "-")
        cases = freeze.record_folder(folder, _namespace)
        if args.prune:
            kept = {case.id.partition("/")[2] for case in cases}
            for path in (SPEC_DIR / "vectors" / folder).glob("*.json"):
                if path.stem not in kept and not is_finding(read_json(path)):
                    path.unlink()
        chosen = [case for case in cases if not args.only or args.only in case.id]
        yield freeze.freeze_cases(
            chosen, oracles, generator=f"authoring.{folder.replace('-', '_')}", replace=args.replace
        )
