import { ActuatorError } from "../common/error.ts";
import type { StoreOptions } from "./serve-options.ts";

/**
 * Requires that the package for a session store is installed.
 *
 * @throws ActuatorError FAILED_PRECONDITION that says what to install
 */
export async function requireStorePackage({ redis }: StoreOptions): Promise<void> {
  const [field, name] = redis === undefined ? ["postgres", "pg"] : ["redis", "redis"];
  try {
    await (redis === undefined ? import("pg") : import("redis"));
  } catch (cause) {
    const message = `the session store needs the package ${name}, which is not installed beside connect-actuator: npm install ${name}`;
    const metadata = { package: name, field: `sessions.store.${field}` };
    throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, metadata, { cause });
  }
}
