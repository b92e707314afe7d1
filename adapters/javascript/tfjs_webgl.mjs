// TensorFlow.js's backend webgl in a headless Chromium, under our client: node tfjs_webgl.mjs [FOLDER [undeclared]]

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { openPage } from "./browser.mjs";
import { ClientLayer } from "./client_layer.mjs";
import { serve } from "./protocol.mjs";
import { DTYPES } from "./tensors.mjs";
import { bundles } from "./tfjs_bundles.mjs";
import { engineOf, hint, missing } from "./tfjs_engine.mjs";

/** The scripts of TensorFlow.js's packages; what is missing is said. */
function scripts(folder) {
  try {
    return bundles(folder);
  } catch (error) {
    throw missing(error, "webgl", folder);
  }
}

const moduleUrl = (name) => {
  const text = readFileSync(new URL(name, import.meta.url));
  return `data:text/javascript;base64,${text.toString("base64")}`;
};

/** A page with TensorFlow.js on webgl, and the calls of tfjs_page.mjs. */
async function pageWithTfjs(folder) {
  const sources = scripts(folder);
  const page = await openPage();
  if (!page) throw hint("tfjs-webgl needs Chromium: install it (apt-get install chromium), or have CHROMIUM name its program");
  for (const source of sources) await page.evaluate(`${source}\n;0`);
  const ready = await page.evaluate(`(async () => {
    const [{ pageOf }, { programOf }] = await Promise.all([
      import("${moduleUrl("tfjs_page.mjs")}"), import("${moduleUrl("tfjs_program.mjs")}")]);
    globalThis.page = pageOf(tf, tf.GraphModel, programOf);
    return await tf.setBackend("webgl") && tf.getBackend() === "webgl" ? tf.version_core : "";
  })()`);
  if (!ready) throw hint(`TensorFlow.js's backend webgl does not start in ${page.version}`);
  const call = async (name, ...given) => {
    const { value, error } = await page.evaluate(`page.${name}(${given.map((part) => JSON.stringify(part)).join(", ")})`);
    if (error) throw error.name === "Error" ? new Error(error.message) : new TypeError(error.message);
    return value;
  };
  return { version: ready, browser: page.version, call };
}

const base64 = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

function encoded({ dtype, shape, data }) {
  const text = dtype === "string" ? data.map((item) => Buffer.from(item).toString("base64")) : base64(data);
  return { dtype, shape, data: text };
}

function decoded({ dtype, shape, data }) {
  if (dtype === "string") return { dtype, shape, data: data.map((item) => Buffer.from(item, "base64")) };
  return { dtype, shape, data: new DTYPES[dtype].array(new Uint8Array(Buffer.from(data, "base64")).buffer) };
}

serve(async () => {
  const [folder = ".", measured] = process.argv.slice(2);
  const { version, browser, call } = await pageWithTfjs(resolve(folder));
  let programs = 0;
  const load = async (model) => {
    const number = ++programs;
    await call("load", number, { ...model, weightData: Buffer.from(model.weightData).toString("base64") });
    return {
      run: async (values) => (await call("run", number, values.map(encoded))).map(decoded),
      dispose: () => call("dispose", number).catch(() => {}),
    };
  };
  return new ClientLayer(engineOf("webgl", version, { node: process.version, browser }, load, measured));
});
