// Tensors: {dtype, shape, data}, their forms on the wire, and answers that are no values.
//
// `data` is a typed array of the elements in C order: of pairs for a complex dtype, of bytes for
// bool, of bits for dtypes that JavaScript has no numbers for. A string tensor's is a list of Buffers.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Generated from sessrun's tables: rows of dtypes, and the dtypes of each operation's outputs.
const TABLE = JSON.parse(readFileSync(new URL("operations.json", import.meta.url), "utf8"));
export const OUTPUTS = TABLE.outputs;

const NUMBERS = {
  float4: Float32Array, float8: Float64Array,
  int1: Int8Array, int2: Int16Array, int4: Int32Array, int8: BigInt64Array,
  uint1: Uint8Array, uint2: Uint16Array, uint4: Uint32Array, uint8: BigUint64Array,
  complex8: Float32Array, complex16: Float64Array,
};
const BITS = { 1: Uint8Array, 2: Uint16Array, 4: Int32Array };

/** What is known of each dtype by name: its kind, its bytes, the typed array of its elements. */
export const DTYPES = Object.fromEntries(TABLE.dtypes.map(([name, number, label, kind, bytes]) => {
  const numeric = !/^(bfloat16|float16|float8|float4|u?int[24]$)/.test(name);
  const array = (numeric && NUMBERS[kind + bytes]) || BITS[bytes] || null;
  return [name, { name, number, label, kind, bytes, array, numeric: numeric && kind in { float: 1, int: 1, uint: 1 } }];
}));
const BY_ENUM = new Map(Object.values(DTYPES).flatMap((row) => [
  [row.number, row.name], [row.number + 100, row.name], [row.label, row.name], [`${row.label}_REF`, row.name],
]));

const INLINE_BYTES = 65536;
const LINE_BYTES = 1 << 20;
const MOST_TEXT = 2000;
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/** The name of a dtype that a GraphDef writes by name, by number, or as a reference; or undefined. */
export const dtypeName = (enumeration) => BY_ENUM.get(enumeration);

export const size = (shape) => shape.reduce((product, n) => product * n, 1);

/** A failure on its way out: a code of the protocol, the node if known, the exception's classes. */
export class Failure extends Error {
  constructor(code, message, node = null, classes = undefined) {
    super(message);
    this.answer = { outcome: "failure", code, classes, node, message: String(message).slice(0, MOST_TEXT) };
  }
}

/** The backend declines: it lacks a capability. */
export class Unsupported extends Error {
  constructor(capability, message = "") {
    super(message);
    this.answer = { outcome: "unsupported", capability, message: String(message).slice(0, MOST_TEXT) };
  }
}

function stringsOf(bytes) { // each one's length as eight bytes, then its bytes
  const items = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 8 + Number(bytes.readBigUInt64LE(at));
    items.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return items;
}

/** A tensor from bytes in C order, little-endian (as every machine that runs Node is). */
export function fromBytes(dtype, shape, bytes) {
  const row = DTYPES[dtype];
  if (!row?.array) throw new Unsupported("dtype", dtype);
  if (bytes.length !== row.bytes * size(shape)) {
    throw new Failure(3, `${bytes.length} bytes do not fill [${shape}] of ${dtype}`);
  }
  return { dtype, shape, data: new row.array(new Uint8Array(bytes).buffer) };
}

/** The exchange folder, named by the host in its hello. */
export class Exchange {
  constructor(folder) {
    this.folder = folder;
    this.files = 0;
  }

  /** The tensor of a form. */
  read(form) {
    if ("file" in form && !FILE_NAME.test(form.file)) throw new Failure(3, "a file name must stay in its folder");
    const bytes = "file" in form ? readFileSync(join(this.folder, form.file)) : null;
    if (form.dtype !== "string") return fromBytes(form.dtype, form.shape, bytes ?? Buffer.from(form.data, "base64"));
    const data = bytes ? stringsOf(bytes) : form.data.map((item) => Buffer.from(item, "base64"));
    return { dtype: "string", shape: form.shape, data };
  }

  #write(bytes) {
    const file = `backend-${++this.files}`;
    writeFileSync(join(this.folder, file), bytes);
    return { file, nbytes: bytes.length };
  }

  #strings({ shape, data }, limit) {
    const total = data.reduce((sum, item) => sum + item.length, 0);
    if (total + 8 * data.length <= limit) {
      return { dtype: "string", shape, data: data.map((item) => Buffer.from(item).toString("base64")) };
    }
    const parts = data.flatMap((item) => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(item.length));
      return [length, item];
    });
    return { dtype: "string", shape, ...this.#write(Buffer.concat(parts)) };
  }

  #form(tensor, limit) {
    if (tensor.dtype === "string") return this.#strings(tensor, limit);
    const { dtype, shape, data } = tensor;
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length <= limit) return { dtype, shape, data: bytes.toString("base64") };
    return { dtype, shape, ...this.#write(bytes) };
  }

  /** An answer as a line: large tensors in files, all of them if the line is too long. */
  line(answer) {
    const write = (limit) =>
      JSON.stringify({ ...answer, values: answer.values.map((value) => value && this.#form(value, limit)) });
    if (!answer.values) return JSON.stringify(answer);
    const line = write(INLINE_BYTES);
    return Buffer.byteLength(line) <= LINE_BYTES ? line : write(64);
  }
}
