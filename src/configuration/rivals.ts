import type { Entry } from "./entry.ts";
import { nameOf } from "./setting.ts";
import type { Tree } from "./tree.ts";

/** Two ways to say where to listen, of which an actuator takes one. */
const RIVALS: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["path"], ["port", "host"]],
  [
    ["port", "host"],
    ["path", "mode"],
  ],
];

/**
 * Takes out of the tree what a source replaces by another kind of address: a port of the environment wins over a socket of the
 * file. A source that says both is left to contradict itself.
 */
export function withoutRivals(tree: Tree, entries: readonly Entry[]): Tree {
  const said = new Set(entries.map(({ setting }) => nameOf(setting)));
  const says = (names: readonly string[]) => names.some((name) => said.has(`listen.${name}`));
  const listen = { ...(tree.listen as Tree | undefined) };
  for (const [names, rivals] of RIVALS) {
    if (says(names) && !says(rivals)) for (const rival of rivals) delete (listen as Record<string, unknown>)[rival];
  }
  return { ...tree, listen };
}
