import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator, integrationGraph } from "../../../src/index.ts";
import { daysFromNow } from "../../support/certificates.ts";
import { eventually } from "../../support/server-harness.ts";
import { testTrust } from "../../support/server-tls.ts";
import { readUntil } from "./read-until.ts";

async function serveActuator(options: ActuatorOptions) {
  const actuator = createActuator({ metrics: true, audit: false, loggers: { logLevelChanges: false }, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const scrape = async () => (await fetch(`${url}/actuator/prometheus`)).text();
  return { actuator, url, scrape };
}

test("a scrape tells what the actuator holds", async () => {
  const graph = integrationGraph({ app: "shop" });
  graph.channel("orders");
  const { actuator, scrape } = await serveActuator({ integrationGraph: graph });
  actuator.loggers!.setLevel("http", "DEBUG", { ttlMs: 600 });
  actuator.loggers!.setLevel("db", "WARN");
  actuator.loggers!.holdLevel("db", "TRACE");
  const text = await scrape();
  const { nodes, links } = graph.graph.snapshot();
  for (const line of [
    "actuator_loggers 3",
    'actuator_logger_overrides{lasting="temporary"} 1',
    'actuator_logger_overrides{lasting="held"} 1',
    'actuator_logger_overrides{lasting="permanent"} 0',
    `actuator_graph_nodes ${nodes.length}`,
    `actuator_graph_links ${links.length}`,
    'actuator_streams{rpc_method="actuator.v3.LoggersService/WatchLoggers"} 0',
    'actuator_health{status="UP"} 1',
    "actuator_logins_refused_total 0",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(text).toMatch(/^actuator_connections [1-9]/m);
  expect(text).toMatch(/^process_start_time_seconds 1[0-9]{9}/m);
});

test("a check that fails is seen by scrapes alone, though nobody else asks for the health", async () => {
  const { scrape } = await serveActuator({ health: { checks: { db: () => false }, cacheMs: 0 } });
  const down = 'actuator_health{status="DOWN"} 1';
  expect(await readUntil(scrape, (text) => text.includes(down))).toContain(down);
});

test("what the application is told of is counted, as an audit that cannot be written", async () => {
  const audit = () => {
    throw new Error("disk full");
  };
  const told: string[] = [];
  const { actuator, url, scrape } = await serveActuator({ audit, onError: (_, context) => told.push(context) });
  actuator.loggers!.setLevel("http", "DEBUG");
  expect(await scrape()).toMatch(/^actuator_errors_total 0$/m);
  const headers = { "content-type": "application/json" };
  await fetch(`${url}/actuator/loggers/http`, { method: "POST", headers, body: "{}" });
  expect(told).toEqual(["audit"]);
  expect(await scrape()).toMatch(/^actuator_errors_total 1$/m);
});

test("over TLS it is told until when the certificate is valid, also of one that took its place", async () => {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-metrics-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const { authority } = await testTrust();
  const put = async (validTo: Date) => {
    const { cert, key } = await authority.issue("server", { validTo });
    writeFileSync(paths.cert, cert);
    writeFileSync(paths.key, key);
    return Math.floor(validTo.getTime() / 1000);
  };
  const first = await put(daysFromNow(10));
  const actuator = createActuator({ metrics: true, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const told = () => {
    const family = actuator.metrics!.gauges().find(({ name }) => name.startsWith("actuator.tls."))!;
    return family.points[0]?.value;
  };
  expect(told()).toBeUndefined();
  await actuator.listen({ port: 0, tls: paths });
  expect(told()).toBe(first);
  const second = await put(daysFromNow(20));
  await eventually(
    () => told() === second,
    () => `${told()}`,
  );
});

test("metrics that are for OpenTelemetry alone are not served", async () => {
  const { actuator, url } = await serveActuator({ metrics: { prometheus: false } });
  const { status } = await fetch(`${url}/actuator/prometheus`);
  expect(status).toBe(404);
  const [calls] = actuator.metrics!.counters();
  expect(calls?.points.length).toBe(1);
});
