import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    // What is waited for is an event, and these only say when to give up: far beyond what the slowest machine takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    // Vitest leaves one processor out. Much of the time is spent waiting for other processes: on two processors one worker idles.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // The audit's lines of JSON, one for each write of thousands of tests.
    onConsoleLog: (log) => !log.includes('"msg":"audit"'),
  },
});
