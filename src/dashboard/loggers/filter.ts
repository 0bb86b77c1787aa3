import { dotted } from "../../loggers/name.ts";

/** A part of the filter: text that a name contains, a glob, or either with `!` before it, which excludes. */
export interface Term {
  readonly text: string;
  readonly isExcluding: boolean;
  readonly isGlob: boolean;
}

/** Which names a filter keeps. */
export interface NameFilter {
  readonly terms: readonly Term[];
  matches(key: string): boolean;
  /** The range of a name that the filter names literally, for marking; undefined: none. */
  markOf(key: string): readonly [from: number, to: number] | undefined;
}

/** The terms of a filter, which spaces or commas separate. */
export function termsOf(filter: string): Term[] {
  return filter
    .split(/[\s,]+/)
    .filter((text) => text !== "" && text !== "!")
    .map((text) => ({ text, isExcluding: text.startsWith("!"), isGlob: text.includes("*") }));
}

/**
 * A name passes if it matches one of the globs (if there are any), contains every plain text, and matches nothing that is excluded.
 * Case does not matter. `*` is one part of a name; `*` first or last stands for any number of parts, as in groups; `**` for any text,
 * and `a.**` includes `a` itself.
 */
export function nameFilter(filter: string): NameFilter | undefined {
  const terms = termsOf(filter);
  if (terms.length === 0) return undefined;
  const tests = terms.map((term) => ({ ...term, test: testOf(term) }));
  const globs = tests.filter(({ isExcluding, isGlob }) => isGlob && !isExcluding);
  const texts = tests.filter(({ isExcluding, isGlob }) => !isGlob && !isExcluding);
  const excluded = tests.filter(({ isExcluding }) => isExcluding);
  const literals = [...texts, ...globs].map(({ text, isGlob }) => ({
    literal: clean(isGlob ? text.slice(0, text.indexOf("*")).replace(/[.:/]$/, "") : text),
    isPrefix: isGlob,
  }));
  return {
    terms,
    matches(key) {
      const name = key.toLowerCase();
      return (
        (globs.length === 0 || globs.some(({ test }) => test(name))) &&
        texts.every(({ test }) => test(name)) &&
        !excluded.some(({ test }) => test(name))
      );
    },
    markOf(key) {
      const name = key.toLowerCase();
      for (const { literal, isPrefix } of literals) {
        if (literal === "") continue;
        // The names above are marked, too: they are the way there.
        if (isPrefix && (literal.startsWith(`${name}.`) || literal === name)) return [0, key.length];
        const at = isPrefix ? -1 : name.lastIndexOf(literal);
        if (at !== -1) return [at, at + literal.length];
      }
      return undefined;
    },
  };
}

function testOf({ text, isExcluding, isGlob }: Term): (name: string) => boolean {
  const wanted = clean(isExcluding ? text.slice(1) : text);
  if (!isGlob) return (name) => name.includes(wanted);
  const expression = expressionOf(wanted);
  return (name) => expression.test(name);
}

function expressionOf(glob: string): RegExp {
  const isBranch = glob.endsWith(".**");
  const start = isBranch ? glob.slice(0, -3) : glob;
  const pattern = start.replace(/\*+|[^*]+/g, (piece, at: number) => {
    if (!piece.startsWith("*")) return piece.replace(/[\\^$+?()[\]{}|.]/g, "\\$&");
    return piece.length > 1 || at === 0 || at + piece.length === start.length ? ".*" : "[^.]*";
  });
  return new RegExp(`^${pattern}${isBranch ? "(\\..*)?" : ""}$`, "s");
}

function clean(text: string): string {
  return dotted(text).toLowerCase();
}

/** The name that is most like the text: for a filter that matches nothing. */
export function closestName(text: string, names: Iterable<string>): string | undefined {
  const wanted = clean(text.replace(/^!|\*+/g, "")).replace(/^\.+|\.+$/g, "");
  if (wanted === "") return undefined;
  const parts = new Set(pairsOf(wanted));
  let best: { readonly name: string; readonly likeness: number } | undefined;
  for (const name of names) {
    if (name.length > 4 * wanted.length + 16) continue;
    const pairs = pairsOf(clean(name));
    const shared = pairs.filter((pair) => parts.has(pair)).length;
    const likeness = (2 * shared) / (pairs.length + parts.size);
    if (likeness > (best?.likeness ?? 0.3)) best = { name, likeness };
  }
  return best?.name;
}

function pairsOf(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));
}
