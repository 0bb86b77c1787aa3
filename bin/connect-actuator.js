#!/usr/bin/env node
// JavaScript that any Node.js can read, so that an old one gets a sentence instead of a syntax error. The package has `dist`; a
// clone has `src`, which wins over a `dist` that may be out of date.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const source = new URL("../src/cli/main.ts", import.meta.url);
const isClone = existsSync(source);
const [major, minor] = process.versions.node.split(".").map(Number);

if (isClone ? process.features.typescript : major > 22 || (major === 22 && minor >= 12)) {
  module.enableCompileCache?.();
  await import(isClone ? source.href : "../dist/cli/main.js");
} else if (isClone) {
  runOnInstalledNode();
} else {
  fail(`needs Node.js 22.12 or later, not ${process.versions.node}`);
}

/** Runs the command again with the Node.js that `npm ci` installed in the clone. */
function runOnInstalledNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const node = fileURLToPath(new URL(`../node_modules/node/bin/${name}`, import.meta.url));
  if (!existsSync(node)) {
    fail(`needs a Node.js that runs TypeScript, not ${process.versions.node}: run npm ci, which installs one`);
    return;
  }
  const child = spawn(node, [fileURLToPath(source), ...process.argv.slice(2)], { stdio: "inherit" });
  // Ctrl-C reaches both processes; the exit code is the child's.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(message) {
  process.stderr.write(`connect-actuator: ${message}\n`);
  process.exitCode = 1;
}
