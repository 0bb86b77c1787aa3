// @module-tag slow
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ApplicationFolder, AUTO, applicationFolder } from "../support/auto-application.ts";
import { until } from "../support/until.ts";

/** Programs that have nothing to manage. */
const FILES = {
  "empty.mjs": "",
  "hello.mjs": `console.log("hello"); console.error("there"); process.exitCode = 3;`,
  "hello.cjs": `console.log("hello", require.main === module, module.children.length, __filename);`,
  "hello.ts": `const name: string = "hello"; console.log(name); export {};`,
  "exit.cjs": `process.on("exit", (code) => console.log("exit", code)); process.exit(4);`,
  "keys.cjs": `console.log(Object.keys(globalThis), process.listenerCount("exit"), process.eventNames(), process.execArgv.length);`,
  "throw.cjs": `function f() { throw new Error("boom"); }\nf();`,
  "throw.mjs": `function f() { throw new Error("boom"); }\nf();`,
  "import-throw.mjs": `import "./throw.cjs";`,
  "require-throw.cjs": `require("./require-throw-esm.cjs");`,
  "require-throw-esm.cjs": `require("./throw.mjs");`,
  "reject.mjs": `Promise.reject(new TypeError("no"));`,
  "missing.cjs": `require("./nowhere.js");`,
  "missing.mjs": `import "no-such-package";`,
  "syntax.cjs": `const x = ;`,
  "names.mjs": `import { nothing } from "./hello.cjs";`,
  "json.mjs": `import data from "./package.json" with { type: "json" }; console.log(data);`,
  "wait.cjs": `console.log("ready"); setInterval(() => {}, 1000);`,
  "handled.cjs": `process.once("SIGTERM", () => { console.log("bye"); process.exit(5); }); console.log("ready"); setInterval(() => {}, 1000);`,
  "unit.test.mjs": `import test from "node:test"; test("one", () => {}); test("two", () => { throw new Error("two"); });`,
  "vitest.test.mjs": `import { test } from "vitest"; test("one", () => {});`,
  "fork.cjs": `const c = require("child_process").fork(__dirname + "/hello.cjs"); c.on("exit", (code) => console.log("child", code));`,
  "thread.cjs": `const { Worker, isMainThread } = require("worker_threads");
    if (isMainThread) new Worker(__filename).on("message", (text) => console.log(text)).on("exit", (code) => console.log("thread", code));
    else require("worker_threads").parentPort.postMessage("hi");`,
  "cluster.cjs": `const cluster = require("cluster");
    if (cluster.isPrimary) cluster.fork().on("exit", (code) => console.log("worker", code));
    else { console.log("works"); process.exit(6); }`,
  "chdir.cjs": `process.chdir("/"); console.log(process.cwd(), require("./package.json").name);`,
  "patched.cjs": `const Module = require("module"); const { _compile } = Module.prototype;
    Module.prototype._compile = function (...args) { console.log("compiles", require("path").basename(args[1])); return _compile.apply(this, args); };
    require("./hello.cjs");`,
  "pirate.cjs": `const Module = require("module"); const load = Module._extensions[".cjs"] ?? Module._extensions[".js"];
    Module._extensions[".cjs"] = (module, path) => {
      const { _compile } = module;
      module._compile = function (code, file) { module._compile = _compile; module._compile(code + ";console.log('more')", file); };
      load(module, path);
    };
    require("./hello.cjs");`,
};

const node = (...args: string[]): Program => ({ command: process.execPath, args });
const bin = (name: string, ...args: string[]): Program => node(join("node_modules", ".bin", name), ...args);

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
  /** Sent when it has said "ready". */
  readonly signal?: NodeJS.Signals;
}

const scripts = Object.keys(FILES).filter((file) => !/empty|wait|handled|test\.mjs/.test(file));
const programs: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(scripts.map((script) => [script, node(script)])),
  "-e": node("-e", "console.log(__filename); throw new Error('e')"),
  "-e of an ES module": node("--input-type=module", "-e", "console.log(import.meta.url); throw new Error('e')"),
  "-p": node("-p", "[1, module.paths.length]"),
  "--check": node("--check", "syntax.cjs"),
  "standard input": { ...node("-"), input: "console.log(__filename); throw new Error('stdin')" },
  REPL: { ...node("-i"), input: "1 + 1\nrequire('pino').pino.name\nawait import('pino')\n.exit\n" },
  "--test": node("--test", "--test-reporter=dot", "unit.test.mjs"),
  "--frozen-intrinsics": node("--frozen-intrinsics", "--no-warnings", "hello.cjs"),
  "--permission": node("--permission", "--allow-fs-read=*", "hello.cjs"),
  "--import tsx": node("--import", "tsx", "hello.ts"),
  "--experimental-loader": node("--no-warnings", "--experimental-loader", "./empty.mjs", "hello.mjs"),
  tsx: bin("tsx", "hello.ts"),
  SIGTERM: { ...node("wait.cjs"), signal: "SIGTERM" },
  SIGINT: { ...node("wait.cjs"), signal: "SIGINT" },
  "SIGTERM with a listener": { ...node("handled.cjs"), signal: "SIGTERM" },
  "npm --version": { command: "npm", args: ["--version"] },
  "npm run": { command: "npm", args: ["run", "none"] },
  npx: { command: "npx", args: ["--no-install", "tsx", "hello.ts"] },
  "vitest run": bin("vitest", "run", "--reporter=tap", "vitest.test.mjs"),
};

/** What a program did, without what differs at each run. */
async function ran(
  { folder, env }: ApplicationFolder,
  { command, args, input, signal }: Program,
  options: string,
): Promise<object> {
  const child = spawn(command, args, { cwd: folder, env: { ...env, NODE_OPTIONS: options }, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += chunk));
  child.stderr.on("data", (chunk) => (output.stderr += chunk));
  const closed = once(child, "close");
  child.stdin.end(input);
  if (signal !== undefined) {
    await until(() => output.stdout.includes("ready"));
    child.kill(signal);
  }
  const [code, endedBy] = await closed;
  const same = (text: string) =>
    text.replace(/\(node:\d+\)|[\d.]+ ?ms\b|\S+debug-0\.log/g, "…").replaceAll(options, "");
  return { code, endedBy, stdout: same(output.stdout), stderr: same(output.stderr) };
}

test.each(Object.entries(programs))("%s is as without the preload", async (_, program) => {
  const folder = applicationFolder(FILES);
  // Of ES modules, since a load hook makes Node.js load the first one by other functions.
  const preloads = [AUTO, join(folder.folder, "empty.mjs")];
  const [preloaded, without] = await Promise.all(preloads.map((file) => ran(folder, program, `--import ${file}`)));
  expect(preloaded).toEqual(without);
  expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
});
