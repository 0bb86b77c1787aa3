// @module-tag slow
import { describe, expect, test } from "vitest";
import { type ApplicationFolder, applicationFolder, runApplication } from "../support/auto-application.ts";
import { CliProcess, cli } from "./cli-process.ts";

const SHOP = `
import { isMainThread, Worker } from "node:worker_threads";
import winston from "winston";
const log = winston.createLogger({ transports: [new winston.transports.Console()] });
const orders = log.child({ label: "orders" });
if (isMainThread && process.argv[2] === "threads") new Worker(new URL(import.meta.url));
process.on("SIGUSR2", () => console.log("level " + log.level));
let count = 0;
setInterval(() => orders.debug("of " + process.pid, { count: count++ }), 20);
`;

const GRANTED = { ACTUATOR_ACCESS_ANONYMOUS: "*,logs:read" };

const shopFolder = () => applicationFolder({ "shop.mjs": SHOP });

const runtimeOf = ({ env }: ApplicationFolder) => ({
  CONNECT_ACTUATOR_RUNTIME_DIR: env.CONNECT_ACTUATOR_RUNTIME_DIR,
});

async function running(folder: ApplicationFolder, env: NodeJS.ProcessEnv = GRANTED, ...args: string[]) {
  const application = runApplication({ ...folder, env: { ...folder.env, ...env } }, "shop.mjs", { args });
  await application.describe();
  return application;
}

describe("tail of several processes", () => {
  test("shows those with the name, and restores the level in each of them", async () => {
    const folder = shopFolder();
    const shops = [await running(folder), await running(folder)];
    const ids = shops.map(({ child }) => `${child.pid}`);
    const child = new CliProcess(["loggers", "tail", "--name", "shop", "--raise", "debug"], runtimeOf(folder));
    for (const id of ids) await child.wrote(new RegExp(`"instance":"${id}".*"message":"of ${id}"`));
    child.signal("SIGINT");
    const ended = await child.ended();
    expect(ended.code).toBe(130);
    const records = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(records.map(({ instance }) => instance))).toEqual(new Set(ids));
    expect(records.every(({ instance, message }) => message === `of ${instance}`)).toBe(true);
    for (const id of ids) expect(ended.stderr).toMatch(new RegExp(`^${id}: Restored ROOT: INFO`, "m"));
    for (const { child: process, said } of shops) {
      process.kill("SIGUSR2");
      await said("level info");
    }
  });

  test("goes on when one of them ends, and ends with the last", async () => {
    const folder = shopFolder();
    const shops = [await running(folder), await running(folder)];
    const [one, other] = shops.map(({ child }) => `${child.pid}`);
    const child = new CliProcess(["loggers", "tail", "--name", "shop", "--raise", "debug"], runtimeOf(folder));
    for (const id of [one, other]) await child.wrote(new RegExp(`"instance":"${id}"`));
    shops[0]!.child.kill("SIGKILL");
    await child.wrote(new RegExp(`connect-actuator: ${one}: the process has ended\n`));
    const before = child.stdout.length;
    await expect.poll(() => child.stdout.slice(before)).toContain(`"instance":"${other}"`);
    shops[1]!.child.kill("SIGKILL");
    expect(await child.ended()).toMatchObject({ code: 3 });
  });

  test("shows the threads of a process", async () => {
    const folder = shopFolder();
    const { child: shop } = await running(folder, GRANTED, "threads");
    await expect
      .poll(async () => (await cli(["ps", "--json"], { env: runtimeOf(folder) })).stdout)
      .toContain('"thread": 1');
    const child = new CliProcess(["loggers", "tail", "--name", "shop", "--raise", "debug"], runtimeOf(folder));
    for (const id of [`${shop.pid}`, `${shop.pid}-1`]) await child.wrote(new RegExp(`"instance":"${id}"`));
  });
});

test("a process without a line of code says how its records are granted", async () => {
  const folder = shopFolder();
  const { child } = await running(folder, {});
  const ended = await cli(["loggers", "tail", "--pid", `${child.pid}`], { env: runtimeOf(folder) });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(
    /must be granted: start the process with ACTUATOR_ACCESS_ANONYMOUS='\*,logs:read' in its environment/,
  );
});
