// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";

clientTests({
  name: "connect-node",
  runs: true,
  build: () => built("node", [process.version]),
  ways: {
    Connect: { ACTUATOR_PROTOCOL: "connect" },
    gRPC: { ACTUATOR_PROTOCOL: "grpc" },
    "gRPC-Web": { ACTUATOR_PROTOCOL: "grpcweb" },
  },
});

test("the example in Node.js names the versions that the repository tests with", () => {
  const root = join(import.meta.dirname, "../..");
  const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const { dependencies, devDependencies } = manifest("examples/node");
  const named = Object.entries<string>({ ...dependencies, ...devDependencies });
  expect(named).toEqual(named.map(([name]) => [name, manifest(`node_modules/${name}`).version]));
});
