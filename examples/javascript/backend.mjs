// A backend in JavaScript: the engine surface, on the protocol module that sessrun ships.
// Run it as:  sessrun certify "exec:node examples/javascript/backend.mjs" --profile core-engine

import { serve } from "../../adapters/javascript/protocol.mjs";
import { Failure, Unsupported } from "../../adapters/javascript/tensors.mjs";
import { Session } from "./graph.mjs";

const DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";
// What a configuration may say without changing anything that this backend does.
const HARMLESS = ["allowSoftPlacement", "graphOptions", "interOpParallelismThreads",
  "intraOpParallelismThreads", "logDevicePlacement"];

const sessions = new Map(); // handle to Session; null once closed

function session(handle) {
  if (!sessions.has(handle)) throw new Failure(5, `there is no session ${handle}`);
  const known = sessions.get(handle);
  if (known === null) throw new Failure(9, "the session is closed");
  return known;
}

serve(() => ({
  describe: () => ({
    name: "javascript-example", version: "1", capabilities: ["devices", "state"], devices: [DEVICE],
    details: { node: process.version },
  }),

  open({ graph, config }) {
    const strange = Object.keys(config).find((key) => !HARMLESS.includes(key));
    if (strange) throw new Unsupported("config", strange);
    const handle = `session-${sessions.size + 1}`;
    sessions.set(handle, new Session(graph, config.allowSoftPlacement ?? false));
    return { outcome: "opened", handle };
  },

  run({ session: handle, fetches, feeds, options }) {
    const known = session(handle);
    if (options.traceLevel && options.traceLevel !== "NO_TRACE") throw new Unsupported("tracing");
    return { outcome: "values", values: known.run(fetches, Object.fromEntries(feeds)) };
  },

  close({ session: handle }) {
    if (!sessions.has(handle)) throw new Failure(5, `there is no session ${handle}`);
    sessions.set(handle, null);
    return { outcome: "done" };
  },

  devices({ session: handle }) {
    return session(handle) && { outcome: "done", facts: { devices: [DEVICE] } };
  },
}));
