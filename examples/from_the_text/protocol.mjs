// What is not asked here: framing, and the bytes of tensors and constants. It is sessrun's own layer for Node.

export { serve } from "../../adapters/javascript/protocol.mjs";
export { DTYPES, Failure, Unsupported, dtypeName, size } from "../../adapters/javascript/tensors.mjs";
export { constantOf } from "../../adapters/javascript/graph.mjs";
