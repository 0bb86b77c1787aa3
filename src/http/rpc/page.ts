import { createHash } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";

/** The limits of a page. */
export interface PageLimits {
  /** The maximum number of elements. */
  readonly size: number;
  /** The maximum number of bytes on the wire. */
  readonly bytes: number;
}

/**
 * Takes elements until a limit is reached, but at least one. `more` tells whether some are left.
 *
 * @param wireBytes at least as many bytes as the element takes on the wire
 */
export function takePage<T>(
  elements: Iterable<T>,
  limits: PageLimits,
  wireBytes: (element: T) => number,
): { readonly elements: readonly T[]; readonly more: boolean } {
  const taken: T[] = [];
  let bytes = 0;
  for (const element of elements) {
    bytes += wireBytes(element);
    if (taken.length > 0 && (taken.length >= limits.size || bytes > limits.bytes))
      return { elements: taken, more: true };
    taken.push(element);
  }
  return { elements: taken, more: false };
}

/**
 * Returns the page size that a request asks for: `whenUnset` for 0, and at most `max`.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative size
 */
export function pageSizeFrom(pageSize: number, whenUnset: number, max: number): number {
  if (pageSize < 0) {
    const message = `page_size must not be negative, such as ${pageSize}.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_PAGE_SIZE", message, { field: "page_size" });
  }
  return Math.min(pageSize === 0 ? whenUnset : pageSize, max);
}

/** At least as many bytes as a string field takes in protobuf: text, tag and length. */
export function stringWireBytes(text: string): number {
  return Buffer.byteLength(text) + 6;
}

/** The position at which a page ended: the sort key of its last element. */
export type PageKey = readonly (string | number)[];

/** The types of the parts of a key. */
export type PageKeyShape = readonly (keyof typeof CHECKS)[];

const CHECKS = {
  text: (part: unknown) => typeof part === "string",
  number: (part: unknown) => Number.isFinite(part),
  integer: (part: unknown) => Number.isSafeInteger(part),
} as const;

/**
 * Makes the token of the page after `key` in a list with these filters. It names a position in the order and not a number of elements, so
 * that it stays correct when elements are added or removed between two pages.
 */
export function pageTokenFrom(filters: PageKey, key: PageKey): string {
  return Buffer.from(JSON.stringify([digest(filters), ...key])).toString("base64url");
}

/**
 * Returns the key in a token, of this shape; undefined for the empty token, which requests the first page.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a token that is not from a list with these filters
 */
export function pageKeyFrom(filters: PageKey, token: string, shape: PageKeyShape): PageKey | undefined {
  if (token === "") return undefined;
  const [, ...key] = parse(token);
  const fits = key.length === shape.length && shape.every((kind, index) => CHECKS[kind](key[index]));
  // Compared with a newly made token, so that only tokens of pageTokenFrom with these filters pass.
  if (fits && pageTokenFrom(filters, key) === token) return key;
  const message = "page_token is not from a list with these filters. Begin again without a token.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", message, { field: "page_token" });
}

function parse(token: string): (string | number)[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function digest(filters: PageKey): string {
  return createHash("sha256").update(JSON.stringify(filters)).digest("base64url").slice(0, 12);
}
