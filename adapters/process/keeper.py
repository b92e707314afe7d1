"""Keeps one worker: runs it as a child, and leaves none of its processes behind.

A program of its own, run by the host as `python -I -S keeper.py CONTROL FOLDER COMMAND...` with
the worker's three pipes; it imports nothing of ours, so that it is up in hundredths of a second. It
ends the worker, and whatever the worker started, whichever group or session that moved to,

- when the worker's own process has ended: a forgotten child would keep the pipes open;
- when the pipe CONTROL is closed: the host wants it, or has been killed.

It then ends as the worker did, so that the host sees the worker's exit status or signal. The
exchange folder is the host's to remove, and the keeper's if there is no host left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time
from typing import Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
#: The flag of a process that is ending, in `/proc/PID/stat`.
_PF_EXITING: Final = 4
#: What is meant for the worker, since nobody outside knows of its keeper.
_PASSED_ON: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
#: How long the ending of processes may take, in seconds.
_PATIENCE: Final = 2.0
#: What a shell exits with where a program cannot be run.
_NOT_RUN: Final = 127


def main(control: int, folder: str, command: list[str]) -> NoReturn:
    """Run `command` until it ends or `control` is closed; end in the same way."""
    host = os.getppid()
    # On Linux whoever loses its parent becomes our child, and cannot get away.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    os.set_inheritable(control, False)
    woken, waker = os.pipe()
    for end in (woken, waker):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    worker = os.fork()
    if worker == 0:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # it may end its keeper, and itself with it
        _become(command)
    for number in _PASSED_ON:
        signal.signal(number, lambda number, _: _send(worker, number))
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # or the pipes would never be seen to close
        os.dup2(nothing, descriptor)
    status = _wait(worker, control, woken)
    _sweep(worker if status is None else None)
    if _is_exiting(host) or os.getppid() != host:
        import shutil  # noqa: PLC0415 - seldom needed, and slow to import

        shutil.rmtree(folder, ignore_errors=True)
    _end_like(status)


def _prctl(what: int, value: int) -> None:
    """Set something of this process, where the system is Linux."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


def _become(command: list[str]) -> NoReturn:
    """Run the command in this process."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - a virtual file
        file.write("1000")  # where memory runs out, the worker must go, not the host
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's own command, no shell
    except OSError as error:
        os.write(2, f"cannot run {command[0]!r}: {error.strerror}\n".encode())
    os._exit(_NOT_RUN)


def _wait(worker: int, control: int, woken: int) -> int | None:
    """The worker's wait status once it has ended; None if `control` was closed before."""
    while True:
        while (status := _reap(worker)) is None:
            ready, _, _ = select.select((control, woken), (), ())
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
            if control in ready and not os.read(control, 4096):
                return _reap(worker)
        return status


def _is_exiting(host: int) -> bool:
    """Whether the host is ending: its pipes close a little before it ceases to be our parent."""
    try:
        with open(f"/proc/{host}/stat", "rb") as file:  # noqa: PTH123 - a virtual file
            flags = file.read().rpartition(b")")[2].split()[6]
    except OSError:  # there is no such file: it has ended, or this is not Linux
        return False
    return bool(int(flags) & _PF_EXITING)


def _reap(worker: int) -> int | None:
    """Reap every child that has ended: the worker's wait status, if it was among them."""
    worker_status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == worker:
                worker_status = status
    return worker_status


def _sweep(worker: int | None) -> None:
    """End every child; the children of each then become ours, and are ended in turn."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        for pid in _children() or ([] if worker is None else [worker]):
            _send(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123 - a virtual file
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _end_like(status: int | None) -> NoReturn:
    """End with a wait status; without one, as if killed."""
    number = signal.SIGKILL if status is None else os.WTERMSIG(status)
    if number:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # there is nothing to see in ours
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status or 0))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
