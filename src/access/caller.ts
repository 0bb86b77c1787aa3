import { ActuatorError } from "../common/error.ts";
import { loggerPrefixHolds } from "./logger-prefix.ts";
import type { Permission } from "./permission.ts";

/** How a caller said who they are. `none`: not at all, and nobody asked. */
export type Authentication = "none" | "token" | "jwt" | "certificate" | "custom";

/** Somebody who was let in. */
export interface Caller {
  /** What the history of levels and the audit call them: the name of a token, the subject of a JWT …; an address where nobody says who they are. */
  readonly name: string;
  readonly authentication: Authentication;
  readonly permissions: ReadonlySet<Permission>;
  /** Names of loggers; levels may be changed of these and of what is below them. Left out: of all. */
  readonly loggers?: readonly string[] | undefined;
}

/**
 * Refuses what the caller is not allowed to do.
 *
 * @throws ActuatorError PERMISSION_DENIED
 */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return;
  const message = `This needs the permission ${permission}, which the caller does not have.`;
  throw new ActuatorError("PERMISSION_DENIED", "PERMISSION_MISSING", message, { permission });
}

/**
 * Refuses a change of level that reaches beyond the loggers that the caller may change.
 *
 * @param names all that the change reaches: a logger, or the members of a group
 * @throws ActuatorError PERMISSION_DENIED
 */
export function requireLoggers({ loggers }: Caller, names: readonly string[]): void {
  if (loggers === undefined) return;
  if (names.every((name) => loggers.some((prefix) => loggerPrefixHolds(prefix, name)))) return;
  const message = `The caller may change only loggers at and below ${loggers.join(", ")}.`;
  throw new ActuatorError("PERMISSION_DENIED", "LOGGER_OUT_OF_REACH", message, { field: "name" });
}
