// TensorFlow.js in Node, under our client: node tfjs.mjs BACKEND [FOLDER [undeclared]]

import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

import { ClientLayer } from "./client_layer.mjs";
import { serve } from "./protocol.mjs";
import { engineOf, hint, missing } from "./tfjs_engine.mjs";
import { programOf } from "./tfjs_program.mjs";

/** TensorFlow.js's core, its converter, and a backend of it, from a folder's node_modules. */
async function packages(backend, folder) {
  const require = createRequire(join(folder, "sessrun.js"));
  const names = ["core", "converter", `backend-${backend}`].map((name) => `@tensorflow/tfjs-${name}`);
  try {
    const [core, converter, kernels] = names.map((name) => require(name));
    if (backend === "wasm") kernels.setWasmPaths(dirname(require.resolve(names[2])) + "/");
    if (!(await core.setBackend(backend))) throw hint(`TensorFlow.js's backend ${backend} does not start here`);
    return { core, converter };
  } catch (error) {
    throw missing(error, backend, folder);
  }
}

const [backend, folder = ".", measured] = process.argv.slice(2);
serve(async () => {
  const { core, converter } = await packages(backend, resolve(folder));
  const load = (model) => programOf(core, converter.GraphModel, model);
  return new ClientLayer(engineOf(backend, core.version_core, { node: process.version }, load, measured));
});
