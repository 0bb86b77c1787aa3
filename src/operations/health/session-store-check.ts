import { randomUUID } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import type { HealthCheck } from "./health-options.ts";

/**
 * Whether the store of the sessions answers, for the check `sessions`: it is asked for one that nobody has, which costs it
 * one look and is no access to a session.
 */
export function sessionStoreCheck(store: { findById(id: string): Promise<unknown> }): HealthCheck {
  return async () => {
    try {
      await store.findById(randomUUID());
    } catch (error) {
      // It cannot look at all, which says nothing about whether it is there.
      if (error instanceof ActuatorError && error.code === "UNIMPLEMENTED") return "UNKNOWN";
      throw error;
    }
    return "UP";
  };
}
