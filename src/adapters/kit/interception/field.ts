/**
 * A member of a value that may be an object; undefined if it is not.
 *
 * @example
 * ```ts
 * field(field(connection, "options"), "host");
 * ```
 */
export function field(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined;
}

/**
 * Whether a value has all of these methods.
 *
 * @example
 * ```ts
 * hasMethods(target, "send", "consume");
 * ```
 */
export function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  return isObject(value) && names.every((name) => typeof field(value, name) === "function");
}

/** Whether a value can have members: functions can, too. */
export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
