import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { listProcesses } from "../../src/processes/process-list.ts";
import { runtimeFolders } from "../../src/processes/runtime-folder.ts";
import { sweepSockets } from "../../src/processes/sockets.ts";
import { applicationFolder, runApplication } from "../support/auto-application.ts";
import { until } from "../support/until.ts";

const SHOP = `
import { pino } from "pino";
pino();
setInterval(() => {}, 1000);
`;

/** An empty folder for sockets, in which alone processes are looked for. */
function ownFolder(): string {
  const base = mkdtempSync(join(tmpdir(), "processes-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  return lookingIn(base);
}

function lookingIn(base: string): string {
  vi.stubEnv("CONNECT_ACTUATOR_RUNTIME_DIR", base);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = join(base, "connect-actuator");
  mkdirSync(folder, { mode: 0o700, recursive: true });
  return folder;
}

/** A socket whose answer to a line is this. */
async function answering(path: string, answer: string | Buffer | undefined): Promise<void> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("data", () => answer !== undefined && socket.end(answer));
  });
  await once(server.listen(path), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

const DESCRIPTION = {
  pid: 1,
  thread: 9,
  name: "shop",
  startTime: 1,
  origin: "preloaded",
  shows: { loggers: ["pino"], sessions: [1], integrationGraph: "x" },
  addresses: null,
  notices: ["\u001b[31mred"],
};

test("a process that was killed leaves a socket, which is removed; the others stay", async () => {
  const application = applicationFolder({ "shop.mjs": SHOP });
  const folder = lookingIn(application.env.CONNECT_ACTUATOR_RUNTIME_DIR!);
  const [killed, other] = [runApplication(application, "shop.mjs"), runApplication(application, "shop.mjs")];
  await Promise.all([killed.describe(), other.describe()]);
  killed.child.kill("SIGKILL");
  await killed.exit();
  expect(existsSync(killed.socket)).toBe(true);
  writeFileSync(join(folder, "4.sock"), "no socket");
  const { processes, faults } = await listProcesses(30_000);
  expect(processes.map(({ pid, description }) => [pid, description?.name])).toEqual([[other.child.pid, "shop"]]);
  expect(faults).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(["4.sock", `${other.child.pid}.sock`].sort());
});

test("an application that starts removes what killed ones left", async () => {
  const application = applicationFolder({ "shop.mjs": SHOP });
  const killed = runApplication(application, "shop.mjs");
  await killed.describe();
  killed.child.kill("SIGKILL");
  await killed.exit();
  await runApplication(application, "shop.mjs").describe();
  await until(() => !existsSync(killed.socket));
});

test("a sweep asks no process that runs, and removes sockets of an earlier process with the same pid", async () => {
  const folder = ownFolder();
  await abandoned(join(folder, `${process.pid}-7.sock`));
  const connections = vi.fn();
  const kept = [`${process.ppid}.sock`, `${NO_PID}.sock`];
  const [running, unseen] = await Promise.all(kept.map((name) => listening(join(folder, name))));
  running!.on("connection", connections);
  const asked = once(unseen!, "connection");
  await sweepSockets();
  await asked;
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
  expect(connections).not.toHaveBeenCalled();
});

/** Greater than any pid of Linux. A process in another container may have a socket under a pid that does not exist here. */
const NO_PID = 4_194_305;

async function listening(path: string): Promise<net.Server> {
  const server = net.createServer((socket) => socket.resume());
  await once(server.listen(path), "listening");
  onTestFinished(() => void server.close());
  return server;
}

/** Makes a socket at which nothing listens: only the process that made it would remove it. */
async function abandoned(path: string): Promise<void> {
  const code = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  await once(spawn(process.execPath, ["-e", code]), "exit");
  expect(existsSync(path)).toBe(true);
}

describe("an answer is not trusted", () => {
  test.each([
    [
      "what is no text is left out, and the name of the socket says which process it is",
      `${JSON.stringify(DESCRIPTION)}\n`,
      {
        description: {
          pid: 4711,
          thread: 2,
          shows: { loggers: ["pino"], sessions: [], integrationGraph: [] },
          addresses: [],
        },
      },
    ],
    ["no description", "{}\n", { fault: "does not describe itself" }],
    [
      "an unknown origin",
      `${JSON.stringify({ ...DESCRIPTION, origin: "\u001b[2J" })}\n`,
      { fault: "does not describe itself" },
    ],
    [
      "a time that is none",
      `${JSON.stringify({ ...DESCRIPTION, startTime: 8.7e15 })}\n`,
      { fault: "does not describe itself" },
    ],
    ["null", "null\n", { fault: "does not describe itself" }],
    ["no JSON", "HTTP/1.1 400 Bad Request\r\n\r\n", { fault: "does not answer with JSON" }],
    ["no end of the line", "{", { fault: "ends its answer too early" }],
    ["nothing", "", { fault: "ends its answer too early" }],
    ["too much", Buffer.alloc(1_000_000, "x"), { fault: "answers with more than 65536 bytes" }],
  ])("%s", async (_, answer, expected) => {
    await answering(join(ownFolder(), "4711-2.sock"), answer);
    const { processes } = await listProcesses(30_000);
    expect(processes).toMatchObject([{ pid: 4711, thread: 2, ...expected }]);
  });
});

test("a process that does not answer is listed, after those that do", async () => {
  const folder = ownFolder();
  await answering(join(folder, "1.sock"), undefined);
  await answering(join(folder, "2.sock"), `${JSON.stringify({ ...DESCRIPTION, name: "web" })}\n`);
  await answering(join(folder, "3.sock"), `${JSON.stringify(DESCRIPTION)}\n`);
  const { processes } = await listProcesses(500);
  expect(processes).toMatchObject([
    { pid: 3, description: { name: "shop" } },
    { pid: 2, description: { name: "web" } },
    { pid: 1, fault: expect.stringMatching(/does not answer/) },
  ]);
});

test("a folder that other users can enter is left alone, and told of", async () => {
  const folder = ownFolder();
  await abandoned(join(folder, "1.sock"));
  chmodSync(folder, 0o755);
  expect(await listProcesses(1_000)).toEqual({
    processes: [],
    faults: [`${folder} can be entered by other users: its sockets are left alone`],
  });
  await sweepSockets();
  expect(readdirSync(folder)).toEqual(["1.sock"]);
});

test("an actuator that the application has created itself is not taken out", async () => {
  const own = `
    import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
    createActuator({ name: "mine" });
    setInterval(() => {}, 1000);
  `;
  const shop = runApplication(applicationFolder({ "shop.mjs": own }), "shop.mjs");
  expect(await shop.line(LINES.detachRestoring)).toEqual({
    error: expect.stringMatching(/created its actuator itself/),
  });
  expect(await shop.describe()).toMatchObject({ name: "mine" });
});

test("one variable names the only folder; without it there are several", () => {
  expect(runtimeFolders({ CONNECT_ACTUATOR_RUNTIME_DIR: "/data", XDG_RUNTIME_DIR: "/run/x" }, 7)).toEqual([
    "/data/connect-actuator",
  ]);
  const several = runtimeFolders({ XDG_RUNTIME_DIR: "/run/x" }, 7);
  expect(several.slice(0, 2)).toEqual(["/run/x/connect-actuator", "/run/user/7/connect-actuator"]);
  expect(several).toContain(join(tmpdir(), "connect-actuator-7"));
});
