import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/access/token.ts";
import { authority } from "../support/certificates.ts";
import type { Built } from "./build.ts";
import { Cable } from "./cable.ts";
import { scratchFolder, tokenFolder } from "./folders.ts";
import { Program } from "./program.ts";
import { Shop } from "./shop.ts";

/** An example that can do what all can. */
export interface Client {
  readonly name: string;
  /** Whether everything that it needs is there. */
  readonly runs: boolean;
  readonly build: () => Promise<Built>;
  /** The ways in which it can be run, each by its environment. Default: one. */
  readonly ways?: Readonly<Record<string, NodeJS.ProcessEnv>>;
}

const BUILD_MS = 8 * 60_000;
const TEST_MS = 180_000;

/** What every tour shows, in this order. */
const TOUR = [
  "health: SERVING",
  "loggers: 4, ROOT at INFO",
  "watch: shop.orders at INFO",
  "set: shop.orders at DEBUG",
  "watch: shop.orders at DEBUG",
  "restore: shop.orders at INFO",
  "watch: shop.orders at INFO",
  "no level: INVALID_ARGUMENT INVALID_LEVEL field=level",
  "a watch of 500 ms: DEADLINE_EXCEEDED",
  "sessions: 2 of alice",
  "session: of alice, with cart, user",
  "unknown session: NOT_FOUND SESSION_NOT_FOUND field=id",
  "graph: 3 nodes, 2 links",
];

/** What every client of this project has to meet, and how its example says so. */
export function clientTests({ name, runs, build, ways = { "": {} } }: Client): void {
  describe.runIf(runs)(name, () => {
    let client: Built;

    beforeAll(async () => {
      client = await build();
    }, BUILD_MS);

    describe.each(Object.entries(ways))("%s", (_, env) => {
      const start: Start = (shop, args, more) =>
        new Program(client, args, { ...env, ACTUATOR_ADDRESS: shop.address, ...more });
      clientTestsOf(start, env.ACTUATOR_SCHEMA === "reflection");
    });
  });
}

type Start = (shop: Shop, args: readonly string[], env?: NodeJS.ProcessEnv) => Program;

function clientTestsOf(start: Start, reflects: boolean): void {
  test(
    "sets a level and sees it arrive, reads sessions and the graph, and meets errors with details and a deadline",
    async () => {
      await using shop = await Shop.open();
      await using program = start(shop, ["tour"]);
      expect(await program.outcome()).toEqual({ code: 0, lines: TOUR, errors: "" });
      const [restored, set] = shop.actuator.loggers!.history({ limit: 10 });
      expect(restored).toMatchObject({ name: "shop.orders", kind: "RESTORED" });
      expect(set).toMatchObject({ name: "shop.orders", level: "DEBUG", kind: "SET" });
      expect(set?.override?.expireTime).toBeDefined();
      expect(shop.errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "watches on over a server that drains and is started again",
    async () => {
      await using shop = await Shop.open();
      await using program = start(shop, ["watch"]);
      const first = await program.heard(/^watching 4 loggers$/);
      await shop.restart();
      const gone = await program.heard(
        /^UNAVAILABLE( SHUTTING_DOWN)?: The server is shutting down\. Connecting again\.$/,
        first,
      );
      const again = await program.heard(/^watching 4 loggers$/, gone);
      shop.actuator.loggers!.setLevel("shop.web", "TRACE");
      await program.heard(/^shop\.web at TRACE$/, again);
      expect(shop.errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "watches on after a connection that was cut",
    async () => {
      await using shop = await Shop.open();
      await using cable = await Cable.to(shop.port);
      await using program = start(shop, ["watch"], { ACTUATOR_ADDRESS: cable.address });
      const first = await program.heard(/^watching 4 loggers$/);
      cable.cut();
      const gone = await program.heard(/ Connecting again\.$/, first);
      const again = await program.heard(/^watching 4 loggers$/, gone);
      shop.actuator.loggers!.setLevel("shop.web", "TRACE");
      await program.heard(/^shop\.web at TRACE$/, again);
      expect(shop.errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "ends with the code and the reason of an error",
    async () => {
      await using shop = await Shop.open();
      await using done = start(shop, ["set", "shop.web", "debug"]);
      expect(await done.outcome()).toEqual({ code: 0, lines: ["shop.web at DEBUG, was UNSPECIFIED"], errors: "" });
      await using refused = start(shop, ["set", "x".repeat(513), "debug"]);
      const { code, lines, errors } = await refused.outcome();
      expect({ code, lines }).toEqual({ code: 1, lines: [] });
      expect(errors).toMatch(/^INVALID_ARGUMENT INVALID_NAME field=name: The name is longer than 512 bytes\.$/m);
    },
    TEST_MS,
  );

  test(
    "shows a token, and is told who it has to be and what it may not do",
    async () => {
      await using folder = await tokenFolder();
      const { file, tokens } = folder;
      await using shop = await Shop.open({ access: { tokens: file } });
      const set = ["set", "shop.web", "debug"];

      await using anonymous = start(shop, set);
      // A client that asks for the schema first is refused there, and grpcurl keeps no details of that.
      const missing = reflects ? /^UNAUTHENTICATED: \S/m : /^UNAUTHENTICATED CREDENTIALS_MISSING: \S/m;
      expect(await anonymous.outcome()).toEqual({ code: 1, lines: [], errors: expect.stringMatching(missing) });
      await using unknown = start(shop, set, { ACTUATOR_TOKEN: createToken().token });
      const invalid = reflects ? /^UNAUTHENTICATED: \S/m : /^UNAUTHENTICATED CREDENTIALS_INVALID: \S/m;
      expect(await unknown.outcome()).toEqual({ code: 1, lines: [], errors: expect.stringMatching(invalid) });
      await using reader = start(shop, set, { ACTUATOR_TOKEN: tokens.reader });
      const denied = /^PERMISSION_DENIED \S+ permission=loggers:write: \S/m;
      expect(await reader.outcome()).toEqual({ code: 1, lines: [], errors: expect.stringMatching(denied) });
      expect(shop.actuator.loggers!.history({ limit: 10 })).toEqual([]);

      await using operator = start(shop, set, { ACTUATOR_TOKEN: tokens.operator });
      expect(await operator.outcome()).toMatchObject({ code: 0, errors: "" });
      expect(shop.actuator.loggers!.history({ limit: 1 })[0]?.override?.actor).toBe("operator");
      // Streams show the token as well.
      await using tour = start(shop, ["tour"], { ACTUATOR_TOKEN: tokens.operator });
      expect(await tour.outcome()).toEqual({ code: 0, lines: TOUR, errors: "" });
      expect(shop.errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "ends a watch whose token is taken back",
    async () => {
      await using folder = await tokenFolder();
      await using shop = await Shop.open({ access: { tokens: folder.file } });
      await using program = start(shop, ["watch"], { ACTUATOR_TOKEN: folder.tokens.operator });
      await program.heard(/^watching 4 loggers$/);
      await writeFile(folder.file, JSON.stringify({ version: 1, tokens: [] }));
      const refused = /^UNAUTHENTICATED.*: \S/m;
      expect(await program.outcome()).toMatchObject({ code: 1, errors: expect.stringMatching(refused) });
      expect(shop.errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "speaks TLS with a server that an authority of its own vouches for, and with no other",
    async () => {
      await using folder = await scratchFolder();
      const [own, other] = await Promise.all([authority(), authority()]);
      const ACTUATOR_CA = join(folder.path, "ca.pem");
      await using shop = await Shop.open({}, { tls: await own.issue("server") });
      await writeFile(ACTUATOR_CA, own.ca);
      await using tour = start(shop, ["tour"], { ACTUATOR_CA });
      expect(await tour.outcome()).toEqual({ code: 0, lines: TOUR, errors: "" });

      const before = shop.actuator.loggers!.history({ limit: 10 });
      await writeFile(ACTUATOR_CA, other.ca);
      await using deceived = start(shop, ["set", "shop.web", "debug"], { ACTUATOR_CA });
      expect(await deceived.outcome()).toMatchObject({ code: 1, lines: [] });
      expect(shop.actuator.loggers!.history({ limit: 10 })).toEqual(before);
    },
    TEST_MS,
  );
}
