"""What a record tells of its workers, held against what it says of the cases.

Each worker that is started anew leaves an event, with the reason; each reason is that of a case. So
a crash that was rewritten as something else, or a second try that was taken out, leaves an event
that belongs to no case, unless the events were rewritten as well.
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
#: Results that may tell why a worker was started anew.
_SHOWN: Final = _LOST | {"error", "infra_error"}
#: What an event keeps of a reason.
_KEPT: Final = 500


def event_faults(record: RunRecord) -> Iterator[str]:
    """Where events and results of a record do not fit one another, in sentences."""
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
    untold = list((restarts - reasons).elements())
    if len(untold) > sum(map(_untold, lines)) + slack:
        cause = shortened(repr(untold[0]), 120)
        yield f"A worker was started anew because {cause}, and no case of the record ended so."
    yield from _silent(lines, restarts, given_up)
    yield from _unasked(lines, record, given_up)


def _untold(line: Mapping[str, Any]) -> int:
    """How many workers a case may have lost of which its line does not tell."""
    if line.get("detail", "").startswith(SECOND_TRY):
        return 2 if FIRST_TRY in line["detail"] else 1
    return int(line["result"] in {"crash", "error"} and line.get("attempts", 1) > 1)


def _silent(lines: list[dict[str, Any]], restarts: Counter[str], given_up: int) -> Iterator[str]:
    """Cases that lost a worker, and no other was started."""
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


def _unasked(lines: list[dict[str, Any]], record: RunRecord, given_up: int) -> Iterator[str]:
    """Cases that were not asked though the backend had not been given up, or was asked later.

    Each worker may lose the case that it has in hand then, while others answer later ones; what
    follows so many cases is not asked.
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
