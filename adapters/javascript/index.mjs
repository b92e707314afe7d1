// What an adapter in JavaScript needs of sessrun (docs/adapters.md, "An engine in JavaScript").

export { ClientLayer, CompiledSession } from "./client_layer.mjs";
export { Graph, constantOf } from "./graph.mjs";
export { serve } from "./protocol.mjs";
export { Failure, Unsupported, size } from "./tensors.mjs";
