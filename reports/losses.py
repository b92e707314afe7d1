"""Contradictions in a record between the restarts of workers and the results of cases.

Each restart of a worker is an event with a reason, and the reason is the detail of some case. So if
someone rewrites a crash as another result, or removes a second try, an event remains that belongs
to no case, unless the events are rewritten as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessrun.reports.printable import shortened
from sessrun.spec.records import BUSY, DISTURBED, FIRST_TRY, SECOND_TRY, TRIED_AGAIN, RunRecord

__all__ = ["event_faults"]

#: Results of a case whose worker was lost.
_LOST: Final = frozenset({"timeout", "crash"})
#: Results whose detail may be the reason of a restart.
_SHOWN: Final = _LOST | {"error", "infra_error"}
#: How many characters of a reason an event keeps.
_KEPT: Final = 500


def event_faults(record: RunRecord) -> Iterator[str]:
    """A sentence for each contradiction between a record's events and its results."""
    if record.header["mode"] != "workers":
        return
    lines = list(record.results.values())
    given_up = sum(event["event"] == "unresponsive" for event in record.events)
    # A run that is killed between an event and its case runs that case again.
    slack = given_up + sum(event["event"] == "resumed" for event in record.events)
    restarts = Counter(e.get("detail", "") for e in record.events if e["event"] == "restart")
    tried = restarts.pop(TRIED_AGAIN, 0)
    twice = sum(line.get("attempts", 1) > 1 for line in lines)
    if not twice <= tried <= twice + slack:
        yield f"The record tells of {twice} cases tried twice, its events of {tried}."
    for reason in (DISTURBED, BUSY):
        restarts.pop(reason, None)
    reasons = Counter(line.get("detail", "")[:_KEPT] for line in lines if line["result"] in _SHOWN)
    unexplained = list((restarts - reasons).elements())
    if len(unexplained) > sum(map(_unmentioned, lines)) + slack:
        cause = shortened(repr(unexplained[0]), 120)
        yield f"A worker was started anew because {cause}, and no case of the record ended so."
    yield from _without_restart(lines, restarts, given_up)
    yield from _missing(lines, record, given_up)


def _unmentioned(line: Mapping[str, Any]) -> int:
    """How many workers a case may have lost that its result line does not mention."""
    if line.get("detail", "").startswith(SECOND_TRY):
        return 2 if FIRST_TRY in line["detail"] else 1
    return int(line["result"] in {"crash", "error"} and line.get("attempts", 1) > 1)


def _without_restart(
    lines: list[dict[str, Any]], restarts: Counter[str], given_up: int
) -> Iterator[str]:
    """A sentence for each case that lost its worker although no other worker was started."""
    left = Counter(restarts)
    for line in lines:
        reason = line.get("detail", "")[:_KEPT]
        if line["result"] not in _LOST:
            continue
        if left[reason]:
            left[reason] -= 1
        elif given_up:
            given_up -= 1
        else:
            yield f"Case {line['id']} is recorded as {line['result']}, and no worker started anew."


def _missing(lines: list[dict[str, Any]], record: RunRecord, given_up: int) -> Iterator[str]:
    """Sentences about cases that are missing, or have a result, against the record's events.

    Cases are missing only after the backend was given up. Then each worker may lose the case that
    it runs while other workers finish later ones: with n workers there is no result after the n-th
    missing case.
    """
    missing = [index for index, line in enumerate(lines) if line["result"] == "missing"]
    if not missing:
        return
    if not given_up:
        yield (
            f"Case {lines[missing[0]]['id']} is recorded as missing, and the backend was not "
            "given up."
        )
    elif not any(event["event"] == "resumed" for event in record.events):
        workers = record.header.get("workers", 1)
        after = (line for index in missing[workers - 1 : workers] for line in lines[index:])
        for line in after:
            if line["result"] not in {"missing", "skipped"}:
                yield f"Case {line['id']} is recorded as {line['result']} after it was given up."
