import { ActuatorError } from "../common/error.ts";
import { isAtOrBelow } from "../loggers/name.ts";
import { isGrantedByName, type Permission } from "./permission.ts";

/** How a caller authenticated; `none` for an anonymous one. */
export type Authentication = "none" | "token" | "jwt" | "certificate" | "custom";

/** An authenticated or anonymous client. */
export interface Caller {
  /**
   * The caller's name in the history of levels and in the audit log: the name of a token, the subject of a JWT, the common name of a
   * certificate; for an anonymous caller its address.
   */
  readonly name: string;
  readonly authentication: Authentication;
  readonly permissions: ReadonlySet<Permission>;
  /** Names of loggers: the caller may see and change these and the loggers below them. Default: all. */
  readonly loggers?: readonly string[] | undefined;
}

/**
 * Requires one of the permissions, and returns the first that the caller has.
 *
 * @throws ActuatorError PERMISSION_DENIED that names them if the caller has none
 */
export function requirePermission({ permissions }: Caller, ...needs: readonly Permission[]): Permission {
  const held = needs.find((permission) => permissions.has(permission));
  if (held !== undefined) return held;
  const names = needs.join(", ");
  const message =
    needs.length === 1
      ? `The caller lacks the permission ${names}${isGrantedByName(needs[0]!) ? ', which is granted only by name: "*" does not include it' : ""}.`
      : `The caller needs one of the permissions ${names}, depending on the request.`;
  throw new ActuatorError("PERMISSION_DENIED", "PERMISSION_MISSING", message, { permission: names });
}

/**
 * Requires that the caller may see and change all these loggers.
 *
 * @param names every logger that the call affects: one, or the members of a group
 * @throws ActuatorError PERMISSION_DENIED
 */
export function requireLoggers({ loggers }: Caller, names: readonly string[]): void {
  if (isInReach(names, loggers)) return;
  const message = `The caller may see and change only loggers at and below ${loggers!.join(", ")}.`;
  throw new ActuatorError("PERMISSION_DENIED", "LOGGER_OUT_OF_REACH", message, { field: "name" });
}

/** Whether all these loggers are at or below those of a caller. */
export function isInReach(names: readonly string[], loggers: Caller["loggers"]): boolean {
  return loggers === undefined || names.every((name) => loggers.some((prefix) => isAtOrBelow(name, prefix)));
}
