import { types } from "node:util";

/** A copy of a value as plain JSON data: what the application changes later does not show in it. */
export interface Snapshot {
  readonly data: unknown;
  /** About how much memory it takes, in characters. */
  readonly size: number;
}

/** More than is shown of any record, so that what is shown is marked as cut. */
const MAX_SIZE = 128 * 1024;
/** Deeper than what is shown of any record. */
const MAX_DEPTH = 10;

/**
 * Copies what a record refers to, as `JSON.stringify` would write it, but errors with type, message, stack and cause, a BigInt as its
 * digits, and binary data as its length. Something in it that throws, repeats itself or is too large becomes a short text.
 *
 * @example
 * ```ts
 * const { data, size } = snapshotOf({ order: { id: 7n }, at: new Date() });
 * ```
 */
export function snapshotOf(value: unknown): Snapshot {
  const copying = new Copying();
  const data = copying.copy(value, "", 0);
  return { data, size: copying.size };
}

/**
 * Whether a value is an error, of this realm or another one.
 *
 * @example
 * ```ts
 * const error = ["failed", new TypeError("no card")].find(isError);
 * ```
 */
export function isError(value: unknown): value is Error {
  if (typeof value !== "object" || value === null) return false;
  // Most values are plain objects, and the question for other realms leaves JavaScript.
  return value instanceof Error || (Object.getPrototypeOf(value) !== Object.prototype && types.isNativeError(value));
}

class Copying {
  size = 0;
  /** The objects that contain the present one. */
  readonly #path: object[] = [];

  /** The copy; undefined for what JSON leaves out. */
  copy(value: unknown, key: string, depth: number): unknown {
    switch (typeof value) {
      case "string":
        this.size += value.length;
        return value;
      case "number":
        this.size += 8;
        return Number.isFinite(value) ? value : null;
      case "boolean":
        this.size += 8;
        return value;
      case "bigint":
        return this.copy(String(value), key, depth);
      case "object":
        return value === null ? null : this.#object(value, key, depth);
      default:
        return undefined;
    }
  }

  #object(object: object, key: string, depth: number): unknown {
    this.size += 16;
    if (this.size > MAX_SIZE || depth > MAX_DEPTH) return "[cut]";
    if (this.#path.includes(object)) return "[circular]";
    this.#path.push(object);
    try {
      if (isError(object)) return this.#error(object, depth);
      if (ArrayBuffer.isView(object)) return `[${object.byteLength} bytes]`;
      const { toJSON } = object as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return this.#converted(object, toJSON.call(object, key), depth);
      if (Array.isArray(object)) return this.#list(object, depth);
      return this.#fields(object, {}, depth);
    } catch {
      return "[cannot be read]";
    } finally {
      this.#path.pop();
    }
  }

  /** What a `toJSON` returned, whose own `toJSON` is not called again. */
  #converted(object: object, converted: unknown, depth: number): unknown {
    if (converted === object) return this.#fields(object, {}, depth);
    return this.copy(converted, "", depth + 1);
  }

  #error(error: Error, depth: number): unknown {
    const { name, message, stack, cause } = error;
    const shown = {
      type: this.copy(String(name), "", depth),
      message: this.copy(String(message), "", depth),
      ...(typeof stack === "string" && { stack: this.copy(stack, "", depth) }),
      ...(cause !== undefined && { cause: this.copy(cause, "cause", depth + 1) }),
    };
    return this.#fields(error, shown, depth);
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const each of list) {
      if (this.size > MAX_SIZE) break;
      this.size += 1;
      copy.push(this.copy(each, String(copy.length), depth + 1) ?? null);
    }
    return copy;
  }

  /** Adds the fields that `into` does not have yet. */
  #fields(object: object, into: Record<string, unknown>, depth: number): Record<string, unknown> {
    for (const key of Object.keys(object)) {
      if (this.size > MAX_SIZE) break;
      if (Object.hasOwn(into, key)) continue;
      const value = this.#field(object, key, depth);
      if (value === undefined) continue;
      this.size += key.length + 4;
      // Assigning it would change the prototype.
      if (key === "__proto__") Object.defineProperty(into, key, { value, enumerable: true });
      else into[key] = value;
    }
    return into;
  }

  #field(object: object, key: string, depth: number): unknown {
    let value: unknown;
    try {
      value = (object as Readonly<Record<string, unknown>>)[key];
    } catch {
      return "[cannot be read]";
    }
    return this.copy(value, key, depth + 1);
  }
}
