// An engine of TensorFlow.js under our client: what it declares, and parts of graphs as its models.

import { readFileSync } from "node:fs";

import { CompiledSession } from "./client_layer.mjs";
import { constantOf } from "./graph.mjs";
import { functionsOf } from "./tfjs_functions.mjs";
import { DTYPES, Failure, Unsupported, dtypeName } from "./tensors.mjs";

const VERSION = "4.22"; // of its packages: what was measured
const DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";
// What a configuration may say without changing what a run must give.
const HARMLESS = new Set(["allowSoftPlacement", "graphOptions", "interOpParallelismThreads",
  "intraOpParallelismThreads", "logDevicePlacement"]);
// By backend: operation to the dtypes that it computes it in; measured, see docs/adapters.md.
const OPERATIONS = JSON.parse(readFileSync(new URL("tfjs_operations.json", import.meta.url), "utf8"));

const DTYPES_HERE = new Set(["float32", "int32", "bool", "string", "complex64"]);
const FREE = new Set(["Const", "Identity", "NoOp", "Placeholder"]); // not declared: every engine has them
// Attributes that give the dtypes of values; others give those of indices, sizes and permutations.
const VALUE_TYPES = ["T", "U", "SrcT", "DstT", "Tcond", "Tin", "Tout", "Tparams", "dtype"];

/** An error that says what to do: whoever starts a backend reads it. */
export const hint = (text) => Object.assign(new Error(text), { hint: text });

/** What to say where a package could not be loaded. */
export function missing(error, backend, folder) {
  if (!/MODULE_NOT_FOUND|ENOENT/.test(error.code)) return error;
  const install = ["core", "converter", `backend-${backend}`].map((name) => `@tensorflow/tfjs-${name}@${VERSION}`);
  return hint(`there is no TensorFlow.js in ${folder}: run "npm install ${install.join(" ")}" there, or name ` +
    `the folder where you have: tfjs-${backend}#FOLDER (${error.message.split("\n")[0]})`);
}

/** Refuse what is not declared (all is, if no `operations` are given): tfjs takes an int64 for an int32. */
function checkDeclared(part, functions, operations) {
  const constants = functions.constants.map(([, tensor]) => tensor.dtype);
  const strange = [...part.dtypes.values(), ...constants].find((dtype) => !DTYPES_HERE.has(dtype));
  if (strange) throw new Unsupported("dtype", strange);
  for (const { op, attr = {} } of [...part.nodes, ...functions.nodes]) {
    if (FREE.has(op)) continue;
    if (operations && !Object.hasOwn(operations, op)) throw new Unsupported("op", op);
    const types = VALUE_TYPES.flatMap((name) => attr[name]?.type ?? attr[name]?.list?.type ?? []);
    const here = operations ? new Set(operations[op]) : DTYPES_HERE;
    const other = types.map(dtypeName).find((dtype) => !here.has(dtype));
    if (other) throw new Unsupported("dtype", other);
  }
}

/** The bytes of a constant as tfjs reads weights: strings behind their lengths, four bytes each. */
function weightBytes({ dtype, data }) {
  if (dtype !== "string") return [Buffer.from(data.buffer, data.byteOffset, data.byteLength)];
  return data.flatMap((item) => [Buffer.from(Uint32Array.of(item.length).buffer), item]);
}

/**
 * A part as a model of its own: `feed_N` its placeholders, `part/NAME` its nodes, constants its weights.
 *
 * tfjs runs the control inputs of a node, but never those of a constant, nor what nothing fetches: what
 * runs for its effect is fetched too (`ends`), unless there is control flow, where it may be dead.
 */
function modelOf(part, shapes, functions) {
  const names = new Map(part.feeds.map((tensor, number) => [tensor, `feed_${number}`]));
  const named = (tensor) => names.get(tensor) ?? `part/${tensor}`;
  const placeholders = part.feeds.map((tensor, number) => ({
    name: `feed_${number}`, op: "Placeholder", input: [],
    attr: {
      dtype: { type: DTYPES[part.dtypes.get(tensor)].label },
      shape: { shape: { dim: shapes[number].map((n) => ({ size: String(n) })) } },
    },
  }));
  const here = new Map(part.nodes.map((node) => [node.name, node]));
  const nodes = part.nodes.map(({ name, op, attr, inputs, controls }) => {
    const { value, _class, ...rest } = attr; // a Const's value is a weight; _class names what is not here
    const waits = controls.filter((source) => here.has(source)).map((source) => `^part/${source}`);
    return { name: `part/${name}`, op, input: [...inputs.map(named), ...waits], attr: op === "Const" ? rest : attr };
  });
  const constants = part.nodes.filter((node) => node.op === "Const")
    .map((node) => [`part/${node.name}`, constantOf(node)]).concat(functions.constants);
  const bytes = Buffer.concat(constants.flatMap(([, tensor]) => weightBytes(tensor)));
  const flows = part.nodes.some((node) => node.op === "Merge");
  const ends = flows ? [] : [...part.effects].filter((name) => here.get(name).op !== "Const");
  return {
    topology: { node: [...placeholders, ...nodes], library: functions.library, versions: { producer: 1882 } },
    weightSpecs: constants.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    weightData: new Uint8Array(bytes).buffer,
    feeds: [...names.values()],
    fetches: part.fetches.map(named),
    ends: ends.map((name) => `part/${name}`),
  };
}

/** What an error of tfjs means: an operation that it lacks, a refusal, or a mistake of its own. */
function meaning(error) {
  if (/(divide|remainder) by zero/.test(error.message)) return new Failure(3, error.message);
  if (error.answer || error instanceof WebAssembly.RuntimeError) return error; // a trap: its memory is spoilt
  const lacking = /Unknown op '?(\w+)|Kernel '(\w+)' not registered/.exec(error.message);
  if (lacking) return new Unsupported("op", lacking[1] ?? lacking[2]);
  return new Failure(error.constructor === Error ? 3 : 13, error.message);
}

/**
 * The engine: `load(model)` gives a program (tfjs_program.mjs), here or in a browser. Whoever measures what it
 * computes has `measured` "undeclared": it then declares no operations, and declines none.
 */
export function engineOf(backend, version, details, load, measured) {
  const operations = measured === "undeclared" ? undefined : OPERATIONS[backend];
  const compile = async (part, shapes) => {
    const functions = functionsOf(part.nodes, part.source);
    checkDeclared(part, functions, operations);
    try {
      const { run, dispose } = await load(modelOf(part, shapes, functions));
      return Object.assign((values) => run(values).catch((error) => { throw meaning(error); }), { dispose });
    } catch (error) {
      throw meaning(error);
    }
  };
  return {
    describe: () => ({
      name: `tfjs-${backend}`, version, capabilities: ["control_inputs", "fed_structure"], devices: [DEVICE], details, operations,
    }),
    open: (graph, config) => {
      const strange = Object.keys(config).find((field) => !HARMLESS.has(field));
      if (strange) throw new Unsupported("config", strange);
      return new CompiledSession(graph, { compile });
    },
  };
}
