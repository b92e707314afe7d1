// The adapter of an engine in JavaScript, under sessrun's client: names, feeds, shapes and closed
// sessions are known there. What it computes stands in OPERATIONS; put your engine into `compile`.
// Standard output belongs to the answers: console.log writes to standard error here.

import { ClientLayer, CompiledSession, Failure, Unsupported, constantOf, serve, size } from "./sessrun/index.mjs";

// What a configuration may say without changing what a run gives.
const HARMLESS = new Set(["allowSoftPlacement", "logDevicePlacement"]);

/** Numpy's broadcasting of two shapes. */
function broadcast(node, a, b) {
  const rank = Math.max(a.length, b.length);
  const [x, y] = [a, b].map((shape) => [...Array(rank - shape.length).fill(1), ...shape]);
  if (x.some((n, i) => n !== y[i] && n !== 1 && y[i] !== 1)) {
    throw new Failure(3, `${node.name}: the shapes [${a}] and [${b}] do not fit`, node.name);
  }
  return x.map((n, i) => (n === 1 ? y[i] : n));
}

/** For each element of a broadcast shape, the place of the element that it is taken from. */
function places(own, shape) {
  let found = [0];
  const padded = [...Array(shape.length - own.length).fill(1), ...own];
  const steps = padded.map((n, i) => (n === 1 ? 0 : size(padded.slice(i + 1))));
  shape.forEach((n, i) => {
    found = found.flatMap((place) => Array.from({ length: n }, (_, k) => place + k * steps[i]));
  });
  return found;
}

/** A kernel of one input: the typed array rounds floats, and wraps integers. */
const unary = (apply) => (node, x) => ({ ...x, data: x.data.map(apply) });

/** A kernel of two inputs, whose shapes are broadcast. */
const binary = (floats, integers = floats) => (node, x, y) => {
  const shape = broadcast(node, x.shape, y.shape);
  const [left, right] = [places(x.shape, shape), places(y.shape, shape)];
  const apply = x.dtype === "int32" ? integers : floats;
  const data = new x.data.constructor(size(shape));
  for (let i = 0; i < data.length; i++) data[i] = apply(x.data[left[i]], y.data[right[i]]);
  return { dtype: x.dtype, shape, data };
};

// Op type to what computes it, and the dtypes of its values: what was measured, not hoped for.
const NUMBERS = ["float32", "int32"];
const OPERATIONS = {
  AddV2: [binary((x, y) => x + y), NUMBERS],
  Mul: [binary((x, y) => x * y, Math.imul), NUMBERS],
  Neg: [unary((x) => -x), NUMBERS],
  Square: [unary((x) => x * x), ["float32"]],
  Sub: [binary((x, y) => x - y), NUMBERS],
};
// Operations that need not be declared: every engine has them.
const FREE = { Const: (node) => constantOf(node), Identity: (node, x) => x };

/** What computes a node; what is not declared is declined, never tried. */
function kernelOf(node, dtypes) {
  if (Object.hasOwn(FREE, node.op)) return FREE[node.op];
  if (!Object.hasOwn(OPERATIONS, node.op)) throw new Unsupported("op", node.op);
  const [kernel, known] = OPERATIONS[node.op];
  const dtype = dtypes.get(`${node.name}:0`);
  if (!known.includes(dtype)) throw new Unsupported("dtype", dtype);
  return kernel;
}

/** The program of a part of a graph: a function from the fed tensors to the fetched ones. */
function compile(part) {
  for (const name of part.effects) throw new Unsupported("control_inputs", name);
  const steps = part.nodes.map((node) => [node, kernelOf(node, part.dtypes)]);
  return (fed) => {
    const values = new Map(part.feeds.map((tensor, i) => [tensor, fed[i]]));
    for (const [node, kernel] of steps) {
      values.set(`${node.name}:0`, kernel(node, ...node.inputs.map((tensor) => values.get(tensor))));
    }
    return part.fetches.map((tensor) => values.get(tensor));
  };
}

const engine = {
  describe: () => ({
    name: "my_engine",
    version: "0.1",
    operations: Object.fromEntries(Object.entries(OPERATIONS).map(([op, [, dtypes]]) => [op, dtypes])),
  }),
  open: (graph, config) => {
    const strange = Object.keys(config).find((field) => !HARMLESS.has(field));
    if (strange) throw new Unsupported("config", strange);
    return new CompiledSession(graph, { compile });
  },
};

serve(() => new ClientLayer(engine));
