import http from "node:http";
import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../../src/index.ts";
import { promtoolFaults, promtoolFound } from "../../support/prometheus.ts";
import { requirement } from "../../support/requirement.ts";
import { grpcClient, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { faultsOf, readLines } from "./exposition.ts";
import { readUntil } from "./read-until.ts";

async function serveActuator(options: ActuatorOptions = {}) {
  const graph = integrationGraph({ app: "shop" });
  graph.channel("orders");
  const actuator = createActuator({
    metrics: true,
    audit: false,
    loggers: { logLevelChanges: false },
    sessions: memorySessions(),
    integrationGraph: graph,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const request = async (path: string, init?: RequestInit) => {
    const answer = await fetch(url + path, init);
    return { status: answer.status, text: await answer.text() };
  };
  const scrape = async () => (await request("/actuator/prometheus")).text;
  /** The samples of a metric, as the values of their labels and the number. */
  const samples = async (name: string) =>
    readLines(await scrape()).flatMap((line) =>
      line.kind === "sample" && line.name === name ? [[...line.labels.values(), line.value].join(" | ")] : [],
    );
  return { actuator, url, request, scrape, samples };
}

test("calls over every protocol are counted once each, under the operations that there are", async () => {
  const { url, request, samples, scrape } = await serveActuator({ otlp: true });
  for (const wire of WIRES) {
    const client = createClient(LoggersService, transportOver(wire, url));
    await client.setLoggerLevel({ name: "http", level: Level.DEBUG });
    await client.getLogger({ name: "no.such" }).catch(() => undefined);
  }
  await request("/actuator/loggers/http");
  await request("/actuator/loggers/http?anything=else");
  await request("/actuator/loggers/no.such");
  await request("/actuator/no/such/path");
  await request("/v1/traces", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });

  const set = "actuator.v3.LoggersService/SetLoggerLevel";
  const get = "actuator.v3.LoggersService/GetLogger";
  const calls = await samples("actuator_calls_total");
  expect(calls.sort()).toEqual(
    [
      `connect | ${set} | OK | 4`,
      `connect | ${get} | NOT_FOUND | 4`,
      `grpc | ${set} | OK | 1`,
      `grpc | ${get} | NOT_FOUND | 1`,
      `grpc-web | ${set} | OK | 2`,
      `grpc-web | ${get} | NOT_FOUND | 2`,
      "rest | GET /loggers/{name} | OK | 2",
      "rest | GET /loggers/{name} | NOT_FOUND | 1",
      "rest | _OTHER | NOT_FOUND | 1",
      "otlp | POST /v1/traces | OK | 1",
    ].sort(),
  );
  const measured = await samples("rpc_server_call_duration_seconds_count");
  expect(measured.sort()).toEqual(
    [
      `connectrpc | ${set} | OK | 4`,
      `connectrpc | ${get} | NOT_FOUND | 4`,
      `grpc | ${set} | OK | 3`,
      `grpc | ${get} | NOT_FOUND | 3`,
    ].sort(),
  );
  expect(faultsOf(await scrape(), "text")).toEqual([]);
});

test("callers cannot make series", async () => {
  const { url, request, scrape } = await serveActuator();
  await request("/actuator/loggers/warm-up");
  await request("/actuator/warm-up");
  await request("/actuator.v3.Invented/Warmup", { method: "POST", body: "" });
  await scrape();
  const before = (await scrape()).split("\n").length;
  for (let index = 0; index < 50; index++) {
    await request(`/actuator/loggers/invented-${index}`);
    await request(`/actuator/invented-${index}`);
    await request(`/actuator.v3.Invented${index}/Method`, { method: "POST", body: "" });
    const method = { method: `X${index}`, path: "/actuator/loggers" };
    await new Promise((resolve) =>
      http
        .request(new URL(method.path, url), method)
        .on("close", resolve)
        .on("error", () => {})
        .end(),
    );
  }
  const after = await scrape();
  expect(after).not.toMatch(/invented/i);
  expect(after.split("\n").length - before).toBeLessThan(60);
});

test("streams are counted while they are open, and measured when they end", async () => {
  const { url, samples } = await serveActuator();
  const gone = new AbortController();
  const answers = grpcClient(Health, url).watch({}, { signal: gone.signal })[Symbol.asyncIterator]();
  await answers.next();
  const open = async () => (await samples("actuator_streams")).filter((sample) => !sample.endsWith(" | 0"));
  expect(await open()).toEqual(["grpc.health.v1.Health/Watch | 1"]);
  expect(await samples("rpc_server_call_duration_seconds_count")).toEqual([]);
  gone.abort();
  const counted = await readUntil(
    () => samples("rpc_server_call_duration_seconds_count"),
    (now) => now.length > 0,
  );
  expect(counted).toEqual(["grpc | grpc.health.v1.Health/Watch | CANCELLED | 1"]);
  expect(await open()).toEqual([]);
});

test.runIf(requirement("promtool", promtoolFound))("promtool finds no fault in a scrape", async () => {
  const { request, scrape } = await serveActuator({ health: {} });
  await request("/actuator/loggers");
  await scrape();
  expect(promtoolFaults(await scrape())).toBe("");
});

test("without the option nothing is counted or served", async () => {
  const { actuator, request } = await serveActuator({ metrics: false });
  expect(actuator.metrics).toBeUndefined();
  expect((await request("/actuator/prometheus")).status).toBe(404);
});
