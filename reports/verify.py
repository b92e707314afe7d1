"""The verifier: a certification package held against the installed spec and its own record.

Every check ends in a sentence. What is found is inconsistency; whether the record tells what
happened, only a signature or a re-run can show, and the verification says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports import recheck
from sessrun.reports.package import Package, ReplayOf
from sessrun.reports.plan import PlanFacts
from sessrun.reports.rejudge import judge_anew
from sessrun.reports.signature import SignatureCheck
from sessrun.reports.summary import Summary
from sessrun.spec.cases.model import Case, Observation
from sessrun.spec.loader import Clause
from sessrun.spec.records import QUIET, blamed
from sessrun.spec.seeds import Seed

__all__ = ["Check", "Fresh", "Installed", "Verification", "verify"]

_KNOWS: Final = (
    "It can know that the files are whole and fit one another, that the plan is the one that "
    "this version of the spec makes, and that every number and the verdict follow from the record."
)
_CANNOT: Final = (
    "UNSIGNED: it cannot know who made the record, nor that the backend answered so. A forgery "
    "that is consistent in itself is found only by running cases again (--rerun)."
)
_SIGNED: Final = (
    "It knows which key signed, and cannot know that the backend answered as the record says: "
    "that is the word of whoever holds the key. Running cases again (--rerun) asks the backend."
)


_OF_NO_GPU: Final = (
    "REFUSED as a certificate of a GPU: the one that it speaks of was simulated. What it says of "
    "the simulation follows from the record."
)


_UNSIGNED: Final = SignatureCheck(signed=False)


@dataclass(frozen=True, slots=True)
class Installed:
    """What the verifier's own installation says; nothing here comes from the package.

    Attributes:
      sessrun: the installed version of sessrun.
      spec_version: the spec's version.
      spec_digest: the spec's digest.
      suite: the suite's digest.
      clauses: the spec's clauses by id.
      plan: the plan made anew for the package's profile and seed, with the counts of a
        certification.
      case_of: makes the case of a planned id, to judge recorded observations anew; None judges
        none.
      replay_of: makes the replay of a case from its line of the record; None compares only the
        cases in the package's replays.
      oracle: what the oracle does on a case, to judge generated ones anew; None leaves them out.

    """

    sessrun: str
    spec_version: str
    spec_digest: str
    suite: str
    clauses: Mapping[str, Clause]
    plan: PlanFacts
    case_of: Callable[[str], Case] | None = None
    replay_of: ReplayOf | None = None
    oracle: Callable[[Case], Sequence[Observation]] | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it found against the package, and what it says if nothing."""

    name: str
    faults: tuple[str, ...]
    fine: str

    @property
    def passed(self) -> bool:
        """Whether it found nothing."""
        return not self.faults

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it has to say."""
        return self.faults or (self.fine,)


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of a verification.

    Attributes:
      verdict: the verdict that the package's record gives by the installed rules, or None where
        that could not be computed, or anything speaks against the package.
      checks: every check that was made, in order.
      signature: what is known of who signed it.

    """

    verdict: str | None
    checks: tuple[Check, ...]
    signature: SignatureCheck = _UNSIGNED

    @property
    def verified(self) -> bool:
        """Whether no check found anything."""
        return all(check.passed for check in self.checks)

    @property
    def status(self) -> str:
        """VERIFIED or REFUSED."""
        return "VERIFIED" if self.verified else "REFUSED"

    @property
    def faults(self) -> tuple[str, ...]:
        """Every sentence against the package."""
        return tuple(fault for check in self.checks for fault in check.faults)

    @property
    def limits(self) -> tuple[str, ...]:
        """What a verifier can know, and what it cannot; of what the package is no certificate."""
        known = (_KNOWS, _SIGNED if self.signature.signed else _CANNOT)
        return (_OF_NO_GPU, *known) if self.verdict == "SIMULATED" else known

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "status": self.status,
            "signed": self.signature.signed and self.signature.fault is None,
            "signer": self.signature.signer,
            "key": self.signature.key,
            "verdict": self.verdict,
            "checks": [
                {"name": check.name, "passed": check.passed, "sentences": list(check.sentences)}
                for check in self.checks
            ],
            "limits": list(self.limits),
        }


@dataclass(frozen=True, slots=True)
class Fresh:
    """Cases that no package has, drawn by the verifier and run now.

    Attributes:
      seed: the verifier's own seed.
      lines: the lines that a record would have of them.

    """

    seed: int
    lines: tuple[Mapping[str, Any], ...]


def verify(
    package: Package,
    installed: Installed,
    rerun: Mapping[str, str] | None = None,
    *,
    fresh: Fresh | None = None,
    challenge: str | None = None,
    signature: SignatureCheck | None = None,
) -> Verification:
    """Verify a package.

    Args:
      package: the package as read (`sessrun.reports.package.read_package`).
      installed: the installed spec's facts, and the plan built from it.
      rerun: case id to the result of running it again now, for a sample; None if none was.
      fresh: cases drawn by another seed, and what came of them; None if none were.
      challenge: the challenge that the package's seed must come of; None if any seed will do.
      signature: the result for its signature; None if it was not checked.

    """
    signature = signature or _UNSIGNED
    checks = [
        _signature(signature),
        Check("files", recheck.file_faults(package), "Every file has the hash in the manifest."),
        Check("versions", _version_faults(package, installed), _same_versions(installed)),
        Check(
            "plan",
            recheck.plan_faults(package, installed.plan),
            f"The plan is the installed spec's: {len(installed.plan.cases):,} cases.",
        ),
        _seed(package, challenge),
    ]
    if not all(check.passed for check in checks):
        # Numbers computed with another plan or other clauses would only add noise.
        return Verification(None, tuple(checks), signature)
    checks.append(
        Check(
            "record",
            recheck.record_faults(package.record, installed.plan, installed.case_of),
            "The record answers each planned case once, in order, and nothing else.",
        )
    )
    anew = recheck.derive(package, installed.plan, installed.clauses)
    checks += _derived(package, installed, anew)
    if rerun is not None:
        checks.append(_rerun(package, installed, rerun))
    if fresh is not None:
        checks.append(_fresh(anew.summary, fresh))
    verdict = anew.summary.verdict if all(check.passed for check in checks) else None
    return Verification(verdict, tuple(checks), signature)


def _derived(package: Package, installed: Installed, anew: recheck.Derived) -> list[Check]:
    """What the package says besides its record, held against what the record gives."""
    return [
        Check(
            "summary",
            recheck.summary_faults(package, anew.summary),
            "Every number of the summary, and the verdict, follow from the record.",
        ),
        Check(
            "views", recheck.view_faults(package, anew), "Every view shows what the record says."
        ),
        _judged(package, installed),
        Check(
            "replays",
            recheck.replay_faults(package, anew, installed.replay_of),
            f"Each of the {len(package.replays):,} replays is of a planned case.",
        ),
    ]


def _signature(signature: SignatureCheck) -> Check:
    faults = () if signature.fault is None else (signature.fault,)
    fine = {True: f"The manifest is {signature.face}.", False: "It is UNSIGNED."}[signature.signed]
    return Check("signature", faults, fine)


def _same_versions(installed: Installed) -> str:
    return (
        f"It was made with sessrun {installed.sessrun} and spec {installed.spec_version}, "
        "the ones installed here."
    )


def _version_faults(package: Package, installed: Installed) -> tuple[str, ...]:
    header = package.record.header
    pairs = (
        ("sessrun version", header["sessrun"], installed.sessrun),
        ("spec version", header["spec"]["version"], installed.spec_version),
        ("spec digest", header["spec"]["digest"], installed.spec_digest),
        ("suite digest", header["suite"], installed.suite),
    )
    return tuple(
        f"The {name} differs: the package was made with {theirs}, here is {ours}."
        for name, theirs, ours in pairs
        if theirs != ours
    )


def _judged(package: Package, installed: Installed) -> Check:
    if installed.case_of is None:
        return Check("observations", (), "No recorded observations were judged anew.")
    rejudged = judge_anew(package.record, installed.plan, installed.case_of, installed.oracle)
    judged = rejudged.judged
    total = len(installed.plan.cases)
    rest = "" if judged == total else "; the others hold none"
    rest += ", or need an oracle" if rest and installed.oracle is None else ""
    fine = (
        f"The observations of {judged:,} of {total:,} cases, judged anew, give the recorded "
        f"results{rest}."
    )
    return Check("observations", recheck.first_faults(rejudged.faults), fine)


def _rerun(package: Package, installed: Installed, rerun: Mapping[str, str]) -> Check:
    faults = []
    planned = {case.id for case in installed.plan.cases}
    for id_, result in rerun.items():
        recorded = package.record.results.get(id_, {}).get("result", "missing")
        if id_ not in planned:
            faults.append(f"Case {id_} was run again, but is not planned.")
        elif result != recorded:
            faults.append(f"Run again, case {id_} gives {result}; the record says {recorded}.")
    fine = f"{len(rerun):,} cases, run again, give the recorded results."
    return Check("rerun", tuple(faults), fine)


def _seed(package: Package, challenge: str | None) -> Check:
    """Whether the seed is the plan's, follows from its challenge, and that is the one demanded."""
    seed = Seed.from_json(package.record.header["seed"])
    faults = [] if seed.fault is None else [seed.fault]
    if seed.value != package.plan.seed:
        faults.append(f"The plan has the seed {package.plan.seed}, the record {seed.value}.")
    if challenge is not None and seed.challenge != challenge:
        came = "a challenge, but another one" if seed.challenge is not None else f"was {seed.how}"
        faults.append(f"The seed does not come of the challenge that was demanded: it {came}.")
    fine = {
        "challenge": "The seed follows from the challenge that the package names.",
        "given": "The tested side chose the seed.",
        "drawn": "The tested side drew the seed itself.",
    }
    return Check("seed", tuple(faults), fine[seed.how])


def _fresh(summary: Summary, fresh: Fresh) -> Check:
    """Whether a newly drawn case breaks a clause that holds by the record."""
    held = {clause.id for clause in summary.clauses if set(clause.counts) <= QUIET}
    faults = tuple(
        f"Case {line['id']}, drawn anew, gives {line['result']}; by the record "
        f"{', '.join(broken)} {'holds' if len(broken) == 1 else 'hold'}."
        for line in fresh.lines
        if line["result"] not in QUIET
        for broken in [sorted(held.intersection(blamed(line)))]
        if broken
    )
    fine = f"{len(fresh.lines):,} cases drawn anew by the seed {fresh.seed} agree with the record."
    return Check("fresh", faults, fine)
