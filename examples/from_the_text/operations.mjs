// The kernels: functions of an operation's inputs, its attributes, and {node, session, first}, which give a tensor
// or the list of the outputs. What they compute is what `definition` of spec/ops says.

import { ARRAYS } from "./arrays.mjs";
import { ELEMENTS } from "./elements.mjs";
import { refuse } from "./graph.mjs";
import { constantOf } from "./protocol.mjs";
import { RESOURCES } from "./resources.mjs";
import { one, scalar } from "./tensors.mjs";

/** A dead value (section 8). */
export const DEAD = Symbol("dead");

const pass = ([x]) => x;
const nothing = () => [];
const choose = ([x, predicate]) => (one(predicate) ? [DEAD, x] : [x, DEAD]);
const merge = (inputs, attrs, { first }) => [inputs[first], scalar("int32", first)];

export const OPERATIONS = {
  ...ELEMENTS, ...ARRAYS, ...RESOURCES,
  Const: (_, attrs, { node }) => constantOf({ ...node, dtypes: [attrs.dtype] }),
  Placeholder: (_, attrs, { node }) => refuse(`placeholder ${node.name} must be fed`),
  PlaceholderWithDefault: pass, Identity: pass, Snapshot: pass, StopGradient: pass, RefIdentity: pass,
  IdentityN: (all) => all, NoOp: nothing, ControlTrigger: nothing, LoopCond: pass,
  Enter: pass, Exit: pass, NextIteration: pass, RefEnter: pass, RefExit: pass, RefNextIteration: pass,
  Switch: choose, RefSwitch: choose, Merge: merge, RefMerge: merge,
  Assert: ([condition]) => (one(condition) ? [] : refuse("an assertion failed")),
};
