// What is computed of numbers: elementwise operations, reductions, the product of matrices.

import { DTYPES, size } from "./protocol.mjs";
import { refuse } from "./graph.mjs";
import { axis, binary, like, make, numbers, one, rowOf, same, strides, unary, view, whole } from "./tensors.mjs";

const times = (x, y, row) => (whole(row) && row.bytes < 8 ? Math.imul(x, y) : x * y);
const rest = (code) => (x, y, row) => (whole(row) && !Number(y) ? refuse("division by zero", code) : x % y);
function floorMod(x, y, row) {
  const left = rest(3)(x, y, row);
  return left != 0 && left < 0 !== y < 0 ? left + y : left; // a bigint is not === 0
}
const rounded = (x, row) => (row.bytes === 4 ? Math.fround(x) : x);
const floorDiv = (x, y, row) => (whole(row) ? (x - floorMod(x, y, row)) / y : Math.floor(rounded(x / y, row)));
const truncateDiv = (x, y, row) => (whole(row) ? (x - rest(13)(x, y, row)) / y : Math.trunc(rounded(x / y, row)));
const choice = (before) => (x, y) => (x !== x ? x : y !== y || before(y, x) ? y : x);
const [larger, smaller] = [choice((x, y) => x > y), choice((x, y) => x < y)];
const sign = (x, row) => (x > 0 ? like(row, 1) : x < 0 ? like(row, -1) : x);

function cast([x], { DstT }) {
  if (x.dtype === "string") refuse("strings are not cast", 12);
  const [from, to] = [rowOf(x), rowOf({ dtype: DstT })];
  // A bigint is rounded to float32 once: what is cut off before leaves a bit.
  const odd = (n) => ((n >> 11n) | (n & 2047n ? 1n : 0n)) << 11n;
  const far = (n) => to.bytes === 4 && (n > 2n ** 53n || n < -(2n ** 53n));
  const convert = (v) => {
    if (DstT === "bool") return v != 0 ? 1 : 0;
    if (to.kind === "float") return Number(typeof v === "bigint" && far(v) ? odd(v) : v);
    const n = typeof v === "bigint" ? v : BigInt(Number.isFinite(v) ? Math.trunc(v) : 0);
    return to.bytes === 8 ? n : Number(BigInt.asIntN(32, n));
  };
  return from === to ? x : make(DstT, x.shape, Array.from(x.data, convert));
}

/** The reduction by a function, from its value over nothing on; `last` takes the result and the count. */
const reduction = (f, none, last = (sum) => sum) => ([x, indices], { keep_dims: keep }) => {
  const row = rowOf(x);
  const axes = numbers(indices).map((at) => axis(at, x.shape.length));
  if (new Set(axes).size < axes.length) refuse("an axis is named twice");
  const kept = [...x.shape.keys()].filter((d) => !axes.includes(d));
  const order = [...kept, ...axes];
  const flat = view(order.map((d) => x.shape[d]), order.map((d) => strides(x.shape)[d]));
  const count = size(axes.map((d) => x.shape[d]));
  const values = Array.from({ length: size(kept.map((d) => x.shape[d])) }, (_, i) => {
    let value = none(row);
    for (let k = i * count; k < (i + 1) * count; k++) value = f(value, x.data[flat[k]], row);
    return last(value, like(row, count));
  });
  return make(x.dtype, x.shape.flatMap((n, d) => (kept.includes(d) ? [n] : keep ? [1] : [])), values);
};

/** The greatest or the least value of a dtype. */
const end = (greatest) => (row) => {
  if (!whole(row)) return greatest ? Infinity : -Infinity;
  const [unsigned, bits] = [row.kind === "uint", BigInt(8 * row.bytes)];
  const half = 2n ** (bits - 1n);
  const value = greatest ? (unsigned ? 2n * half : half) - 1n : unsigned ? 0n : -half;
  return row.bytes === 8 ? value : Number(value);
};

const extreme = (before) => ([x, at], { output_type: type }) => {
  const [d, row] = [axis(one(at), x.shape.length), DTYPES[type]];
  rowOf(x);
  if (!x.shape[d]) refuse("no elements to choose from");
  const kept = [...x.shape.keys()].filter((i) => i !== d);
  const [shape, steps] = [kept.map((i) => x.shape[i]), strides(x.shape)];
  const indices = view(shape, kept.map((i) => steps[i])).map((start) => {
    let best = 0;
    for (let i = 1; i < x.shape[d]; i++) {
      const [next, old] = [x.data[start + i * steps[d]], x.data[start + best * steps[d]]];
      if (before(next, old) || (old !== old && next === next)) best = i;
    }
    return like(row, best);
  });
  return make(type, shape, indices);
};

function matmul([a, b], { transpose_a: ta, transpose_b: tb }) {
  const row = rowOf(a);
  if (a.shape.length !== 2 || b.shape.length !== 2) refuse("not a matrix");
  const [m, k] = ta ? [...a.shape].reverse() : a.shape;
  const [inner, n] = tb ? [...b.shape].reverse() : b.shape;
  if (k !== inner) refuse(`[${a.shape}] and [${b.shape}] do not multiply`);
  const sum = (i, j) => {
    let total = like(row, 0);
    for (let p = 0; p < k; p++) {
      total += times(a.data[ta ? p * m + i : i * k + p], b.data[tb ? j * k + p : p * n + j], row);
    }
    return total;
  };
  return make(a.dtype, [m, n], Array.from({ length: m * n }, (_, at) => sum(Math.floor(at / n), at % n)));
}

function biasAdd([x, bias], { data_format: form }) {
  const d = form === "NCHW" ? 1 : x.shape.length - 1;
  if (x.shape.length < 2 || !same(bias.shape, [x.shape[d]])) refuse("no bias for each channel");
  return add([x, { ...bias, shape: [...bias.shape, ...Array(x.shape.length - 1 - d).fill(1)] }], {});
}

export const add = binary((x, y) => x + y);
export const subtract = binary((x, y) => x - y);
const zero = (row) => like(row, 0);

export const ELEMENTS = {
  Add: add, AddV2: add, Sub: subtract, Mul: binary(times), RealDiv: binary((x, y) => x / y),
  Maximum: binary(larger), Minimum: binary(smaller),
  FloorDiv: binary(floorDiv), FloorMod: binary(floorMod), TruncateDiv: binary(truncateDiv),
  TruncateMod: binary(rest(13)),
  Neg: unary((x) => -x), Abs: unary((x) => (x < 0 ? -x : x === 0 ? 0 : x)), Square: unary((x, row) => times(x, x, row)),
  Sqrt: unary(Math.sqrt), Exp: unary(Math.exp), Log: unary(Math.log), Tanh: unary(Math.tanh), Floor: unary(Math.floor),
  Relu: unary((x, row) => (x < 0 ? zero(row) : x)), Sign: unary(sign), Cast: cast, BiasAdd: biasAdd,
  LogicalNot: unary((x) => 1 - x), LogicalAnd: binary((x, y) => x & y), LogicalOr: binary((x, y) => x | y),
  Equal: binary((x, y) => x === y, "bool"), NotEqual: binary((x, y) => x !== y, "bool"),
  Less: binary((x, y) => x < y, "bool"), LessEqual: binary((x, y) => x <= y, "bool"),
  Greater: binary((x, y) => x > y, "bool"), GreaterEqual: binary((x, y) => x >= y, "bool"),
  AddN: (all) => all.reduce((sum, x) => (same(sum.shape, x.shape) ? add([sum, x], {}) : refuse("shapes differ"))),
  Sum: reduction((x, y) => x + y, zero), Prod: reduction(times, (row) => like(row, 1)),
  Max: reduction(larger, end(false)), Min: reduction(smaller, end(true)),
  Mean: reduction((x, y) => x + y, zero, (sum, n) => sum / n),
  All: reduction((x, y) => x & y, () => 1), Any: reduction((x, y) => x | y, () => 0),
  ArgMax: extreme((x, y) => x > y), ArgMin: extreme((x, y) => x < y), MatMul: matmul,
  CheckNumerics: ([x]) => (rowOf(x), x.data.every(Number.isFinite) ? x : refuse("not finite")),
};
