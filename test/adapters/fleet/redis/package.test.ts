import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { FleetEngine } from "../../../../src/fleet/engine.ts";
import { redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { until } from "../../../support/until.ts";

beforeEach(() => void vi.resetModules());
afterEach(() => {
  vi.doUnmock("redis");
  vi.doUnmock("ioredis");
});

/** As if these packages were not installed. */
async function openWithout(url: string, ...packages: readonly string[]): Promise<FleetEngine> {
  for (const name of packages) {
    vi.doMock(name, () => {
      throw new Error(`Cannot find package '${name}'`);
    });
  }
  const { redisFleet } = await import("../../../../src/adapters/fleet/redis/index.ts");
  const engine = redisFleet(url).open("packages");
  onTestFinished(() => engine.close());
  return engine;
}

test("a URL needs one of the packages", async () => {
  const engine = await openWithout("redis://127.0.0.1:1", "redis", "ioredis");
  const message = () =>
    engine.exchange("").then(
      () => "",
      (error: Error) => error.message,
    );
  await until(async () => (await message()).includes('needs the package "redis" or "ioredis": npm install redis'));
});

describe.runIf(requirement("redis-server", redisFound))("with a server", () => {
  test.each(["redis", "ioredis"])("a URL works without %s", async (missing) => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const engine = await openWithout(server.url, missing);
    await until(() =>
      engine.exchange("").then(
        () => true,
        () => false,
      ),
    );
    const list = `${await server.command("CLIENT", "LIST")}`;
    // ioredis has a connection of its own for hints; the fixture has one, too.
    expect(list.trim().split("\n")).toHaveLength(missing === "redis" ? 3 : 2);
  });
});
