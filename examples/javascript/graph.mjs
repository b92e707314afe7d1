// Graphs: reading a GraphDef in protobuf's JSON mapping, and running the part that is wanted.

import { constantOf } from "../../adapters/javascript/graph.mjs";
import { Failure, Unsupported, dtypeName, size } from "../../adapters/javascript/tensors.mjs";
import { ARRAYS, broadcast, sources } from "./broadcasting.mjs";

const NAME = /^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/;

function elementwise(float, integer) {
  return (node, a, b) => {
    const shape = broadcast(a.shape, b.shape);
    if (!shape) throw new Failure(3, `shapes [${a.shape}] and [${b.shape}] do not fit`, node.name);
    const data = new ARRAYS[a.dtype](size(shape));
    const apply = a.dtype === "int32" ? integer : float;
    const [left, right] = [sources(a.shape, shape), sources(b.shape, shape)];
    for (let i = 0; i < data.length; i++) data[i] = apply(a.data[left.next().value], b.data[right.next().value]);
    return { dtype: a.dtype, shape, data };
  };
}

// Float32Array rounds what is stored in it, which for one + - * in doubles is the right rounding.
const add = elementwise((x, y) => x + y, (x, y) => (x + y) | 0);
const sub = elementwise((x, y) => x - y, (x, y) => (x - y) | 0);
const mul = elementwise((x, y) => x * y, Math.imul);

function matmul(node, a, b) {
  const [ta, tb] = [node.attr.transpose_a?.b ?? false, node.attr.transpose_b?.b ?? false];
  if (a.shape.length !== 2 || b.shape.length !== 2) throw new Failure(3, "not a matrix", node.name);
  const [m, k] = ta ? [a.shape[1], a.shape[0]] : a.shape;
  const [inner, n] = tb ? [b.shape[1], b.shape[0]] : b.shape;
  if (k !== inner) throw new Failure(3, `[${a.shape}] and [${b.shape}] do not multiply`, node.name);
  const data = new ARRAYS[a.dtype](m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let p = 0; p < k; p++) {
        const [x, y] = [a.data[ta ? p * m + i : i * k + p], b.data[tb ? j * k + p : p * n + j]];
        sum = a.dtype === "int32" ? (sum + Math.imul(x, y)) | 0 : sum + x * y;
      }
      data[i * n + j] = sum;
    }
  }
  return { dtype: a.dtype, shape: [m, n], data };
}

/** Assign, or update with a function; the node's value is the variable, as its input's was. */
const assigning = (update) => (node, cell, value) => {
  if (!("cell" in cell)) throw new Failure(3, "the target is no variable", node.name);
  const old = update && read(cell, node);
  if (old && String(old.shape) !== String(value.shape)) throw new Failure(3, "shapes differ", node.name);
  cell.cell.value = update ? update(node, old, value) : value;
  return cell;
};

// Operations by type: [number of data inputs, function of (node, ...inputs)].
const OPERATIONS = {
  Placeholder: [0, (node) => { throw new Failure(3, `${node.name} must be fed`, node.name); }],
  Const: [0, (node) => node.constant],
  VariableV2: [0, (node) => ({ cell: node.cell, name: node.name })],
  Identity: [1, (node, x) => x],
  AddV2: [2, add],
  Add: [2, add],
  Sub: [2, sub],
  Mul: [2, mul],
  MatMul: [2, matmul],
  Assign: [2, assigning(null)],
  AssignAdd: [2, assigning(add)],
  AssignSub: [2, assigning(sub)],
  NoOp: [0, () => null],
};
const outputs = (node) => (node.op === "NoOp" ? 0 : 1);

/** The value of what a node gave: a variable is read when it is used, not when it was named. */
function read(value, node = null) {
  if (!value || !("cell" in value)) return value;
  if (!value.cell.value) throw new Failure(9, `variable ${value.name} is uninitialized`, node?.name);
  return value.cell.value;
}

function parseInput(text) {
  if (text.startsWith("^")) return { name: text.slice(1), control: true };
  const [, name, index = "0"] = /^([^:]*)(?::(\d+))?$/.exec(text) ?? [null, text, "NaN"];
  return { name, index: Number(index), control: false };
}

function dtypeOf(node) {
  const enumeration = node.attr.T?.type ?? node.attr.dtype?.type;
  if (enumeration === undefined) throw new Failure(3, `${node.name} lacks its dtype`, node.name);
  const dtype = dtypeName(enumeration);
  if (!(dtype in ARRAYS)) throw new Unsupported("dtype", enumeration);
  return dtype;
}

function dims(shape) {
  return (shape?.dim ?? []).map((dim) => Number(dim.size ?? 0));
}

/** A session: a graph, its variables, and runs of what is fetched. */
export class Session {
  constructor(definition, softPlacement) {
    this.softPlacement = softPlacement;
    this.nodes = new Map();
    for (const { name, op, input = [], attr = {}, device = "" } of definition.node ?? []) {
      if (!(op in OPERATIONS)) throw new Unsupported("op", op);
      if (!NAME.test(name)) throw new Failure(3, `${name} is no name of a node`);
      if (this.nodes.has(name)) throw new Failure(3, `two nodes are called ${name}`);
      this.nodes.set(name, { name, op, attr, device, inputs: input.map(parseInput), cell: {} });
    }
    for (const node of this.nodes.values()) this.#check(node);
    this.#order([...this.nodes.keys()], {}); // refuses cycles
  }

  #check(node) {
    const data = node.inputs.filter((input) => !input.control);
    if (data.length !== OPERATIONS[node.op][0]) throw new Failure(3, `${node.name}: wrong number of inputs`);
    if (node.op !== "NoOp") node.dtype = dtypeOf(node);
    if (node.op === "Const") node.constant = constantOf({ ...node, dtypes: [node.dtype] });
    for (const { name, index, control } of node.inputs) {
      const source = this.nodes.get(name);
      if (!source) throw new Failure(3, `${node.name} has the unknown input ${name}`);
      if (!control && !(index < outputs(source))) throw new Failure(3, `${name} has no output ${index}`);
      if (!control && dtypeOf(source) !== node.dtype) throw new Failure(3, `${node.name}: dtypes differ`);
    }
  }

  /** The nodes that the fetches need and the feeds do not cut off, inputs first. */
  #order(fetches, feeds) {
    const done = new Map(); // name to false while its inputs are being ordered
    const order = [];
    const stack = [...fetches].reverse();
    while (stack.length) {
      const name = stack[stack.length - 1];
      if (done.has(name)) {
        if (!done.get(name)) order.push(this.nodes.get(name));
        done.set(name, true);
        stack.pop();
        continue;
      }
      done.set(name, false);
      for (const input of this.nodes.get(name).inputs) {
        const fed = `${input.name}:${input.control ? 0 : input.index}` in feeds;
        if (fed && (!input.control || this.nodes.get(input.name).op === "Placeholder")) continue;
        if (done.get(input.name) === false) throw new Failure(3, `a cycle through ${input.name}`);
        if (!done.has(input.name)) stack.push(input.name);
      }
    }
    return order;
  }

  #place() {
    for (const { name, device } of this.nodes.values()) {
      const elsewhere = /gpu|tpu/i.test(device) || /cpu:0*[1-9]/i.test(device);
      if (elsewhere && !this.softPlacement) throw new Failure(3, `there is no ${device}`, name);
    }
  }

  #feed(name, value) {
    const match = /^(.*):0$/.exec(name);
    const node = match && this.nodes.get(match[1]);
    if (!node || !outputs(node)) throw new Failure(3, `there is no tensor ${name} to feed`);
    if (!(value.dtype in ARRAYS)) throw new Unsupported("dtype", value.dtype);
    if (value.dtype !== node.dtype) throw new Failure(3, `${name} is ${node.dtype}, not ${value.dtype}`, node.name);
    const shape = node.op === "Placeholder" ? node.attr.shape?.shape : undefined;
    if (!shape || shape.unknownRank) return;
    const want = dims(shape);
    const fits = want.length === value.shape.length && want.every((n, i) => n === -1 || n === value.shape[i]);
    if (!fits) throw new Failure(3, `${name} has shape [${want}], not [${value.shape}]`, node.name);
  }

  /** The values of the fetches in their order: a tensor each, null for an operation. */
  run(fetches, feeds) {
    if (!this.nodes.size) throw new Failure(9, "the graph is empty");
    for (const [name, value] of Object.entries(feeds)) this.#feed(name, value);
    const wanted = fetches.map((fetch) => {
      const { name, index } = parseInput(fetch);
      const node = this.nodes.get(name);
      const there = node && (!fetch.includes(":") || index < outputs(node));
      if (!there) throw new Failure(3, `there is no ${fetch} to fetch`);
      return { name, tensor: fetch.includes(":") ? fetch : null };
    });
    const needed = wanted.filter(({ tensor }) => !(tensor in feeds)).map(({ name }) => name);
    if (needed.length) this.#place();
    const values = {};
    for (const node of this.#order(needed, feeds)) this.#execute(node, feeds, values);
    return wanted.map(({ tensor }) => (tensor === null ? null : feeds[tensor] ?? read(values[tensor])));
  }

  #execute(node, feeds, values) {
    const inputs = node.inputs.filter((input) => !input.control).map(({ name, index }) => {
      const tensor = `${name}:${index}`;
      return feeds[tensor] ?? values[tensor];
    });
    const first = node.op.startsWith("Assign") ? 1 : 0; // the variable itself, not its value
    const ready = inputs.map((value, i) => (i < first ? value : read(value, node)));
    values[`${node.name}:0`] = OPERATIONS[node.op][1](node, ...ready);
  }
}
