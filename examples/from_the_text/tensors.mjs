// What kernels are written in: tensors, their forms, views of their elements.

import { DTYPES, Unsupported, size } from "./protocol.mjs";
import { refuse } from "./graph.mjs";

export const same = (a, b) => a.length === b.length && a.every((n, i) => n === b[i]);
export const strides = (shape) => shape.map((_, d) => size(shape.slice(d + 1)));
export const numbers = (x) => Array.from(x.data, Number);
export const whole = (row) => row.kind !== "float";
/** A number as an element of a dtype: 64-bit integers are bigints. */
export const like = (row, x) => (row.bytes === 8 && whole(row) ? BigInt(x) : x);

/** The input, if it has so many dimensions; the elements of a vector; the one of a scalar. */
export function ranked(x, rank) {
  return x.shape.length === rank ? x : refuse(`an input has ${x.shape.length} dimensions, not ${rank}`);
}
export const vector = (x) => numbers(ranked(x, 1));
export const one = (x) => ranked(x, 0).data[0];

/** What is known of a dtype that is computed in: float32, float64, integers and bool. */
export function rowOf({ dtype }) {
  const row = DTYPES[dtype];
  if (!row.numeric && dtype !== "bool") throw new Unsupported("dtype", dtype);
  return row;
}

export function make(dtype, shape, values) {
  const data = dtype === "string" ? values : DTYPES[dtype].array.from(values);
  return { dtype, shape, data };
}
export const scalar = (dtype, x) => make(dtype, [], [x]);

/** The indices of the elements of a view, in row-major order. */
export function view(shape, steps, offset = 0) {
  let indices = [offset];
  shape.forEach((n, d) => {
    indices = indices.flatMap((at) => Array.from({ length: n }, (_, i) => at + i * steps[d]));
  });
  return indices;
}

/** The elements of a tensor at these indices. */
export function take(x, shape, indices) {
  if (DTYPES[x.dtype].kind === "complex") throw new Unsupported("dtype", x.dtype);
  return make(x.dtype, shape, indices.map((i) => x.data[i]));
}

/** The number of an axis, a negative one counted from the back. */
export function axis(value, rank) {
  const at = Number(value);
  return at >= -rank && at < rank ? (at + rank) % rank : refuse(`there is no axis ${at} of ${rank}`);
}

function broadcast(a, b) {
  const rank = Math.max(a.length, b.length);
  const [m, n] = [a, b].map((shape) => [...Array(rank - shape.length).fill(1), ...shape]);
  if (m.some((k, d) => k !== n[d] && k !== 1 && n[d] !== 1)) refuse(`[${a}] and [${b}] do not broadcast`);
  return m.map((k, d) => (k === 1 ? n[d] : k));
}

function spread(x, shape) {
  if (same(x.shape, shape)) return x.data;
  const steps = strides(x.shape).map((step, d) => (x.shape[d] === 1 ? 0 : step));
  return view(shape, [...Array(shape.length - steps.length).fill(0), ...steps]).map((i) => x.data[i]);
}

/** The kernel of a function of an element, or of two that are broadcast; `out` is the dtype of its results. */
export const unary = (f, out) => ([x]) => {
  const row = rowOf(x);
  return make(out ?? x.dtype, x.shape, Array.from(x.data, (item) => f(item, row)));
};
export const binary = (f, out) => ([x, y], attrs) => {
  const row = rowOf(x);
  if (attrs.incompatible_shape_error === false) throw new Unsupported("op", "incompatible_shape_error");
  const shape = broadcast(x.shape, y.shape);
  const [a, b] = [spread(x, shape), spread(y, shape)];
  return make(out ?? x.dtype, shape, Array.from(a, (item, i) => f(item, b[i], row)));
};
