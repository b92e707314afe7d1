// What TensorFlow's Python client does before it calls its engine, for an engine in JavaScript:
// names, feeds, shapes, what is fed and fetched, closed sessions. docs/adapters.md has the contract.

import { DTYPES, Failure, Unsupported } from "./tensors.mjs";
import { Graph, constantOf } from "./graph.mjs";

const MOST_PROGRAMS = 32; // that a session keeps: the one used longest ago goes first
const DEVICE = /^(\/*(job:[^/:]+|(replica|task):\d+|(device:)?(cpu|gpu|tpu|custom)(:(\d+|\*))?|device:[A-Za-z]\w*(:(\d+|\*))?))*\/*$/i;
const NODE_FIELDS = new Set(["name", "op", "input", "device", "attr", "experimentalDebugInfo", "experimentalType"]);

const valueError = (message) => new Failure(3, message, null, ["ValueError"]);
const typeError = (message) => new Failure(3, message, null, ["TypeError"]);
const runtimeError = (message) => new Failure(9, message, null, ["RuntimeError"]);

/** The fields of a message that say something: protobuf's defaults say nothing. */
function fieldsOf(message) {
  const says = ([, value]) => ![false, 0, "0", "", "NO_TRACE"].includes(value);
  return Object.fromEntries(Object.entries(message ?? {}).filter(says));
}

function checkedGraph(graph) {
  for (const node of graph.node ?? []) {
    const strange = Object.keys(node).find((key) => !NODE_FIELDS.has(key));
    if (strange) throw valueError(`a node has no field ${strange}`);
    if (!DEVICE.test(node.device ?? "")) throw valueError(`${node.device} is no device`);
  }
  return graph;
}

/** The tensor that a name means, with its facts. */
function tensorNamed(engine, name, refuse) {
  const [, operation, digits] = /^([^]*):(\d+)$/.exec(name) ?? [];
  if (operation === undefined) throw refuse(`${name} is no tensor's name: it must be of the form operation:index`);
  const tensor = `${operation}:${Number(digits)}`;
  const facts = engine.facts(tensor);
  if (!facts) throw refuse(`the graph has no tensor ${name}`);
  return [tensor, facts];
}

function fetchNamed(engine, name) {
  if (name.includes(":")) return { tensor: tensorNamed(engine, name, valueError)[0] };
  if (!engine.hasOperation(name)) throw valueError(`Fetch argument ${name} cannot be interpreted: no such operation`);
  return { operation: name };
}

/** A fed value as its tensor's dtype: numbers are cast as numpy casts them. */
function converted(value, dtype, name) {
  if (value.dtype === dtype) return value;
  const [from, to] = [DTYPES[value.dtype], DTYPES[dtype]];
  const number = (row) => row.numeric || row.name === "bool";
  if (from.name === "string" || to.name === "string") throw valueError(`${name} is ${dtype}, not ${value.dtype}`);
  if (!number(from) || !number(to)) throw new Unsupported("dtype", number(from) ? dtype : value.dtype);
  const cast = (x) => {
    if (to.name === "bool") return x || Number.isNaN(x) ? 1 : 0;
    if (to.kind === "float") return Number(x);
    const whole = typeof x === "bigint" ? x : BigInt(Number.isFinite(x) ? Math.trunc(x) : 0);
    const wrapped = to.kind === "int" ? BigInt.asIntN(8 * to.bytes, whole) : BigInt.asUintN(8 * to.bytes, whole);
    return to.bytes === 8 ? wrapped : Number(wrapped);
  };
  return { dtype, shape: value.shape, data: to.array.from(Array.from(value.data, cast)) };
}

function fits(shape, known) {
  return !known || (shape.length === known.length && known.every((n, i) => n === null || n === shape[i]));
}

function fedValues(engine, feeds) {
  const fed = new Map();
  for (const [name, value] of feeds) {
    const [tensor, { dtype, shape }] = tensorNamed(engine, name, typeError);
    if (!fits(value.shape, shape)) {
      throw valueError(`Cannot feed value of shape [${value.shape}] for tensor ${name}, which has shape [${shape}]`);
    }
    fed.set(tensor, converted(value, dtype, name));
  }
  return fed;
}

/** A backend for `serve` (protocol.mjs) made of an engine below the client. */
export class ClientLayer {
  #engine;
  #sessions = new Map();

  constructor(engine) {
    this.#engine = engine;
  }

  describe() {
    const below = this.#engine.describe();
    return { ...below, capabilities: [...new Set([...(below.capabilities ?? []), "callables"])].sort() };
  }

  #session(handle) {
    const session = this.#sessions.get(handle);
    if (!session) throw new Failure(5, `there is no session ${handle}`, null, ["KeyError"]);
    return session;
  }

  #running(handle) {
    const session = this.#session(handle);
    if (session.closed) throw runtimeError("Attempted to use a closed Session.");
    if (!session.nodes) throw runtimeError("The Session graph is empty.");
    return session;
  }

  async open({ graph, config }) {
    const definition = checkedGraph(graph);
    const engine = await this.#engine.open(definition, fieldsOf(config));
    const handle = `session-${this.#sessions.size + 1}`;
    this.#sessions.set(handle, { engine, nodes: definition.node?.length ?? 0, callables: new Map(), closed: false });
    return { outcome: "opened", handle };
  }

  async run({ session, fetches, feeds, options }) {
    const { engine } = this.#running(session);
    const fed = fedValues(engine, feeds);
    const named = fetches.map((name) => fetchNamed(engine, name));
    const tensors = [...new Set(named.map(({ tensor }) => tensor))].filter((tensor) => tensor && !fed.has(tensor));
    const targets = [...new Set(named.map(({ operation }) => operation))].filter((operation) => operation !== undefined);
    const values = new Map(fed);
    if (tensors.length || targets.length) {
      const ran = await engine.run(tensors, fed, targets, fieldsOf(options));
      tensors.forEach((tensor, i) => values.set(tensor, ran[i]));
    }
    return { outcome: "values", values: named.map(({ tensor }) => (tensor ? values.get(tensor) : null)) };
  }

  callable({ session, fetches, feeds }) {
    const { callables } = this.#session(session);
    const handle = `callable-${callables.size + 1}`;
    callables.set(handle, { fetches, feeds }); // looked up when it is called
    return { outcome: "opened", handle };
  }

  async call({ session, handle, values }) {
    const made = this.#session(session).callables.get(handle);
    if (!made) throw new Failure(5, `there is no callable ${handle}`, null, ["KeyError"]);
    const feeds = new Map(made.feeds.slice(0, values.length).map((name, i) => [name, values[i]]));
    return this.run({ session, fetches: made.fetches, feeds, options: {} });
  }

  devices({ session }) {
    const { engine, closed } = this.#session(session);
    if (closed) throw new Failure(1, "Session has been closed.");
    if (!engine.devices) throw new Unsupported("devices");
    return { outcome: "done", facts: { devices: engine.devices() } };
  }

  close({ session: handle }) {
    const session = this.#session(handle);
    if (!session.closed) session.engine.close?.();
    this.#sessions.set(handle, { ...session, engine: null, closed: true });
    return { outcome: "done" };
  }
}

/**
 * The session of an engine that compiles: `compiler.compile(part, shapes)` gives the program of a
 * part (`Graph.part`) whose feeds have these shapes, a function from the fed tensors to the fetched
 * ones, or a promise of one. A program is kept for each fetches, targets, feeds and shapes.
 */
export class CompiledSession {
  #compiler;
  #programs = new Map();

  constructor(definition, compiler) {
    this.graph = new Graph(definition);
    this.#compiler = compiler;
  }

  hasOperation(name) {
    return this.graph.nodes.has(name);
  }

  facts(tensor) {
    return this.graph.facts(tensor);
  }

  async run(fetches, feeds, targets, options) {
    const [option] = Object.keys(options);
    if (option) throw new Unsupported("options", option);
    const values = new Map();
    for (const tensor of fetches) { // a constant that waits for nothing is decoded, never compiled
      const node = this.graph.nodes.get(tensor.slice(0, tensor.lastIndexOf(":")));
      if (node.op === "Const" && !node.controls.length) values.set(tensor, constantOf(node));
    }
    const compiled = fetches.filter((tensor) => !values.has(tensor));
    if (compiled.length || targets.length) {
      const ran = await this.#run(compiled, feeds, targets);
      compiled.forEach((tensor, i) => values.set(tensor, ran[i]));
    }
    return fetches.map((tensor) => values.get(tensor));
  }

  async #run(fetches, feeds, targets) {
    const names = [...feeds.keys()].sort();
    const fed = names.map((name) => feeds.get(name));
    const key = JSON.stringify([fetches, targets, names, fed.map((value) => value.shape)]);
    let program = this.#programs.get(key);
    if (!program) {
      const part = this.graph.part(fetches, names, targets);
      const variable = part.nodes.find((node) => node.isRef);
      if (variable) throw new Unsupported("state", variable.name);
      program = await this.#compiler.compile(part, fed.map((value) => value.shape));
    }
    this.#programs.delete(key);
    this.#programs.set(key, program);
    if (this.#programs.size > MOST_PROGRAMS) this.#forget(this.#programs.keys().next().value);
    return program(fed);
  }

  #forget(key) {
    this.#programs.get(key).dispose?.();
    this.#programs.delete(key);
  }

  close() {
    for (const key of [...this.#programs.keys()]) this.#forget(key);
  }
}
