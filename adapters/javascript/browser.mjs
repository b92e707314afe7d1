// A page of a headless Chromium, driven by the DevTools protocol over two pipes: no port, no network.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
// WebGL computed on the CPU: no GPU is asked for, and none is there on most machines.
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader", "--no-first-run", "--disable-extensions", "--remote-debugging-pipe"];

/** The process of the first browser that starts; null if none does. */
async function started(folder) {
  for (const name of process.env.CHROMIUM ? [process.env.CHROMIUM] : NAMES) {
    const child = spawn(name, [...FLAGS, `--user-data-dir=${folder}`, "about:blank"],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const starts = await new Promise((resolve) => {
      child.once("spawn", () => resolve(true));
      child.once("error", () => resolve(false));
    });
    if (starts) return child;
  }
  return null;
}

/** A page; null if there is no browser (the environment variable CHROMIUM may name its program). */
export async function openPage() {
  const folder = mkdtempSync(join(process.env.SESSRUN_FILES ?? tmpdir(), "browser-"));
  const child = await started(folder);
  if (!child) return null;
  process.on("exit", () => {
    child.kill("SIGKILL");
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    } catch {
      // Chromium's own processes write a moment longer; what is left is in a temporary folder.
    }
  });
  const [, , , requests, answers] = child.stdio;
  const waiting = new Map();
  let [number, rest, session] = [0, Buffer.alloc(0), undefined];
  const fail = () => {
    for (const { reject } of waiting.values()) reject(new Error("the browser has ended"));
    waiting.clear();
  };
  child.once("exit", fail);
  answers.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const { id, result, error } = JSON.parse(rest.subarray(0, end).toString("utf8"));
      rest = rest.subarray(end + 1);
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  });
  const ask = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    requests.write(JSON.stringify({ id: number, method, params, sessionId: session }) + "\0");
  });
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  return {
    version: (await ask("Browser.getVersion", {})).product,
    /** The value of an expression, or of the promise that it gives. */
    async evaluate(expression) {
      const asked = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails: thrown } = await ask("Runtime.evaluate", asked);
      if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
      return result.value;
    },
  };
}
