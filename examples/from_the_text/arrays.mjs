// What moves elements or tells of shapes.

import { DTYPES, Unsupported, size } from "./protocol.mjs";
import { refuse } from "./graph.mjs";
import {
  axis, like, make, numbers, one, ranked, rowOf, same, scalar, strides, take, vector, view,
} from "./tensors.mjs";

function reshape([x, wanted]) {
  const shape = vector(wanted);
  const known = size(shape.filter((n) => n !== -1));
  const full = shape.map((n) => (n === -1 ? size(x.shape) / (known || 1) : n));
  const odd = shape.filter((n) => n === -1).length > 1 || full.some((n) => n < 0 || !Number.isInteger(n));
  return odd || size(full) !== size(x.shape) ? refuse(`[${x.shape}] cannot be [${shape}]`) : { ...x, shape: full };
}

function concat(parts, at) {
  const [{ shape, dtype }] = parts;
  const d = axis(at, shape.length);
  const apart = (part) => part.shape.length !== shape.length || part.shape.some((n, i) => i !== d && n !== shape[i]);
  if (parts.some(apart)) refuse("shapes differ outside of the axis");
  const values = [];
  for (let outer = 0; outer < size(shape.slice(0, d)); outer++) {
    for (const part of parts) {
      const run = size(part.shape.slice(d));
      for (let i = outer * run; i < (outer + 1) * run; i++) values.push(part.data[i]);
    }
  }
  const sizes = parts.reduce((sum, part) => sum + part.shape[d], 0);
  return take({ dtype, data: values }, shape.map((n, i) => (i === d ? sizes : n)), [...values.keys()]);
}

function slice(x, begin, sizes) {
  const full = sizes.map((n, d) => (n === -1 ? x.shape[d] - begin[d] : n));
  if (full.length !== x.shape.length || begin.length !== full.length) refuse("not a number for each dimension");
  if (begin.some((at, d) => at < 0 || full[d] < 0 || at + full[d] > x.shape[d])) refuse("a slice reaches outside");
  const steps = strides(x.shape);
  return take(x, full, view(full, steps, begin.reduce((sum, at, d) => sum + at * steps[d], 0)));
}
const cut = (x, d, from, n) =>
  slice(x, x.shape.map((_, i) => (i === d ? from : 0)), x.shape.map((all, i) => (i === d ? n : all)));
const insert = (x, d) => ({ ...x, shape: [...x.shape.slice(0, d), 1, ...x.shape.slice(d)] });
const remove = (x, d) => ({ ...x, shape: x.shape.filter((_, i) => i !== d) });

function gather([x, indices, at], { batch_dims: batch }) {
  if (batch) throw new Unsupported("op", "batch_dims");
  const d = axis(one(at), x.shape.length);
  const list = numbers(indices);
  if (list.some((i) => i < 0 || i >= x.shape[d])) refuse("an index is out of range");
  const [outer, inner] = [size(x.shape.slice(0, d)), size(x.shape.slice(d + 1))];
  const starts = view([outer, list.length, inner], [x.shape[d] * inner, 0, 1]);
  const flat = starts.map((i, k) => i + list[Math.floor(k / inner) % list.length] * inner);
  return take(x, [...x.shape.slice(0, d), ...indices.shape, ...x.shape.slice(d + 1)], flat);
}

function fill([shape, value]) {
  const sizes = [...ranked(shape, 1).data];
  const n = sizes.reduce((all, k) => all * BigInt(k), 1n);
  ranked(value, 0);
  if (sizes.some((k) => k < 0) || n > 2n ** 63n - 1n) refuse("no such shape");
  if (n > 2n ** 31n - 1n) refuse("no memory holds that", 8);
  return take(value, sizes.map(Number), Array(Number(n)).fill(0));
}

function range([start, limit, delta]) {
  const [from, to, step] = [start, limit, delta].map(one);
  if (step == 0 || (step > 0 ? from > to : from < to)) refuse("a range that does not end");
  const last = step > 0 ? -1n : 1n;
  const n = typeof from === "bigint" ? Number((to - from + step + last) / step) : Math.ceil((to - from) / step);
  return make(start.dtype, [n], Array.from({ length: n }, (_, i) => from + like(rowOf(start), i) * step));
}

function stridedSlice([x, ...bounds], attrs) {
  const [begin, end, stride] = bounds.map(vector);
  const bit = (mask, i) => i !== null && Boolean(attrs[mask] >> i & 1);
  const items = [...begin.keys()];
  const own = items.filter((i) => !bit("ellipsis_mask", i) && !bit("new_axis_mask", i)).length;
  const others = Array(Math.max(x.shape.length - own, 0)).fill(null); // the dimensions that no item is for
  const at = items.findIndex((i) => bit("ellipsis_mask", i));
  items.splice(at < 0 ? items.length : at, at < 0 ? 0 : 1, ...others);
  const [shape, steps, apart] = [[], [], strides(x.shape)];
  let [offset, d] = [0, 0];
  const dimension = (n, step) => shape.push(n) && steps.push(step);
  for (const i of items) {
    if (bit("new_axis_mask", i)) {
      dimension(1, 0);
      continue;
    }
    const [n, step, by] = [x.shape[d], apart[d++], i === null ? 1 : stride[i]];
    if (n === undefined || by === 0) refuse("no such slice");
    const back = (index) => (index < 0 ? index + n : index);
    const clip = (index) => Math.min(Math.max(back(index), by < 0 ? -1 : 0), by < 0 ? n - 1 : n);
    if (bit("shrink_axis_mask", i)) {
      if (by < 0 || back(begin[i]) < 0 || back(begin[i]) >= n) refuse("an index is out of range");
      offset += back(begin[i]) * step;
      continue;
    }
    const from = i === null || bit("begin_mask", i) ? (by < 0 ? n - 1 : 0) : clip(begin[i]);
    const to = i === null || bit("end_mask", i) ? (by < 0 ? -1 : n) : clip(end[i]);
    dimension(Math.max(0, Math.ceil((to - from) / by)), by * step);
    offset += from * step;
  }
  return take(x, shape, view(shape, steps, offset));
}

function topK([x, k], { index_type: type }) {
  const [n, wanted] = [x.shape.at(-1), Number(one(k))];
  if (!x.shape.length || wanted < 0 || wanted > n) refuse("fewer than k");
  rowOf(x);
  const flat = Array.from({ length: n ? size(x.shape) / n : 0 }, (_, row) => {
    const at = (i) => x.data[row * n + i];
    const order = [...Array(n).keys()].sort((i, j) => (at(j) > at(i) ? 1 : at(j) < at(i) ? -1 : i - j));
    return order.slice(0, wanted).map((i) => [row * n + i, i]);
  }).flat();
  const shape = [...x.shape.slice(0, -1), wanted];
  return [take(x, shape, flat.map(([i]) => i)), make(type, shape, flat.map(([, i]) => like(DTYPES[type], i)))];
}

function transpose([x, perm]) {
  const order = vector(perm);
  if (!same([...order].sort((i, j) => i - j), [...x.shape.keys()])) refuse("no permutation");
  const shape = order.map((d) => x.shape[d]);
  return take(x, shape, view(shape, order.map((d) => strides(x.shape)[d])));
}

function pack(all, { axis: at }) {
  if (!all.every((x) => same(x.shape, all[0].shape))) refuse("shapes differ");
  const d = axis(at, all[0].shape.length + 1);
  return concat(all.map((x) => insert(x, d)), d);
}

function unpack([x], { axis: at, num }) {
  const d = axis(at, x.shape.length);
  if (x.shape[d] !== num) refuse("another number of slices");
  return Array.from({ length: num }, (_, i) => remove(cut(x, d, i, 1), d));
}

function split([at, x], { num_split: n }) {
  const d = axis(one(at), x.shape.length);
  if (x.shape[d] % n) refuse("parts are not equal");
  return Array.from({ length: n }, (_, i) => cut(x, d, (i * x.shape[d]) / n, x.shape[d] / n));
}

function squeeze([x], { squeeze_dims: named }) {
  const gone = named.map((d) => axis(d, x.shape.length));
  if (gone.some((d) => x.shape[d] !== 1)) refuse("a dimension is not 1");
  return { ...x, shape: x.shape.filter((n, d) => (gone.length ? !gone.includes(d) : n !== 1)) };
}

function select([condition, x, y]) {
  const forms = [[], x.shape.slice(0, 1), x.shape];
  if (!same(x.shape, y.shape) || !forms.some((form) => same(form, condition.shape))) refuse("shapes differ");
  const run = size(x.shape) / Math.max(condition.data.length, 1);
  const chosen = Array.from(x.data, (item, i) => (condition.data[Math.floor(i / run)] ? item : y.data[i]));
  return take({ dtype: x.dtype, data: chosen }, x.shape, [...chosen.keys()]);
}

const counted = (f) => ([x], { out_type: type = "int32" }) => f(x.shape, (n) => like(DTYPES[type], n), type);
const filled = (n) => ([x]) => make(x.dtype, x.shape, Array.from(x.data, () => like(rowOf(x), n)));
const bytes = (unit) => (item) => (unit === "BYTE" ? item.length : item.filter((byte) => byte >> 6 !== 2).length);

export const ARRAYS = {
  Reshape: reshape, Fill: fill, Range: range, GatherV2: gather, TopKV2: topK, StridedSlice: stridedSlice,
  Transpose: transpose, Pack: pack, Unpack: unpack, Split: split, Squeeze: squeeze, Select: select,
  Slice: ([x, begin, sizes]) => slice(x, vector(begin), vector(sizes)),
  ConcatV2: (all) => concat(all.slice(0, -1), one(all.at(-1))),
  ExpandDims: ([x, at]) => insert(x, axis(one(at), x.shape.length + 1)),
  Shape: counted((shape, as, type) => make(type, [shape.length], shape.map(as))),
  Size: counted((shape, as, type) => scalar(type, as(size(shape)))),
  Rank: counted((shape, as, type) => scalar(type, as(shape.length))),
  ZerosLike: filled(0), OnesLike: filled(1),
  StringLength: ([x], { unit }) => make("int32", x.shape, x.data.map(bytes(unit))),
};
