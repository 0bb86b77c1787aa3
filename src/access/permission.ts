import { shaped } from "../common/options.ts";

/**
 * The permissions that a caller can have. `sessions:read` finds the sessions of a user whose name the caller knows; `sessions:list` lists
 * the sessions of all users. `logs:read` reads what loggers write; it is in no default and not part of `*`. `fleet:join`, which is not
 * part of `*` either, is for the instances of a fleet that is kept here. The status of the health needs no permission.
 */
export const PERMISSIONS = [
  "loggers:read",
  "loggers:write",
  "sessions:read",
  "sessions:list",
  "sessions:delete",
  "graph:read",
  "graph:write",
  "info:read",
  "logs:read",
  "fleet:join",
] as const;

/** One of {@link PERMISSIONS}. */
export type Permission = (typeof PERMISSIONS)[number];

/**
 * Those that are granted only by name: records may contain personal data of the application's users, and an instance of a fleet can set
 * the levels of all others.
 */
const BY_NAME_ONLY: ReadonlySet<Permission> = new Set(["logs:read", "fleet:join"]);

/** What `*` grants. */
const ALL_PERMISSIONS: ReadonlySet<Permission> = new Set(
  PERMISSIONS.filter((permission) => !BY_NAME_ONLY.has(permission)),
);

/** What callers have if no access control is configured. */
export const OPEN_PERMISSIONS: ReadonlySet<Permission> = new Set([...ALL_PERMISSIONS, "fleet:join"]);

/** Whether `*` does not grant it. */
export function isGrantedByName(permission: Permission): boolean {
  return BY_NAME_ONLY.has(permission);
}

const WRITES: ReadonlySet<Permission> = new Set(["loggers:write", "sessions:delete", "graph:write"]);

/** Whether operations that need the permission change anything. */
export function isWrite(permission: Permission): boolean {
  return WRITES.has(permission);
}

/**
 * Whether a stream that needs the permission is recorded in the audit when it begins, too: what it changes, or shows of the
 * application's users.
 */
export function isRecordedAtBegin(permission: Permission): boolean {
  return isWrite(permission) || permission === "logs:read";
}

/** What a permission is about: the word before its colon. */
type Subject<P extends Permission = Permission> = P extends `${infer Name}:${string}` ? Name : never;

/** A permission, all permissions of a subject such as `loggers:*`, or `*` for all but `logs:read` and `fleet:join`. */
export type PermissionPattern = Permission | `${Exclude<Subject, "logs" | "fleet">}:*` | "*";

const SUBJECTS = [...new Set([...ALL_PERMISSIONS].map((permission) => permission.split(":")[0] as Subject))];

const PERMISSIONS_OF = new Map<string, readonly Permission[]>([
  ...PERMISSIONS.map((permission): [string, Permission[]] => [permission, [permission]]),
  ...SUBJECTS.map((name): [string, Permission[]] => [
    `${name}:*`,
    PERMISSIONS.filter((each) => each.startsWith(`${name}:`)),
  ]),
  ["*", [...ALL_PERMISSIONS]],
]);

/** All patterns that options, token files and the command line accept. */
export const PERMISSION_PATTERNS = [...PERMISSIONS_OF.keys()] as readonly PermissionPattern[];

/** Checks that an option is a {@link PermissionPattern}. */
export const permissionPattern = shaped({ kind: "text" }, (value) =>
  PERMISSIONS_OF.has(value as string) ? undefined : `must be one of ${PERMISSION_PATTERNS.join(", ")}`,
);

/** All permissions of these patterns together. Anything that is not a pattern grants nothing. */
export function permissionsFrom(patterns: Iterable<string>): ReadonlySet<Permission> {
  return new Set([...patterns].flatMap((pattern) => PERMISSIONS_OF.get(pattern) ?? []));
}
