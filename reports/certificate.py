"""A package as one of many: read, checked as far as that goes without its suite, and summed up.

Every file must have the hash of the manifest. Of a package of the installed spec the summary is
computed anew from its record and must be the one in the package; of any other it is shown as the
package has it, since clauses may have changed. `verify` checks whether a package is to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessrun.reports.archive import PackageError
from sessrun.reports.coverage import Coverage
from sessrun.reports.failures import Answer
from sessrun.reports.package import Package, read_package
from sessrun.reports.recheck import derive, file_faults, summary_faults
from sessrun.reports.summary import (
    ClauseSummary,
    FailureGroup,
    SubjectSummary,
    Summary,
    Waiver,
)
from sessrun.reports.verdicts import answers_of
from sessrun.spec.loader import load_clauses, spec_digest
from sessrun.spec.records import RunRecord
from sessrun.spec.scopes import ScopeError, scope_of

__all__ = ["Certificate", "read_certificate", "summary_of"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A package and what it says.

    Attributes:
      package: the package.
      summary: its summary.
      answers: what counts for each planned case, in plan order.
      installed: whether it is of the installed spec, so that the summary was computed anew.

    """

    package: Package
    summary: Summary
    answers: tuple[Answer, ...]
    installed: bool

    @property
    def backend(self) -> Mapping[str, Any]:
        """The backend's `name` and `version`, and how the command line names it, `spec`."""
        backend: Mapping[str, Any] = self.summary.header["backend"]
        return backend

    @property
    def name(self) -> str:
        """The backend's name and version."""
        return f"{self.backend['name']} {self.backend['version']}"


def read_certificate(path: Path) -> Certificate:
    """Read a package, and check that it fits itself.

    Raises:
      PackageError: it cannot be read, or something in it contradicts something else in it.

    """
    package = read_package(path)
    _refuse(path, file_faults(package))
    header = package.record.header
    if header["plan"]["hash"] != package.plan.hash or package.profile != package.plan.profile:
        raise PackageError(str(path), "the record follows another plan than the package's")
    try:
        scope_of(package.profile)
    except ScopeError as error:
        raise PackageError(str(path), str(error)) from error
    if header["spec"]["digest"] != spec_digest():
        summary = summary_of(package.summary, package.record)
        return Certificate(package, summary, answers_of(package.record, package.plan), False)
    anew = derive(package, package.plan, load_clauses())
    if package.summary.keys() == anew.summary.to_json().keys():  # else an older form of the same
        _refuse(path, summary_faults(package, anew.summary))
    return Certificate(package, anew.summary, anew.answers, True)


def _refuse(path: Path, faults: tuple[str, ...]) -> None:
    if faults:
        raise PackageError(str(path), faults[0])


def summary_of(form: Mapping[str, Any], record: RunRecord) -> Summary:
    """The summary whose JSON form this is, of a run with this record; an older form lacks parts."""
    coverage = form.get("coverage")
    totals = dict(form["totals"])
    return Summary(
        header=record.header,
        profile=form["profile"],
        verdict=form["verdict"],
        reasons=tuple(form["reasons"]),
        complete=form["complete"],
        planned=totals.pop("planned"),
        counts=totals,
        ran=form["ran"],
        clauses=tuple(map(_clause, form["clauses"])),
        subjects=tuple(SubjectSummary(**subject) for subject in form["subjects"]),
        failures=tuple(map(_group, form["failures"])),
        waivers=tuple(Waiver(**waiver) for waiver in form["waivers"]),
        events=tuple(record.events),
        seconds=form["seconds"],
        coverage=Coverage(coverage["rows"]) if coverage else None,
    )


def _clause(form: Mapping[str, Any]) -> ClauseSummary:
    values = {key: value for key, value in form.items() if key != "tests"}
    return ClauseSummary(**values | {"vectors": tuple(form["vectors"])})


def _group(form: Mapping[str, Any]) -> FailureGroup:
    values = {"cause": form["reason"], "unblocks": (), **form}
    lists = ("clauses", "unblocks", "cases")
    return FailureGroup(**values | {key: tuple(values[key]) for key in lists})
