// @module-tag slow
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goModule } from "../support/go-program.ts";
import { requirement } from "../support/requirement.ts";
import { run } from "../support/run.ts";

const MODULE = "connectrpc.com/conformance";
const VERSION = "v1.0.7";
/** Fewer would mean that a feature has been lost on the way to the suite. */
const CASES = 3_640;
/** Cases that may fail through no fault of the server, and why. Each has a second chance, by itself, and must take it. */
const SECOND_CHANCES: readonly (readonly [cases: RegExp, why: string])[] = [
  [/^(Deadline Propagation|Timeouts)\//, "the machine may have been too busy for its deadline"],
];
const MOST_CHANCES = 3;
const minutes = 60_000;

const root = join(import.meta.dirname, "..", "..");
const suite = goModule(MODULE, VERSION);

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

    async function judge(...more: readonly string[]) {
      const here = (name: string) => join(import.meta.dirname, name);
      const options = ["--mode", "server", "--parallel", "8", "--conf", here("features.yaml"), ...more];
      const server = ["--", process.execPath, here("server.ts"), image];
      const program = `${MODULE}/cmd/connectconformance@${suite!.version}`;
      const { output } = await run("go", ["run", program, ...options, ...server], 9 * minutes);
      const [totals, passed] = /^(\d+) passed, \d+ failed(?:\n\(Another .*\))?$/m.exec(output) ?? [];
      const failed = [...output.matchAll(/^FAILED: (.*?):?$/gm)].map(([, name]) => name!);
      return {
        totals,
        passed: Number(passed),
        failed,
        details: output.slice(output.indexOf("FAILED: ")).slice(0, 5_000),
      };
    }

    test("Connect, gRPC and gRPC-Web over HTTP/1.1 and HTTP/2, cleartext and TLS", {
      timeout: 20 * minutes,
    }, async () => {
      const { totals, passed, failed, details } = await judge();
      const again = failed.filter((name) => reasonFor(name) !== undefined).slice(0, MOST_CHANCES);
      expect(failed, details).toEqual(again);
      expect(passed + again.length).toBe(CASES);
      console.log(`conformance suite ${suite!.version}: ${totals!.replace("\n", " ")}`);

      for (const name of again) {
        console.log(`  once more, for ${reasonFor(name)}: ${name}`);
        const second = await judge("--run", name);
        expect(second.failed, second.details).toEqual([]);
        expect(second.passed).toBe(1);
      }
    });
  },
);

function reasonFor(name: string): string | undefined {
  return SECOND_CHANCES.find(([cases]) => cases.test(name))?.[1];
}
