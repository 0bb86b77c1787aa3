/** What `--import connect-actuator/auto` costs a short script and an Express application with pino and express-session. Wants `npm run build`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const root = join(import.meta.dirname, "..");
const rounds = Number(process.argv[2] ?? 15);

/** Prints what the process has paid so far, in milliseconds of processor and megabytes; the second after everything was collected. */
const paid = `
  const { user, system } = process.cpuUsage();
  const resident = process.memoryUsage.rss() / 1e6;
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
  console.log(JSON.stringify({ cpu: (user + system) / 1_000, resident, later: process.memoryUsage.rss() / 1e6 }));
  process.exit();`;

const application = `
  import express from "express";
  import session from "express-session";
  import http from "node:http";
  import { once } from "node:events";
  import { pino } from "pino";
  const log = pino({ level: "info" }, { write() {} });
  const orders = log.child({ module: "shop.orders" });
  const app = express();
  app.use(session({ secret: "x", resave: false, saveUninitialized: false }));
  app.get("/", (req, res) => { log.child({ reqId: 1 }).info("visit"); res.end("ok"); });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const agent = new http.Agent({ keepAlive: true });
  async function get(options) {
    const [response] = await once(http.get({ path: "/", agent, ...options }), "response");
    for await (const _ of response);
  }
  await get({ port: server.address().port });`;

/** A request to the socket of the process, or without one to the application. */
const connected = `
  import { existsSync } from "node:fs";
  import { setTimeout as delay } from "node:timers/promises";
  ${application}
  const socketPath = process.env.CONNECT_ACTUATOR_RUNTIME_DIR + "/connect-actuator/" + process.pid + ".sock";
  const isPreloaded = process.execArgv.includes("connect-actuator/auto");
  while (isPreloaded && !existsSync(socketPath)) await delay(5);
  await get(isPreloaded ? { socketPath, path: "/actuator/loggers" } : { port: server.address().port });`;

const starts = {
  "a script of ten lines, ES module": ["script.mjs", `import { join } from "node:path"; join("a", "b");${paid}`],
  "a script of ten lines, CommonJS": ["script.cjs", `require("node:path").join("a", "b");${paid}`],
  "the application, at its first answer": ["first.mjs", application + paid],
  "the application, after the first request to the socket": ["connected.mjs", connected + paid],
} as const;

/** What an application writes itself to have the same. */
const explicit = `
  const { createActuator } = await import(process.env.DIST + "/index.js");
  const { pinoLoggers } = await import(process.env.DIST + "/adapters/loggers/pino/index.js");
  createActuator({ audit: false, loggers: { adapters: [pinoLoggers(log)] } });`;

/** Prints the nanoseconds of processor of each call. */
const calls = `
  ${application}
  if (process.env.EXPLICIT === "yes") {${explicit}}
  async function time(times, work) {
    const begin = process.cpuUsage();
    await work(times);
    const { user, system } = process.cpuUsage(begin);
    return ((user + system) * 1_000) / times;
  }
  const loop = (call) => async (times) => { for (let count = 0; count < times; count++) call(); };
  const work = {
    "a disabled call of a child": [5_000_000, loop(() => orders.debug("x"))],
    "an enabled call of a child": [200_000, loop(() => orders.info("x"))],
    "a child for a request": [200_000, loop(() => log.child({ reqId: 1 }))],
    "a child with a name": [50_000, loop(() => log.child({ module: "shop.a" }))],
    "a request, its client included": [1_000, async (times) => {
      for (let count = 0; count < times; count++) await get({ port: server.address().port });
    }],
  };
  const result = {};
  for (const turn of [1, 2]) for (const [name, [times, run]] of Object.entries(work)) result[name] = await time(times, run);
  console.log(JSON.stringify(result));
  process.exit();`;

const folder = mkdtempSync(join(tmpdir(), "connect-actuator-bench-"));
const dist = pathToFileURL(join(root, "dist")).href;
const env = { ...process.env, CONNECT_ACTUATOR_RUNTIME_DIR: folder, NODE_OPTIONS: "", DIST: dist };
const preload = ["--import", "connect-actuator/auto"];
const ways = {
  without: { args: [], env },
  explicit: { args: [], env: { ...env, EXPLICIT: "yes" } },
  with: { args: preload, env },
};
type Way = keyof typeof ways;
type Figures = Readonly<Record<string, number>>;

/** The medians of many runs, in turns, so that what else the machine does meets all of them. */
function compare<Compared extends Way>(
  file: string,
  text: string,
  compared: readonly Compared[],
  times: number,
): Record<Compared, Figures> {
  // In the repository, whose packages it imports.
  const path = join(root, "node_modules", ".cache", `bench-auto-${process.pid}-${file}`);
  writeFileSync(path, text);
  const results = compared.map((way) => ({ way, all: [] as Figures[] }));
  try {
    for (let round = 0; round < times; round++) {
      for (const { way, all } of results) {
        const { args, env } = ways[way];
        const answer = execFileSync(process.execPath, ["--expose-gc", ...args, path], {
          cwd: root,
          env,
          encoding: "utf8",
        });
        all.push(JSON.parse(answer));
      }
    }
  } finally {
    rmSync(path);
  }
  const medians = (all: readonly Figures[]) =>
    Object.fromEntries(Object.keys(all[0]!).map((name) => [name, median(all.map((one) => one[name]!))]));
  return Object.fromEntries(results.map(({ way, all }) => [way, medians(all)])) as Record<Compared, Figures>;
}

console.log(environment("pino", "express", "express-session"));
console.log();
const heading = ["", "ms of processor", "with", "more", "MB resident", "with", "more", "MB that stay", "with", "more"];
try {
  const startRows = Object.entries(starts).map(([name, [file, text]]) => {
    const { without, with: preloaded } = compare(file, text, ["without", "with"], rounds);
    const cells = ["cpu", "resident", "later"].flatMap((figure) => {
      const [a, b] = [without[figure]!, preloaded[figure]!];
      return [a.toFixed(0), b.toFixed(0), (b - a).toFixed(1)];
    });
    return [name, ...cells];
  });
  printTable(heading, startRows);
  console.log();
  const figures = compare("calls.mjs", calls, ["without", "explicit", "with"], Math.ceil(rounds / 3));
  printTable(
    ["ns of processor", "without", "an actuator in the code", "with", "ratio"],
    Object.entries(figures.without).map(([name, ns]) => {
      const preloaded = figures.with[name]!;
      return [name, ns, figures.explicit[name]!, preloaded, preloaded / ns].map((cell) =>
        typeof cell === "number" ? cell.toFixed(cell < 100 ? 2 : 0) : cell,
      );
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
