"""The worker's program: `python -m sessrun.adapters.worker SPEC` serves a backend over stdio."""

from __future__ import annotations

import faulthandler
import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main(spec: str) -> NoReturn:
    """Serve `spec` over this process's stdin and stdout, then end the process.

    Native libraries print to file descriptor 1 and may read descriptor 0. Both are moved away
    before any backend is imported: what is printed goes to the host, apart from the answers.
    """
    from sessrun.adapters.process.printed import redirect_output  # noqa: PLC0415 - imports no backend

    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    redirect_output()
    faulthandler.enable()
    from sessrun.adapters.process.serve import serve  # noqa: PLC0415 - after the descriptors moved

    status = serve(spec, requests, answers)
    sys.stderr.flush()
    os._exit(status)  # a thread that hangs in a backend must not keep the process


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m sessrun.adapters.worker SPEC")
    main(sys.argv[1])
