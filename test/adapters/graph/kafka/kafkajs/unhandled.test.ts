import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** How a process ends that asks no cluster for a description, and does not wait for the answer. */
function run(attach: string): { readonly status: number | null; readonly error: string } {
  const script = `
    import { Kafka, logLevel } from "kafkajs";
    import { integrationGraph } from ${at("../../../../../src/integration-graph/builder.ts")};
    import { kafkajsSource } from ${at("../../../../../src/adapters/graph/kafka/kafkajs/index.ts")};
    const kafka = new Kafka({ brokers: ["127.0.0.1:1"], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
    const flow = integrationGraph({ app: "shop" });
    ${attach}
    kafka.admin().describeCluster();
  `;
  const { status, stderr } = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", script], {
    cwd: new URL("../../../../..", import.meta.url),
    encoding: "utf8",
  });
  return { status, error: /^\w*Error.*$/m.exec(stderr)?.[0] ?? "" };
}

test("a rejection that nobody handles ends the process as without the adapter", () => {
  const plain = run("");
  expect(plain.status).toBe(1);
  expect(run("flow.attach(kafkajsSource(kafka));")).toEqual(plain);
});
