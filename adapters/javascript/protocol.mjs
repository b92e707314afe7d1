// The process protocol over standard input and output (docs/protocol.md): `serve(load)`.

import { Exchange, Unsupported } from "./tensors.mjs";

const VERSION = 1;
// What a backend without the method lacks.
const CAPABILITIES = {
  extend: "extend", setup: "partial_runs", partial: "partial_runs", callable: "callables",
  call: "callables", devices: "devices", reset: "reset", case: "api", proceed: "api",
};
const OWN = new Set(["open", "run", "close", ...Object.keys(CAPABILITIES)]);

class Server {
  #load;
  #backend = null;
  #exchange = null;

  constructor(load) {
    this.#load = load;
  }

  async #hello({ protocol, exchange }) {
    if (!protocol.includes(VERSION)) return { outcome: "error", kind: "protocol", message: `I speak version ${VERSION}` };
    this.#exchange = new Exchange(exchange);
    this.#backend = await this.#load();
    const description = { devices: [], details: {}, ...this.#backend.describe() };
    return { outcome: "hello", protocol: VERSION, ...description };
  }

  #arguments({ graph, feeds, values, ...rest }) {
    if (graph && "file" in graph) throw new Unsupported("graph_files"); // protobuf's binary form
    const read = (form) => this.#exchange.read(form);
    if (feeds && !Array.isArray(feeds)) feeds = new Map(Object.entries(feeds).map(([name, form]) => [name, read(form)]));
    return { ...rest, graph, feeds, values: values?.map(read) };
  }

  async #answer(request) {
    if (request.do === "hello") return this.#hello(request);
    if (request.do === "shutdown") {
      await this.#backend.shutdown?.();
      return { outcome: "done" };
    }
    if (!OWN.has(request.do)) throw new Unsupported("request", String(request.do));
    if (!this.#backend[request.do]) throw new Unsupported(CAPABILITIES[request.do]);
    return this.#backend[request.do](this.#arguments(request));
  }

  /** The line that answers a line. */
  async line(text) {
    let request = null;
    try {
      request = JSON.parse(text);
    } catch { /* it is no JSON: answered below */ }
    if (!Number.isSafeInteger(request?.id)) {
      return JSON.stringify({ id: null, outcome: "error", kind: "request", message: "this line is no request" });
    }
    try {
      const answer = await this.#answer(request);
      return this.#exchange ? this.#exchange.line({ id: request.id, ...answer }) : JSON.stringify({ id: request.id, ...answer });
    } catch (error) {
      const broken = { outcome: "error", kind: "backend", message: String(error.hint ?? error.stack) };
      return JSON.stringify({ id: request.id, ...(error.answer ?? broken) });
    } finally {
      this.ended = request.do === "shutdown";
    }
  }
}

/**
 * Answer the requests on stdin, one after the other, until the host says shutdown or goes away.
 *
 * `load` returns the backend, or a promise of it, when the host says hello: an object with
 * `describe()` and a method for each request that it offers, named as the request is. A method is
 * given the request's fields (feeds as a Map of tensors) and returns the answer, or a promise of it;
 * it throws Failure and Unsupported. What it throws else is the backend's own error; its message is
 * the error's `hint`, or where it came from.
 */
export function serve(load) {
  for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error; // stdout has the answers
  const server = new Server(load);
  let rest = Buffer.alloc(0);
  let last = Promise.resolve();
  const handle = async (text) => {
    const line = await server.line(text);
    const { ended } = server;
    process.stdout.write(line + "\n", () => ended && process.exit(0));
  };
  process.stdin.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const text = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      last = last.then(() => handle(text));
    }
  });
  process.stdin.on("end", () => last.then(() => process.exit(0)));
}
