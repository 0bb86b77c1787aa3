import { dotted, ROOT } from "../loggers/name.ts";

/** Selects loggers by their names. */
export interface NameFilter {
  /** The common beginning of all names that pass, so that the server can leave out others; may be empty. */
  readonly prefix: string;
  passes(name: string): boolean;
}

/**
 * Creates a filter from the arguments of a command line. A name passes if it passes one of them, or if there are none.
 *
 * An argument with `*` or `?` is a pattern of the full name: `*` matches anything but a dot, `**` anything, `?` one character
 * that is not a dot. Any other argument is the beginning of a name.
 */
export function nameFilter(filters: readonly string[]): NameFilter {
  const given = filters.map(serverName);
  const patterns = given.map(patternOf);
  return {
    prefix: given.map((filter) => filter.split(/[*?]/, 1)[0]!).reduce(commonPrefix, given[0] ?? ""),
    passes: (name) => patterns.length === 0 || patterns.some((pattern) => pattern.test(dotted(name))),
  };
}

/** A name as servers spell it: `:` and `/` separate like the dot, and the root logger is ROOT in upper or lower case. */
export function serverName(name: string): string {
  return /^root$/i.test(name) ? ROOT : dotted(name);
}

function patternOf(filter: string): RegExp {
  const parts = filter.split(/(\*\*+|\*|\?)/).map((part) => WILDCARDS.get(part.slice(0, 2)) ?? literally(part));
  return new RegExp(`^${parts.join("")}${/[*?]/.test(filter) ? "$" : ""}`, "su");
}

const WILDCARDS = new Map([
  ["**", ".*"],
  ["*", "[^.]*"],
  ["?", "[^.]"],
]);

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
