"""The cases of a report in its head: how many were drawn, and who could foresee them."""

from __future__ import annotations

from sessrun.reports.printable import number, shortened
from sessrun.reports.summary import Summary
from sessrun.spec.seeds import Seed

__all__ = ["origin_of_cases"]


def origin_of_cases(summary: Summary) -> tuple[str, str]:
    """How many cases ran, of which kind; and where their seed came from, in two sentences."""
    fixed, drawn = summary.ran["fixed"], summary.ran["drawn"]
    cases = (
        f"{number(fixed + drawn, 'case')} ran: {drawn:,} drawn by the seed {_seed(summary).value}, "
        f"{fixed:,} fixed, which everybody can know before."
    )
    return cases, _seed_sentence(_seed(summary))


def _seed(summary: Summary) -> Seed:
    return Seed.from_json(summary.header["seed"])


def _seed_sentence(seed: Seed) -> str:
    """Where the seed came from: only a challenge of somebody else cannot be foreseen."""
    if seed.challenge is not None:
        return (
            f"The seed follows from the challenge {shortened(seed.challenge, 80)!r}: to whoever "
            "gave it after the backend was fixed, the drawn cases were unforeseeable."
        )
    whose = "drew" if seed.how == "drawn" else "chose"
    return (
        f"The tested side {whose} the seed, and can have done so until the run passed: only a "
        "certifier's --challenge is unforeseeable."
    )
