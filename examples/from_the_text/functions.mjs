// Section 8, its last paragraph: a call executes the operations of a function's body in place of the call.

import { Execution, prune } from "./execution.mjs";
import { checked, nodeOf, refuse } from "./graph.mjs";
import { OPERATIONS } from "./operations.mjs";
import { Unsupported, size } from "./protocol.mjs";

/** An input of a body's node as a GraphDef has it: `a:0` for `a:output:0`, the outputs counted over all their names. */
function flat(text, nodes) {
  const [, name, output, index] = /^([^:^]+):([^:]+):(\d+)$/.exec(text) ?? [];
  if (!nodes.has(name)) return text;
  const { outputs } = nodes.get(name);
  const before = outputs.slice(0, outputs.findIndex(({ name: known }) => known === output));
  return `${name}:${before.reduce((sum, { tensors }) => sum + tensors.length, 0) + Number(index)}`;
}

/** The body of a function: its nodes, where the arguments are placeholders that a call feeds. */
function body({ signature, nodeDef = [], ret = {}, controlRet = {} }, library) {
  const inputs = signature.inputArg ?? [];
  const nodes = new Map(nodeDef.map((node) => [node.name, nodeOf({ ...node, input: [] }, library)]));
  const all = [...inputs.map(({ name, type }) => ({ name, op: "Placeholder", attr: { dtype: { type } } })),
    ...nodeDef.map((node) => ({ ...node, input: (node.input ?? []).map((text) => flat(text, nodes)) }))];
  const graph = checked(new Map(all.map((node) => [node.name, nodeOf(node, library)])));
  const tensor = (text) => (text.includes(":") ? text : `${text}:0`);
  const results = (signature.outputArg ?? []).map(({ name }) => tensor(flat(ret[name], nodes)));
  const effects = [...nodes.values()].filter(({ stateful }) => stateful).map(({ name }) => name);
  const roots = [...effects, ...Object.values(controlRet)].map((name) => graph.get(name));
  return { inputs, nodes: graph, results, roots };
}

/** What the function of this name gives for these arguments. */
export function call(session, name, values) {
  const known = session.library.get(name) ?? refuse(`there is no function ${name}`, 5);
  known.body ??= body(known, session.library);
  const { inputs, nodes, results, roots } = known.body;
  const fed = new Map(inputs.map((input, i) => [`${input.name}:0`, values[i]]));
  const computable = results.filter((tensor) => !fed.has(tensor));
  const wanted = computable.map((tensor) => ({ name: tensor, node: nodes.get(tensor.split(":")[0]) }));
  const needed = prune(nodes, [...roots, ...wanted.map(({ node }) => node)], fed);
  const computed = new Execution(session, nodes, needed, fed).values(wanted);
  return results.map((tensor) => fed.get(tensor) ?? computed.get(tensor));
}

const truth = ({ dtype, shape, data }) => {
  if (shape.length) return size(shape) > 0;
  return dtype === "string" ? data[0].length > 0 : data[0] != 0;
};
const branch = ([condition, ...inputs], { then_branch: yes, else_branch: no }, { session }) =>
  call(session, (truth(condition) ? yes : no).name, inputs);
const choice = ([index, ...inputs], { branches }, { session }) =>
  call(session, (branches[index.data[0]] ?? branches.at(-1)).name, inputs);
const direct = (inputs, { f }, { session }) => call(session, f.name, inputs);
function loop(inputs, { cond, body: step }, { session }) {
  let values = inputs;
  while (truth(call(session, cond.name, values)[0])) values = call(session, step.name, values);
  return values;
}

/** The kernel of an operation type, of which a function's name is one; declines a type that there is none for. */
export function kernel(op, session) {
  if (Object.hasOwn(OPERATIONS, op)) return OPERATIONS[op];
  if (!session.library.has(op)) throw new Unsupported("op", op);
  return (inputs) => call(session, op, inputs);
}

Object.assign(OPERATIONS, {
  If: branch, StatelessIf: branch, Case: choice, StatelessCase: choice, While: loop, StatelessWhile: loop,
  PartitionedCall: direct, StatefulPartitionedCall: direct,
});
