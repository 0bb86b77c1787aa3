/**
 * Returns whether the tests that need `tool` can run here, for `describe.runIf(requirement("grpcurl", found))`.
 *
 * A missing tool is reported at the end of the run, so that its skipped tests are not taken for passed ones. With
 * `CONNECT_ACTUATOR_TEST_ALL=1`, which `.ci/run` sets, a missing tool is an error instead.
 */
export function requirement(tool: string, found: boolean): boolean {
  if (found) return true;
  if (process.env.CONNECT_ACTUATOR_TEST_ALL === "1") {
    throw new Error(`${tool} is missing, and CONNECT_ACTUATOR_TEST_ALL=1 asks for every test`);
  }
  console.warn(`missing: ${tool}`);
  return false;
}
