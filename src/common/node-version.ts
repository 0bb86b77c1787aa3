import { ActuatorError } from "./error.ts";

const OLDEST = [22, 12] as const;

/**
 * Refuses to run where something would soon be missing: npm only warns of `engines` while it installs.
 *
 * @throws ActuatorError FAILED_PRECONDITION for a Node.js older than that of `engines`.
 */
export function requireNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  const message = `connect-actuator needs Node.js ${OLDEST.join(".")} or newer, and this is ${version}`;
  throw new ActuatorError("FAILED_PRECONDITION", "NODE_TOO_OLD", message);
}
