// Tensors: {dtype, shape, data}, where data is a typed array; and their forms on the wire.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const ARRAYS = { float32: Float32Array, int32: Int32Array };
const INLINE_BYTES = 65536;
const LINE_BYTES = 1 << 20;
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

export const size = (shape) => shape.reduce((product, n) => product * n, 1);

/** A failure on its way out: a code of the protocol and, where known, the node. */
export class Failure extends Error {
  constructor(code, message, node = null) {
    super(message);
    this.answer = { outcome: "failure", code, node, message };
  }
}

/** The backend declines: it lacks a capability. */
export class Unsupported extends Error {
  constructor(capability, message = "") {
    super(message);
    this.answer = { outcome: "unsupported", capability, message: String(message) };
  }
}

/** A tensor from bytes in C order, little-endian (as every machine that runs Node is). */
export function fromBytes(dtype, shape, bytes) {
  if (bytes.length !== 4 * size(shape)) throw new Failure(3, `${bytes.length} bytes do not fill [${shape}]`);
  return { dtype, shape, data: new ARRAYS[dtype](new Uint8Array(bytes).buffer) };
}

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

/** The exchange folder, named by the host in its hello. */
export class Exchange {
  constructor(folder) {
    this.folder = folder;
    this.files = 0;
  }

  read(form) {
    if (!(form.dtype in ARRAYS)) throw new Unsupported("dtype", form.dtype);
    if (!("file" in form)) return fromBytes(form.dtype, form.shape, Buffer.from(form.data, "base64"));
    if (!FILE_NAME.test(form.file)) throw new Failure(3, "a file name must stay in its folder");
    return fromBytes(form.dtype, form.shape, readFileSync(join(this.folder, form.file)));
  }

  #form({ dtype, shape, data }, limit) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length <= limit) return { dtype, shape, data: bytes.toString("base64") };
    const file = `backend-${++this.files}`;
    writeFileSync(join(this.folder, file), bytes);
    return { dtype, shape, file, nbytes: bytes.length };
  }

  /** The answer of a run as a line: large tensors in files, all of them if the line is too long. */
  line(id, values) {
    const write = (limit) =>
      JSON.stringify({ id, outcome: "values", values: values.map((v) => v && this.#form(v, limit)) });
    const line = write(INLINE_BYTES);
    return line.length <= LINE_BYTES ? line : write(64);
  }
}
