"""A program that breaks the process protocol, or bends it, in the one way its argument names.

It stands alone on the standard library: what it sends is written out, not built by our code.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HELLO = {"outcome": "hello", "protocol": 1, "name": "scripted", "version": "0", "capabilities": []}
OPENED = {"outcome": "opened", "handle": "s"}
ZERO = {"dtype": "float32", "shape": [], "data": "AAAAAA=="}


def requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def say(identity: Any, **answer: Any) -> None:
    text(json.dumps({"id": identity, **answer}))


def values(identity: int, count: int = 1) -> None:
    say(identity, outcome="values", values=[ZERO] * count)


def text(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def on_run(manner: str, request: dict[str, Any], folder: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one case per vice
    identity = request["id"]
    match manner:
        case "twice":
            values(identity)
            values(identity)
        case "never-asked":
            values(identity + 1000)
        case "babble":
            text("computing, please wait")
            values(identity)
        case "wrong-outcome":
            say(identity, outcome="done")
        case "bad-code":
            say(identity, outcome="failure", code=99)
        case "extra-field":
            say(identity, outcome="values", values=[ZERO], note="hi")
        case "nan":
            text(f'{{"id":{identity},"outcome":"done","facts":{{"x":NaN}}}}')
        case "infinity":
            text(f'{{"id":{identity},"outcome":"done","facts":{{"x":1e999}}}}')
        case "nested":
            text("[" * 100_000)
        case "bad-data":
            say(identity, outcome="values", values=[ZERO | {"shape": [7]}])
        case "bad-rank":
            say(identity, outcome="values", values=[ZERO | {"shape": [1] * 100}])
        case "float-shape":
            say(identity, outcome="values", values=[ZERO | {"shape": [1.0]}])
        case "long-line":
            text("x" * (2**20 + 10))
        case "flood":
            while True:
                text("y" * 4096)
        case "endless-line":
            while True:
                sys.stdout.write("z" * 65536)
        case "close-output":
            os.close(1)
            time.sleep(60)
        case "exit-0":
            sys.exit(0)
        case "exit-3":
            sys.stderr.write("goodbye, cruel world\n")
            sys.exit(3)
        case "not-understood":
            say(None, outcome="error", kind="request", message="what?")
        case "broken-backend":
            say(identity, outcome="error", kind="backend", message="KeyError: 'x'")
        case "escape":
            reference = {"file": "../secret", "nbytes": 4}
            say(identity, outcome="values", values=[ZERO_FILE | reference])
        case "absolute":
            reference = {"file": "/etc/hostname", "nbytes": 4}
            say(identity, outcome="values", values=[ZERO_FILE | reference])
        case "link":
            Path(folder, "link").symlink_to("/etc/passwd")
            size = Path("/etc/passwd").stat().st_size
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "link", "nbytes": size}])
        case "pipe":
            os.mkfifo(f"{folder}/pipe")
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "pipe", "nbytes": 0}])
        case "no-file":
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "none", "nbytes": 4}])
        case "short-file":
            Path(folder, "short").write_bytes(b"abc")
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "short", "nbytes": 4}])
        case "directory":
            Path(folder, "nest").mkdir()
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "nest", "nbytes": 4}])
        case "huge-file":
            with Path(folder, "huge").open("wb") as file:
                file.truncate(2**26 + 1)  # a hole: it costs nothing to write
            reference = {"file": "huge", "nbytes": 2**26 + 1}
            say(identity, outcome="values", values=[ZERO_FILE | reference])
        case "many-faults":
            text(f'{{"id":{identity},"outcome":"values","values":[{"{}," * 300_000}{{}}]}}')
        case "runaway":
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)  # noqa: S607 - any will do
            sys.stderr.write(f"{child.pid}\n")
            sys.stderr.flush()
            sys.exit(3)
        case "squatter":
            for number in range(1, 9):
                Path(folder, f"host-{number}").touch()
            values(identity)
        case "remover":
            shutil.rmtree(folder)
            values(identity)
        case "swapper":
            shutil.rmtree(folder)
            Path(folder).symlink_to(sys.argv[2])
            say(identity, outcome="values", values=[ZERO_FILE | {"file": "secret", "nbytes": 4}])
        case "family":
            child = subprocess.Popen(["sleep", "60"])  # noqa: S607 - any will do
            say(identity, outcome="failure", code=2, message=str(child.pid))
            time.sleep(60)
        case _:
            values(identity)


ZERO_FILE = {"dtype": "float32", "shape": []}


def crossed(source: Iterator[dict[str, Any]]) -> None:
    """Answer two runs, the later one first."""
    first, second = next(source), next(source)
    for request in (second, first):
        data = {"one:0": "AACAPw==", "two:0": "AAAAQA=="}[request["fetches"][0]]
        say(request["id"], outcome="values", values=[ZERO | {"data": data}])


def ghost(path: Path, identity: int) -> None:
    """Answer the id that an earlier life of this program left unanswered, then keep this one."""
    if path.exists():
        values(int(path.read_text()))
        values(identity)
        return
    path.write_text(str(identity))
    os.abort()


def starts(count: Path) -> int:
    """How often this program has been started."""
    number = 1 + int(count.read_text()) if count.exists() else 1
    count.write_text(str(number))
    return number


def main() -> None:
    manner = sys.argv[1]
    source = requests()
    hello = next(source)
    if manner == "bad-start":
        sys.exit("no licence")
    time.sleep(60 if manner == "deaf" else 0)
    capabilities = ["concurrent"] if manner == "crossed" else []
    protocol = 7 if manner == "version-7" else 1
    version = str(starts(Path(sys.argv[2]))) if manner == "renamed" else "0"
    introduction = {"capabilities": capabilities, "protocol": protocol, "version": version}
    say(hello["id"], **HELLO | introduction)
    time.sleep(60 if manner == "stuffed" else 0)
    for request in source:
        if request["do"] == "open":
            say(request["id"], **OPENED)
            if manner == "crossed":
                crossed(source)
        elif request["do"] == "shutdown":
            say(request["id"], outcome="done")
            return
        elif request["do"] == "run" and manner == "ghost":
            ghost(Path(sys.argv[2]), request["id"])
        elif request["do"] == "run":
            on_run(manner, request, hello["exchange"])
        else:
            say(request["id"], outcome="done")
            if manner == "last-words" and request["do"] == "close":
                os.kill(os.getpid(), signal.SIGSEGV)


main()
