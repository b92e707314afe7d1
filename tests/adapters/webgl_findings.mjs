// Scripts of docs/findings/tfjs.md on the backend webgl, all in one page of a headless Chromium:
// node webgl_findings.mjs FOLDER START SCRIPT... prints a JSON list, for each script the lines that it prints.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { openPage } from "../../adapters/javascript/browser.mjs";
import { bundles } from "../../adapters/javascript/tfjs_bundles.mjs";

/** In the page: run a script, its `require` giving what START exports, or the packages that START asks for. */
async function lines(start, script) {
  const printed = [];
  const console = { log: (...words) => printed.push(words.join(" ")) };
  const packages = Object.assign(() => globalThis.tf, { resolve: () => "" });
  const module = { exports: {} };
  new Function("require", "module", "console", "process", start)(packages, module, console, { argv: ["", "", "webgl"] });
  let done;
  const on = (called) => (done = module.exports.on(called));
  new Function("require", "console", script)(() => ({ ...module.exports, on }), console);
  await done;
  return printed;
}

const [folder, ...paths] = process.argv.slice(2);
const [start, ...scripts] = paths.map((path) => JSON.stringify(readFileSync(path, "utf8")));
const page = await openPage();
if (!page) throw new Error("there is no Chromium");
for (const bundle of bundles(resolve(folder))) await page.evaluate(`${bundle}\n;0`);
await page.evaluate("tf.setWasmPaths = () => {}; 0"); // what START calls of another backend's package
const printed = [];
for (const script of scripts) printed.push(await page.evaluate(`(${lines})(${start}, ${script})`));
process.stdout.write(JSON.stringify(printed), () => process.exit(0));
