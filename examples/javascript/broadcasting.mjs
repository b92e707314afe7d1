// The arrays of the dtypes that this engine computes in, and numpy's broadcasting.

import { size } from "../../adapters/javascript/tensors.mjs";

export const ARRAYS = { float32: Float32Array, int32: Int32Array };

/** Numpy's broadcasting of two shapes, or null where they do not fit. */
export function broadcast(a, b) {
  const rank = Math.max(a.length, b.length);
  const shape = [];
  for (let i = 0; i < rank; i++) {
    const m = a[a.length - rank + i] ?? 1;
    const n = b[b.length - rank + i] ?? 1;
    if (m !== n && m !== 1 && n !== 1) return null;
    shape.push(m === 1 ? n : m);
  }
  return shape;
}

/** For each element of `shape`, the index of the element of `from` that is broadcast to it. */
export function* sources(from, shape) {
  const strides = shape.map(() => 0);
  for (let i = from.length - 1, stride = 1; i >= 0; i--) {
    if (from[i] !== 1) strides[shape.length - from.length + i] = stride;
    stride *= from[i];
  }
  for (let flat = 0; flat < size(shape); flat++) {
    let [rest, index] = [flat, 0];
    for (let i = shape.length - 1; i >= 0; i--) {
      index += (rest % shape[i]) * strides[i];
      rest = Math.floor(rest / shape[i]);
    }
    yield index;
  }
}
