// What a page does for tfjs_webgl.mjs: programs by number, tensors as text. It runs in the browser.

const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array, complex64: Float32Array };

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const textOf = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

function decoded({ dtype, shape, data }) {
  if (dtype === "string") return { dtype, shape, data: data.map(bytesOf) };
  return { dtype, shape, data: new ARRAYS[dtype](bytesOf(data).buffer) };
}

function encoded({ dtype, shape, data }) {
  if (dtype === "string") return { dtype, shape, data: data.map(textOf) };
  return { dtype, shape, data: textOf(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) };
}

/** The page's calls: each gives {value}, or {error} with the class and the message of what was thrown. */
export function pageOf(tf, GraphModel, programOf) {
  const programs = new Map();
  const answering = (call) => async (...given) => {
    try {
      return { value: await call(...given) };
    } catch (error) {
      return { error: { name: error.constructor.name, message: String(error.message) } };
    }
  };
  return {
    load: answering((number, model) => {
      const weightData = bytesOf(model.weightData).buffer;
      programs.set(number, programOf(tf, GraphModel, { ...model, weightData }));
    }),
    run: answering(async (number, values) => (await programs.get(number).run(values.map(decoded))).map(encoded)),
    dispose: answering((number) => {
      programs.get(number).dispose();
      programs.delete(number);
    }),
  };
}
