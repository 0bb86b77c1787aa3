const MAX_FOUND = 4;
/** Shorter words, such as `in` or `to`, are in too many names. */
const MIN_WORD = 4;

/**
 * The loggers whose name has the name of a node in it, and else those that have a word of it, such as `shop.orders.stock` for `in-stock`:
 * what an operator might have guessed. The best come first.
 */
export function similarLoggers(node: string, loggers: Iterable<string>): readonly string[] {
  const words = wordsOf(node).filter(({ length }) => length >= MIN_WORD);
  const whole = wordsOf(node).join(" ");
  if (whole.length < 3) return [];
  const found: { readonly name: string; readonly score: number }[] = [];
  for (const name of loggers) {
    const parts = wordsOf(name);
    const isWhole = ` ${parts.join(" ")} `.includes(` ${whole} `);
    const shared = words.filter((word) => parts.includes(word)).length;
    const score = isWhole ? 100 : shared;
    if (score > 0) found.push({ name, score });
  }
  return found
    .sort((a, b) => b.score - a.score || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_FOUND)
    .map(({ name }) => name);
}

function wordsOf(text: string): string[] {
  return text
    .slice(0, 300)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}
