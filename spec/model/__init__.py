"""An executable model of what a run is: `spec/run.md` as a small abstract machine.

Read in this order; each module is a section of `run.md`:

- `nodes`, `graph`, `validity`: operations, tensors, graphs, and what is none (section 1);
- `session`, `values`: what a session keeps (section 2), and what moves in a run;
- `run`: one run: pruning, execution in any order that is allowed, frames and deadness (3 to 8);
- `schedules`: all outcomes that a call may have, by every order of execution;
- `stateless`, `refusals`, `functions`, `variables`, `optimizers`: what operations do;
- `discipline`, `turns`: when elements enter and leave a queue, and in which order those that wait
  for a resource are served;
- `queues`, `tables`, `accumulators`, `barriers`, `staging`, `record_files`, `readers`: resources,
  each a class of plain values, and the operations on it;
- `calls`, `queue_calls`, `resource_calls`: what calls that overlap in time may give, step by step;
- `machine`: all of it under the names that programs use.

It is slow and plain, knows nothing of any engine, and imports numpy and the spec only. The suite's
properties take their expectations from it, and the adapter `model` makes it a backend: it must pass
the vectors of the operations that it has, like any other. The package itself imports nothing: what
needs `calls` or `discipline` only has no need of protobuf.
"""
