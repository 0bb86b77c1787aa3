import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LeftOutReporter, MISSING, slowFiles } from "./test/support/left-out.ts";

// Workers, and the programs that tests start, compile the same modules again and again: this halves what a command line costs.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules", ".cache", "node-compile");

// Most calls take the direct path, and the rest goes to connect. These tests run a second time with connect serving every call.
const BOTH_PATHS = [
  "{conformance,http/gate,http/rpc,operations/audit,robustness}/**/*",
  "operations/metrics/rpc",
  "server/{flood,hostile,http2-refusal}",
];
const connectPath = join(import.meta.dirname, "test", "support", "connect-path.ts");
const CONNECT_PATH = {
  name: "connect path",
  include: BOTH_PATHS.map((files) => `test/${files}.test.ts`),
  // It uses both paths by itself.
  exclude: ["test/http/rpc/direct-path.test.ts"],
  setupFiles: [connectPath],
  env: { NODE_OPTIONS: `--import ${pathToFileURL(connectPath)}` },
};

// `npm test` is `vitest run --mode fast`; without the mode every test runs, as in `npm run test:all` and `npx vitest run test/loggers`.
export default defineConfig(({ mode }) => {
  const leftOut = mode === "fast" ? slowFiles() : [];
  return {
    test: {
      projects: [
        { extends: true, test: { name: "all", include: ["test/**/*.test.ts"] } },
        ...(mode === "fast" ? [] : [{ extends: true as const, test: CONNECT_PATH }]),
      ],
      exclude: [...configDefaults.exclude, ...leftOut],
      tags: [{ name: "slow", description: "takes more than a few seconds of a processor", skip: mode === "fast" }],
      reporters: [
        "default",
        ...(process.env.GITHUB_ACTIONS ? ["github-actions" as const] : []),
        new LeftOutReporter(leftOut),
      ],
      globalSetup: ["test/package/packed-package.ts"],
      setupFiles: ["test/support/property-seed.ts"],
      // Tests wait for events; these bounds only say when to give up, and are far beyond what the slowest machine takes.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 30_000 } },
      pool: "forks",
      // Vitest leaves one processor out. Tests wait for other processes much of the time: with one worker a processor would idle.
      maxWorkers: Math.max(2, availableParallelism() - 1),
      // Thousands of tests write audit lines and listen without access control, and the reporter sums up what is missing.
      onConsoleLog: (log) => !/"msg":"(audit|listening without access control)"/.test(log) && !MISSING.test(log),
    },
  };
});
