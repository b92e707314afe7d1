// Sections 5, 6 and 8: a run executes. What has arrived at an operation is kept for each iteration of each frame.

import { kernel } from "./functions.mjs";
import { closes, refuse } from "./graph.mjs";
import { DEAD } from "./operations.mjs";
import { read } from "./resources.mjs";

const PLACEHOLDERS = new Set(["Placeholder", "PlaceholderV2"]);
const ALIASES = new Set(["Identity", "Enter"]); // of a reference variable they give the variable itself (section 5)

/** The needed operations (section 4, Prune). */
export function prune(nodes, roots, fed) {
  const needed = new Set(roots);
  for (const node of needed) {
    for (const { source, index } of node.inputs) if (!fed.has(`${source}:${index}`)) needed.add(nodes.get(source));
    const waived = (control) => PLACEHOLDERS.has(control.op) && fed.has(`${control.name}:0`);
    for (const control of node.controls.map((name) => nodes.get(name))) if (!waived(control)) needed.add(control);
  }
  return needed;
}

export class Execution {
  agenda = [];
  frames = [];
  results = new Map();

  constructor(session, nodes, needed, fed) {
    Object.assign(this, { session, nodes, needed, fed });
    this.root = { slots: new Map(), children: new Map(), frame: null, number: 0 };
    this.consumers = new Map([...needed].map((node) => [node.name, []]));
    for (const node of needed) {
      node.inputs.forEach(({ source, index }, slot) => {
        if (!fed.has(`${source}:${index}`)) this.consumers.get(source).push({ node, slot, index });
      });
      for (const name of this.controls(node)) this.consumers.get(name).push({ node, slot: -1 });
    }
  }

  controls(node) {
    return node.controls.filter((name) => this.needed.has(this.nodes.get(name)));
  }

  values(wanted) {
    const started = new Set();
    for (const node of this.needed) this.ready(this.root, node);
    do {
      for (const [where, node] of this.agenda) started.add(node) && this.execute(where, node);
      this.agenda = [];
    } while (this.leave());
    const lost = wanted.find(({ node, name }) => !this.fed.has(name) && !started.has(node));
    if (lost) refuse("its inputs are of different frames", 3, lost.node.name);
    return this.results;
  }

  state(where, node) {
    if (!where.slots.has(node)) {
      const values = node.inputs.map(({ source, index }) => this.fed.get(`${source}:${index}`));
      const sources = node.inputs.filter((_, i) => !values[i]).map(({ source }) => this.nodes.get(source));
      const back = (source) => closes(source, node);
      const data = sources.some(back) ? sources.filter((source) => back(source) === where.number > 0) : sources;
      where.slots.set(node, { values, left: data.length, controls: this.controls(node).length, dead: false, done: false,
        first: node.op.endsWith("Merge") ? values.findIndex(Boolean) : -1 });
    }
    return where.slots.get(node);
  }

  arrive(where, { node, slot }, value) {
    const state = this.state(where, node);
    const merge = node.op.endsWith("Merge");
    if (slot < 0) state.controls--;
    else [state.values[slot], state.left] = [value, state.left - 1];
    if (merge && value !== DEAD && slot >= 0 && state.first < 0) state.first = slot;
    if (value === DEAD && !merge && node.op !== "ControlTrigger") state.dead = true;
    this.ready(where, node);
  }

  ready(where, node) {
    const state = this.state(where, node);
    if (state.done || state.controls || (state.left && state.first < 0)) return;
    state.done = true;
    this.agenda.push([where, node]);
  }

  execute(where, node) {
    const state = where.slots.get(node);
    const dead = state.dead || (node.op.endsWith("Merge") && state.first < 0);
    const outputs = dead ? node.gives.map(() => DEAD) : this.compute(node, state);
    const target = this.target(where, node, dead, outputs);
    if (target) this.give(target, node, dead, outputs);
  }

  compute(node, state) {
    try {
      const inputs = state.values.map((value, i) => {
        if (!value || value === DEAD || value.dtype || node.takes[i].ref) return value;
        const held = read(value.cell);
        return ALIASES.has(node.op) ? value : held;
      });
      const call = { node, session: this.session, first: state.first };
      return [kernel(node.op, this.session)(inputs, node.attrs, call)].flat();
    } catch (error) {
      if (error.answer?.outcome === "failure") error.answer.node ??= node.name;
      throw error;
    }
  }

  give(where, node, dead, outputs) {
    if (where === this.root) outputs.forEach((value, i) => this.results.set(`${node.name}:${i}`, value));
    const signal = dead ? DEAD : null;
    for (const edge of this.consumers.get(node.name)) {
      this.arrive(where, edge, edge.slot < 0 ? signal : outputs[edge.index]);
    }
  }

  /** Where the outputs of a node arrive: in its own iteration, in another one, in a frame within, or around. */
  target(where, node, dead, outputs) {
    if (node.op.endsWith("Enter")) {
      const name = node.attrs.frame_name;
      if (!where.children.has(name)) where.children.set(name, this.enter(where));
      const frame = where.children.get(name);
      if (!node.attrs.is_constant) return frame.iterations[0];
      frame.constants.push([node, dead, outputs]);
      for (const iteration of [...frame.iterations]) this.give(iteration, node, dead, outputs);
      return null;
    }
    if (node.op.endsWith("Exit")) {
      const { frame } = where;
      if (dead) frame.deadExits.set(node, outputs);
      else frame.exited.add(node);
      return dead ? null : frame.parent;
    }
    if (!node.op.endsWith("NextIteration")) return where;
    return dead ? null : this.iteration(where.frame, where.number + 1);
  }

  enter(parent) {
    const frame = { parent, iterations: [], constants: [], deadExits: new Map(), exited: new Set() };
    this.frames.push(frame);
    this.iteration(frame, 0);
    return frame;
  }

  iteration(frame, number) {
    if (!frame.iterations[number]) {
      frame.iterations[number] = { slots: new Map(), children: new Map(), frame, number };
      for (const [node, dead, outputs] of frame.constants) this.give(frame.iterations[number], node, dead, outputs);
    }
    return frame.iterations[number];
  }

  /** Once nothing is under way: the dead values of the innermost frame that no iteration had a live one for. */
  leave() {
    for (const frame of [...this.frames].reverse()) {
      for (const [node, outputs] of frame.deadExits) {
        if (frame.exited.has(node)) continue;
        frame.exited.add(node);
        this.give(frame.parent, node, true, outputs);
      }
      if (this.agenda.length) return true;
    }
    return false;
  }
}
