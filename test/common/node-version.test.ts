import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requireNode } from "../../src/common/node-version.ts";

describe("the version of Node.js", () => {
  test.each(["18.20.0", "20.20.2", "22.11.0"])("%s is refused, in words", (version) => {
    const message = `connect-actuator needs Node.js 22.12 or newer, and this is ${version}`;
    expect(() => requireNode(version)).toThrow(expect.objectContaining({ reason: "NODE_TOO_OLD", message }));
  });

  test.each(["22.12.0", "23.0.0", "24.21.0", process.versions.node])("%s is taken", (version) => requireNode(version));

  test("is the one that the package promises", () => {
    const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8"));
    requireNode(engines.node.replace(">=", ""));
    expect(() => requireNode("22.11.99")).toThrow(engines.node.replace(">=", ""));
  });
});
