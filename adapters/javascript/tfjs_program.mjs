// A model in TensorFlow.js, wherever that runs: no import, so that a browser can load this too.
//
// A model is {topology, weightSpecs, weightData, feeds, fetches}; a tensor {dtype, shape, data},
// with interleaved parts for complex64 and a list of byte arrays for string.

// Asynchronous operations that tfjs takes for others: `execute` would start them and leave them.
const PROMISING = new Set(["ListDiff", "NonMaxSuppressionV4"]);
const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array, complex64: Float32Array };

function tensorOf(tf, { dtype, shape, data }) {
  if (dtype !== "complex64") return tf.tensor(data, shape, dtype);
  const part = (first) => tf.tensor(data.filter((_, i) => i % 2 === first), shape, "float32");
  return tf.complex(part(0), part(1));
}

/** What a tensor holds; an Error where its data are not those of its dtype and its shape. */
async function valueOf(tensor) {
  const { dtype, shape } = tensor;
  const given = dtype === "string" ? await tensor.bytes() : await tensor.data();
  const array = dtype === "string" ? Array : ARRAYS[dtype];
  const data = given instanceof array ? given : array.from(given);
  const count = shape.reduce((product, n) => product * n, dtype === "complex64" ? 2 : 1);
  const fits = (x, i) => {
    if (dtype === "string") return x instanceof Uint8Array;
    return (Object.is(x, given[i]) || x === Math.fround(given[i])) && (dtype !== "bool" || x <= 1);
  };
  if (data.length === count && data.every(fits)) return { dtype, shape, data };
  throw new TypeError(`a ${dtype} tensor of shape [${shape}] holds ${given.length} elements: ${given}`.slice(0, 200));
}

/** The program of a model: `run(values)`, a promise of the values of its fetches; `dispose()`. */
export function programOf(tf, GraphModel, { topology, weightSpecs, weightData, feeds, fetches, ends }) {
  const model = new GraphModel({ load: () => ({ modelTopology: topology, weightSpecs, weightData }) });
  model.load();
  const weights = new Set(Object.values(model.weights).flat());
  let dynamic = topology.node.some(({ op }) => PROMISING.has(op)); // or control flow, or shapes by values

  async function execute(inputs) {
    const outputs = [...fetches, ...ends];
    if (!outputs.length) return [];
    if (dynamic) return model.executeAsync(inputs, outputs);
    try {
      return model.execute(inputs, outputs);
    } catch (error) {
      if (!/executeAsync/.test(error.message)) throw error;
      dynamic = true;
      return model.executeAsync(inputs, outputs);
    }
  }

  async function run(values) {
    const inputs = Object.fromEntries(feeds.map((name, i) => [name, tensorOf(tf, values[i])]));
    const tensors = [await execute(inputs)].flat();
    const missing = fetches.find((_, i) => !tensors[i]);
    if (missing) throw new TypeError(`${missing} has no value`);
    const read = await Promise.all(fetches.map((_, i) => valueOf(tensors[i])));
    for (const tensor of new Set([...tensors, ...Object.values(inputs)])) if (!weights.has(tensor)) tensor?.dispose();
    return read;
  }
  return { run, dispose: () => model.dispose() };
}
