/** Which loggers are asked for, by their names. */
export interface NameFilter {
  /** What every name that passes begins with, as far as that is known: the server leaves out the rest. */
  readonly prefix: string;
  passes(name: string): boolean;
}

/**
 * Reads the filters of a command line; a name passes where it passes one of them, and without any every name does.
 *
 * A filter with `*` or `?` is a pattern of the whole name: `*` is anything but a dot, `**` anything, `?` one character but
 * a dot. Any other is what a name begins with.
 */
export function nameFilter(filters: readonly string[]): NameFilter {
  const asked = filters.map(asServerNames);
  const patterns = asked.map(patternOf);
  return {
    prefix: asked.map((filter) => filter.split(/[*?]/, 1)[0]!).reduce(commonPrefix, asked[0] ?? ""),
    passes: (name) => patterns.length === 0 || patterns.some((pattern) => pattern.test(name)),
  };
}

/** `:` and `/` separate as the dot does, and the root logger is ROOT in any case. */
function asServerNames(filter: string): string {
  return /^root$/i.test(filter) ? "ROOT" : filter.replace(/[:/]/g, ".");
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
