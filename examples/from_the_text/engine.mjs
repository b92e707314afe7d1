// An engine that was written from spec/run.md, the clauses and the definitions of operations alone: the requests.

import { refuse } from "./graph.mjs";
import { Unsupported, serve } from "./protocol.mjs";
import { Session } from "./session.mjs";

const sessions = new Map(); // handle to Session, or null once it is closed
function session(handle, code = 9) {
  if (!sessions.has(handle)) refuse(`there is no session ${handle}`, 5);
  return sessions.get(handle) ?? refuse("the session is closed", code);
}

serve(() => ({
  describe: () => ({
    name: "from the text", version: "1",
    capabilities: ["control_inputs", "devices", "extend", "fed_structure", "state"],
  }),
  open({ graph, config }) {
    const opened = new Session(config);
    opened.extend(graph);
    const handle = `session-${sessions.size + 1}`;
    sessions.set(handle, opened);
    return { outcome: "opened", handle };
  },
  extend({ session: handle, graph }) {
    session(handle).extend(graph);
    return { outcome: "done" };
  },
  run({ session: handle, fetches, feeds, options }) {
    if (options.traceLevel && options.traceLevel !== "NO_TRACE") throw new Unsupported("options", "traceLevel");
    return { outcome: "values", values: session(handle).run(fetches, feeds) };
  },
  close({ session: handle }) {
    if (sessions.has(handle)) sessions.set(handle, null);
    return { outcome: "done" };
  },
  devices: ({ session: handle }) => ({ outcome: "done", facts: { devices: session(handle, 1).devices } }),
}));
