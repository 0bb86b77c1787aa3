import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "forks",
    // The audit's lines of JSON, one for each write of thousands of tests.
    onConsoleLog: (log) => !log.includes('"msg":"audit"'),
  },
});
