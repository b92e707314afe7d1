"""An executable model of what a run is: `spec/run.md` as a small abstract machine.

Read in this order; each module is a section of `run.md`:

- `nodes`, `graph`, `validity`: operations, tensors, graphs, and what is none (section 1);
- `session`, `values`: what a session keeps (section 2), and what moves in a run;
- `run`: one run: pruning, execution in any order that is allowed, frames and deadness (3 to 8);
- `schedules`: all outcomes that a call may have, by every order of execution;
- `stateless`, `refusals`, `functions`, `variables`, `queues`, `optimizers`: what operations do.

It is slow and plain, knows nothing of any engine, and imports numpy and the spec only. The suite's
properties take their expectations from it, and the adapter `model` makes it a backend: it must pass
the vectors of the operations that it has, like any other.
"""

from sessrun.spec.model import functions, queues, variables
from sessrun.spec.model.graph import Graph
from sessrun.spec.model.nodes import Output
from sessrun.spec.model.run import Run, perform, proceed
from sessrun.spec.model.session import Session
from sessrun.spec.model.values import FailedError, WaitsError

__all__ = [
    "FailedError",
    "Graph",
    "Output",
    "Run",
    "Session",
    "WaitsError",
    "functions",
    "perform",
    "proceed",
    "queues",
    "variables",
]
