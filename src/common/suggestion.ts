/** The most edits between a mistyped word and a suggestion; for short words a third of their length. */
const MAX_EDITS = 3;
/** Longer lists of names are not repeated in a message. */
const MAX_LISTED = 25;

/**
 * The candidates that are most like a mistyped word, at most three, ignoring case; empty if none is like it.
 *
 * @param minEdits edits that are allowed however short the word is
 */
export function similar(word: string, candidates: Iterable<string>, minEdits = 0): readonly string[] {
  const asked = word.toLowerCase();
  const limit = Math.min(MAX_EDITS, Math.max(minEdits, Math.ceil(asked.length / 3)));
  const found = [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(asked, candidate.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit);
  const best = Math.min(...found.map(({ distance }) => distance));
  return found
    .filter(({ distance }) => distance === best)
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

/** The option that was probably meant by an unknown name: the most similar one, or else the shortest that shares the whole name. */
export function nearest(name: string, options: readonly string[]): string | undefined {
  const [best] = similar(name, options, 2);
  if (best !== undefined || name.length < 3) return best;
  const word = name.toLowerCase();
  const sharing = options.filter((option) => {
    const other = option.toLowerCase();
    return other.includes(word) || (other.length > 2 && word.includes(other));
  });
  return sharing.sort((a, b) => a.length - b.length)[0];
}

/**
 * The end of a message about an unknown name: `did you mean "maxConnections"?`, or the names that exist.
 *
 * @param what the names are, such as "options"
 */
export function didYouMean(name: string, options: readonly string[], what = "options"): string {
  const found = nearest(name, options);
  if (found !== undefined) return `did you mean "${found}"?`;
  const listed = options.length > MAX_LISTED ? [...options.slice(0, MAX_LISTED), "…"] : options;
  return `known ${what}: ${listed.join(", ")}`;
}

/** Insertions, deletions and replacements from one word to the other (Levenshtein); above `limit` it may stop counting. */
export function editDistance(from: string, to: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    if (Math.min(...next) > limit) return limit + 1;
    row = next;
  }
  return row[to.length]!;
}
