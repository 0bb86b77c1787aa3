/** The sample from start to first answer, and its resident memory, beside a Node.js process that only answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const empty = `require("node:http").createServer((_, response) => response.end()).listen(process.argv[1], "127.0.0.1")`;
const root = join(import.meta.dirname, "..");
/** What `npm start` runs, without npm's own time. */
const [, ...npmStart] = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts.start.split(" ");
const sampleArgs = (port: number) => [...npmStart, "--port", String(port), "--shop-port", "0"];
/** The sample keeps compiled modules from one start to the next; "first" is a start without any. */
const programs = {
  sample: { args: sampleArgs, path: "/actuator/loggers", env: {} },
  first: { args: sampleArgs, path: "/actuator/loggers", env: { NODE_DISABLE_COMPILE_CACHE: "1" } },
  empty: { args: (port: number) => ["-e", empty, String(port)], path: "/", env: {} },
} as const;
type Program = keyof typeof programs;
const rounds = 9;
/** Long enough for the sample's own traffic to have reached every part of it. */
const settleSeconds = 5;

interface Started {
  readonly milliseconds: number;
  readonly megabytesAtFirst: number;
  readonly megabytesSettled: number;
}

async function start(program: Program, settle: boolean): Promise<Started> {
  const port = await freePort();
  const { args, path, env } = programs[program];
  const begin = performance.now();
  const child = spawn(process.execPath, args(port), { cwd: root, stdio: "ignore", env: { ...process.env, ...env } });
  try {
    while (!(await answers(port, path))) {
      if (child.exitCode !== null) throw new Error(`the ${program} process ended with ${child.exitCode}`);
      await delay(1);
    }
    const milliseconds = performance.now() - begin;
    const megabytesAtFirst = residentMegabytes(child);
    if (settle) await delay(settleSeconds * 1000);
    return { milliseconds, megabytesAtFirst, megabytesSettled: residentMegabytes(child) };
  } finally {
    // In good order, since Node.js writes the compiled modules down at the end.
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
  }
}

function answers(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, path, host: "127.0.0.1", agent: false }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode === 200));
    });
    request.once("error", () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function residentMegabytes({ pid }: ChildProcess): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1];
  return (Number(kilobytes) * 1024) / 1e6;
}

const results: Record<Program, Started[]> = { sample: [], first: [], empty: [] };
// Fills the cache of compiled modules.
await start("sample", true);
for (let round = 0; round < rounds; round++) {
  for (const program of Object.keys(programs) as Program[]) {
    results[program].push(await start(program, round === rounds - 1));
  }
}

function row(name: string, program: Program, of: (started: Started) => number, unit: string, reach: number): string[] {
  const ours = median(results[program].map(of));
  const beside = median(results.empty.map(of));
  const target = `<= ${reach}${ours > reach ? " short" : ""}`;
  return [name, `${ours.toFixed(0)} ${unit}`, `${beside.toFixed(0)} ${unit}`, (ours / beside).toFixed(2), target];
}

console.log(environment("pino", "express"));
console.log();
printTable(
  ["", "sample", "empty", "ratio", "reach"],
  [
    row("start to first answer", "sample", ({ milliseconds }) => milliseconds, "ms", 250),
    row("the very first start", "first", ({ milliseconds }) => milliseconds, "ms", 300),
    row("resident at first answer", "sample", ({ megabytesAtFirst }) => megabytesAtFirst, "MB", 80),
    row("the very first start", "first", ({ megabytesAtFirst }) => megabytesAtFirst, "MB", 90),
  ],
);
const settled = (program: Program) => `${results[program].at(-1)!.megabytesSettled.toFixed(0)} MB`;
console.log(`resident after ${settleSeconds} s: sample ${settled("sample")}, empty ${settled("empty")}`);
