import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { procStatus } from "../../src/attach/proc-status.ts";
import { attachTo, isInspectorOpen, runPlain } from "../support/attach-command.ts";
import { type ApplicationFolder, applicationFolder } from "../support/auto-application.ts";
import { requirement } from "../support/requirement.ts";
import { until } from "../support/until.ts";

const IDLE = `setInterval(() => {}, 1000); console.log("ready");`;

/** Runs any program until the end of the test. */
function start(program: string, args: readonly string[], options: { uid?: number } = {}): ChildProcess {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function refusal(pid: number, folder: ApplicationFolder = applicationFolder({})): Promise<string> {
  const { stdout, stderr, code } = await attachTo(folder, pid);
  expect(stdout).toBe("");
  expect(code, stderr).toBe(1);
  return stderr;
}

test("no such process", async () => {
  expect(await refusal(4_194_304)).toBe(
    "connect-actuator: cannot attach: there is no process 4194304: pgrep -a node lists those of Node.js\n",
  );
});

test("a process that is not Node.js, and goes on", async () => {
  const sleep = start("sleep", ["60"]);
  expect(await refusal(sleep.pid!)).toMatch(/cannot attach: process \d+ is not Node.js: it runs \/.*\n/);
  expect(sleep.exitCode).toBeNull();
  expect(sleep.signalCode).toBeNull();
});

test.runIf(requirement("a run as root", process.getuid?.() === 0))(
  "a process of another user, also for root",
  async () => {
    const sleep = start("sleep", ["60"], { uid: 65_534 });
    await until(() => procStatus(sleep.pid!)?.uid === 65_534);
    expect(await refusal(sleep.pid!)).toContain("belongs to the user with uid 65534: run the command as that user");
  },
);

test("a process that has ended", async () => {
  // The program that the shell turns into does not know of the child.
  const parent = start("sh", ["-c", "sleep 0 & exec sleep 60"]);
  const children = `/proc/${parent.pid}/task/${parent.pid}/children`;
  await until(() => procStatus(Number(readFileSync(children, "utf8")))?.state === "Z");
  const pid = Number(readFileSync(children, "utf8"));
  expect(await refusal(pid)).toContain(`process ${pid} has ended (it is a zombie)`);
});

test("a thread of a process", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  const thread = Number(readdirSync(`/proc/${idle.child.pid}/task`).at(-1));
  expect(await refusal(thread, folder)).toContain(`${thread} is a thread of process ${idle.child.pid}`);
});

test("a process that is stopped", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  idle.child.kill("SIGSTOP");
  await until(() => procStatus(idle.child.pid!)?.state === "T");
  expect(await refusal(idle.child.pid!, folder)).toContain(`continue it first, with kill -CONT ${idle.child.pid}`);
});

test("a process whose inspector is disabled, and goes on", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", { nodeArgs: ["--disable-sigusr1"] });
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toMatch(
    /the inspector of process \d+ cannot be started, as by --disable-sigusr1/,
  );
  expect(idle.output().stderr).toBe("");
});

test("an application with a handler of its own for SIGUSR1", async () => {
  const folder = applicationFolder({
    "idle.mjs": `process.on("SIGUSR1", () => console.log("handled"));${IDLE}`,
  });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toContain(
    "the application has a handler of its own for SIGUSR1, which has run now: start it with node --import connect-actuator/auto",
  );
  expect(idle.output().stdout).toContain("handled");
});

test("a port of the inspector that is taken", { tags: ["slow"] }, async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", { nodeArgs: [`--inspect-port=${port}`] });
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toContain(
    `the port ${port}, where its inspector would listen, is taken`,
  );
  server.close();
  const { code, stderr } = await attachTo(folder, idle.child.pid!);
  expect(code, stderr).toBe(0);
});

const OLD_NODE = ["/usr/bin/node", "/usr/local/bin/node"].find((path) =>
  /^v(1\d|20|21)\./.test(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? ""),
);

test.runIf(requirement("a Node.js older than 22", OLD_NODE !== undefined))("a Node.js that is too old", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", { node: OLD_NODE });
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toMatch(
    /cannot attach: process \d+ runs Node.js \d+\.\d+\.\d+, and connect-actuator needs 22\.12 or newer\n/,
  );
  expect(isInspectorOpen(idle)).toBe(false);
});

test("a process without require() of ES modules", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", { nodeArgs: ["--no-experimental-require-module"] });
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toContain("was started without require() of ES modules");
  expect(isInspectorOpen(idle)).toBe(false);
});

test("a process that is managed already is said to be", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  expect((await attachTo(folder, idle.child.pid!)).code).toBe(0);
  expect(await attachTo(folder, idle.child.pid!)).toEqual({
    code: 0,
    stdout: `process ${idle.child.pid} is managed already, at ${idle.socket}\n`,
    stderr: "",
  });
  expect(idle.output().stderr.match(/Debugger listening/g)).toHaveLength(1);
});

test("an application whose socket has no place is left as it was", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs", {
    env: { CONNECT_ACTUATOR_RUNTIME_DIR: "/proc" },
  });
  await idle.said("ready");
  expect(await refusal(idle.child.pid!, folder)).toContain("cannot attach: no folder for the socket of this process");
  expect(isInspectorOpen(idle)).toBe(false);
});

test("what is not a number of a process", async () => {
  const { stderr, code } = await attachTo(applicationFolder({}), Number.NaN);
  expect(code).toBe(2);
  expect(stderr).toContain("Give the number of a process");
});
