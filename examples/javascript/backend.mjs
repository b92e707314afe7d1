// A backend in JavaScript: the engine surface over the process protocol (docs/protocol.md).
// Run it as:  sessrun certify "exec:node examples/javascript/backend.mjs" --profile core-engine

import { Session } from "./graph.mjs";
import { Exchange, Failure, Unsupported } from "./tensors.mjs";

const DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";
// What a configuration may say without changing anything that this backend does.
const HARMLESS = ["allowSoftPlacement", "graphOptions", "interOpParallelismThreads",
  "intraOpParallelismThreads", "logDevicePlacement"];

const sessions = new Map(); // handle to Session; null once closed
let exchange = null;

function session(handle) {
  if (!sessions.has(handle)) throw new Failure(5, `there is no session ${handle}`);
  const found = sessions.get(handle);
  if (found === null) throw new Failure(9, "the session is closed");
  return found;
}

function hello({ protocol, exchange: folder }) {
  if (!protocol.includes(1)) return { outcome: "error", kind: "protocol", message: "I speak version 1" };
  exchange = new Exchange(folder);
  return {
    outcome: "hello", protocol: 1, name: "javascript-example", version: "1",
    capabilities: ["devices", "state"], devices: [DEVICE], details: { node: process.version },
  };
}

function open({ graph, config }) {
  if ("file" in graph) throw new Unsupported("graph_files");
  const strange = Object.keys(config).find((key) => !HARMLESS.includes(key));
  if (strange) throw new Unsupported("config", strange);
  const handle = `session-${sessions.size + 1}`;
  sessions.set(handle, new Session(graph, config.allowSoftPlacement ?? false));
  return { outcome: "opened", handle };
}

function run({ id, session: handle, fetches, feeds, options }) {
  const found = session(handle);
  if (options.traceLevel && options.traceLevel !== "NO_TRACE") throw new Unsupported("tracing");
  const entries = Object.entries(feeds).map(([name, form]) => [name, exchange.read(form)]);
  return exchange.line(id, found.run(fetches, Object.fromEntries(entries)));
}

function close({ session: handle }) {
  if (!sessions.has(handle)) throw new Failure(5, `there is no session ${handle}`);
  sessions.set(handle, null);
  return { outcome: "done" };
}

function devices({ session: handle }) {
  return session(handle) && { outcome: "done", facts: { devices: [DEVICE] } };
}

const decline = (capability) => () => { throw new Unsupported(capability); };
const REQUESTS = {
  hello, open, run, close, devices,
  shutdown: () => ({ outcome: "done" }),
  extend: decline("extend"),
  setup: decline("partial_runs"),
  partial: decline("partial_runs"),
  callable: decline("callables"),
  call: decline("callables"),
  reset: decline("reset"),
  case: decline("api"),
};

/** The answer to a request: an object, or a whole line. */
function answer(request) {
  try {
    if (!Object.hasOwn(REQUESTS, request.do)) throw new Unsupported("request", String(request.do));
    return REQUESTS[request.do](request);
  } catch (error) {
    return error.answer ?? { outcome: "error", kind: "backend", message: String(error.stack) };
  }
}

function parse(line) {
  try { return JSON.parse(line); } catch { return null; }
}

function handle(line) {
  const request = parse(line);
  const id = Number.isSafeInteger(request?.id) ? request.id : null;
  const unread = { outcome: "error", kind: "request", message: "this line is no request" };
  const found = id === null ? unread : answer(request);
  const text = typeof found === "string" ? found : JSON.stringify({ id, ...found });
  process.stdout.write(text + "\n", () => request?.do === "shutdown" && process.exit(0));
}

// Nothing else may write to stdout: console.log belongs to console.error here.
let rest = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    handle(rest.subarray(0, end).toString("utf8"));
    rest = rest.subarray(end + 1);
  }
});
