// Variables, and streams of random numbers: what operations do to what outlives a run.

import { Unsupported, size } from "./protocol.mjs";
import { add, subtract } from "./elements.mjs";
import { refuse } from "./graph.mjs";
import { like, make, numbers, rowOf, same, scalar, vector } from "./tensors.mjs";

/** What a variable holds. */
export function read(cell) {
  return cell.value ?? refuse(`variable ${cell.name} is not initialised`, 9);
}

/** Whether a shape is compatible with what is known of one, null being unknown. */
export function fits(known, shape) {
  return known.length === shape.length && known.every((n, d) => n === null || n === shape[d]);
}

/** Assign a value, or what a function makes of the variable's and it; a reference variable is the output. */
const assign = (f) => ([ref, value], { validate_shape: strict }, { node }) => {
  const { cell } = ref;
  if (!cell) refuse(`${node.name}: the target is no variable`);
  if (value.dtype !== cell.dtype) refuse("another dtype than the variable's");
  const declared = node.gives.length ? cell.shape : null;
  const shape = f ? read(cell).shape : strict ? cell.value?.shape ?? declared : null;
  if (shape && !fits(shape, value.shape)) refuse("another shape than the variable's");
  cell.value = f ? f([cell.value, value], {}) : value;
  return node.gives.length ? ref : [];
};

const scatter = (f) => ([ref, indices, updates], _, { node }) => {
  const old = read(ref.cell);
  const [list, inner, single] = [numbers(indices), old.shape.slice(1), !updates.shape.length];
  if (old.dtype !== "string") rowOf(old);
  if (list.some((i) => i < 0 || i >= old.shape[0])) refuse("an index is out of range");
  if (!single && !same(updates.shape, [...indices.shape, ...inner])) refuse("the updates are of another shape");
  const [data, row] = [old.data.slice(), size(inner)];
  list.forEach((at, i) => {
    for (let k = 0; k < row; k++) data[at * row + k] = f(data[at * row + k], updates.data[single ? 0 : i * row + k]);
  });
  ref.cell.value = { ...old, data };
  return node.gives.length ? ref : [];
};

function countUpTo([{ cell }], { limit }) {
  const value = read(cell);
  if (value.data[0] >= limit) refuse("the limit is reached", 11);
  cell.value = make(value.dtype, [], [value.data[0] + like(rowOf(value), 1)]);
  return value;
}

const LOW = 0xffffffffn;
const halves = (x) => [x & LOW, x >> 32n & LOW];

function philox([a, b, c, d], [k, l]) {
  for (let i = 0; i < 10; i++) {
    const [p, q] = [0xd2511f53n * a, 0xcd9e8d57n * c];
    [a, b, c, d] = [q >> 32n ^ b ^ k, q & LOW, p >> 32n ^ d ^ l, p & LOW];
    [k, l] = [k + 0x9e3779b9n & LOW, l + 0xbb67ae85n & LOW];
  }
  return [a, b, c, d];
}

/** The words of the Philox stream of a key and the upper half of a counter, four for each lower half. */
function words(key, upper, lower) {
  let block = [];
  return () => {
    if (!block.length) block = philox([...halves(lower++), ...halves(upper)], halves(key));
    return Number(block.shift());
  };
}

function randomUniform([shape], { dtype, seed, seed2 }, { node, session }) {
  if (!["float32", "float64"].includes(dtype)) throw new Unsupported("dtype", dtype);
  const sizes = vector(shape);
  if (sizes.some((n) => n < 0)) refuse("a negative size");
  const drawn = () => Math.floor(Math.random() * 2 ** 32);
  const word = seed || seed2 ? words(BigInt(seed), BigInt(seed2), session.draw(node, size(sizes))) : drawn;
  const single = () => (word() % 2 ** 23) / 2 ** 23;
  const double = () => ((word() % 2 ** 20) * 2 ** 32 + word()) / 2 ** 52;
  return make(dtype, sizes, Array.from({ length: size(sizes) }, dtype === "float32" ? single : double));
}

const variable = (_, attrs, { node, session }) => ({ cell: session.resource(node) });
const handle = (...call) => ({ dtype: "resource", shape: [], ...variable(...call) });
const initialised = ([{ cell }]) => scalar("bool", cell.value ? 1 : 0);
const [replace, increase] = [scatter((_, y) => y), scatter((x, y) => x + y)];

export const RESOURCES = {
  VariableV2: variable, Variable: variable, VarHandleOp: handle, ReadVariableOp: ([{ cell }]) => read(cell),
  Assign: assign(null), AssignAdd: assign(add), AssignSub: assign(subtract),
  AssignVariableOp: assign(null), AssignAddVariableOp: assign(add), AssignSubVariableOp: assign(subtract),
  IsVariableInitialized: initialised, VarIsInitializedOp: initialised, CountUpTo: countUpTo,
  ScatterUpdate: replace, ScatterAdd: increase, ResourceScatterUpdate: replace, ResourceScatterAdd: increase,
  RandomUniform: randomUniform,
};
