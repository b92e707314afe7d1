// The scripts of TensorFlow.js's packages for its backend webgl, as a page of a browser loads them.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const PACKAGES = ["core", "converter", "backend-webgl"];

/** The text of each, from a folder's node_modules; throws what `require.resolve` does. */
export function bundles(folder) {
  const require = createRequire(join(folder, "sessrun.js"));
  return PACKAGES.map((name) => {
    const main = require.resolve(`@tensorflow/tfjs-${name}`);
    return readFileSync(join(dirname(main), `tf-${name}.min.js`), "utf8");
  });
}
