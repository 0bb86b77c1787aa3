// @module-tag slow
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { python } from "../../support/python.ts";
import { requirement } from "../../support/requirement.ts";
import { startReceiver } from "./support.ts";

const script = join(import.meta.dirname, "python-service.py");

describe.runIf(requirement("opentelemetry for Python", python !== undefined))("a service in Python", () => {
  test.each([["grpc"], ["http"]])(
    "appears in the graph by exporting over %s",
    async (protocol) => {
      const { url, picture, graph, errors } = await startReceiver();
      const run = promisify(execFile);
      await Promise.all(["p1", "p2"].map((instance) => run(python!, [script, protocol, url, instance])));
      const key = (kind: string, name: string) => `rabbitmq:rabbit.example%3A5672:${kind}://${name}`;
      expect(picture()).toEqual({
        nodes: {
          [key("exchange", "orders")]: "0 ok, 0 failed",
          [key("queue", "prices")]: "0 ok, 0 failed",
          [key("exchange", "prices-x")]: "8 ok, 0 failed",
          "acme/pricing:service_activator:prices.consumer": "6 ok, 2 failed",
        },
        links: {
          [`${key("exchange", "orders")} -route-> ${key("queue", "prices")}`]: 8,
          [`${key("queue", "prices")} -input-> acme/pricing:service_activator:prices.consumer`]: 8,
          [`acme/pricing:service_activator:prices.consumer -output-> ${key("exchange", "prices-x")}`]: 8,
        },
      });
      const { nodes } = graph.snapshot();
      expect(nodes.find(({ name }) => name === "prices.consumer")?.properties).toEqual({
        application: "acme/pricing",
        instances: 2,
      });
      expect(JSON.stringify(nodes)).not.toContain("secret");
      expect(errors).toEqual([]);
    },
    60_000,
  );
});
