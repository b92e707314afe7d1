"""A program that speaks the protocol, but prints a line of its own before each run's answer.

Run as a command (`exec:`), where nobody moves file descriptor 1 away.
"""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "outcome": "done"}
    match request["do"]:
        case "hello":
            answer |= {
                "outcome": "hello",
                "protocol": 1,
                "name": "talkative",
                "version": "1",
                "capabilities": [],
            }
        case "open":
            answer |= {"outcome": "opened", "handle": "s"}
        case "run":
            sys.stdout.write("computing, please wait\n")
            answer |= {"outcome": "values", "values": [None] * len(request["fetches"])}
        case "case":
            answer |= {"outcome": "unsupported", "capability": "api"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
