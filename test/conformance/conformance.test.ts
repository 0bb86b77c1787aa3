import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goModule } from "../support/go-program.ts";
import { requirement } from "../support/requirement.ts";
import { run } from "../support/run.ts";

const MODULE = "connectrpc.com/conformance";
/** The newest first; a proxy that lacks a module of one may have all of another. */
const VERSIONS = ["v1.0.7", "v1.0.6"];
/** Fewer would mean that a feature has been lost on the way to the suite. */
const CASES = 1_895;
const minutes = 60_000;

const root = join(import.meta.dirname, "..", "..");
const suite = goModule(MODULE, VERSIONS);

describe.runIf(requirement(`Go with its module ${MODULE}`, suite !== undefined))(
  "the Connect conformance suite",
  () => {
    const scratch = mkdtempSync(join(tmpdir(), "connect-actuator-conformance-"));
    const image = join(scratch, "image.binpb");

    // The suite's own proto files, compiled where it needs them and kept nowhere.
    beforeAll(async () => {
      const buf = join(root, "node_modules", ".bin", "buf");
      const built = await run(buf, ["build", suite!.directory, "--as-file-descriptor-set", "-o", image], minutes);
      expect(built).toEqual({ code: 0, output: "" });
    });
    afterAll(() => rmSync(scratch, { recursive: true }));

    test("Connect, gRPC and gRPC-Web over HTTP/1.1 and HTTP/2", { timeout: 10 * minutes }, async () => {
      const here = (name: string) => join(import.meta.dirname, name);
      const options = [
        "--mode",
        "server",
        "--conf",
        here("features.yaml"),
        "--known-failing",
        `@${here("known-failing.txt")}`,
      ];
      const server = ["--", process.execPath, here("server.ts"), image];
      const program = `${MODULE}/cmd/connectconformance@${suite!.version}`;
      const { code, output } = await run("go", ["run", program, ...options, ...server], 9 * minutes);

      const [totals, passed, failed] = /^(\d+) passed, (\d+) failed(?:\n\(Another .*\))?$/m.exec(output) ?? [];
      const failures = output.slice(output.indexOf("FAILED: "));
      expect({ code, failed }, failures.slice(0, 5_000)).toEqual({ code: 0, failed: "0" });
      expect(Number(passed)).toBeGreaterThanOrEqual(CASES);
      console.log(`conformance suite ${suite!.version}: ${totals!.replace("\n", " ")}`);
    });
  },
);
