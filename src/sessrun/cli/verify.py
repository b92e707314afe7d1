"""Verify a certification package: the plan and every number are made anew and compared."""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from sessrun.cli.failure import UserError
from sessrun.cli.wrapped import print_wrapped
from sessrun.reports.printable import printable
from sessrun.spec.seeds import Seed

#: The exit status where all that a package says is so, and its GPU was simulated.
_SIMULATED: Final = 3

if TYPE_CHECKING:
    from sessrun.conformance.plan import Plan
    from sessrun.reports.verify import Fresh, Verification
    from sessrun.spec.cases.model import Case
    from sessrun.spec.inference import Offer

SUMMARY = "verify a certification package"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("package", type=Path, help="the package, in any form, or its folder")
    parser.add_argument(
        "--rerun",
        type=int,
        default=0,
        metavar="N",
        help="run N cases again, drawn at random, and N that this command draws anew",
    )
    parser.add_argument(
        "--challenge", metavar="TEXT", help="the seed must come of this very challenge"
    )
    parser.add_argument(
        "--signers",
        type=Path,
        metavar="FILE",
        help="allowed signers, as ssh-keygen reads them: one of them must have signed",
    )
    parser.add_argument("--backend", help="for --rerun: the backend (default: the package's)")
    parser.add_argument("--seed", type=int, help="for --rerun: of the draws (default: drawn anew)")
    parser.add_argument("--json", action="store_true", help="print the verification as JSON")


def run(args: argparse.Namespace) -> int:
    """Verify; 0 if VERIFIED, 1 if REFUSED, 3 if VERIFIED and no certificate: SIMULATED."""
    from sessrun import __version__
    from sessrun.adapters.registry import known
    from sessrun.cli.running import plan_facts, replay_of
    from sessrun.conformance.oracle import Oracle
    from sessrun.conformance.plan import build_plan, suite_digest
    from sessrun.reports.package import read_package
    from sessrun.reports.signature import check_signature
    from sessrun.reports.verify import Installed, verify
    from sessrun.spec import SPEC_VERSION
    from sessrun.spec.inference import Offer
    from sessrun.spec.loader import load_clauses, spec_digest

    if args.rerun < 0:
        raise UserError("--rerun takes a number of cases, not less than none")
    package = read_package(args.package)
    signature = check_signature(package.files["manifest.json"], package.signature, args.signers)
    backend = str(package.record.header["backend"]["spec"])
    if args.rerun and args.backend is None and backend.partition("#")[0] not in known():
        # What a package names may be any command line: nothing of it runs unasked.
        raise UserError(
            f"the package says that its backend is {backend!r}: give --backend to run that"
        )
    plan = build_plan(package.plan.profile, package.plan.seed)
    cases = {case.id: case for case in plan.cases}
    installed = Installed(
        sessrun=__version__,
        spec_version=SPEC_VERSION,
        spec_digest=spec_digest(),
        suite=suite_digest(),
        clauses=load_clauses(),
        plan=plan_facts(plan),
        case_of=cases.__getitem__,
        replay_of=replay_of(plan, backend),
    )
    console = Console(stderr=True)
    rerun = fresh = None
    if args.rerun:
        with console.status(f"running {args.rerun} cases again, and {args.rerun} drawn anew"):
            offer = Offer.of_header(package.record.header)
            rerun, fresh = _ran(args, plan, args.backend or backend, offer)
    with Oracle() as oracle, console.status("judging the recorded answers anew"):
        verification = verify(
            package,
            dataclasses.replace(installed, oracle=oracle),
            rerun,
            fresh=fresh,
            challenge=args.challenge,
            signature=signature,
        )
    if args.json:
        print(json.dumps(verification.to_json(), indent=1))
    else:
        _print(verification)
    if verification.verdict == "SIMULATED":
        return _SIMULATED
    return 0 if verification.verified else 1


def _print(verification: Verification) -> None:
    for check in verification.checks:
        mark = "ok" if check.passed else "NO"
        for sentence in check.sentences:
            print_wrapped(f"{mark}  {check.name:12}  ", sentence)
    verdict = (
        f"verdict: {verification.verdict}"
        if verification.verified
        else "no verdict: it certifies nothing"
    )
    print(f"\n{verification.status}  {printable(verification.signature.face)}  {verdict}")
    for sentence in verification.limits:
        print_wrapped("  ", sentence)


def _declared(cases: Sequence[Case], offer: Offer) -> list[Case]:
    """The cases that need nothing that the backend does not declare."""
    from sessrun.spec.inference import demand_of
    from sessrun.spec.releases import needed_release

    return [
        case
        for case in cases
        if not (offer.release.lacks(needed_release(case)) or offer.lacks(demand_of(case)))
    ]


def _ran(
    args: argparse.Namespace, plan: Plan, backend: str, offer: Offer
) -> tuple[dict[str, str], Fresh]:
    """What comes of planned cases run again, and of cases of a seed of our own.

    They are drawn of those that the package's backend declares: no clause rests on others.
    """
    from sessrun.conformance.plan import build_plan
    from sessrun.conformance.runner import Runner
    from sessrun.reports.verify import Fresh

    seed = Seed.drawn().value if args.seed is None else args.seed
    draw = random.Random(seed)
    own = Seed.of_challenge(f"cases drawn anew: {seed}, not {plan.seed}").value
    planned = _declared(plan.cases, offer)
    drawn = [c for c in _declared(build_plan(plan.profile, own).cases, offer) if ":" in c.id]
    runner = Runner(backend)
    try:
        again = draw.sample(planned, min(args.rerun, len(planned)))
        rerun = {case.id: runner.run(case)["result"] for case in again}
        anew = draw.sample(drawn, min(args.rerun, len(drawn)))
        return rerun, Fresh(own, tuple(runner.run(case) for case in anew))
    finally:
        runner.shutdown()
