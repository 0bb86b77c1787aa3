import { once } from "node:events";
import { chmodSync, mkdirSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ApplicationFolder, applicationFolder, runApplication } from "../support/auto-application.ts";
import { until } from "../support/until.ts";
import { cli, type Ended } from "./cli-process.ts";

const SHOP = `
import { isMainThread, Worker } from "node:worker_threads";
import { pino } from "pino";
pino();
if (isMainThread && process.argv[2] === "threads") new Worker(new URL(import.meta.url));
setInterval(() => {}, 1000);
`;

const OWN = `
import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
const actuator = createActuator({ name: "mine", version: "3" });
await actuator.listen({ port: 0 });
`;

const CLUSTER = `
import cluster from "node:cluster";
import { pino } from "pino";
if (cluster.isPrimary) cluster.fork();
else pino();
setInterval(() => {}, 1000);
`;

const FILES = { "shop.mjs": SHOP, "own.mjs": OWN, "cluster.mjs": CLUSTER };

function ps({ env }: ApplicationFolder, ...args: readonly string[]): Promise<Ended> {
  return cli(["ps", ...args], { env: { CONNECT_ACTUATOR_RUNTIME_DIR: env.CONNECT_ACTUATOR_RUNTIME_DIR } });
}

/** The cells of each line. */
function rowsOf({ stdout }: Ended): string[][] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
}

/** A socket in the folder of an application, with this answer. */
async function answering({ env }: ApplicationFolder, name: string, answer: string): Promise<void> {
  const folder = join(env.CONNECT_ACTUATOR_RUNTIME_DIR!, "connect-actuator");
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const server = net.createServer((socket) => socket.once("data", () => socket.end(answer)));
  await once(server.listen(join(folder, name)), "listening");
  onTestFinished(() => void server.close());
}

test("shows what a preloaded application is, shows and has", async () => {
  const folder = applicationFolder(FILES);
  const { child, socket, describe } = runApplication(folder, "shop.mjs");
  const { startTime } = await describe();
  const listed = await ps(folder);
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(rowsOf(listed)).toEqual([
    ["PID", "NAME", "VERSION", "UPTIME", "ORIGIN", "SHOWS", "ADDRESS"],
    [`${child.pid}`, "shop", "1.2.3", expect.stringMatching(/^(\d+m?s|\d+m.*)$/), "preloaded", "pino", "socket only"],
  ]);
  const json = await ps(folder, "--json");
  expect(JSON.parse(json.stdout)).toEqual({
    processes: [
      {
        pid: child.pid,
        thread: 0,
        name: "shop",
        version: "1.2.3",
        startTime: expect.stringMatching(/^\d{4}-.*Z$/),
        origin: "preloaded",
        script: join(folder.folder, "shop.mjs"),
        shows: { loggers: ["pino"], sessions: [], integrationGraph: [] },
        addresses: [],
        notices: [],
        socket,
      },
    ],
  });
  expect(Math.abs(Date.parse(JSON.parse(json.stdout).processes[0].startTime) - startTime)).toBeLessThan(1_000);
});

test("shows threads, cluster workers and actuators of the application's own, sorted", async () => {
  const folder = applicationFolder(FILES);
  const threads = runApplication(folder, "shop.mjs", { args: ["threads"] });
  const own = runApplication(folder, "own.mjs");
  runApplication(folder, "cluster.mjs");
  let rows: string[][] = [];
  await until(async () => {
    rows = rowsOf(await ps(folder)).slice(1);
    return rows.length === 4;
  });
  const short = rows.map(([pid, name, version, , origin, , address]) => [pid, name, version, origin, address]);
  expect(short[0]).toEqual([`${own.child.pid}`, "mine", "3", "own", expect.stringMatching(/^http:\/\/127.0.0.1:\d+$/)]);
  expect(short.slice(1)).toEqual(
    expect.arrayContaining([
      [`${threads.child.pid}`, "shop", "1.2.3", "preloaded", "socket only"],
      [`${threads.child.pid}-1`, "shop", "1.2.3", "preloaded", "socket only"],
      [expect.stringMatching(/^\d+$/), "shop (worker 1)", "1.2.3", "preloaded", "socket only"],
    ]),
  );
});

test("tells of a process that is stopped", async () => {
  const folder = applicationFolder(FILES);
  const shop = runApplication(folder, "shop.mjs");
  await shop.describe();
  shop.child.kill("SIGSTOP");
  const listed = await ps(folder, "--timeout", "300ms");
  expect(listed.code).toBe(0);
  expect(listed.stdout).toContain(`\n! ${shop.child.pid}: does not answer: stopped, or its event loop is blocked\n`);
  const { processes } = JSON.parse((await ps(folder, "--timeout", "300ms", "--json")).stdout);
  expect(processes).toEqual([
    { pid: shop.child.pid, thread: 0, socket: shop.socket, fault: expect.stringContaining("does not answer") },
  ]);
});

test("says how to get a process if there is none, and what folder it leaves alone", async () => {
  const folder = applicationFolder(FILES);
  const none = await ps(folder);
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toMatch(/^no process of this user .*--import connect-actuator\/auto app\.js.*attach <pid>`\n$/);
  expect(JSON.parse((await ps(folder, "--json")).stdout)).toEqual({ processes: [] });
  await answering(folder, "1.sock", "{}\n");
  const sockets = join(folder.env.CONNECT_ACTUATOR_RUNTIME_DIR!, "connect-actuator");
  chmodSync(sockets, 0o755);
  expect(await ps(folder)).toMatchObject({
    stdout: "",
    stderr: expect.stringContaining(`${sockets} can be entered by other users: its sockets are left alone\n`),
  });
});

test("only those that are asked for", async () => {
  const folder = applicationFolder({});
  const shows = { loggers: [], sessions: [], integrationGraph: [] };
  const described = (name: string) =>
    `${JSON.stringify({ name, startTime: 1, origin: "attached", shows, addresses: [], notices: [] })}\n`;
  await answering(folder, "1.sock", described("shop"));
  await answering(folder, "2.sock", described("web"));
  await answering(folder, "2-1.sock", described("web"));
  const pids = async (...args: string[]) =>
    rowsOf(await ps(folder, ...args))
      .slice(1)
      .map(([pid]) => pid);
  expect(await pids("--name", "web")).toEqual(["2", "2-1"]);
  expect(await pids("--pid", "1")).toEqual(["1"]);
  expect(await ps(folder, "--name", "no")).toMatchObject({ code: 0, stdout: "", stderr: "no such process\n" });
});

test("what a process says reaches no terminal as control characters", async () => {
  const folder = applicationFolder({});
  const evil = "\u001b[31mevil\u202e\n";
  const shows = { loggers: [evil], sessions: [evil], integrationGraph: [evil] };
  const description = { name: evil, version: evil, startTime: 1, origin: "attached", script: evil };
  await answering(
    folder,
    "1.sock",
    `${JSON.stringify({ ...description, shows, addresses: [evil], notices: [evil] })}\n`,
  );
  for (const args of [[], ["--json"]]) {
    const { stdout } = await ps(folder, ...args);
    expect(stdout).toContain("\\u001b[31mevil\\u202e");
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
  }
  const { processes } = JSON.parse((await ps(folder, "--json")).stdout);
  expect(processes[0]).toMatchObject({ name: evil, notices: [evil] });
});
