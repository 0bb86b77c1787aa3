// @module-tag slow
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Client, createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FleetService } from "../../src/gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService, Scope } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type RedisServer, redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { transportOver } from "../support/rpc-harness.ts";

const CHILD = join(import.meta.dirname, "instance-child.ts");

/** An instance in a process of its own. */
class Child {
  readonly process: ChildProcess;
  address = "";
  levels = "";

  constructor(id: string, url: string) {
    this.process = fork(CHILD, [id, url]);
    this.process.on("message", (message: { address?: string; levels?: string }) => Object.assign(this, message));
  }

  client<S extends typeof LoggersService | typeof FleetService>(service: S): Client<S> {
    return createClient(service, transportOver({ protocol: "gRPC", httpVersion: "2" }, this.address));
  }

  set(level: Level, selector = "", name = "orders"): Promise<unknown> {
    return this.client(LoggersService).setLoggerLevel({ name, level, scope: Scope.FLEET, fleet: { selector } });
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }
}

describe.runIf(requirement("redis-server", redisFound))("five processes with pino and Redis", () => {
  let redis: RedisServer;
  let children: Child[];
  const soon = (actual: () => unknown) => expect.poll(actual, { timeout: 30_000, interval: 50 });
  const levelsSoon = (levels: string) =>
    soon(() => children.map((child) => child.levels)).toEqual(children.map(() => levels));

  const start = (id: string) => new Child(id, redis.url);

  beforeEach(async () => {
    redis = await startRedis();
    children = ["i1", "i2", "i3", "i4", "i5"].map(start);
    await soon(() => children.every(({ address }) => address !== "")).toBe(true);
  }, 60_000);

  afterEach(async () => {
    for (const child of children) child.process.kill("SIGKILL");
    await redis.stop();
  });

  test("follow what is set on any of them, and a killed one when it is back", { timeout: 120_000 }, async () => {
    await children[0]!.set(Level.WARN);
    await levelsSoon("warn info info");
    await children[2]!.kill();
    await children[1]!.set(Level.ERROR, "", "stock");
    children[2] = start("i3");
    await levelsSoon("warn error info");
    await children[4]!.set(Level.DEBUG, "zone=odd");
    await soon(() => children.map(({ levels }) => levels.split(" ")[0])).toEqual([
      ...["debug", "warn", "debug", "warn", "debug"],
    ]);
  });

  test("keep their levels without the engine, and give them back to one that lost everything", {
    timeout: 120_000,
  }, async () => {
    await children[0]!.set(Level.WARN);
    await levelsSoon("warn info info");
    await redis.kill();
    await expect(children[1]!.set(Level.ERROR)).rejects.toMatchObject({ code: 14 });
    await levelsSoon("warn info info");
    await redis.restart();
    await redis.command("FLUSHALL");
    const late = start("i6");
    children.push(late);
    await levelsSoon("warn info info");
    await soon(() =>
      children[1]!.set(Level.FATAL).then(
        () => "set",
        () => "not yet",
      ),
    ).toBe("set");
    await levelsSoon("fatal info info");
    const { instances } = await children[3]!.client(FleetService).listInstances({});
    expect(instances.map(({ id }) => id)).toEqual(["i1", "i2", "i3", "i4", "i5", "i6"]);
  });

  test("drop a held level when the process dies that holds it", { timeout: 120_000 }, async () => {
    const events = children[0]!
      .client(LoggersService)
      .holdLoggerLevel({ name: "users", level: Level.DEBUG, scope: Scope.FLEET });
    const held = events[Symbol.asyncIterator]();
    await held.next();
    await levelsSoon("info info debug");
    const ended = held.next().catch(() => undefined);
    await children[0]!.kill();
    await ended;
    children.shift();
    await expect
      .poll(() => children.map(({ levels }) => levels), { timeout: 60_000 })
      .toEqual(children.map(() => "info info info"));
  });
});
