import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { scriptFound, typed } from "../cli/terminal.ts";
import { attachTo, runPlain } from "../support/attach-command.ts";
import { applicationFolder, runApplication } from "../support/auto-application.ts";
import { bundled } from "../support/bundled-application.ts";
import { until } from "../support/until.ts";

const SHOP = `
import { pino } from "pino";
import winston from "winston";
import { Kafka, logLevel } from "kafkajs";
import mqtt from "mqtt";
const log = pino();
const silent = log.child({ module: "shop.silent" });
const mail = winston.createLogger({ transports: [new winston.transports.Console()] });
const letters = mail.child({ module: "mail.letters" });
const kafka = new Kafka({ brokers: ["127.0.0.1:1"], logLevel: logLevel.NOTHING });
const client = mqtt.connect("mqtt://127.0.0.1:1", { reconnectPeriod: 0 }).on("error", () => {});
process.once("SIGUSR2", () => {
  silent.debug("by pino");
  letters.debug("by winston");
  console.log("over", typeof kafka, typeof client);
});
const prototypes = [kafka, client, mail, silent].map((made) => {
  let at = made;
  while (!Object.hasOwn(at, "constructor")) at = Object.getPrototypeOf(at);
  return at;
});
const methods = (all) => all.flatMap((each) => Object.values(Object.getOwnPropertyDescriptors(each)).map(({ value }) => value));
const before = methods(prototypes);
process.on("SIGHUP", () => {
  const after = methods(prototypes);
  console.log("unchanged", after.length === before.length && after.every((method, at) => method === before[at]));
});
setInterval(() => {}, 1_000);
console.log("ready");
`;

for (const [what, make, script, found] of [
  ["a bundle", () => bundled(SHOP, "cjs", true), "shop.cjs", { pino: 2, winston: 2, kafkajs: 1, mqtt: 1 }],
  ["packages", () => applicationFolder({ "shop.mjs": SHOP }), "shop.mjs", { pino: 2, winston: 2, kafkajs: 1, mqtt: 1 }],
] as const) {
  const tags = what === "packages" ? [] : ["slow"];
  test(`what an application of ${what} has made and never uses is found`, { tags }, async () => {
    const folder = await make();
    const shop = runPlain(folder, script);
    await shop.said("ready");
    const { stdout, stderr, code } = await attachTo(folder, shop.child.pid!, "--search-heap", "--yes", "--json");
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/^the search of its heap stops process \d+ for about .* of CPU/m);
    const { heap } = JSON.parse(stdout);
    expect(heap).toEqual({ expectedPauseMs: expect.any(Number), pauseMs: expect.any(Number), found });
    const { shows, notices } = await shop.describe();
    expect(notices).toEqual(script === "shop.cjs" ? [expect.stringContaining("is a bundle")] : []);
    expect(shows.integrationGraph.toSorted()).toEqual(["kafkajs", "mqtt"]);
    const { loggers } = await shop.get("/loggers");
    expect(Object.keys(loggers)).toEqual(expect.arrayContaining(["ROOT", "mail.letters", "shop.silent"]));

    for (const name of ["mail.letters", "shop.silent"])
      await shop.post(`/loggers/${name}`, { configuredLevel: "DEBUG" });
    shop.child.kill("SIGUSR2");
    for (const text of ["by pino", "by winston", "over"]) await shop.said(text);

    shop.child.kill("SIGHUP");
    await shop.said("unchanged false");
    expect(await shop.line(LINES.detachRestoring)).toEqual({});
    await until(() => !existsSync(shop.socket));
    shop.child.kill("SIGHUP");
    await shop.said("unchanged true");
  });
}

const IDLE = `import { pino } from "pino"; const log = pino(); setInterval(() => log, 1000); console.log("ready");`;

test("without a terminal it is refused before anything is done, unless --yes agrees to the pause", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runPlain(folder, "idle.mjs");
  await idle.said("ready");
  const { stderr, code } = await attachTo(folder, idle.child.pid!, "--search-heap");
  expect(code).toBe(2);
  expect(stderr).toContain("--search-heap stops the process for a time: without a terminal, agree to it by --yes");
  expect(existsSync(idle.socket)).toBe(false);
  expect(idle.output().stderr).toBe("");
});

test.skipIf(!scriptFound)("a terminal is told how long it takes, and asked", async () => {
  const folder = applicationFolder({ "idle.mjs": IDLE });
  const idle = runApplication(folder, "idle.mjs");
  await idle.describe();
  const search = async (answer: string) => {
    const command = typed(["attach", `${idle.child.pid}`, "--search-heap"], folder.env);
    await command.shows(/stops process \d+ for about .* of CPU: search it\? \[y\/N\]/);
    command.type(`${answer}\n`);
    return command.ended();
  };
  const refused = await search("n");
  expect(refused.code).toBe(0);
  expect(refused.shown).not.toContain("paused for");
  const agreed = await search("y");
  expect(agreed.code).toBe(0);
  expect(agreed.shown).toContain("is managed already");
  expect(agreed.shown).toMatch(/paused for .*s; found pino 1\n/);
});
