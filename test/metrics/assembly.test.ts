import { expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator, integrationGraph } from "../../src/index.ts";
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
  actuator.loggers!.setLevel("http", "DEBUG", { ttl: 600 });
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
    "actuator_streams 0",
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

test("metrics that are for OpenTelemetry alone are not served", async () => {
  const { actuator, url } = await serveActuator({ metrics: { prometheus: false } });
  const { status } = await fetch(`${url}/actuator/prometheus`);
  expect(status).toBe(404);
  const [calls] = actuator.metrics!.counters();
  expect(calls?.points.length).toBe(1);
});
