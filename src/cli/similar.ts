/** How many letters may differ; a third of the word at most. */
const MOST = 3;

/** The candidates that are most like a mistyped word, at most three; none where none is like it. */
export function similar(word: string, candidates: Iterable<string>): readonly string[] {
  const asked = word.toLowerCase();
  const limit = Math.min(MOST, Math.ceil(asked.length / 3));
  const found = [...candidates]
    .map((candidate) => ({ candidate, distance: editDistance(asked, candidate.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit);
  const best = Math.min(...found.map(({ distance }) => distance));
  return found
    .filter(({ distance }) => distance === best)
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

/** Insertions, deletions and replacements from one word to the other (Levenshtein); over `limit` it may stop counting. */
function editDistance(from: string, to: string, limit: number): number {
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
