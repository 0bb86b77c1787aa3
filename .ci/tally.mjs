// node .ci/tally.mjs <vitest's JSON report> <vitest's exit code>: prints "<passed> <failed>".
// A skipped test counts as failed, and so does a file that fails before its first test, or an error outside of tests.
import { readFileSync } from "node:fs";

const [report, exitCode] = process.argv.slice(2);
const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
  readFileSync(report, "utf8"),
);

const brokenFiles = testResults.filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.every(({ status }) => status !== "failed"),
);
for (const { name, message } of brokenFiles) console.error(`broken: ${name}\n${message}`);
for (const { name, assertionResults } of testResults) {
  for (const { status, fullName } of assertionResults) {
    if (status !== "passed" && status !== "failed") console.error(`${status}: ${name}: ${fullName}`);
  }
}

const failed = numFailedTests + numPendingTests + numTodoTests + brokenFiles.length;
console.log(`${numPassedTests} ${failed === 0 && exitCode !== "0" ? 1 : failed}`);
