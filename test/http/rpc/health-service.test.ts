import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { grpcClient, serveRpc } from "../../support/rpc-harness.ts";
import { eventually } from "../../support/server-harness.ts";

const LOGGERS = "actuator.v3.LoggersService";
const SESSIONS = "actuator.v3.SessionsService";
const GRAPH = "actuator.v3.IntegrationGraphService";

async function serveHealth() {
  const server = await serveRpc({
    loggers: new Loggers(),
    sessions: new Sessions(new MemorySessionStore(), { ids: "raw" }),
  });
  return { ...server, client: grpcClient(Health, server.url) };
}

test.each(["", LOGGERS, SESSIONS])("Check of %j tells SERVING, and NOT_SERVING while draining", async (service) => {
  const { client, health } = await serveHealth();
  expect(await client.check({ service })).toMatchObject({ status: Status.SERVING });
  health.status = "OUT_OF_SERVICE";
  expect(await client.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
});

test.each([GRAPH, "no.Such", LOGGERS.toLowerCase()])(
  "Check of %j, which is not served, is NOT_FOUND",
  async (service) => {
    const { client } = await serveHealth();
    const error = await client.check({ service }).catch(ConnectError.from);
    expect((error as ConnectError).code).toBe(Code.NotFound);
  },
);

test("List tells the status of every service that is served", async () => {
  const { client, health } = await serveHealth();
  const statuses = async () =>
    Object.entries((await client.list({})).statuses).map(([service, { status }]) => [service, status]);
  expect(await statuses()).toEqual([
    ["", Status.SERVING],
    [LOGGERS, Status.SERVING],
    [SESSIONS, Status.SERVING],
    ["actuator.v3.ApplicationService", Status.SERVING],
    ["actuator.v3.StreamsService", Status.SERVING],
  ]);
  health.status = "OUT_OF_SERVICE";
  expect(new Set((await statuses()).map(([, status]) => status))).toEqual(new Set([Status.NOT_SERVING]));
});

test("Watch tells the status at once and at every change", async () => {
  const { client, health } = await serveHealth();
  const answers = client.watch({ service: LOGGERS })[Symbol.asyncIterator]();
  for (const [status, expected] of [
    ["UP", Status.SERVING],
    ["OUT_OF_SERVICE", Status.NOT_SERVING],
    ["UP", Status.SERVING],
  ] as const) {
    health.status = status;
    expect((await answers.next()).value).toMatchObject({ status: expected });
  }
  await answers.return?.();
});

test("Watch of a service that is not served tells SERVICE_UNKNOWN and stays open", async () => {
  const { client, rpc } = await serveHealth();
  const answers = client.watch({ service: GRAPH })[Symbol.asyncIterator]();
  expect((await answers.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
  const next = answers.next();
  rpc.endStreams();
  await expect(next).rejects.toMatchObject({ code: Code.Unavailable });
});

test("a drain is told to watchers before their streams end", async () => {
  const { client, health, rpc } = await serveHealth();
  const seen: Status[] = [];
  const answers = client.watch({});
  const ended = (async () => {
    for await (const { status } of answers) seen.push(status);
  })().catch(ConnectError.from);
  await eventually(
    () => seen.length === 1,
    () => "no first status",
  );
  health.status = "OUT_OF_SERVICE";
  rpc.endStreams();
  expect(await ended).toMatchObject({ code: Code.Unavailable });
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
  expect(health.listeners).toBe(0);
});
