"""A program that speaks the protocol and notes its starts; some of its lives have a vice.

`counted_worker.py VICE FILE`: each life adds its number to FILE, what it is asked to FILE-NUMBER.
The third life is the first that a host starts in reserve, if it starts any.
"""

import json
import os
import sys
import time
from pathlib import Path

VICE, STARTS = sys.argv[1], Path(sys.argv[2])
ANSWERS = {
    "hello": {
        "outcome": "hello",
        "protocol": 1,
        "name": "counted",
        "version": "0",
        "capabilities": [],
    },
    "open": {"outcome": "opened", "handle": "s"},
    "run": {"outcome": "values", "values": [{"dtype": "float32", "shape": [], "data": "AAAAAA=="}]},
}


def main() -> None:
    with STARTS.open("a") as file:
        file.write(f"{os.getpid()}\n")
    life = len(STARTS.read_text().split())
    third = life == 3
    reserve = life in {3, 5, 7}
    notes = STARTS.with_name(f"{STARTS.name}-{os.getpid()}")
    if (VICE == "dead" and third) or (VICE == "dead-spares" and reserve):
        sys.exit("not today")
    if VICE == "deaf" and third:
        time.sleep(60)
    if VICE == "renamed" and third:
        ANSWERS["hello"]["version"] = "1"
    for line in sys.stdin:
        request = json.loads(line)
        with notes.open("a") as file:
            file.write(request["do"] + "\n")
        answer = ANSWERS.get(request["do"], {"outcome": "done"})
        sys.stdout.write(json.dumps({"id": request["id"], **answer}) + "\n")
        sys.stdout.flush()
        if VICE == "late-death" and third:
            while not STARTS.with_name("die").exists():
                time.sleep(0.005)
            sys.exit(1)


main()
