// Sections 2 to 4: what a session owns, and the stages of a run before and after its execution.

import { Execution, prune } from "./execution.mjs";
import { kernel } from "./functions.mjs";
import { checked, deviceOf, nodeOf, refuse } from "./graph.mjs";
import { DEAD, OPERATIONS } from "./operations.mjs";
import { Unsupported } from "./protocol.mjs";
import { fits, read } from "./resources.mjs";

const KNOWN = ["allowSoftPlacement", "deviceCount", "deviceFilters", "graphOptions", "interOpParallelismThreads",
  "intraOpParallelismThreads", "logDevicePlacement"];

/** A fetched value: a reference is read when the run ends. */
function shown(value) {
  if (value === undefined || value === DEAD) refuse("a fetched tensor is dead");
  if (value.dtype === "resource") throw new Unsupported("dtype", "resource");
  return value.dtype ? value : read(value.cell);
}

export class Session {
  nodes = new Map();
  resources = new Map();
  streams = new Map();
  library = new Map();

  constructor(config) {
    const strange = Object.keys(config).find((field) => !KNOWN.includes(field));
    if (strange) throw new Unsupported("config", strange);
    for (const filter of config.deviceFilters ?? []) deviceOf(filter);
    this.config = config;
    const cpus = Number(config.deviceCount?.CPU ?? 1);
    if (cpus < 1) refuse("a session without a CPU", 5);
    this.devices = Array.from({ length: cpus }, (_, i) => `/job:localhost/replica:0/task:0/device:CPU:${i}`);
  }

  extend({ node = [], versions = {}, library = {} }) {
    if (Number(versions.minConsumer ?? 0) >= 1e6) refuse("the graph is for later versions");
    for (const definition of library.function ?? []) this.library.set(definition.signature.name, definition);
    const more = new Map(this.nodes);
    for (const definition of node) {
      if (more.has(definition.name)) refuse(`two nodes are called ${definition.name}`);
      more.set(definition.name, nodeOf(definition, this.library));
    }
    this.nodes = checked(more);
  }

  // Section 2: what outlives a run.
  resource(node) {
    const { container, shared_name: shared, dtype, shape } = node.attrs;
    const name = shared || (node.op === "VarHandleOp" ? "" : node.name);
    const key = JSON.stringify([node.op, container, name, this.place(node)]);
    if (!this.resources.has(key)) this.resources.set(key, { name, dtype, shape, value: null });
    const cell = this.resources.get(key);
    return cell.dtype === dtype ? cell : refuse(`${cell.name} is of another dtype`, 3, node.name);
  }

  /** Where the stream of a random operation goes on, before it gives so many elements. */
  draw(node, elements) {
    const counter = this.streams.get(node.name) ?? 0n;
    this.streams.set(node.name, counter + 256n * BigInt(elements));
    return counter;
  }

  // Section 4. Resolve
  tensor(name) {
    const [, operation, index] = /^([^]*):(\d+)$/.exec(name) ?? refuse(`${name} is no name of a tensor`);
    const node = this.nodes.get(operation);
    if (!(Number(index) < node?.gives.length)) refuse(`there is no tensor ${name}`);
    return { node, index: Number(index), name: `${operation}:${Number(index)}` };
  }

  feed(name, value) {
    const { node, index, name: tensor } = this.tensor(name);
    const { dtype } = node.gives[index];
    if (index === 0 && node.shape && !fits(node.shape, value.shape)) refuse(`[${value.shape}] does not fit ${name}`);
    if (value.dtype === dtype) return [tensor, value];
    if ([value.dtype, dtype].includes("string")) refuse(`${name} is ${dtype}, not ${value.dtype}`);
    return [tensor, OPERATIONS.Cast([value], { DstT: dtype })];
  }

  run(fetches, feeds) {
    if (!this.nodes.size) refuse("the graph is empty", 9);
    const fed = new Map([...feeds].map(([name, value]) => this.feed(name, value)));
    const operation = (name) => ({ node: this.nodes.get(name) ?? refuse(`there is no operation ${name}`) });
    const wanted = fetches.map((name) => (name.includes(":") ? this.tensor(name) : operation(name)));
    const needed = prune(this.nodes, wanted.filter(({ name }) => !fed.has(name)).map(({ node }) => node), fed);
    if (needed.size) this.check(this.config.graphOptions?.placePrunedGraph ? needed : this.nodes.values());
    for (const { op } of needed) kernel(op, this); // declines what it does not have before anything executes
    const values = new Execution(this, this.nodes, needed, fed).values(wanted);
    return wanted.map(({ name }) => (name === undefined ? null : fed.get(name) ?? shown(values.get(name))));
  }

  // Place
  check(nodes) {
    for (const node of nodes) {
      const { job = "*", replica = 0, task = 0 } = node.asked;
      const here = ["*", "localhost"].includes(job) && !Number(replica) && !Number(task);
      if (!here) refuse(`${node.name} is on another task`, 3, node.name);
      if (this.place(node) === null) refuse(`there is no device for ${node.name}`, 3, node.name);
    }
  }

  /** The number of a node's CPU; null if its group asks for what there is not. */
  place(node) {
    if (node.takes[0]?.ref) return this.place(this.nodes.get(node.inputs[0].source)); // it follows its variable
    const group = this.group(node).map(({ asked }) => asked).filter(({ type }) => type && type !== "*");
    const indices = new Set(group.map(({ index = "*" }) => index).filter((index) => index !== "*").map(Number));
    const [index = 0] = indices;
    const bad = group.some(({ type }) => type !== "CPU") || indices.size > 1 || index >= this.devices.length;
    return bad ? (this.config.allowSoftPlacement ? 0 : null) : index;
  }

  /** The operations of a node's colocation group, itself among them. */
  group(node) {
    const all = [...this.nodes.values()];
    const head = (it) => (it.near.length && it.near[0] !== it.name ? head(this.nodes.get(it.near[0])) : it);
    return all.some(({ near }) => near.length) ? all.filter((it) => head(it) === head(node)) : [node];
  }
}
