import { ActuatorError } from "../error.ts";

/** @throws ActuatorError INVALID_ARGUMENT where what was given as a store has not what every store has. */
export function requireStore(store: unknown, description: string): void {
  const methods = ["get", "set", "destroy"];
  const given = typeof store === "object" && store !== null ? (store as Readonly<Record<string, unknown>>) : {};
  if (methods.every((method) => typeof given[method] === "function")) return;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `store must be ${description}.`, { field: "store" });
}
