// What spec/ops/*.toml declares of each operation, and the attributes of nodes held against it.

import { readFileSync, readdirSync } from "node:fs";
import { Failure, dtypeName } from "./protocol.mjs";

const FOLDER = new URL("../../spec/ops/", import.meta.url);
const DTYPE = { float: "float32", double: "float64", half: "float16" }; // the others have one name
const FIELD = { int: "i", float: "f", bool: "b", string: "s" }; // of an AttrValue; the others are called as the kind

export const dtype = (name) => DTYPE[name] ?? name;

/** The items of a list of a table, such as `x: T`, each cut in two. */
function items(text, field) {
  const [, list] = new RegExp(`^${field} = \\[(.*?)\\]$`, "ms").exec(text) ?? [null, ""];
  return [...list.matchAll(/"([^"]*)"/g)].map(([, item]) => item.split(/: (.*)/s).slice(0, 2));
}

function attribute(text) {
  const [, list, type, least, fallback] = /^(list\()?(\w+|\{[^}]*\})\)?(?: >= (-?\d+))?(?: = (.*))?$/s.exec(text);
  const allowed = type.startsWith("{") ? type.slice(1, -1).split(", ") : null;
  const quoted = allowed?.[0].startsWith("'");
  const kind = allowed ? (quoted ? "string" : "type") : type;
  const field = FIELD[kind] ?? kind;
  const plain = { i: Number, f: Number, b: (word) => word === "true", s: (word) => word.slice(1, -1), type: dtype };
  const value = (word) => (plain[field] ?? (() => null))(word);
  const several = (words) => words.replace(/[[\]]/g, "").split(", ").filter(Boolean).map(value);
  const initial = fallback === undefined ? undefined : (list ? several : value)(fallback);
  return { list, field, allowed: allowed?.map(value), least, initial };
}

function declared(text) {
  const [name] = /^\w+/.exec(text);
  const [inputs, outputs] = [items(text, "inputs"), items(text, "outputs")];
  const attrs = items(text, "attrs").map(([attr, form]) => [attr, attribute(form)]);
  const [, shape] = /^shape = "(.*)"$/m.exec(text);
  const row = { inputs, outputs, attrs, shape, stateful: /^stateful = true$/m.test(text) };
  const older = /^older = "(.*)"$/m.exec(text)?.[1];
  const handles = (forms) => forms.map(([arg, form]) => [arg, form === "resource" ? "Ref(string)" : form]);
  return [[name, row], ...(older ? [[older, { ...row, inputs: handles(inputs), outputs: handles(outputs) }]] : [])];
}

/** Each operation type: {inputs, outputs, attrs, shape, stateful}, as its table says it. */
export const DECLARED = new Map(readdirSync(FOLDER).flatMap((file) =>
  readFileSync(new URL(file, FOLDER), "utf8").split(/^\[(?=\w+\]$)/m).slice(1).flatMap(declared)));

/** The dimensions of a TensorShapeProto, null for an unknown one; null for an unknown rank. */
export function dims(shape) {
  const known = ({ size: n = 0 }) => (Number(n) < 0 ? null : Number(n));
  return shape?.unknownRank ? null : (shape?.dim ?? []).map(known);
}
const READ = {
  i: (it) => (Number.isSafeInteger(Number(it)) ? Number(it) : BigInt(it)), f: Number, b: Boolean,
  s: (it) => Buffer.from(it, "base64").toString(), type: dtypeName, shape: dims,
};

/** The attributes of a node as its operation type declares them, with its defaults. */
export function attributes(node, declared) {
  const refuse = (name, why) => { throw new Failure(3, `${node.name}: attribute ${name} ${why}`, node.name); };
  const given = node.attr ?? {};
  const known = new Set(declared.map(([name]) => name));
  const strange = Object.keys(given).find((name) => !name.startsWith("_") && !known.has(name));
  if (strange) refuse(strange, "is none of its type");
  return Object.fromEntries(declared.map(([name, { list, field, allowed, least, initial }]) => {
    if (!(name in given)) return [name, initial === undefined ? refuse(name, "is missing") : initial];
    const raw = list ? given[name].list && (given[name].list[field] ?? []) : given[name][field];
    if (raw === undefined) refuse(name, "is of another kind");
    const value = list ? raw.map(READ[field] ?? ((it) => it)) : (READ[field] ?? ((it) => it))(raw);
    if (allowed && [value].flat().some((item) => !allowed.includes(item))) refuse(name, `may not be ${value}`);
    if (least !== undefined && (list ? value.length : value) < Number(least)) refuse(name, `is below ${least}`);
    return [name, value];
  }));
}
