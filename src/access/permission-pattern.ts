import { shaped } from "../common/options.ts";
import { PERMISSIONS, type Permission } from "./permission.ts";

/** What a permission is about: the word before its colon. */
type Subject<P extends Permission = Permission> = P extends `${infer Name}:${string}` ? Name : never;

/** A permission, all of one subject such as `loggers:*`, or `*`, which is all there are. */
export type PermissionPattern = Permission | `${Subject}:*` | "*";

const SUBJECTS = [...new Set(PERMISSIONS.map((permission) => permission.split(":")[0] as Subject))];

const PERMISSIONS_OF = new Map<string, readonly Permission[]>([
  ...PERMISSIONS.map((permission): [string, Permission[]] => [permission, [permission]]),
  ...SUBJECTS.map((name): [string, Permission[]] => [
    `${name}:*`,
    PERMISSIONS.filter((each) => each.startsWith(`${name}:`)),
  ]),
  ["*", PERMISSIONS],
]);

/** Everything that can be written where permissions are given. */
export const PERMISSION_PATTERNS = [...PERMISSIONS_OF.keys()] as readonly PermissionPattern[];

/** Whether a text can be written where permissions are given. */
export const permissionPattern = shaped({ kind: "text" }, (value) =>
  PERMISSIONS_OF.has(value as string) ? undefined : `must be one of ${PERMISSION_PATTERNS.join(", ")}`,
);

/** All that the patterns allow together. What is no pattern allows nothing. */
export function permissionsFrom(patterns: Iterable<string>): ReadonlySet<Permission> {
  return new Set([...patterns].flatMap((pattern) => PERMISSIONS_OF.get(pattern) ?? []));
}
