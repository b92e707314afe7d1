"""The program that plants a mistake: `python -m ...planted NAME SESSION...`.

It changes the module of the mistake of that name (of none for `-`), runs the sessions on simulated
GPUs, and writes `{session: [[how it shows, what is wrong in words], ...]}` as JSON. It writes to no
file. `examine` asks it, in a process for each mistake.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessrun.conformance.selfcheck.gpu_mistakes.mistakes import Mistake, load_mistakes
from sessrun.conformance.selfcheck.mutation.changed_source import confine, import_changed

if TYPE_CHECKING:
    from sessrun.conformance.selfcheck.gpu_mistakes.signs import Sign

__all__ = ["complaint", "examine", "main"]

_MODULE: Final = "sessrun.conformance.selfcheck.gpu_mistakes.planted"
#: How long the sessions of a mistake may take together, in seconds.
_SECONDS: Final = 300.0


def main(name: str, sessions: Sequence[str]) -> None:
    """Plant, run, and write what shows to standard output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a session may print
    from sessrun.conformance.selfcheck.gpu_mistakes.sessions import SESSIONS  # noqa: PLC0415
    from sessrun.conformance.selfcheck.gpu_mistakes.signs import signs  # noqa: PLC0415

    if name != "-":
        mistake = load_mistakes()[name]
        import_changed(mistake.module, mistake.planted())
    with tempfile.TemporaryDirectory() as folder, answers:
        confine(Path(folder))
        json.dump({session: signs(SESSIONS[session]) for session in sessions}, answers)


def examine(mistake: Mistake | None, sessions: Sequence[str]) -> Mapping[str, Sequence[Sign]]:
    """By session what shows in it, with a mistake planted or with none.

    Raises:
      StaleMistakeError: it cannot be planted any more.
      RuntimeError: the process did not end as it should; the message has its last words.

    """
    if mistake is not None:
        mistake.planted()
    name = "-" if mistake is None else mistake.name
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", _MODULE, name, *sessions],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RuntimeError(f"the sessions with the mistake {name!r} did not end: {last}")
    signs: Mapping[str, Sequence[Sign]] = json.loads(done.stdout)
    return signs


def complaint(mistake: Mistake, signs: Sequence[Sign]) -> str:
    """What is wrong with how a mistake shows; empty if it shows as it should."""
    kinds = [kind for kind, _ in signs]
    if not kinds:
        return "nothing shows it"
    if mistake.shown_by not in kinds:
        return f"shows as {', '.join(dict.fromkeys(kinds))}, not as {mistake.shown_by}"
    return ""


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
