import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";

const { name, version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

test("the graph is described by the package, its version, the original's format and the application", () => {
  expect(integrationGraph({ app: "shop" }).graph.snapshot().contentDescriptor).toEqual({
    provider: name,
    providerVersion: version,
    providerFormatVersion: 1.2,
    name: "shop",
  });
});
