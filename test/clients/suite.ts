import { beforeAll, describe, expect, test } from "vitest";
import { type Built, Program } from "./program.ts";
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
const TEST_MS = 60_000;

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
      clientTestsOf((shop, ...args) => new Program(client, args, { ...env, ACTUATOR_ADDRESS: shop.address }));
    });
  });
}

function clientTestsOf(start: (shop: Shop, ...args: string[]) => Program): void {
  test(
    "sets a level and sees it arrive, reads sessions and the graph, and meets errors with details and a deadline",
    async () => {
      await using shop = await Shop.open();
      await using program = start(shop, "tour");
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
      await using program = start(shop, "watch");
      const first = await program.heard(/^watching 4 loggers$/);
      await shop.restart();
      const gone = await program.heard(/^UNAVAILABLE: The server is shutting down\. Connecting again\.$/, first);
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
      await using done = start(shop, "set", "shop.web", "debug");
      expect(await done.outcome()).toEqual({ code: 0, lines: ["shop.web at DEBUG, was UNSPECIFIED"], errors: "" });
      await using refused = start(shop, "set", "x".repeat(513), "debug");
      const { code, lines, errors } = await refused.outcome();
      expect({ code, lines }).toEqual({ code: 1, lines: [] });
      expect(errors).toMatch(/^INVALID_ARGUMENT INVALID_NAME field=name: The name is longer than 512 bytes\.$/m);
    },
    TEST_MS,
  );
}
