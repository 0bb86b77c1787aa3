import { expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { CountingHealth, grpcClient, serveRpc } from "../../support/rpc-harness.ts";
import { eventually } from "../../support/server-harness.ts";

const LOGGERS = "actuator.v3.LoggersService";

async function serveChecked(intervalMs = 60_000) {
  const state = { well: true, runs: 0 };
  const db = async () => {
    state.runs++;
    return state.well;
  };
  const health = new CountingHealth({ checks: { db }, cacheMs: 0, intervalMs });
  const { url } = await serveRpc({ health, loggers: new Loggers() });
  return { state, health, client: grpcClient(Health, url) };
}

test.each(["", LOGGERS])("Check of %j is what the checks say now", async (service) => {
  const { state, client } = await serveChecked();
  expect(await client.check({ service })).toMatchObject({ status: Status.SERVING });
  state.well = false;
  expect(await client.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
});

test("List tells what the checks say of every service", async () => {
  const { state, client } = await serveChecked();
  state.well = false;
  const { statuses } = await client.list({});
  expect(Object.keys(statuses)).toEqual(["", LOGGERS, "actuator.v3.ApplicationService", "actuator.v3.StreamsService"]);
  expect(new Set(Object.values(statuses).map(({ status }) => status))).toEqual(new Set([Status.NOT_SERVING]));
});

test("Watch begins with what the checks say, and tells what they come to say", async () => {
  const { state, client } = await serveChecked(1);
  state.well = false;
  const answers = client.watch({ service: LOGGERS })[Symbol.asyncIterator]();
  expect((await answers.next()).value).toMatchObject({ status: Status.NOT_SERVING });
  state.well = true;
  expect((await answers.next()).value).toMatchObject({ status: Status.SERVING });
  await answers.return?.();
});

test("nobody watches any more when the last watcher has gone", async () => {
  const { health, client } = await serveChecked(1);
  const gone = new AbortController();
  await client.watch({}, { signal: gone.signal })[Symbol.asyncIterator]().next();
  expect(health.listeners).toBe(1);
  gone.abort();
  await eventually(
    () => health.listeners === 0,
    () => `${health.listeners} listen`,
  );
});

test("a watcher that goes before the first answer is forgotten", async () => {
  let answer: (() => void) | undefined;
  const slow = () => new Promise<void>((resolve) => (answer = resolve));
  const health = new CountingHealth({ checks: { slow }, timeoutMs: 60_000 });
  const { url, listener } = await serveRpc({ health });
  const gone = new AbortController();
  const first = grpcClient(Health, url).watch({}, { signal: gone.signal })[Symbol.asyncIterator]().next();
  await eventually(
    () => answer !== undefined,
    () => "the check never ran",
  );
  gone.abort();
  await expect(first).rejects.toThrow();
  await eventually(
    () => listener.counts.streams === 0,
    () => `${listener.counts.streams} streams`,
  );
  answer!();
  await health.check();
  await new Promise((resolve) => setImmediate(resolve));
  expect(health.listeners).toBe(0);
});
