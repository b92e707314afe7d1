// An engine of TensorFlow.js under our client: what it declares, and parts of graphs as its models.

import { readFileSync } from "node:fs";

import { CompiledSession } from "./client_layer.mjs";
import { constantOf } from "./graph.mjs";
import { DTYPES, Failure, Unsupported } from "./tensors.mjs";

export const VERSION = "4.22"; // of its packages: what was measured
const DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";
// What a configuration may say without changing what a run must give.
const HARMLESS = new Set(["allowSoftPlacement", "graphOptions", "interOpParallelismThreads",
  "intraOpParallelismThreads", "logDevicePlacement"]);
// By backend: operation to the dtypes that it computes it in; measured, see docs/adapters.md.
const OPERATIONS = JSON.parse(readFileSync(new URL("tfjs_operations.json", import.meta.url), "utf8"));

/** An error that says what to do: whoever starts a backend reads it. */
export const hint = (text) => Object.assign(new Error(text), { hint: text });

/** Refuse what is not declared: tfjs would take an int64 for an int32, a float64 for a float32. */
function checkDeclared(part, operations) {
  for (const node of part.nodes) {
    if (node.op !== "Const" && !Object.hasOwn(operations, node.op)) throw new Unsupported("op", node.op);
    const tensors = [...node.inputs.map((tensor) => part.dtypes.get(tensor)), ...node.dtypes];
    const strange = tensors.find((dtype) => !operations.Const.includes(dtype));
    if (strange) throw new Unsupported("dtype", strange);
    const attr = node.attr.T ?? node.attr.dtype ?? node.attr.SrcT;
    const own = attr ? Object.values(DTYPES).find((row) => [row.label, row.number].includes(attr.type)) : null;
    if (own && !operations[node.op].includes(own.name)) throw new Unsupported("dtype", own.name);
  }
  const [effect] = part.effects;
  if (effect !== undefined) throw new Unsupported("control_inputs", effect);
}

/** The bytes of a constant as tfjs reads weights: strings behind their lengths, four bytes each. */
function weightBytes({ dtype, data }) {
  if (dtype !== "string") return [Buffer.from(data.buffer, data.byteOffset, data.byteLength)];
  return data.flatMap((item) => [Buffer.from(Uint32Array.of(item.length).buffer), item]);
}

/** A part as a model of its own: `feed_N` its placeholders, `part/NAME` its nodes, constants its weights. */
function modelOf(part, shapes) {
  const names = new Map(part.feeds.map((tensor, number) => [tensor, `feed_${number}`]));
  const named = (tensor) => names.get(tensor) ?? `part/${tensor}`;
  const placeholders = part.feeds.map((tensor, number) => ({
    name: `feed_${number}`, op: "Placeholder", input: [],
    attr: {
      dtype: { type: DTYPES[part.dtypes.get(tensor)].label },
      shape: { shape: { dim: shapes[number].map((n) => ({ size: String(n) })) } },
    },
  }));
  const nodes = part.nodes.map(({ name, op, attr, inputs }) => {
    const { value, _class, ...rest } = attr; // a Const's value is a weight; _class names what is not here
    return { name: `part/${name}`, op, input: inputs.map(named), attr: op === "Const" ? rest : attr };
  });
  const constants = part.nodes.filter((node) => node.op === "Const").map((node) => [node.name, constantOf(node)]);
  const bytes = Buffer.concat(constants.flatMap(([, tensor]) => weightBytes(tensor)));
  return {
    topology: { node: [...placeholders, ...nodes], versions: { producer: 1882 } },
    weightSpecs: constants.map(([name, { dtype, shape }]) => ({ name: `part/${name}`, dtype, shape })),
    weightData: new Uint8Array(bytes).buffer,
    feeds: [...names.values()],
    fetches: part.fetches.map(named),
  };
}

/** What an error of tfjs means: an operation that it lacks, a refusal, or a mistake of its own. */
function meaning(error) {
  if (error.answer) return error;
  const lacking = /Unknown op '?(\w+)|Kernel '(\w+)' not registered/.exec(error.message);
  if (lacking) return new Unsupported("op", lacking[1] ?? lacking[2]);
  return new Failure(error.constructor === Error ? 3 : 13, error.message);
}

/** The engine: `load(model)` gives a program (tfjs_program.mjs), here or in a browser. */
export function engineOf(backend, version, details, load) {
  const operations = OPERATIONS[backend];
  const compile = async (part, shapes) => {
    checkDeclared(part, operations);
    try {
      const { run, dispose } = await load(modelOf(part, shapes));
      return Object.assign((values) => run(values).catch((error) => { throw meaning(error); }), { dispose });
    } catch (error) {
      throw meaning(error);
    }
  };
  return {
    describe: () => ({
      name: `tfjs-${backend}`, version, capabilities: [], devices: [DEVICE], details,
    }),
    open: (graph, config) => {
      const strange = Object.keys(config).find((field) => !HARMLESS.has(field));
      if (strange) throw new Unsupported("config", strange);
      return new CompiledSession(graph, { compile });
    },
  };
}
