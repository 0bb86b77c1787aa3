/** What the loggers and groups of the application are called. */
export interface KnownNames {
  readonly isLoaded: boolean;
  readonly loggers: { has(name: string): boolean; keys(): Iterable<string> };
  readonly groups: { has(name: string): boolean; keys(): Iterable<string> };
}

/** Why a name selects no loggers, in words that say what to do; undefined if it may. */
export function nameFault(name: string): string | undefined {
  const plain = name.endsWith(".*") ? name.slice(0, -2) : name;
  if (!plain.includes("*")) return undefined;
  const prefix = plain.slice(0, plain.indexOf("*")).replace(/\.+$/, "");
  return prefix === ""
    ? "For all loggers, leave this empty."
    : `A star stands only at the end: write ${prefix}.* for what is below ${prefix}.`;
}

/** Whether a name selects none of the present loggers; it may select later ones. */
export function isUnknown(name: string, { isLoaded, loggers, groups }: KnownNames): boolean {
  if (!isLoaded) return false;
  if (!name.endsWith(".*")) return !loggers.has(name) && !groups.has(name);
  const below = name.slice(0, -1);
  for (const each of loggers.keys()) if (each.startsWith(below)) return false;
  return true;
}

/** Names that begin as the text does, first those in which the next part ends: branches as `shop.*`. */
export function suggestions(text: string, { loggers, groups }: KnownNames, max: number): readonly string[] {
  const found = new Set<string>();
  for (const name of groups.keys()) if (name.startsWith(text)) found.add(name);
  for (const name of loggers.keys()) {
    if (!name.startsWith(text)) continue;
    const dot = name.indexOf(".", text.length);
    found.add(dot < 0 ? name : `${name.slice(0, dot)}.*`);
  }
  return [...found].sort().slice(0, max);
}
