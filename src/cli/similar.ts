import { editDistance } from "../common/suggestion.ts";

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
