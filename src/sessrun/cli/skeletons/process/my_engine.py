"""A backend of my_engine over sessrun's process protocol, in Python without sessrun.

An example to translate: whatever reads and writes lines of JSON can be a backend. It has the
operations of `KERNELS` on float32 and int32. docs/protocol.md of sessrun says what each request
asks; a graph is a GraphDef in protobuf's JSON mapping.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from my_engine_graph import Graph
from my_engine_tensors import DTYPES, Declined, Failed, Folder

#: What a configuration may say without changing what a run gives.
HARMLESS = {"allowSoftPlacement", "logDevicePlacement"}


class Backend:
    """Answers requests; a method for each, named as the request is."""

    def __init__(self) -> None:
        self.folder = Folder("")
        self.sessions: dict[str, Graph | None] = {}  # None once it is closed

    def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        """Say who this is; whatever takes long to load is loaded here."""
        if 1 not in request["protocol"]:
            return {"outcome": "error", "kind": "protocol", "message": "I speak version 1"}
        self.folder = Folder(request["exchange"])
        return {
            "outcome": "hello",
            "protocol": 1,
            "name": "my_engine",
            "version": "0.1",
            "capabilities": [],
            "devices": [],
            "details": {"dtypes": ", ".join(DTYPES)},
        }

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Read a graph, and open a session on it."""
        if "file" in request["graph"]:  # the graph was too large for a line: protobuf's binary form
            raise Declined("graph_files")
        strange = sorted(request["config"].keys() - HARMLESS)
        if strange:
            raise Declined("config", strange[0])
        handle = f"session-{len(self.sessions) + 1}"
        self.sessions[handle] = Graph(request["graph"])
        return {"outcome": "opened", "handle": handle}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """One step of a session: the value of each fetch, null for an operation."""
        graph = self.session(request)
        if graph is None:
            raise Failed(9, "the session is closed")
        if request["options"]:
            raise Declined("options", min(request["options"]))
        feeds = {name: self.folder.read(form) for name, form in request["feeds"].items()}
        values = graph.run(request["fetches"], feeds)
        forms = [None if value is None else self.folder.write(value) for value in values]
        return {"outcome": "values", "values": forms}

    def close(self, request: dict[str, Any]) -> dict[str, Any]:
        """Close a session; a closed one stays known, so that its use is an error of its own."""
        self.session(request)
        self.sessions[request["session"]] = None
        return {"outcome": "done"}

    def shutdown(self, _: dict[str, Any]) -> dict[str, Any]:
        """Free everything: the process ends once this is answered."""
        return {"outcome": "done"}

    def session(self, request: dict[str, Any]) -> Graph | None:
        """The graph of a request's session."""
        if request["session"] not in self.sessions:
            raise Failed(5, f"there is no session {request['session']}")
        return self.sessions[request["session"]]


#: What a request that has no method above asks for.
CAPABILITIES = {
    "extend": "extend",
    "setup": "partial_runs",
    "partial": "partial_runs",
    "callable": "callables",
    "call": "callables",
    "devices": "devices",
    "reset": "reset",
    "case": "api",
    "proceed": "api",
}


def answer(backend: Backend, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    do = request["do"]
    lacking = CAPABILITIES.get(do)
    if lacking:
        return {"id": request["id"], "outcome": "unsupported", "capability": lacking}
    try:
        answer: dict[str, Any] = getattr(backend, do)(request)
    except Declined as error:
        answer = {"outcome": "unsupported", "capability": error.capability, "message": str(error)}
    except Failed as error:
        answer = {"outcome": "failure", "code": error.code, "message": str(error)}
    except Exception as error:  # noqa: BLE001 - our own mistake: the host gets the error, and ends us
        answer = {
            "outcome": "error",
            "kind": "backend",
            "message": f"{type(error).__name__}: {error}",
        }
    return {"id": request["id"], **answer}


def main() -> None:
    """Answer requests, one after another, until the host says shutdown or goes away."""
    backend = Backend()
    answers, sys.stdout = sys.stdout, sys.stderr  # what is printed must not get among the answers
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(backend, request)), file=answers, flush=True)
        if request["do"] == "shutdown":
            return


if __name__ == "__main__":
    main()
