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
ZERO_FILE = {"dtype": "float32", "shape": []}


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


def values_of(item: Any) -> dict[str, Any]:
    return {"outcome": "values", "values": [item]}


#: What is answered but for the id.
ANSWERS: dict[str, dict[str, Any]] = {
    "wrong-outcome": {"outcome": "done"},
    "bad-code": {"outcome": "failure", "code": 99},
    "extra-field": {**values_of(ZERO), "note": "hi"},
    "bad-data": values_of(ZERO | {"shape": [7]}),
    "bad-rank": values_of(ZERO | {"shape": [1] * 100}),
    "float-shape": values_of(ZERO | {"shape": [1.0]}),
    "broken-backend": {"outcome": "error", "kind": "backend", "message": "KeyError: 'x'"},
    "case": {"outcome": "error", "kind": "case", "message": "the case is ill-formed"},
    "long-class": {"outcome": "failure", "code": 3, "classes": ["C" * 201]},
    "long-dtype": values_of(ZERO | {"dtype": "d" * 33}),
    "long-shape": values_of(ZERO | {"shape": [1] * 255}),
    "many-strings": values_of(
        ZERO_FILE | {"dtype": "string", "shape": [2**23], "file": "none", "nbytes": 2**26}
    ),
    "escape": values_of(ZERO_FILE | {"file": "../secret", "nbytes": 4}),
    "absolute": values_of(ZERO_FILE | {"file": "/etc/hostname", "nbytes": 4}),
    "no-file": values_of(ZERO_FILE | {"file": "none", "nbytes": 4}),
}

#: A line that no JSON library would write, `#` for the id.
LINES = {
    "nan": '{"id":#,"outcome":"done","facts":{"x":NaN}}',
    "infinity": '{"id":#,"outcome":"done","facts":{"x":1e999}}',
    "nested": "[" * 100_000,
    "long-line": "x" * (2**20 + 10),
    "many-faults": '{"id":#,"outcome":"values","values":[' + "{}," * 9_000 + "{}]}",
    "many-values": '{"id":#,"outcome":"values","values":[' + "{}," * 300_000 + "{}]}",
}


def on_run(manner: str, identity: int, folder: Path) -> None:
    """Answer a run in the one way; what is no vice in a run is answered rightly."""
    if manner in ANSWERS:
        say(identity, **ANSWERS[manner])
    elif manner in LINES:
        text(LINES[manner].replace("#", str(identity)))
    elif reference := exchanged(manner, folder):
        say(identity, **values_of(reference))
    elif not end(manner, identity):
        disturb(manner, identity, folder)
        values(identity)


def exchanged(manner: str, folder: Path) -> dict[str, Any] | None:
    """Make an exchange file that no worker may name; how it is named."""
    path, size = folder / manner, 4
    match manner:
        case "ragged-strings":
            path.write_bytes(bytes(7))
            return {"dtype": "string", "shape": [1], "file": path.name, "nbytes": 7}
        case "link":
            path.symlink_to("/etc/passwd")
            size = path.stat().st_size
        case "pipe":
            os.mkfifo(path)
            size = 0
        case "short-file":
            path.write_bytes(b"abc")
        case "directory":
            path.mkdir()
        case "huge-file":
            size = 2**26 + 1
            with path.open("wb") as file:
                file.truncate(size)  # a hole: it costs nothing to write
        case "swapper":
            shutil.rmtree(folder)
            folder.symlink_to(sys.argv[2])
            path = folder / "secret"
        case _:
            return None
    return ZERO_FILE | {"file": path.name, "nbytes": size}


def disturb(manner: str, identity: int, folder: Path) -> None:
    """Do what must not be done around an answer; then the right one may follow."""
    match manner:
        case "twice":
            values(identity)
        case "babble":
            text("computing, please wait")
        case "squatter":
            for number in range(1, 9):
                (folder / f"host-{number}").touch()
        case "remover":
            shutil.rmtree(folder)


def end(manner: str, identity: int) -> bool:  # noqa: C901, PLR0912 - one case per vice
    """Give no right answer: answer another, say no end of things, or die; whether that is so."""
    match manner:
        case "never-asked":
            values(identity + 1000)
        case "not-understood":
            say(None, outcome="error", kind="request", message="what?")
        case "flood":
            while True:
                text("y" * 4096)
        case "parrot":
            while True:
                values(identity)
        case "patricide" | "captor":
            os.setsid()
            sys.stderr.write(f"{os.getpid()}\n")
            sys.stderr.flush()
            os.kill(os.getppid(), signal.SIGKILL if manner == "patricide" else signal.SIGSTOP)
            time.sleep(60)
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
        case "runaway":
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)  # noqa: S607 - any will do
            sys.stderr.write(f"{child.pid}\n")
            sys.stderr.flush()
            sys.exit(3)
        case "family":
            child = subprocess.Popen(["sleep", "60"])  # noqa: S607 - any will do
            say(identity, outcome="failure", code=2, message=str(child.pid))
            time.sleep(60)
        case _:
            return False
    return True


def crossed(source: Iterator[dict[str, Any]]) -> None:
    """Answer two runs, the later one first."""
    first, second = next(source), next(source)
    for request in (second, first):
        data = {"one:0": "AACAPw==", "two:0": "AAAAQA=="}[request["fetches"][0]]
        say(request["id"], outcome="values", values=[ZERO | {"data": data}])


def interpret(manner: str, identity: int, folder: Path) -> None:
    """Answer an API case, in the one way."""
    match manner:
        case "case":
            say(identity, **ANSWERS[manner])
        case "many-observations":
            size = 2**22 + 1
            with (folder / manner).open("wb") as file:
                file.truncate(size)
            reference = {"file": manner, "nbytes": size}
            say(identity, outcome="observations", observations=reference)
        case "long-words":  # which no pattern may be tried on for long
            failure = {"outcome": "failure", "code": None, "classes": ["ValueError"], "node": None}
            words = {"step": "0", "call": "call", "message": "/a" * 400_000}
            say(identity, outcome="observations", observations=[failure | words])


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
    on_api = {"case", "many-observations", "long-words"}
    capabilities = ["concurrent"] if manner == "crossed" else ["api"] if manner in on_api else []
    protocol = 7 if manner == "version-7" else 1
    version = str(starts(Path(sys.argv[2]))) if manner == "renamed" else "0"
    introduction = {"capabilities": capabilities, "protocol": protocol, "version": version}
    say(hello["id"], **HELLO | introduction)
    time.sleep(60 if manner == "stuffed" else 0)
    for request in source:
        if request["do"] == "open":
            say(request["id"], **OPENED | {"handle": "h" * (257 if manner == "long-handle" else 1)})
            if manner == "crossed":
                crossed(source)
        elif request["do"] == "case":
            interpret(manner, request["id"], Path(hello["exchange"]))
        elif request["do"] == "shutdown":
            say(request["id"], outcome="done")
            return
        elif request["do"] == "run" and manner == "ghost":
            ghost(Path(sys.argv[2]), request["id"])
        elif request["do"] == "run":
            on_run(manner, request["id"], Path(hello["exchange"]))
        else:
            say(request["id"], outcome="done")
            if manner == "last-words" and request["do"] == "close":
                os.kill(os.getpid(), signal.SIGSEGV)


main()
