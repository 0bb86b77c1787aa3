// @module-tag slow

import { pino } from "pino";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresFleet } from "../../src/adapters/fleet/postgres/index.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { memoryFleet } from "../../src/fleet/register.ts";
import { type Actuator, createActuator, type GraphBuilder, integrationGraph as graphOf } from "../../src/index.ts";
import { postgresFound, startPostgres } from "../support/postgres-server.ts";
import { requirement } from "../support/requirement.ts";
import { CliProcess, cli } from "./cli-process.ts";

const engine = memoryFleet();
const logs = Object.fromEntries(
  ["one", "two"].map((instance) => [instance, pino({ level: "info" }, { write: () => undefined })]),
);
let url: string;
let instances: readonly Actuator[];
const graphs: GraphBuilder[] = [];
/** The logger `a` of each: loggers are held weakly. */
const children: object[] = [];

beforeAll(async () => {
  instances = ["one", "two"].map((instance) => {
    const labels = { zone: instance === "one" ? "eu" : "us" };
    const fleet = { engine, labels };
    const integrationGraph = graphOf({ app: "shop" });
    graphs.push(integrationGraph);
    integrationGraph.channel(`${instance}.orders`);
    const adapter = pinoLoggers(logs[instance]!);
    children.push(logs[instance]!.child({ name: "a" }));
    return createActuator({
      integrationGraph,
      access: { anonymous: ["*", "logs:read"] },
      name: "shop",
      version: "1.2",
      fleet,
      loggers: { instance, logLevelChanges: false, adapters: [adapter] },
      audit: false,
    });
  });
  ({ url } = await instances[0]!.listen({ port: 0 }));
  await instances[1]!.listen({ port: 0 });
  return async () => void (await Promise.all(instances.map((each) => each.close())));
});

const levels = () => instances.map(({ loggers }) => loggers!.get("a")?.configuredLevel);

test("list shows the instances with their labels", async () => {
  const { code, stdout, stderr } = await cli(["fleet", "list", "--url", url]);
  expect([code, stderr]).toEqual([0, "2 instances of the fleet shop, kept by memory.\n"]);
  const [titles, ...rows] = stdout.trimEnd().split("\n");
  expect(titles).toMatch(/^INSTANCE +APPLICATION +VERSION +LABELS +STARTED +STATE$/);
  expect(rows[0]).toMatch(/^one +shop +1\.2 +zone=eu +\S+ +up to date, answered$/);
  expect(rows[1]).toMatch(/^two +shop +1\.2 +zone=us +\S+ +up to date$/);
  const some = await cli(["fleet", "list", "--on", "zone=us", "--json", "--url", url]);
  expect(JSON.parse(some.stdout).instances.map(({ id }: { id: string }) => id)).toEqual(["two"]);
});

test("set, levels, status, clear and restore", async () => {
  const set = await cli(["fleet", "set", "a", "warn", "--reason", "noise", "--url", url]);
  expect(set.code).toBe(0);
  expect(set.stdout).toBe("INSTANCE  STATUS\none       APPLIED\ntwo       APPLIED\n");
  expect(levels()).toEqual(["WARN", "WARN"]);
  const local = await cli(["loggers", "get", "a", "--url", url]);
  expect(local.stdout).toMatch(/for +the fleet\n +through +one\n/);
  const generation = /generation (\d+)/.exec(set.stderr)![1]!;
  const shown = await cli(["fleet", "levels", "--url", url]);
  expect(shown.stdout.split("\n")[1]).toMatch(new RegExp(`^a +WARN +all +\\S+ +noise +${generation} +permanent$`));
  instances[1]!.loggers!.setLevel("a", "ERROR", { actor: "ann" });
  await expect
    .poll(
      async () => {
        const status = await cli(["fleet", "status", generation, "--url", url]);
        return [status.code, status.stdout.split("\n")[2]];
      },
      { timeout: 20_000 },
    )
    .toEqual([1, "two       OVERRULED  set on this instance by ann"]);
  const restored = await cli(["fleet", "restore", "a", "--on", "zone=us+eu", "--url", url]);
  expect([restored.code, levels()]).toEqual([0, ["WARN", "WARN"]]);
  const cleared = await cli(["fleet", "clear", "a", "--url", url]);
  expect([cleared.code, levels()]).toEqual([0, [undefined, undefined]]);
});

test("a level on some instances for a time, and the end of all", async () => {
  const set = await cli(["fleet", "set", "a", "debug", "--for", "10m", "--on", "zone=eu", "--url", url]);
  expect(set.stdout).toBe("INSTANCE  STATUS\none       APPLIED\n");
  expect(levels()).toEqual(["DEBUG", undefined]);
  const none = await cli(["fleet", "set", "b", "warn", "--on", "zone=asia", "--url", url]);
  expect([none.code, none.stderr.split("\n")[1]]).toEqual([0, "No instance matches now; later ones get the level."]);
  const reset = await cli(["fleet", "reset", "--url", url]);
  expect(reset).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2 levels of the fleet ended, generation \d+\n$/),
  });
  await expect.poll(levels).toEqual([undefined, undefined]);
});

test("a canary is promoted by another command, by itself, and taken back by Ctrl-C", async () => {
  const canary = new CliProcess(["fleet", "canary", "c", "warn", "--url", url]);
  await canary.wrote(/APPLIED/);
  const [, id = ""] = /fleet promote (\S+)\./.exec(canary.stderr)!;
  const promoted = await cli(["fleet", "promote", id, "--url", url]);
  expect(promoted).toMatchObject({ code: 0, stderr: expect.stringMatching(/^promoted: the fleet has it until/) });
  expect(await canary.ended()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("the level is set for all selected instances"),
  });
  const itself = await cli([
    "fleet",
    "canary",
    "c",
    "error",
    "--promote-after",
    "2s",
    "--forever",
    "--json",
    "--url",
    url,
  ]);
  expect([itself.code, itself.stdout]).toEqual([0, expect.stringContaining("OUTCOME_PROMOTED")]);
  const interrupted = new CliProcess(["fleet", "canary", "d", "warn", "--instances", "2", "--url", url]);
  await interrupted.wrote(/APPLIED/);
  interrupted.signal("SIGINT");
  expect(await interrupted.ended()).toMatchObject({ code: 130 });
  const set = () => instances.map(({ loggers }) => loggers!.get("d")?.configuredLevel);
  await expect.poll(set, { timeout: 20_000 }).toEqual([undefined, undefined]);
  await cli(["fleet", "reset", "--url", url]);
});

test("what is refused", async () => {
  const wrong = await cli(["fleet", "set", "a", "warn", "--on", "=", "--url", url]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("The selector cannot be read")]);
  const typed = await cli(["fleet", "status", "x", "--url", url]);
  expect(typed.code).toBe(2);
});

describe.runIf(requirement("postgresql", postgresFound))("prepare", () => {
  test("makes the tables, and prints what it would do", async () => {
    await using server = await startPostgres();
    const env = { DATABASE_URL: server.url };
    const planned = await cli(["fleet", "prepare", "--postgres", "--dry-run"], { env });
    expect([planned.code, planned.stderr]).toEqual([0, "Nothing was changed.\n"]);
    expect(planned.stdout).toContain("create unlogged table if not exists ca_fleet_instance");
    for (let round = 0; round < 2; round++) {
      expect(await cli(["fleet", "prepare", "--postgres"], { env })).toMatchObject({ code: 0 });
    }
    const engine = postgresFleet(server.url).open("shop");
    onTestFinished(() => engine.close());
    await expect.poll(() => engine.exchange("").catch(() => undefined), { timeout: 20_000 }).toBeDefined();
    const refused = await cli(["fleet", "prepare", "--postgres", "postgres://u:secret-word@127.0.0.1:1/x"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).not.toContain("secret-word");
  });
});

test("differences names the instances that have each level", async () => {
  const same = await cli(["fleet", "differences", "--url", url]);
  expect([same.code, same.stdout, same.stderr]).toEqual([0, "", "No logger differs between 2 instances.\n"]);
  instances[1]!.loggers!.setLevel("b", "ERROR");
  onTestFinished(() => void instances[1]!.loggers!.restoreLevel("b"));
  instances[0]!.loggers!.setLevel("b", "WARN");
  onTestFinished(() => void instances[0]!.loggers!.restoreLevel("b"));
  const { stdout, stderr } = await cli(["fleet", "differences", "--url", url]);
  expect(stdout).toBe("NAME  LEVEL  ON\nb     WARN   one\n      ERROR  two\n");
  expect(stderr).toBe("1 logger differs between 2 instances.\n");
});

test("graph shows one graph of all", async () => {
  const { code, stdout } = await cli(["fleet", "graph", "--url", url]);
  expect(code).toBe(0);
  for (const channel of ["one.orders", "two.orders"]) expect(stdout).toContain(channel);
});

test("graph --watch shows what changes in any of them", async () => {
  const child = new CliProcess(["fleet", "graph", "--watch", "--interval", "250ms", "--url", url]);
  await expect.poll(() => child.stderr, { timeout: 20_000 }).toContain("The graph of 2 instances.\n");
  await expect.poll(() => child.stdout, { timeout: 20_000 }).toMatch(/one\.orders.*two\.orders/s);
  graphs[1]!.channel("two.returns");
  await expect.poll(() => child.stdout, { timeout: 20_000 }).toMatch(/^\d\d:\d\d:\d\d {2}.*two\.returns/m);
  child.signal("SIGINT");
  await child.ended();
});

test("tail shows what all write, each with its instance", async () => {
  const args = ["fleet", "tail", "--raise", "debug", "--for", "1m", "--json", "--url", url];
  const child = new CliProcess(args);
  await expect
    .poll(() => Object.values(logs).map(({ level }) => level), { timeout: 20_000 })
    .toEqual(["debug", "debug"]);
  for (const instance of ["one", "two"]) {
    await expect
      .poll(
        () => {
          logs[instance]!.debug("sold");
          return child.stdout;
        },
        { timeout: 20_000 },
      )
      .toContain(`{"instance":"${instance}"`);
  }
  child.signal("SIGINT");
  expect(await child.ended()).toMatchObject({ code: 130 });
  await expect.poll(() => Object.values(logs).map(({ level }) => level), { timeout: 20_000 }).toEqual(["info", "info"]);
});
