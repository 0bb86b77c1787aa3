import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { binaryTransport } from "../../src/dashboard/link/transport.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import { WrittenLibrary } from "../logs/written-library.ts";
import { errorInfo } from "../support/rpc-harness.ts";

async function served(options: ActuatorOptions = {}) {
  const loggers = { adapters: [new WrittenLibrary(["orders", "größe"])], logLevelChanges: false };
  const actuator = createActuator({ loggers, audit: false, onError: () => undefined, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const client = (authorization?: string) =>
    createClient(LoggersService, binaryTransport(`${url}/actuator/rpc`, authorization));
  return { actuator, client };
}

test("a unary call answers, and fails with code, message, reason and metadata", async () => {
  const { client } = await served({ readOnly: true });
  const { loggers } = await client().listLoggers({});
  expect(loggers.map(({ name }) => name)).toEqual(["ROOT", "größe", "orders"]);
  const error = await client()
    .getLogger({ name: "none" })
    .catch((failure) => failure);
  expect(error.code).toBe(5);
  expect(errorInfo(error)).toMatchObject({ reason: "LOGGER_NOT_FOUND" });
});

test("a stream gives its messages, and ends with the error of its last frame", async () => {
  const { client, actuator } = await served();
  const events = client().watchLoggers({})[Symbol.asyncIterator]();
  expect((await events.next()).value!.event.case).toBe("snapshot");
  actuator.loggers!.setLevel("orders", "DEBUG");
  expect((await events.next()).value!.event.case).toBe("change");
  const end = events.next().catch((failure) => failure);
  await actuator.close();
  expect(errorInfo(await end)).toMatchObject({ reason: "SHUTTING_DOWN" });
});

test("credentials are sent, and their lack is told", async () => {
  const { client } = await served({
    access: {
      authorize: ({ header }) =>
        header("authorization") === "Bearer right" ? { name: "alice", permissions: ["*"] } : undefined,
    },
  });
  await client("Bearer right").listLoggers({});
  expect(
    await client("Bearer wrong")
      .listLoggers({})
      .catch(({ code }) => code),
  ).toBe(16);
  const watch = client().watchLoggers({})[Symbol.asyncIterator]();
  expect(await watch.next().catch(({ code }) => code)).toBe(16);
});

test("what a proxy answers, and a server that is gone, are told apart from the service", async () => {
  let status = 502;
  const server = createServer((_, res) => void res.writeHead(status).end("<html>")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const call = () =>
    createClient(LoggersService, binaryTransport(`http://127.0.0.1:${port}/rpc`, undefined))
      .listLoggers({})
      .catch(({ code }) => code);
  expect(await call()).toBe(14);
  status = 403;
  expect(await call()).toBe(7);
  await new Promise((resolve) => server.close(resolve));
  expect(await call()).toBe(14);
});

test("frames are put together from whatever pieces arrive", async () => {
  const { client, actuator } = await served();
  const abort = new AbortController();
  const events = client().watchLoggers({}, { signal: abort.signal })[Symbol.asyncIterator]();
  await events.next();
  const long = "x".repeat(400);
  for (let at = 0; at < 500; at++) actuator.loggers!.setLevel(`${long}.${at}`, "DEBUG");
  const seen = new Set<string>();
  while (seen.size < 500) {
    const { event } = (await events.next()).value!;
    if (event.case === "change")
      for (const { name } of event.value.loggers) if (name.startsWith(`${long}.`)) seen.add(name);
  }
  abort.abort();
  expect(await events.next().catch(({ code }) => code), "cancelled").toBe(1);
});
