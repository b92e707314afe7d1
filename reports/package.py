"""Certification packages: what they hold, how they are written and read.

  manifest.json      format 1: SHA-256 of every other file, digests, backend, profile, verdict
  manifest.sig       who signed it, where somebody did: OpenSSH's signature of the manifest
  plan.json          the plan; record.jsonl: the run record, as it was written
  summary.json       environment.json  capabilities.json  waivers.json
  report.html        badge.svg  junit.xml: views
  replays/*.json     a replay of each case that went wrong

All but the plan, the record, the waivers and the replays is a function of them: the verifier
computes it again.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sessrun.reports.archive import PackageError, pack, read_archive, unpack
from sessrun.reports.badge import badge_svg
from sessrun.reports.failures import Answer, replay_name
from sessrun.reports.html import report_html
from sessrun.reports.json_forms import json_bytes, line_bytes
from sessrun.reports.junit import junit_xml
from sessrun.reports.plan import PlanFacts
from sessrun.reports.printable import shortened, utf8
from sessrun.reports.summary import Summary, Waiver
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.cases.engine import CAPABILITIES
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import Clause
from sessrun.spec.records import RunRecord, read_record
from sessrun.spec.schema import SpecError, check
from sessrun.spec.writing import write_bytes

__all__ = [
    "FILES",
    "SIGNATURE",
    "Package",
    "PackageError",
    "ReplayOf",
    "derived_files",
    "manifest_of",
    "open_package",
    "read_package",
    "write_package",
]

#: Every file of a package but the replays, and the signature, which not every package has.
FILES: Final = (
    "badge.svg",
    "capabilities.json",
    "environment.json",
    "junit.xml",
    "manifest.json",
    "plan.json",
    "record.jsonl",
    "report.html",
    "summary.json",
    "waivers.json",
)
SIGNATURE: Final = "manifest.sig"
_KINDS: Final = ("capabilities", "environment", "manifest", "plan", "waivers")
#: Makes the replay of a case from its id and its line of the record.
ReplayOf = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
#: Values nest 100 deep at most, in up to three levels of JSON each.
_DEPTH: Final = 350
#: More seconds than any run takes.
_CENTURY: Final = 3.2e9


@dataclass(frozen=True, slots=True)
class Package:
    """A package as read: each file well-formed, nothing compared yet.

    Attributes:
      files: every file's bytes by name.
      manifest: `manifest.json`.
      plan: `plan.json`.
      record: `record.jsonl`.
      summary: `summary.json`.
      waivers: `waivers.json`.
      replays: file name (without the folder) to replay.

    """

    files: Mapping[str, bytes]
    manifest: Mapping[str, Any]
    plan: PlanFacts
    record: RunRecord
    summary: Mapping[str, Any]
    waivers: tuple[Waiver, ...]
    replays: Mapping[str, Mapping[str, Any]]

    @property
    def signature(self) -> bytes | None:
        """The signature of the manifest; None if there is none."""
        return self.files.get(SIGNATURE)

    @property
    def profile(self) -> str:
        """The profile that the package says it is about."""
        profile: str = self.manifest["profile"]
        return profile


def write_package(
    path: Path,
    record: Path,
    plan: PlanFacts,
    clauses: Mapping[str, Clause],
    *,
    waivers: Sequence[Waiver] = (),
    replay_of: ReplayOf | None = None,
    sign: Callable[[bytes], bytes] | None = None,
) -> Summary:
    """Write the package of a run; same record, same bytes.

    Args:
      path: the package to write.
      record: the run record.
      plan: the plan that the run followed.
      clauses: the spec's clauses by id.
      waivers: the clauses that the certificate does without.
      replay_of: makes the replay of a case that went wrong; None writes no replays.
      sign: makes the signature of the manifest's bytes; None leaves the package unsigned.

    Returns:
      The summary, with the verdict.

    Raises:
      PackageError: the run was cut: it must be resumed first.
      SpecError: the record is not one.

    """
    run = read_record(record)
    if not run.complete:
        raise PackageError(record.name, "the run was cut; resume it before it is certified")
    summary = summarize(run, plan, clauses, plan.profile, waivers)
    answers = answers_of(run, plan)
    files = {
        "record.jsonl": record.read_bytes()[: run.valid_bytes],
        "plan.json": json_bytes({"kind": "plan", **plan.to_json()}),
        **derived_files(summary, answers),
    }
    for answer in answers:
        if replay_of is not None and answer.line is not None and answer.replayable:
            name = f"replays/{replay_name(answer.case.id)}"
            files[name] = json_bytes(replay_of(answer.case.id, answer.line))
    files["manifest.json"] = json_bytes(manifest_of(files, summary, signed=sign is not None))
    if sign is not None:
        files[SIGNATURE] = sign(files["manifest.json"])
    write_bytes(path, pack(files))
    return summary


def derived_files(summary: Summary, answers: Sequence[Answer]) -> dict[str, bytes]:
    """The files of a package that are functions of record, plan and waivers."""
    header = summary.header
    backend = header["backend"]
    capabilities = {
        "kind": "capabilities",
        "capabilities": sorted(map(str, backend["capabilities"])),
        "devices": [str(device) for device in backend.get("devices", ())],
    }
    waivers = [waiver.to_json() for waiver in summary.waivers]
    return {
        "badge.svg": utf8(badge_svg(summary)),
        "capabilities.json": json_bytes(capabilities),
        "environment.json": json_bytes(
            {"kind": "environment", "environment": header["environment"]}
        ),
        "junit.xml": junit_xml(summary, answers),
        "report.html": utf8(report_html(summary)),
        "summary.json": json_bytes(summary.to_json()),
        "waivers.json": json_bytes({"kind": "waivers", "waivers": waivers}),
    }


def manifest_of(
    files: Mapping[str, bytes], summary: Summary, *, signed: bool = False
) -> dict[str, Any]:
    """The manifest of a package that holds these files beside it, and its signature or none."""
    header = summary.header
    return {
        "kind": "manifest",
        "package": 1,
        "sessrun": header["sessrun"],
        "spec": header["spec"],
        "suite": header["suite"],
        "plan": header["plan"]["hash"],
        "seed": header["seed"],
        "profile": summary.profile,
        "backend": {key: header["backend"][key] for key in ("spec", "name", "version")},
        "started": header.get("started"),
        "verdict": summary.verdict,
        "signature": SIGNATURE if signed else None,
        "files": {
            name: {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
            for name, raw in sorted(files.items())
            if name not in {"manifest.json", SIGNATURE}
        },
    }


def read_package(path: Path) -> Package:
    """Read a package and check the form of each file; nothing is compared with anything.

    Raises:
      PackageError: the archive or a file in it is not well-formed; it names which, and why.

    """
    return _package(read_archive(path))


def open_package(raw: bytes, source: str) -> Package:
    """As `read_package`, from the bytes of the archive."""
    return _package(unpack(raw, source))


def _package(files: dict[str, bytes]) -> Package:
    for name in FILES:
        if name not in files:
            raise PackageError(name, "the package lacks this file")
    for name in files:
        if name not in (*FILES, SIGNATURE) and not name.startswith("replays/"):
            raise PackageError(name, "no file of a package has this name")
    forms = {kind: _form(files, f"{kind}.json", "package") for kind in _KINDS}
    for kind, form in forms.items():
        if form["kind"] != kind:
            raise PackageError(f"{kind}.json", f"it holds {form['kind']!r}")
    return Package(
        files=files,
        manifest=forms["manifest"],
        plan=PlanFacts.from_json(forms["plan"]),
        record=_record(files["record.jsonl"]),
        summary=_form(files, "summary.json", "summary"),
        waivers=tuple(Waiver(**waiver) for waiver in forms["waivers"]["waivers"]),
        replays={
            name.removeprefix("replays/"): _replay(files, name)
            for name in files
            if name.startswith("replays/")
        },
    )


def _form(files: Mapping[str, bytes], name: str, schema: str | None) -> Any:
    """A JSON file's value, in the one form that `json_bytes` gives it."""
    try:
        form = json.loads(files[name])
        canonical = json_bytes(form)
    except (ValueError, RecursionError) as error:
        raise PackageError(name, f"not JSON: {error}") from error
    _check_depth(form, name)
    if canonical != files[name]:
        # Two readers of duplicate keys or odd numbers would see two different files.
        raise PackageError(name, "not in the one form that JSON has in a package")
    if schema is not None:
        try:
            check(form, schema, name)
        except SpecError as error:
            raise PackageError(name, f"at {error.location or 'the top'}: {error.reason}") from error
    return form


def _check_depth(form: Any, name: str) -> None:
    """Refuse nesting that no record has and that a recursive reader would not survive."""
    level = [form]
    for _ in range(_DEPTH):
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise PackageError(name, f"nested more than {_DEPTH} deep")


def _replay(files: Mapping[str, bytes], name: str) -> Mapping[str, Any]:
    form = _form(files, name, None)
    if not isinstance(form, dict) or form.get("replay") != 1:
        raise PackageError(name, "not a replay of format 1")
    try:
        Case.from_json(form.get("case"), name)
    except (SpecError, ValueError) as error:
        raise PackageError(name, f"its case: {error}") from error
    return form


def _record(raw: bytes) -> RunRecord:
    """The record, each line as the writer of records writes it, none of them cut."""
    name = "record.jsonl"
    with tempfile.TemporaryDirectory(prefix="sessrun-") as folder:
        path = Path(folder) / name
        write_bytes(path, raw)
        try:
            record = read_record(path)
        except SpecError as error:
            position = f"at {error.location}: " if error.location else ""
            raise PackageError(name, f"{position}{error.reason}") from error
    if record.valid_bytes != len(raw):
        raise PackageError(name, "its last line is cut")
    for number, line in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            form = json.loads(line)
            canonical = line_bytes(form)
        except (ValueError, RecursionError) as error:
            raise PackageError(name, f"line {number} is not JSON: {error}") from error
        _check_depth(form, name)
        if canonical != line:
            raise PackageError(name, f"line {number} is not as the writer of records writes it")
    _check_record(record)
    return record


def _check_record(record: RunRecord) -> None:
    """Check what the schema of a record leaves open and the views rely on."""
    name = "record.jsonl"
    backend = record.header["backend"]
    for key in ("spec", "name", "version"):
        if not isinstance(backend[key], str) or not backend[key]:
            raise PackageError(name, f"line 1: backend.{key} is no text")
    for key in ("capabilities", "devices"):
        value = backend.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise PackageError(name, f"line 1: backend.{key} is no list of texts")
    unknown = sorted(set(backend["capabilities"]) - CAPABILITIES)
    if unknown:
        what = shortened(", ".join(unknown), 80)
        raise PackageError(name, f"line 1: backend.capabilities: there is no {what}")
    for line in (*record.results.values(), *record.events):
        if not abs(line.get("seconds", 0)) < _CENTURY:
            where = shortened(line.get("id", line.get("event")), 80)
            raise PackageError(name, f"{where}: an impossible number of seconds")
