import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { authority } from "../support/certificates.ts";
import { requirement } from "../support/requirement.ts";
import { tokenFolder } from "./folders.ts";
import { type Outcome, Program } from "./program.ts";
import { Shop } from "./shop.ts";
import { curl, jq } from "./tools.ts";

const cwd = join(import.meta.dirname, "../../examples/curl");
const client = { cwd, command: "./client.sh", args: [], env: process.env };
const runs = [requirement("curl", curl !== undefined), requirement("jq", jq !== undefined)].every(Boolean);

describe.runIf(runs)("curl, over REST", () => {
  const start = (shop: Shop, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    new Program(client, args, { ACTUATOR_ADDRESS: shop.address, ...env });

  test("sets a level, reads sessions and the graph, and meets errors", async () => {
    await using shop = await Shop.open();
    await using program = start(shop, ["tour"]);
    const lines = [
      "health: UP",
      "loggers: 4, ROOT at INFO",
      "set: shop.orders at DEBUG",
      "clear: shop.orders at INFO",
      expect.stringMatching(/^no level: 400 configuredLevel must be one of OFF, /),
      "sessions: 2 of alice",
      "session: with cart, user",
      "unknown session: 404 ",
      "graph: 3 nodes, 2 links",
    ];
    expect(await program.outcome()).toEqual({ code: 0, lines, errors: "" });
    expect(shop.errors).toEqual([]);
  });

  test("ends with the status and the message of an error", async () => {
    await using shop = await Shop.open();
    await using done = start(shop, ["set", "shop.web", "debug"]);
    expect(await done.outcome()).toEqual({ code: 0, lines: ["set: shop.web at DEBUG"], errors: "" });
    await using refused = start(shop, ["set", "shop.web", "loud"]);
    const { code, lines, errors } = await refused.outcome();
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(errors).toMatch(/^400 configuredLevel must be one of /);
  });

  test("shows a token over TLS", async () => {
    await using folder = await tokenFolder();
    const { ca, issue } = await authority();
    const ACTUATOR_CA = join(folder.path, "ca.pem");
    await writeFile(ACTUATOR_CA, ca);
    await using shop = await Shop.open({ access: { tokens: folder.file } }, { tls: await issue("server") });
    const set = ["set", "shop.web", "debug"];
    const outcomes: Outcome[] = [];
    for (const ACTUATOR_TOKEN of ["", folder.tokens.reader, folder.tokens.operator]) {
      await using program = start(shop, set, { ACTUATOR_CA, ACTUATOR_TOKEN });
      outcomes.push(await program.outcome());
    }
    expect(outcomes).toEqual([
      { code: 1, lines: [], errors: expect.stringMatching(/^401 \S/) },
      { code: 1, lines: [], errors: expect.stringMatching(/^403 \S/) },
      { code: 0, lines: ["set: shop.web at DEBUG"], errors: "" },
    ]);
  });
});
