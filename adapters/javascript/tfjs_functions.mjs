// The functions that a part of a graph calls, as tfjs takes them: a graph's library, constants as weights.

import { constantOf } from "./graph.mjs";
import { dtypeName } from "./tensors.mjs";

const called = (nodes) => nodes.flatMap(({ attr = {} }) => Object.values(attr).flatMap(({ func }) => func?.name ?? []));

/** The functions of a GraphDef that some nodes call, and those that these call. */
function calledFunctions(nodes, definition) {
  const known = new Map((definition.library?.function ?? []).map((made) => [made.signature.name, made]));
  const names = new Set(called(nodes));
  for (const name of names) { // a Set's loop meets what is added in it
    for (const other of called(known.get(name)?.nodeDef ?? [])) names.add(other);
  }
  return [...names].filter((name) => known.has(name)).map((name) => known.get(name));
}

/**
 * What some nodes call: `library` for the topology, `nodes` of the functions, and `constants`, pairs of
 * a weight's name and its tensor. tfjs looks up weights by name in all functions alike, so a constant is
 * called FUNCTION/NAME.
 */
export function functionsOf(nodes, definition) {
  const constants = [];
  const functions = calledFunctions(nodes, definition).map((made) => {
    const body = made.nodeDef ?? [];
    const own = new Set(body.filter(({ op }) => op === "Const").map(({ name }) => name));
    const renamed = (text) => (own.has(text.split(":")[0]) ? `${made.signature.name}/${text}` : text);
    const nodeDef = body.map((node) => {
      const { value, ...attr } = node.attr ?? {};
      if (node.op !== "Const") return { ...node, input: (node.input ?? []).map(renamed) };
      constants.push([renamed(node.name), constantOf({ ...node, dtypes: [dtypeName(attr.dtype?.type)] })]);
      return { ...node, name: renamed(node.name), attr };
    });
    const ret = Object.fromEntries(Object.entries(made.ret ?? {}).map(([name, text]) => [name, renamed(text)]));
    return { ...made, nodeDef, ret };
  });
  return { library: { function: functions }, nodes: functions.flatMap(({ nodeDef }) => nodeDef), constants };
}
