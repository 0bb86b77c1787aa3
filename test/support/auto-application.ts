import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LINES, type ProcessDescription } from "../../src/processes/description.ts";
import { socketName } from "../../src/processes/socket-name.ts";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What is preloaded. */
export const AUTO = join(root, "src/auto/index.ts");

/** An application on disk, in a folder with all packages of this one. */
export interface ApplicationFolder {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Writes the files of an application into a new folder, with a package.json that names it.
 *
 * @param packages packages that stand under another name here, such as `{ pino: "pino9" }`, or elsewhere; they are copied
 */
export function applicationFolder(
  files: Readonly<Record<string, string>>,
  packages: Readonly<Record<string, string>> = {},
): ApplicationFolder {
  const folder = mkdtempSync(join(tmpdir(), "auto-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const all = { "package.json": JSON.stringify({ name: "shop", version: "1.2.3" }), ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  linkPackages(folder, packages);
  const runtime = join(folder, ".run");
  mkdirSync(runtime, { mode: 0o700 });
  const { NODE_OPTIONS: _, ...env } = process.env;
  const own = Object.entries(env).filter(([name]) => !/^(ACTUATOR_|VITEST|NODE_ENV$|FORCE_COLOR$)/.test(name));
  const folders = { XDG_RUNTIME_DIR: runtime, CONNECT_ACTUATOR_RUNTIME_DIR: runtime };
  return { folder, env: { ...Object.fromEntries(own), ...folders } };
}

function linkPackages(folder: string, packages: Readonly<Record<string, string>>): void {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")];
  if (Object.keys(packages).length === 0) {
    symlinkSync(from, to);
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (Object.keys(packages).some((each) => each.startsWith(`${name}/`))) {
      mkdirSync(join(to, name));
      for (const each of readdirSync(join(from, name))) link(`${name}/${each}`);
    } else if (!name.startsWith(".")) link(name);
  }
  function link(name: string): void {
    if (!(name in packages)) symlinkSync(join(from, name), join(to, name));
  }
  for (const [name, other] of Object.entries(packages))
    cpSync(resolve(from, other), join(to, name), { recursive: true });
}

/** An application that runs. */
export interface RunningApplication {
  readonly child: ChildProcess;
  readonly socket: string;
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves to what the process says of itself, once it has its socket. */
  describe(): Promise<ProcessDescription>;
  /** Sends a line to the socket. */
  line(line: string): Promise<unknown>;
  /** GET below `/actuator`, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  get(path: string): Promise<any>;
  post(path: string, body: object): Promise<number | undefined>;
  /** Resolves when it has written this to its standard output. */
  said(text: string): Promise<void>;
  /** Resolves to the exit code. */
  exit(): Promise<number | null>;
}

/** How an application is run. */
export interface RunOptions {
  /** Whether it is preloaded. Default true. */
  readonly preload?: boolean;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Arguments of Node.js before the script. */
  readonly nodeArgs?: readonly string[];
  /** Another Node.js than this one. */
  readonly node?: string | undefined;
}

/** Runs a script of an application; it is killed at the end of the test. */
export function runApplication(
  { folder, env }: ApplicationFolder,
  script: string,
  { preload = true, args = [], nodeArgs = [], env: more = {}, node = process.execPath }: RunOptions = {},
): RunningApplication {
  const all = [...(preload ? ["--import", AUTO] : []), ...nodeArgs, join(folder, script), ...args];
  const child = spawn(node, all, { cwd: folder, env: { ...env, ...more }, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout!.on("data", (chunk) => (output.stdout += chunk));
  child.stderr!.on("data", (chunk) => (output.stderr += chunk));
  const closed = once(child, "close");
  const socket = join(env.XDG_RUNTIME_DIR!, "connect-actuator", socketName({ pid: child.pid!, thread: 0 }));
  const ready = () => until(() => existsSync(socket));
  const call = async (method: string, path: string, body?: object) => {
    await ready();
    const request = http.request({ socketPath: socket, path: `/actuator${path}`, method, agent: false });
    if (body !== undefined) request.setHeader("content-type", "application/json");
    request.end(body && JSON.stringify(body));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    return { status: response.statusCode, text };
  };
  const line = async (text: string) => {
    await ready();
    return JSON.parse(await answerOf(socket, text)) as unknown;
  };
  return {
    child,
    socket,
    line,
    output: () => output,
    describe: async () => (await line(LINES.describe)) as ProcessDescription,
    get: async (path) => JSON.parse((await call("GET", path)).text),
    post: async (path, body) => (await call("POST", path, body)).status,
    said: (text) => until(() => output.stdout.includes(text)),
    exit: async () => (await closed)[0] as number | null,
  };
}

async function answerOf(path: string, line: string): Promise<string> {
  const socket = net.connect(path);
  socket.end(`${line}\n`);
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += chunk;
  return text;
}
