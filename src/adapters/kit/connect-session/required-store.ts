import { ActuatorError } from "../../../common/error.ts";

/** @throws ActuatorError INVALID_ARGUMENT where what was given as the store of `library` has not what every store has. */
export function requireStore(store: unknown, library: string): void {
  const methods = ["get", "set", "destroy"];
  const given = typeof store === "object" && store !== null ? (store as Readonly<Record<string, unknown>>) : {};
  if (methods.every((method) => typeof given[method] === "function")) return;
  const message = `store must be the object with get, set and destroy that the application hands to ${library} as its store.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "store" });
}
