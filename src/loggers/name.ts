import { ActuatorError } from "../common/error.ts";

/** The name of the root logger. */
export const ROOT = "ROOT";

/** Counted in UTF-8. */
const MAX_NAME_BYTES = 512;

/**
 * Returns the name of a logger as the tree spells it. Names are case-sensitive and separated by dots; `:` and `/` become dots, so
 * that one tree holds the names of every library. ROOT, in any case, is the root logger.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an empty name, one over 512 bytes, a control character or a lone surrogate.
 */
export function loggerName(text: string): string {
  const fault = nameFault(text);
  if (fault !== undefined) throw new ActuatorError("INVALID_ARGUMENT", "INVALID_NAME", fault, { field: "name" });
  return isRoot(text) ? ROOT : dotted(text);
}

/** A name, or the beginning of one, with dots as its only separators. */
export function dotted(text: string): string {
  return /[:/]/.test(text) ? text.replace(/[:/]/g, ".") : text;
}

/** Whether a name is this ancestor or below it, whatever separates their parts: `ordersarchive` is not below `orders`. */
export function isAtOrBelow(name: string, ancestor: string): boolean {
  const [key, above] = [dotted(name), dotted(ancestor)];
  return key === above || key.startsWith(`${above}.`);
}

/** Whether a name begins with a prefix, whatever separates their parts. */
export function hasPrefix(name: string, prefix: string): boolean {
  return prefix === "" || dotted(name).startsWith(dotted(prefix));
}

/** The name of the nearest ancestor: the part before the last dot, or ROOT. */
export function parentName(name: string): string {
  const dot = name.lastIndexOf(".");
  if (dot <= 0) return ROOT;
  const parent = name.slice(0, dot);
  return isRoot(parent) ? ROOT : parent;
}

function isRoot(name: string): boolean {
  return name.length === ROOT.length && name.toUpperCase() === ROOT;
}

function nameFault(text: string): string | undefined {
  if (text === "") return "The name is empty.";
  if (text.length > MAX_NAME_BYTES || Buffer.byteLength(text) > MAX_NAME_BYTES) {
    return `The name is longer than ${MAX_NAME_BYTES} bytes.`;
  }
  if (/\p{Cc}/u.test(text)) return "The name has a control character.";
  if (!text.isWellFormed()) return "The name is not well-formed Unicode.";
  return undefined;
}
