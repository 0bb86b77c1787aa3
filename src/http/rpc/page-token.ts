import { createHash } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";

/** Where in an order a page ended: the key of its last element. */
export type PageKey = readonly (string | number)[];

/** What the parts of a key are. */
export type PageKeyShape = readonly (keyof typeof CHECKS)[];

const CHECKS = {
  text: (part: unknown) => typeof part === "string",
  number: (part: unknown) => Number.isFinite(part),
  integer: (part: unknown) => Number.isSafeInteger(part),
} as const;

/**
 * The token of the page that follows `key` in a list of these filters. It names a place in the order and not a number of
 * elements, so that it stays right when elements come and go between two pages.
 */
export function pageTokenFrom(filters: PageKey, key: PageKey): string {
  return Buffer.from(JSON.stringify([digest(filters), ...key])).toString("base64url");
}

/**
 * The key in a token, of this shape; undefined for the empty token, which asks for the first page.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a token that no list of these filters gave out.
 */
export function pageKeyFrom(filters: PageKey, token: string, shape: PageKeyShape): PageKey | undefined {
  if (token === "") return undefined;
  const [, ...key] = parse(token);
  const fits = key.length === shape.length && shape.every((kind, index) => CHECKS[kind](key[index]));
  // Written again, so that nothing passes but what pageTokenFrom writes for these filters.
  if (fits && pageTokenFrom(filters, key) === token) return key;
  const message = "The page token is not one of a list with these filters. Begin again without a token.";
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
