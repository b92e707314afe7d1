"""Every file of the site: clauses, vectors, faults, operations, prose, and the search over them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Final, TypeVar

from markupsafe import Markup

from sessrun.reports.html import coded, template, template_text
from sessrun.reports.printable import number, printable, utf8
from sessrun.reports.site.addresses import Addresses, relative
from sessrun.reports.site.links import check_links
from sessrun.reports.site.prose import Prose, prose_pages
from sessrun.reports.site.relations import Relations, Suite
from sessrun.spec import SPEC_VERSION, loader
from sessrun.spec.dtypes import DTYPES
from sessrun.spec.errors import CODES
from sessrun.spec.loader import subject_of
from sessrun.spec.tables.manual import CONVENTIONS, operation_rows
from sessrun.spec.tables.wrappers import signature_text
from sessrun.spec.volumes import clauses_by_chapter, load_volumes

__all__ = ["site_files"]

#: The pages of tables, with their titles.
_TABLES: Final = {
    "spec/tables.html": "Profiles, errors, dtypes",
    "spec/rulings.html": "Claims, rulings, withdrawn clauses",
}
#: What the front page offers to each reader, in this order.
_DOORS: Final = (
    (
        "Read the spec",
        (
            "spec/run.html",
            "spec/update_rules.html",
            *_TABLES,
            "docs/cases.html",
            "docs/feeds.html",
            "docs/decisions.html",
        ),
    ),
    (
        "Certify an engine",
        (
            "docs/commands.html",
            "docs/adapters.html",
            "docs/protocol.html",
            "docs/ci.html",
            "docs/reports.html",
            "docs/certificates.html",
        ),
    ),
    ("Measure", ("docs/performance.html", "docs/gpu.html")),
    (
        "Change sessrun",
        (
            "docs/contributing.html",
            "docs/architecture.html",
            "docs/reference.html",
            "docs/selfcheck.html",
            "docs/coverage.html",
            "CHANGELOG.html",
        ),
    ),
)
#: Where the pages lie that say what was found.
_FINDINGS: Final = ("docs/findings/", "reports/published/")
#: The pages that every page leads to.
_SECTIONS: Final = (
    ("Clauses", "index.html#clauses"),
    ("Operations", "index.html#operations"),
    ("Vectors", "index.html#vectors"),
    ("Faults", "index.html#faults"),
)


_T = TypeVar("_T")


def site_files(suite: Suite, root: Path | None) -> dict[str, bytes]:
    """The path of each file of the site and its content.

    Args:
      suite: what the suite knows beside the installed spec.
      root: the checkout whose prose is shown; None leaves it out.

    Raises:
      SiteError: a link leads nowhere, or out of the site.

    """
    files = dict(_Site(suite, root).files())
    check_links(files)
    return files


class _Site:
    """The site in the making."""

    def __init__(self, suite: Suite, root: Path | None) -> None:
        self.relations = Relations(suite)
        self.addresses = Addresses(self.relations)
        self._root = root
        files = self.relations.operation_files
        relations = self.relations
        self._clauses = _by(relations.clauses.values(), lambda clause: clause.subject)
        self._vectors = _by(relations.vectors.values(), lambda case: case.id.partition("/")[0])
        self._faults = _by(suite.faults, lambda fault: subject_of(fault.clause))
        self._operations = _by(relations.operations.values(), lambda op: files[op.name])
        self._search_rows: list[tuple[str, str, str, str]] = []

    def files(self) -> Iterator[tuple[str, bytes]]:
        prose: list[Prose] = []
        if self._root is not None:
            for item in prose_pages(self._root, self.addresses):
                if isinstance(item, Prose):
                    prose.append(item)
                    yield item.page, self._prose(item)
                else:
                    yield item
        yield from self._clauses_pages()
        yield from self._vectors_pages()
        yield from self._faults_pages()
        yield from self._operations_pages()
        values = {
            "profiles": loader.load_profiles().values(),
            "codes": CODES,
            "dtypes": DTYPES,
            "claims": loader.load_claims(),
            "rulings": loader.load_rulings(),
            "withdrawn": loader.load_withdrawn().values(),
        }
        for page, title in _TABLES.items():
            yield page, self._render(Path(page).stem, page, title, **values)
        yield "index.html", self._front(prose)
        yield "site.css", utf8(template_text("style.css") + template_text("site/site.css"))
        yield "site.js", utf8(template_text("site/site.js"))
        rows = json.dumps(self._search_rows, ensure_ascii=False, separators=(",", ":"))
        yield "search.js", utf8(f"const SEARCH_ROWS = {rows};\n")

    def _render(self, name: str, page: str, title: str, **values: object) -> bytes:
        """A page by its template, whose links are written from where the page lies."""
        functions: dict[str, Callable[..., object]] = {
            "to": lambda address: relative(address, page),
            "clause": lambda id_: relative(self.addresses.clause(id_), page),
            "vector": lambda id_: relative(self.addresses.vector(id_), page),
            "operation": lambda name: relative(self.addresses.operation(name), page),
            "fault": lambda fault: relative(self.addresses.fault(fault), page),
            "linked": lambda text: self._linked(text, page),
        }
        return utf8(
            template(f"site/{name}.html.j2").render(
                title=title,
                version=SPEC_VERSION,
                sections=_SECTIONS,
                number=number,
                relations=self.relations,
                **functions,
                **values,
            )
        )

    def _linked(self, text: str, page: str) -> Markup:
        """Text with its code as code, and the ids of clauses as links."""

        def link(id_: str, address: str) -> str:
            return f'<a href="{relative(address, page)}">{id_}</a>'

        return Markup(self.addresses.with_links(str(Markup.escape(coded(text))), link))  # noqa: S704 - escaped

    def _make_findable(self, kind: str, name: str, text: str, address: str) -> None:
        """Let the search find it."""
        self._search_rows.append((kind, name, printable(text), address))

    def _prose(self, prose: Prose) -> bytes:
        self._make_findable("page", prose.title, "", prose.page)
        for anchor, title in prose.sections:
            self._make_findable("page", title, prose.title, f"{prose.page}#{anchor}")
        return self._render("prose", prose.page, prose.title, body=prose.body)

    def _clauses_pages(self) -> Iterator[tuple[str, bytes]]:
        for subject, clauses in self._clauses.items():
            page = f"spec/clauses/{subject}.html"
            for clause in clauses:
                self._make_findable(
                    "clause", clause.id, clause.statement, self.addresses.clause(clause.id)
                )
            yield (
                page,
                self._render(
                    "clauses",
                    page,
                    f"Clauses of {subject}",
                    clauses=clauses,
                    debt=loader.load_debt(),
                ),
            )

    def _vectors_pages(self) -> Iterator[tuple[str, bytes]]:
        for folder, cases in self._vectors.items():
            page = f"spec/vectors/{folder}.html"
            for case in cases:
                self._make_findable("vector", case.id, case.title, self.addresses.vector(case.id))
            yield page, self._render("vectors", page, f"Vectors of {folder}", cases=cases)

    def _faults_pages(self) -> Iterator[tuple[str, bytes]]:
        for subject, faults in self._faults.items():
            page = f"conformance/faulty/{subject}.html"
            for fault in faults:
                self._make_findable("fault", fault.name, fault.summary, self.addresses.fault(fault))
            yield page, self._render("faults", page, f"Faults of {subject}", faults=faults)

    def _operations_pages(self) -> Iterator[tuple[str, bytes]]:
        for file, operations in self._operations.items():
            page = f"spec/ops/{file}.html"
            for operation in operations:
                names = " ".join(f"tf.{name}" for name in operation.python)
                address = self.addresses.operation(operation.name)
                self._make_findable(
                    "operation", operation.name, f"{operation.summary} {names}", address
                )
            yield (
                page,
                self._render(
                    "operations",
                    page,
                    f"Operations of {file}",
                    operations=operations,
                    signature_text=signature_text,
                    rows=operation_rows,
                    conventions=CONVENTIONS,
                    definitions=loader.load_definitions(),
                ),
            )

    def _front(self, prose: Sequence[Prose]) -> bytes:
        titles = {item.page: item.title for item in prose} | _TABLES
        findings = [page for page in titles if page.startswith(_FINDINGS)]
        doors = [
            (name, [(page, titles[page]) for page in pages if page in titles])
            for name, pages in (*_DOORS, ("What was found", findings))
        ]
        parts = [
            _part("operations", "spec/ops", self._operations),
            _part("vectors", "spec/vectors", self._vectors),
            _part("faults", "conformance/faulty", self._faults),
        ]
        return self._render(
            "index",
            "index.html",
            "The spec of sess.run",
            parts=parts,
            volumes=_volumes(),
            doors=[(name, pages) for name, pages in doors if pages],
        )


def _volumes() -> list[dict[str, object]]:
    """The volumes of the spec, chapters with their subjects: name, page, how many clauses."""
    chapters: dict[str, dict[str, list[tuple[str, str, int]]]] = {}
    for volume, chapter, subject, clauses in clauses_by_chapter():
        subjects = chapters.setdefault(volume.name, {}).setdefault(chapter.title, [])
        subjects.append((subject, f"spec/clauses/{subject}.html", len(clauses)))
    return [
        {
            "title": volume.title,
            "version": volume.version,
            "summary": volume.summary,
            "chapters": list(chapters.get(name, {}).items()),
        }
        for name, volume in load_volumes().items()
    ]


def _part(kind: str, folder: str, groups: Mapping[str, Sized]) -> dict[str, object]:
    """A part of the front page: each page of a kind, and how many entries it has."""
    pages = [(name, f"{folder}/{name}.html", len(groups[name])) for name in sorted(groups)]
    return {"kind": kind, "count": sum(count for _, _, count in pages), "pages": pages}


def _by(items: Iterable[_T], key: Callable[[_T], str]) -> dict[str, list[_T]]:
    """The items by what the key says of each, in their order."""
    groups: dict[str, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
