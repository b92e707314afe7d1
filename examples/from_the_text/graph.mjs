// Section 1: the nodes of a GraphDef, each held against its declaration, and all of them against each other.

import { DECLARED, attributes, dims, dtype } from "./declarations.mjs";
import { Failure, dtypeName } from "./protocol.mjs";

const NAME = /^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/;
const PART = /^(?:(job|replica|task):([^:]+)|(?:device:([a-z]\w*|\*):|(cpu|gpu|tpu)(?::|$))(\d+|\*)?)$/i;

export const refuse = (message, code = 3, node = null) => { throw new Failure(code, message, node); };
/** Whether the edge to `node` closes a loop. */
export const closes = (source, node) => source.op.endsWith("NextIteration") && node.op.endsWith("Merge");

/** The tensors that `Ref(N * T)` stands for: their dtypes, and whether each is a reference. */
function expand([, form], attrs) {
  const [, ref, number, type] = /^(Ref\()?(?:(\w+) \* )?(\w+)\)?$/.exec(form);
  const dtypes = [type in attrs ? attrs[type] : dtype(type)].flat();
  const all = Array.from({ length: number ? attrs[number] : 1 }, () => dtypes).flat();
  return all.map((it) => ({ dtype: it, ref: Boolean(ref) }));
}

/** The operations that a node asks to be colocated with. */
const nearOf = (attr) => (attr?._class?.list?.s ?? []).map((it) => Buffer.from(it, "base64").toString())
  .filter((it) => it.startsWith("loc:@")).map((it) => it.slice(5));

/** A function's signature as a declaration: its name is an operation type, too. */
function ofFunction(definition) {
  if (!definition) return null;
  const { inputArg = [], outputArg = [] } = definition.signature;
  const [inputs, outputs] = [inputArg, outputArg].map((list) => list.map(({ name, type }) => [name, dtypeName(type)]));
  return { inputs, outputs, attrs: [], shape: "", stateful: true };
}

/** The parts of a device's name: {job, replica, task, type, index}, those that it has. */
export function deviceOf(text) {
  return Object.assign({}, ...text.split("/").filter(Boolean).map((part) => {
    const [, key, value, long, short, index] = PART.exec(part) ?? refuse(`${text} is no device`);
    return key ? { [key.toLowerCase()]: value } : { type: (long ?? short).toUpperCase(), index };
  }));
}

/** The output that an input names: `a` is output 0 of a, `a:1` its output 1. */
function endpoint(text) {
  const [, source, index = 0] = /^(.*?)(?::(\d+))?$/.exec(text);
  return { source, index: Number(index) };
}

/** A node as the engine keeps it; fails with INVALID_ARGUMENT, or NOT_FOUND for a type that nobody declares. */
export function nodeOf({ name = "", op, input = [], device = "", ...rest }, library) {
  const declared = DECLARED.get(op) ?? ofFunction(library.get(op));
  if (!declared) refuse(`no operation type is called ${op}`, 5, name);
  if (!NAME.test(name)) refuse(`${name} is no name of a node`);
  const attrs = attributes({ name, ...rest }, declared.attrs);
  const data = input.filter((text) => !text.startsWith("^"));
  if (data.some((text, i) => text !== input[i])) refuse("a control input before a data input", 3, name);
  const outputs = declared.outputs.map((form) => ({ name: form[0], tensors: expand(form, attrs) }));
  return {
    name, op, attrs, outputs, stateful: declared.stateful, rule: declared.shape,
    attr: rest.attr ?? {}, near: nearOf(rest.attr), asked: deviceOf(device),
    inputs: data.map(endpoint),
    controls: [...new Set(input.slice(data.length).map((text) => text.slice(1)))],
    takes: declared.inputs.flatMap((form) => expand(form, attrs)), gives: outputs.flatMap(({ tensors }) => tensors),
  };
}

/** What the graph says of the shape of a node's first output, for the rules that this engine knows. */
function staticShape(node, of) {
  if (node.rule === "tensor_attr(value)") return dims(node.attr.value?.tensor?.tensorShape);
  if (/^(shape_attr|default_shape)\(/.test(node.rule)) return node.attrs.shape;
  if (/^same\(\w+\)$/.test(node.rule)) return of(0);
  const [a, b] = [of(0), of(1)];
  if (!a || !b) return null;
  if (node.op === "MatMul") {
    if (a.length !== 2 || b.length !== 2) refuse("not a matrix", 3, node.name);
    const [[m, k], [inner, n]] = [node.attrs.transpose_a ? [a[1], a[0]] : a, node.attrs.transpose_b ? [b[1], b[0]] : b];
    return k === null || inner === null || k === inner ? [m, n] : refuse("matrices that do not multiply", 3, node.name);
  }
  if (!node.rule.startsWith("broadcast(")) return null;
  const rank = Math.max(a.length, b.length);
  const [m, n] = [a, b].map((shape) => [...Array(rank - shape.length).fill(1), ...shape]);
  return m.map((k, d) => {
    if (k === null || n[d] === null) return (k ?? n[d]) > 1 ? k ?? n[d] : null;
    if (k !== n[d] && k !== 1 && n[d] !== 1) refuse(`[${a}] and [${b}] do not broadcast`, 3, node.name);
    return k === 1 ? n[d] : k;
  });
}

/** The nodes of a graph, held against each other (section 1). */
export function checked(nodes) {
  const waits = new Map();
  const followers = new Map([...nodes.keys()].map((name) => [name, []]));
  for (const node of nodes.values()) {
    const fail = (why) => refuse(`${node.name}: ${why}`, 3, node.name);
    if (node.inputs.length !== node.takes.length) fail(`it takes ${node.takes.length} inputs`);
    node.inputs.forEach(({ source, index }, i) => {
      const output = nodes.get(source)?.gives[index] ?? fail(`there is no ${source}:${index}`);
      const { dtype: wanted, ref } = node.takes[i];
      if (output.dtype !== wanted || (ref && !output.ref)) fail(`input ${i} is of another dtype`);
    });
    const sources = [...node.inputs.map(({ source }) => source), ...node.controls];
    const there = (name) => nodes.get(name) ?? fail(`there is no ${name}`);
    for (const name of node.near) there(name);
    const before = sources.map(there).filter((source) => !closes(source, node));
    for (const source of before) followers.get(source.name).push(node);
    waits.set(node.name, before.length);
  }
  const order = [...nodes.values()].filter((node) => !waits.get(node.name));
  for (const node of order) {
    for (const { name } of followers.get(node.name)) {
      waits.set(name, waits.get(name) - 1);
      if (!waits.get(name)) order.push(nodes.get(name));
    }
    const [shapes, first] = [node.inputs.map(({ source }) => nodes.get(source).shape), (i) => node.inputs[i]?.index === 0];
    node.shape = staticShape(node, (i) => (first(i) ? shapes[i] : null));
  }
  if (order.length < nodes.size) refuse("the graph has a cycle");
  return nodes;
}
