// Reads a GraphDef in protobuf's JSON mapping: nodes, constants, dtypes, the part that a run needs.
//
// A tensor is called `operation:index` here, the index always written.

import { DTYPES, Failure, OUTPUTS, Unsupported, dtypeName, fromBytes, size } from "./tensors.mjs";

const PLACEHOLDERS = new Set(["Placeholder", "PlaceholderV2"]);
const SHAPED = new Set(["Placeholder", "PlaceholderWithDefault"]); // their `shape` is their output's
const BACK = new Set(["NextIteration", "RefNextIteration"]); // the end of a loop's body
const LOOP_HEADS = new Set(["Merge", "RefMerge"]);
const MOST_OUTPUTS = 100000;

// The field of a TensorProto that lists the elements of a dtype; those left out are in `intVal`.
const FIELDS = {
  float32: "floatVal", float64: "doubleVal", string: "stringVal", bool: "boolVal", int64: "int64Val",
  uint32: "uint32Val", uint64: "uint64Val", complex64: "scomplexVal", complex128: "dcomplexVal",
  float16: "halfVal", bfloat16: "halfVal",
};

export const operationOf = (tensor) => tensor.slice(0, tensor.lastIndexOf(":"));
export const indexOf = (tensor) => Number(tensor.slice(tensor.lastIndexOf(":") + 1));

function dimensions(shape) {
  return (shape?.dim ?? []).map((dim) => Number(dim.size ?? 0));
}

function dtypeOf(enumeration, node) {
  const name = dtypeName(enumeration);
  if (name === undefined) throw new Failure(3, `${node.name} has an unknown dtype, ${enumeration}`, node.name);
  return name;
}

/** The dtypes of an output as its declaration writes it: `=float32`, `T`, `T=float32`, `[Tout]`, each `*N`. */
function declaredDtypes(text, node) {
  const [declared, number] = text.replace("&", "").split("*");
  const [attr, fallback] = declared.split("=");
  if (attr.startsWith("[")) {
    return (node.attr[attr.slice(1, -1)]?.list?.type ?? []).map((type) => dtypeOf(type, node));
  }
  const type = attr && node.attr[attr]?.type;
  const dtype = type ? dtypeOf(type, node) : fallback ?? "float32";
  const count = number ? Number(node.attr[number]?.i ?? 0) : 1;
  if (!(count >= 0 && count <= MOST_OUTPUTS)) throw new Failure(3, `${node.name} cannot have ${count} outputs`, node.name);
  return Array(count).fill(dtype);
}

function nodeOf({ name, op, input = [], attr = {}, device = "" }) {
  if (!Object.hasOwn(OUTPUTS, op)) throw new Unsupported("op", op);
  const node = { name, op, attr, device, inputs: [], controls: [] };
  for (const text of input) {
    if (text.startsWith("^")) node.controls.push(text.slice(1));
    else node.inputs.push(/:\d+$/.test(text) ? text : `${text}:0`);
  }
  node.dtypes = OUTPUTS[op].flatMap((declared) => declaredDtypes(declared, node));
  node.isRef = OUTPUTS[op].some((declared) => declared.includes("&"));
  return node;
}

function listed(proto, row) {
  const values = proto[FIELDS[row.name] ?? (/^float[48]_/.test(row.name) ? "float8Val" : "intVal")] ?? [];
  if (row.name === "string") return values.map((item) => Buffer.from(item, "base64"));
  if (typeof values === "string") return Buffer.from(values, "base64"); // float8: the bytes themselves
  return row.array === BigInt64Array || row.array === BigUint64Array ? values.map(BigInt) : values.map(Number);
}

/** The value of a Const: a short list of elements repeats its last one. */
export function constantOf(node) {
  const proto = node.attr.value?.tensor;
  const dtype = proto && dtypeName(proto.dtype);
  if (!dtype || dtype !== node.dtypes[0]) throw new Failure(3, `the dtype of ${node.name} is not that of its value`, node.name);
  const [row, shape] = [DTYPES[dtype], dimensions(proto.tensorShape)];
  if (shape.some((n) => n < 0) || size(shape) > 2 ** 31 - 1 || (!row.array && dtype !== "string")) {
    throw new Failure(3, `a ${dtype} tensor of shape [${shape}] cannot be made`, node.name);
  }
  if (proto.tensorContent) return fromBytes(dtype, shape, Buffer.from(proto.tensorContent, "base64"));
  const values = listed(proto, row);
  const width = row.kind === "complex" ? 2 : 1;
  const count = size(shape) * width;
  const last = Math.max(0, values.length - width);
  const at = (i) => (i < values.length ? i : last + (i % width));
  if (dtype === "string") {
    return { dtype, shape, data: Array.from({ length: count }, (_, i) => values[at(i)] ?? Buffer.alloc(0)) };
  }
  const data = new row.array(count);
  if (values.length) for (let i = 0; i < count; i++) data[i] = values[at(i)];
  return { dtype, shape, data };
}

function staticShape(node) {
  if (node.op === "Const") return dimensions(node.attr.value?.tensor?.tensorShape);
  const shape = node.attr.shape?.shape;
  if (!SHAPED.has(node.op) || !shape || shape.unknownRank) return null;
  return dimensions(shape).map((n) => (n < 0 ? null : n));
}

/** The nodes of a GraphDef by name: {name, op, attr, device, inputs, controls, dtypes, isRef}. */
export class Graph {
  constructor(definition) {
    this.definition = definition;
    const nodes = (definition.node ?? []).map(nodeOf);
    this.nodes = new Map(nodes.map((node) => [node.name, node]));
    if (this.nodes.size < nodes.length) throw new Failure(3, "two nodes have the same name");
    for (const { name, inputs, controls } of nodes) {
      const unknown = inputs.find((tensor) => !this.facts(tensor)) ?? controls.find((source) => !this.nodes.has(source));
      if (unknown !== undefined) throw new Failure(3, `node ${name} has the unknown input ${unknown}`, name);
    }
  }

  /** {dtype, shape} of a tensor, null for an unknown dimension or shape; null: there is no such output. */
  facts(tensor) {
    const node = this.nodes.get(operationOf(tensor));
    const dtype = node?.dtypes[indexOf(tensor)];
    return dtype ? { dtype, shape: staticShape(node) } : null;
  }

  #sources(node, feeds, withControls) {
    const data = node.inputs.filter((tensor) => !feeds.has(tensor)).map(operationOf);
    if (!withControls) return data;
    const fed = (name) => PLACEHOLDERS.has(this.nodes.get(name).op) && feeds.has(`${name}:0`);
    return [...data, ...node.controls.filter((name) => !fed(name))];
  }

  /** Names of the needed nodes, each after its inputs but for a loop's back edge. */
  #needed(wanted, feeds, withControls) {
    const done = new Map(); // name to false while its inputs are being ordered
    const stack = [...wanted].reverse();
    while (stack.length) {
      const name = stack[stack.length - 1];
      if (done.has(name)) {
        stack.pop();
        if (done.get(name)) continue;
        done.delete(name);
        done.set(name, true); // now it stands behind its inputs
        continue;
      }
      done.set(name, false);
      const node = this.nodes.get(name);
      for (const source of this.#sources(node, feeds, withControls)) {
        if (BACK.has(this.nodes.get(source).op) && LOOP_HEADS.has(node.op)) continue;
        if (done.get(source) === false) throw new Failure(3, `the graph has a cycle through ${source}`, source);
        if (!done.has(source)) stack.push(source);
      }
    }
    return done.keys();
  }

  #closure(wanted, feeds, withControls) {
    const order = new Set(this.#needed(wanted, feeds, withControls));
    for (;;) { // what only a back edge leads to
      const ends = [...order].flatMap((name) => this.#sources(this.nodes.get(name), feeds, withControls));
      const left = ends.filter((name) => !order.has(name));
      if (!left.length) return order;
      for (const name of this.#needed([...order, ...left], feeds, withControls)) order.add(name);
    }
  }

  /**
   * What a run needs: {nodes, feeds, fetches, effects, dtypes, source}. `nodes` stand after their
   * inputs; `effects` names those that run although no fetch depends on their data; `dtypes` has the
   * dtype of each tensor of the nodes, the feeds and the fetches; `source` is the GraphDef.
   */
  part(fetches, feeds, targets = []) {
    const fed = new Set(feeds);
    const operations = fetches.map(operationOf);
    const byData = this.#closure(operations, fed, false);
    const needed = this.#closure([...operations, ...targets], fed, true);
    const nodes = [...needed].map((name) => this.nodes.get(name));
    const unfed = nodes.find((node) => PLACEHOLDERS.has(node.op));
    if (unfed) throw new Failure(3, `You must feed a value for placeholder ${unfed.name}`, unfed.name);
    const dtypes = new Map(nodes.flatMap((node) => node.dtypes.map((dtype, i) => [`${node.name}:${i}`, dtype])));
    for (const tensor of [...fed, ...fetches]) dtypes.set(tensor, this.facts(tensor).dtype);
    const effects = new Set([...needed].filter((name) => !byData.has(name)));
    return { nodes, feeds: [...fed].sort(), fetches: [...fetches], effects, dtypes, source: this.definition };
  }
}
