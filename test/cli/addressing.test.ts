// @module-tag slow
import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { addressOf } from "../../src/cli/addressing.ts";
import {
  type ApplicationFolder,
  applicationFolder,
  type RunningApplication,
  runApplication,
} from "../support/auto-application.ts";
import { until } from "../support/until.ts";
import { CliProcess, cli, type Ended } from "./cli-process.ts";
import { openShop } from "./shop.ts";

const SHOP = `
import { isMainThread, Worker } from "node:worker_threads";
import { pino } from "pino";
const log = pino();
const orders = log.child({ module: isMainThread ? "orders" : "worker" });
if (isMainThread && process.argv[2] === "threads") new Worker(new URL(import.meta.url));
process.on("SIGUSR2", () => console.log("level " + orders.level));
setInterval(() => orders.trace("x"), 1000);
`;

const OWN = `
import { createActuator } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
createActuator({ name: "mine" });
setInterval(() => {}, 1000);
`;

const LIST = ["loggers", "list"];

function shopFolder(): ApplicationFolder {
  return applicationFolder({ "shop.mjs": SHOP, "own.mjs": OWN });
}

/** Runs the command line with the processes of a folder. */
function inFolder({ env }: ApplicationFolder, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return cli(args, { env: { CONNECT_ACTUATOR_RUNTIME_DIR: env.CONNECT_ACTUATOR_RUNTIME_DIR, ...more } });
}

async function running(folder: ApplicationFolder, ...args: string[]): Promise<RunningApplication> {
  const application = runApplication(folder, "shop.mjs", { args });
  await application.describe();
  return application;
}

/** Runs a shop of another name beside those of a folder. */
async function other(folder: ApplicationFolder, name: string): Promise<RunningApplication> {
  const { folder: files } = applicationFolder({
    "shop.mjs": SHOP.replace('"orders"', '"other"'),
    "package.json": JSON.stringify({ name }),
  });
  return running({ folder: files, env: folder.env });
}

const idOf = ({ child }: RunningApplication) => `${child.pid}`;

describe("without a word of where", () => {
  test("the only process is meant, and nothing is said about it", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    const listed = await inFolder(folder, LIST);
    expect(listed).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("orders") });
    expect(await inFolder(folder, LIST, { ACTUATOR_URL: "" })).toEqual(listed);
    expect(await inFolder(folder, ["loggers", "set", "orders", "trace"])).toMatchObject({ code: 0, stderr: "" });
    shop.child.kill("SIGUSR2");
    await shop.said("level trace");
  });

  test("several are listed, and none is called", async () => {
    const folder = shopFolder();
    const [one, two] = [await running(folder), await other(folder, "billing")];
    const { code, stdout, stderr } = await inFolder(folder, LIST);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^connect-actuator: several processes of this user.*--pid or --name\n {2}PID +NAME/);
    expect(stderr).toMatch(new RegExp(`\n {2}${idOf(two)} +billing.*\n {2}${idOf(one)} +shop.*\n$`));
  });

  test("the default address is meant if there is none, and the message knows how to find one", async () => {
    const folder = shopFolder();
    const killed = await running(folder);
    killed.child.kill("SIGKILL");
    await killed.exit();
    vi.stubEnv("CONNECT_ACTUATOR_RUNTIME_DIR", folder.env.CONNECT_ACTUATOR_RUNTIME_DIR);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await addressOf({})).toBe("http://127.0.0.1:9001");
    expect(existsSync(killed.socket)).toBe(false);
    const closed = await inFolder(folder, ["health", "--url", "http://127.0.0.1:1"]);
    expect(closed.stderr).toMatch(/nothing listens at http:\/\/127\.0\.0\.1:1: .*connect-actuator ps/);
  });

  test("an address in the environment is meant before any process, and a process on the command line before both", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    const { url } = await openShop();
    const env = { ACTUATOR_URL: url };
    expect((await inFolder(folder, LIST, env)).stdout).toContain("refunds");
    expect((await inFolder(folder, [...LIST, "--pid", idOf(shop)], env)).stdout).not.toContain("refunds");
    expect((await inFolder(folder, ["--name", "shop", ...LIST], env)).stdout).not.toContain("refunds");
    expect((await inFolder(folder, [...LIST, "--url", url])).stdout).toContain("refunds");
  });

  test("the main thread of the only process is meant, and the other threads are named", async () => {
    const folder = shopFolder();
    const shop = await running(folder, "threads");
    await until(() => existsSync(shop.socket.replace(".sock", "-1.sock")));
    for (const args of [LIST, [...LIST, "--name", "shop"]]) {
      expect(await inFolder(folder, args)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("orders"),
        stderr: `only the main thread of ${idOf(shop)}; --pid names the others: ${idOf(shop)}-1\n`,
      });
    }
    const worker = await inFolder(folder, [...LIST, "--pid", `${idOf(shop)}-1`]);
    expect(worker).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("worker") });
  });

  test("a stopped process is reported as one that does not answer", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    shop.child.kill("SIGSTOP");
    expect(await inFolder(folder, [...LIST, "--timeout", "300ms"])).toMatchObject({
      code: 3,
      stderr: `connect-actuator: process ${idOf(shop)} does not answer: stopped, or its event loop is blocked\n`,
    });
    const byPid = await inFolder(folder, [...LIST, "--timeout", "300ms", "--pid", idOf(shop)]);
    expect(byPid).toMatchObject({ code: 3, stderr: expect.stringMatching(/no answer from unix:.* within 300ms/) });
  });
});

describe("a name", () => {
  test("is that of one process among others; of several, they are listed", async () => {
    const folder = shopFolder();
    const [one, two] = [await running(folder), await running(folder)];
    await other(folder, "billing");
    const billing = await inFolder(folder, [...LIST, "--name", "billing"]);
    expect(billing).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("other") });
    const { code, stdout, stderr } = await inFolder(folder, [...LIST, "--name", "shop"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^connect-actuator: several processes are named shop: say which with --pid\n/);
    for (const each of [one, two]) expect(stderr).toContain(`\n  ${idOf(each)} `);
    expect(stderr).not.toContain("billing");
    expect(await inFolder(folder, [...LIST, "--name", "shpo"])).toMatchObject({
      code: 3,
      stderr: `connect-actuator: no process is named shpo: did you mean "shop"?\n`,
    });
  });

  test("is completed, as is a process, and the names of its loggers", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    const completed = async (...words: string[]) => (await inFolder(folder, ["__complete", ...words])).stdout;
    // A busy machine may take longer than a TAB waits.
    await expect.poll(() => completed("health", "--name", "")).toBe("shop\n");
    await expect.poll(() => completed("detach", "")).toBe(`${idOf(shop)}\n`);
    await expect.poll(() => completed("--pid", idOf(shop), "loggers", "get", "ord")).toBe("orders\n");
    await expect.poll(() => completed("loggers", "get", "--name", "shop", "ord")).toBe("orders\n");
    await expect.poll(() => completed("loggers", "get", "ord")).toBe("orders\n");
  });
});

describe("a process", () => {
  test("without an actuator is refused with what to do", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    expect(await inFolder(folder, [...LIST, "--pid", "1"])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^connect-actuator: 1 is no process of this user with an actuator: .*attach 1 .*\n$/,
      ),
    });
    expect((await inFolder(folder, [...LIST, "--pid", `${idOf(shop)}-7`])).stderr).toContain(`known are ${idOf(shop)}`);
  });

  test("holds a level over HTTP/2", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    const env = { CONNECT_ACTUATOR_RUNTIME_DIR: folder.env.CONNECT_ACTUATOR_RUNTIME_DIR };
    const hold = new CliProcess(["loggers", "set", "orders", "trace", "--hold", "--pid", idOf(shop)], env);
    await hold.wrote(/Held until Ctrl-C/);
    shop.child.kill("SIGUSR2");
    await shop.said("level trace");
    hold.signal("SIGINT");
    expect(await hold.ended()).toMatchObject({ code: 130, stdout: expect.stringContaining("Restored orders: INFO") });
  });
});

describe("a wrong command line", () => {
  test.each([
    [["--pid", "1", "--name", "shop"], /--url, --pid and --name exclude each other/],
    [["--pid", "1", "--url", "http://x"], /--url, --pid and --name exclude each other/],
    [["--pid", "x"], /Give a process such as 4711, or a thread of it such as 4711-2/],
    [["--pid", "0"], /Give a process/],
  ])("%j", async (args, message) => {
    const { code, stderr } = await cli([...LIST, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test("is not what a token takes as its --name", async () => {
    const { stdout } = await cli(["token", "create", "--help"]);
    expect(stdout).toContain("--name <name>");
    expect(stdout).not.toContain("the process with this name");
  });
});

describe("detach", () => {
  test("takes everything out; loggers get their levels back, or keep them", async () => {
    for (const [more, left] of [
      [[], "level info"],
      [["--keep-levels"], "level trace"],
    ] as const) {
      const folder = shopFolder();
      const shop = await running(folder);
      await inFolder(folder, ["loggers", "set", "orders", "trace"]);
      const { code, stdout, stderr } = await inFolder(folder, ["detach", idOf(shop), ...more]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(new RegExp(`^${idOf(shop)}: detached; `));
      expect(existsSync(shop.socket)).toBe(false);
      shop.child.kill("SIGUSR2");
      await shop.said(left);
      expect(await inFolder(folder, ["detach", idOf(shop)])).toMatchObject({ code: 3, stdout: "" });
    }
  });

  test("leaves an actuator that the application has created itself", async () => {
    const folder = shopFolder();
    const own = runApplication(folder, "own.mjs");
    await own.describe();
    expect(await inFolder(folder, ["detach", idOf(own)])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `connect-actuator: ${idOf(own)} stays: the application has created its actuator itself, and only its own code can close it\n`,
    });
    expect(await own.describe()).toMatchObject({ name: "mine" });
  });

  test("of a stopped process ends in time", async () => {
    const folder = shopFolder();
    const shop = await running(folder);
    shop.child.kill("SIGSTOP");
    expect(await inFolder(folder, ["detach", idOf(shop), "--timeout", "300ms"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`process ${idOf(shop)} does not answer`),
    });
  });
});
