import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";

const root = join(import.meta.dirname, "..", "..");

clientTests({
  name: "connect-node",
  runs: true,
  async build() {
    // In place of `npm install`: the packages of the repository, which are the same.
    const link = `require("fs").symlinkSync(${JSON.stringify(join(root, "node_modules"))}, "node_modules")`;
    const steps = [["node", "-e", link], ["buf", "generate"], ["tsc"]] as const;
    const cwd = await built({ example: "node", tools: [process.version], steps });
    return { cwd, command: "node", args: ["client.ts"] };
  },
  ways: {
    Connect: { ACTUATOR_PROTOCOL: "connect" },
    gRPC: { ACTUATOR_PROTOCOL: "grpc" },
    "gRPC-Web": { ACTUATOR_PROTOCOL: "grpcweb" },
  },
});

test("the example names the versions that the repository tests with", () => {
  const versions = (...path: string[]) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, ...path, "package.json"), "utf8"));
    return { ...dependencies, ...devDependencies };
  };
  expect(versions()).toMatchObject(versions("examples", "node"));
});
