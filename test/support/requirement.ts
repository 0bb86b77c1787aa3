/**
 * Whether the tests that need `tool` can run here, for `describe.runIf(requirement("grpcurl", found))`.
 *
 * A missing tool is said aloud, so that nobody takes the skipped tests for passed ones. Where everything has to run
 * (`CONNECT_ACTUATOR_TEST_ALL=1`, as continuous integration sets it) a missing tool is an error instead.
 */
export function requirement(tool: string, found: boolean): boolean {
  if (found) return true;
  if (process.env.CONNECT_ACTUATOR_TEST_ALL === "1") {
    throw new Error(`${tool} is missing, and CONNECT_ACTUATOR_TEST_ALL=1 asks for every test`);
  }
  console.warn(`skipped: ${tool} is missing; its tests run where it is installed`);
  return false;
}
