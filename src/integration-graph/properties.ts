import { invalidDeclaration } from "./invalid.ts";
import { isSecretKey, redact } from "./redact.ts";
import type { JsonValue } from "./snapshot.ts";

/** Properties of a node: a JSON object. */
export type Properties = { readonly [key: string]: JsonValue };

const MAX_DEPTH = 8;
const MAX_SIZE = 16_384;

/**
 * A frozen copy of `value`, fit to be shown: JSON values only, at most 8 levels deep and 16 Ki characters in all.
 * Members that are `undefined` are left out, as JSON does. Credentials in URLs are cut out, and text under a key such
 * as `password` or `token` becomes `***`, however deep it stands below that key.
 *
 * @throws ActuatorError INVALID_ARGUMENT that names the invalid place.
 */
export function checkedProperties(value: unknown): Properties {
  if (!isPlainObject(value)) throw invalidDeclaration("properties must be a plain object");
  const budget = { left: MAX_SIZE };
  return checkedObject(value, "properties", 1, budget);
}

function checkedValue(value: unknown, path: string, depth: number, budget: { left: number }): JsonValue {
  spend(budget, 1);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidDeclaration(`${path} must be a finite number`);
    return value;
  }
  if (typeof value === "string") {
    spend(budget, value.length);
    return redact(value.toWellFormed());
  }
  if (Array.isArray(value)) {
    checkDepth(path, depth);
    return Object.freeze(value.map((item, index) => checkedValue(item, `${path}[${index}]`, depth + 1, budget)));
  }
  if (isPlainObject(value)) return checkedObject(value, path, depth, budget);
  throw invalidDeclaration(`${path} must be a JSON value`);
}

function checkedObject(value: object, path: string, depth: number, budget: { left: number }): Properties {
  checkDepth(path, depth);
  const entries: [string, JsonValue][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    spend(budget, key.length);
    const checked = checkedValue(member, `${path}.${key}`, depth + 1, budget);
    entries.push([key.toWellFormed(), isSecretKey(key) ? masked(checked) : checked]);
  }
  return Object.freeze(Object.fromEntries(entries));
}

function masked(value: JsonValue): JsonValue {
  if (typeof value === "string") return "***";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(masked));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member)])));
}

function checkDepth(path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalidDeclaration(`${path} is nested deeper than ${MAX_DEPTH} levels`);
}

function spend(budget: { left: number }, size: number): void {
  budget.left -= size;
  if (budget.left < 0) throw invalidDeclaration(`properties must not be larger than ${MAX_SIZE} characters`);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
