/**
 * What a caller may be allowed to do. `sessions:read` is to look for the sessions of a user one knows; `sessions:list` is to
 * see everybody who is logged in. Health, as a bare status, needs none.
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
] as const;

/** One of {@link PERMISSIONS}. */
export type Permission = (typeof PERMISSIONS)[number];

const WRITES: ReadonlySet<Permission> = new Set(["loggers:write", "sessions:delete", "graph:write"]);

/** Whether what the permission allows changes anything. */
export function isWrite(permission: Permission): boolean {
  return WRITES.has(permission);
}
