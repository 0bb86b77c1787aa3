import { globSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { LeftOutReporter, slowFiles } from "../support/left-out.ts";
import { requirement } from "../support/requirement.ts";

const folderOf = (file: string) => dirname(file).split("/").slice(0, 4).join("/");

test("every folder has fast tests, except the suites that repeat the tests of src/http and src/server with tools of others", () => {
  const slow = new Set(slowFiles());
  const fast = new Set(
    globSync("test/**/*.test.ts")
      .filter((file) => !slow.has(file))
      .map(folderOf),
  );
  const withoutFast = [...new Set([...slow].map(folderOf))].filter((folder) => !fast.has(folder));
  expect(withoutFast.sort()).toEqual(["test/conformance", "test/h2spec"]);
});

test("the last lines say what was left out, why, and how to run it", () => {
  const lines = linesOf(["test/a.test.ts", "test/b.test.ts"], ["go 1.21 or later", "grpcurl", "grpcurl"]);
  expect(lines).toEqual([
    "Running the fast tests; npm run test:all also runs the slow ones.\n",
    "\nLeft out:\n" +
      "  2 files of slow tests. To run them: npm run test:all\n" +
      "  0 tests that need go 1.21 or later, grpcurl. To run them, install these, or run bash .ci/run, which installs " +
      "everything on Debian",
  ]);
});

test("a run of every test that misses no tool ends without such lines", () => {
  expect(linesOf([], [])).toEqual(["Running every test whose server or tool is installed.\n"]);
});

test("a missing tool fails the run that asks for every test", () => {
  vi.stubEnv("CONNECT_ACTUATOR_TEST_ALL", "1");
  expect(() => requirement("grpcurl", false)).toThrow("grpcurl is missing, and CONNECT_ACTUATOR_TEST_ALL=1");
  expect(requirement("grpcurl", true)).toBe(true);
  vi.unstubAllEnvs();
});

/** What the reporter prints about a run that excludes these files and lacks these tools. */
function linesOf(slow: readonly string[], missing: readonly string[]): string[] {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const reporter = new LeftOutReporter(slow);
  reporter.onInit();
  for (const tool of missing) reporter.onUserConsoleLog({ content: `missing: ${tool}\n` });
  reporter.onTestRunEnd([]);
  const lines = log.mock.calls.map(([line]) => line as string);
  log.mockRestore();
  return lines;
}
