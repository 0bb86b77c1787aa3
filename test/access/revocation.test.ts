import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test, vi } from "vitest";
import { encodeTokens } from "../../src/access/token-file.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator } from "../../src/index.ts";
import type { AuditRecord } from "../../src/operations/audit/audit-record.ts";
import { errorInfo, libraryOf, transportOver, WIRES } from "../support/rpc-harness.ts";
import { put, tokenFile, tokenOf } from "./fixtures.ts";

test("who is revoked sees and holds nothing any more, over every protocol", async () => {
  const [alice, bob] = [tokenOf("alice"), tokenOf("bob")];
  const file = tokenFile(alice.entry, bob.entry);
  const loggers = WIRES.map((_, at) => `logger${at}`);
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    loggers: { adapters: [libraryOf(loggers)] },
    access: { tokens: file },
    audit: (record) => void records.push(record),
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const as = ({ token }: { token: string }): CallOptions => ({ headers: { authorization: `Bearer ${token}` } });

  const revoked: AsyncIterator<unknown>[] = [];
  const others: AsyncIterator<unknown>[] = [];
  for (const [at, wire] of WIRES.entries()) {
    const client = createClient(LoggersService, transportOver(wire, url));
    const held = { name: loggers[at]!, level: Level.TRACE };
    revoked.push(client.holdLoggerLevel(held, as(alice))[Symbol.asyncIterator]());
    revoked.push(client.watchLoggers({}, as(alice))[Symbol.asyncIterator]());
    others.push(client.watchLoggers({}, as(bob))[Symbol.asyncIterator]());
  }
  for (const stream of [...revoked, ...others]) await stream.next();
  const levels = () => loggers.map((name) => actuator.loggers!.get(name)?.configuredLevel);
  expect(levels()).toEqual(loggers.map(() => "TRACE"));

  put(file, encodeTokens([bob.entry]));
  for (const stream of revoked) {
    expect(await toTheEnd(stream)).toMatchObject({ code: Code.Unauthenticated });
  }
  await expect.poll(levels).toEqual(loggers.map(() => undefined));
  for (const stream of others) expect((await stream.next()).done, "bob goes on").toBe(false);
  const ended = { who: "alice", result: "UNAUTHENTICATED", reason: "CREDENTIALS_REVOKED" };
  await expect.poll(() => records.filter(({ phase }) => phase !== "begin")).toMatchObject(revoked.map(() => ended));
});

test("the streams of a token that expires end as expired, in the audit too", async () => {
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const [alice, bob] = [tokenOf("alice", { expires }), tokenOf("bob")];
  const records: AuditRecord[] = [];
  const actuator = createActuator({
    loggers: { adapters: [libraryOf(["orders"])] },
    access: { tokens: tokenFile(alice.entry, bob.entry) },
    audit: (record) => void records.push(record),
    heartbeatMs: 500,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const client = createClient(LoggersService, transportOver(WIRES[0]!, url));
  const watchAs = ({ token }: { token: string }) =>
    client.watchLoggers({}, { headers: { authorization: `Bearer ${token}` } })[Symbol.asyncIterator]();
  const [expiring, lasting] = [watchAs(alice), watchAs(bob)];
  for (const stream of [expiring, lasting]) await stream.next();

  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_001 });
  const error = await toTheEnd(expiring);
  expect(error).toMatchObject({ code: Code.Unauthenticated, rawMessage: "The credentials have expired." });
  expect(errorInfo(error!)?.reason).toBe("CREDENTIALS_EXPIRED");
  expect((await lasting.next()).done, "bob goes on").toBe(false);
  await expect.poll(() => records).toMatchObject([{ who: "alice", reason: "CREDENTIALS_EXPIRED" }]);
});

test("whom the application lets in no more sees nothing any more, over every protocol, and others go on", async () => {
  const known = new Set(["ann", "bob"]);
  const actuator = createActuator({
    loggers: { adapters: [libraryOf(["orders"])] },
    access: {
      reauthorizeIntervalMs: 1_000,
      authorize: async ({ header }) => {
        const name = header("x-user") ?? "";
        return known.has(name) ? { name, permissions: ["loggers:read"] } : undefined;
      },
    },
    heartbeatMs: 500,
    audit: false,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const watchOf = (user: string) =>
    WIRES.map((wire) => {
      const client = createClient(LoggersService, transportOver(wire, url));
      return client.watchLoggers({}, { headers: { "x-user": user } })[Symbol.asyncIterator]();
    });
  const [ofAnn, ofBob] = [watchOf("ann"), watchOf("bob")];
  for (const stream of [...ofAnn, ...ofBob]) await stream.next();

  known.delete("ann");
  for (const stream of ofAnn) expect(await toTheEnd(stream)).toMatchObject({ code: Code.Unauthenticated });
  for (const stream of ofBob) expect((await stream.next()).done, "bob goes on").toBe(false);
});

async function toTheEnd(stream: AsyncIterator<unknown>): Promise<ConnectError | undefined> {
  try {
    while (!(await stream.next()).done);
    return undefined;
  } catch (error) {
    return ConnectError.from(error);
  }
}
