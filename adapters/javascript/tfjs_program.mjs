// A model in TensorFlow.js, wherever that runs: no import, so that a browser can load this too.
//
// A model is {topology, weightSpecs, weightData, feeds, fetches}; a tensor {dtype, shape, data},
// with interleaved parts for complex64 and a list of byte arrays for string.

const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array, complex64: Float32Array };

function tensorOf(tf, { dtype, shape, data }) {
  if (dtype !== "complex64") return tf.tensor(data, shape, dtype);
  const part = (first) => tf.tensor(data.filter((_, i) => i % 2 === first), shape, "float32");
  return tf.complex(part(0), part(1));
}

async function valueOf(tensor) {
  const { dtype, shape } = tensor;
  if (dtype === "string") return { dtype, shape, data: await tensor.bytes() };
  const data = await tensor.data();
  const array = ARRAYS[dtype];
  const exact = data instanceof array ? data : array.from(data);
  const changed = exact === data ? -1 : exact.findIndex((x, i) => !Object.is(x, data[i]) && x !== Math.fround(data[i]));
  if (changed >= 0) throw new Error(`the ${dtype} tensor of [${shape}] holds ${data[changed]}`);
  return { dtype, shape, data: exact };
}

/** The program of a model: `run(values)`, a promise of the values of its fetches; `dispose()`. */
export function programOf(tf, GraphModel, { topology, weightSpecs, weightData, feeds, fetches }) {
  const model = new GraphModel({ load: () => ({ modelTopology: topology, weightSpecs, weightData }) });
  model.load();
  let dynamic = false; // whether an operation's output shape depends on values, or control flow is there

  async function execute(inputs) {
    if (dynamic) return model.executeAsync(inputs, fetches);
    try {
      return model.execute(inputs, fetches);
    } catch (error) {
      if (!/executeAsync/.test(error.message)) throw error;
      dynamic = true;
      return model.executeAsync(inputs, fetches);
    }
  }

  async function run(values) {
    const inputs = Object.fromEntries(feeds.map((name, i) => [name, tensorOf(tf, values[i])]));
    const ran = await execute(inputs);
    const tensors = Array.isArray(ran) ? ran : [ran];
    const missing = tensors.findIndex((tensor) => !tensor);
    if (missing >= 0) throw new Error(`${fetches[missing]} has no value`);
    const read = await Promise.all(tensors.map(valueOf));
    for (const tensor of new Set([...tensors, ...Object.values(inputs)])) tensor.dispose();
    return read;
  }
  return { run, dispose: () => model.dispose() };
}
