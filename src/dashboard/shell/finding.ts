/** Names of which parts begin with the text come before names that only contain it, short ones first. */
export function bestNames(names: Iterable<string>, text: string, max: number): string[] {
  const wanted = text.toLowerCase();
  const best: { readonly name: string; readonly rank: number }[] = [];
  for (const name of names) {
    const rank = rankOf(name.toLowerCase(), wanted);
    if (rank === undefined) continue;
    if (best.length === max && compare(best[max - 1]!, { name, rank }) <= 0) continue;
    const at = best.findIndex((each) => compare({ name, rank }, each) < 0);
    best.splice(at === -1 ? best.length : at, 0, { name, rank });
    if (best.length > max) best.pop();
  }
  return best.map(({ name }) => name);
}

function compare(a: { name: string; rank: number }, b: { name: string; rank: number }): number {
  return a.rank - b.rank || a.name.length - b.name.length || (a.name < b.name ? -1 : 1);
}

const WORD = /[\p{L}\p{N}]/u;

/** 0: the name itself, 1: a part begins with it, 2: it is somewhere within; undefined: it is not. */
function rankOf(name: string, wanted: string): number | undefined {
  if (name === wanted) return 0;
  let isFound = false;
  for (let at = name.indexOf(wanted); at !== -1; at = name.indexOf(wanted, at + 1)) {
    if (at === 0 || !WORD.test(name[at - 1]!)) return 1;
    isFound = true;
  }
  return isFound ? 2 : undefined;
}
