/** Whether listeners to `pattern` hear of `event`: in it, `*` stands for one part of a name, and `**` for any number of them. */
export function matchesEvent(pattern: string, event: string, delimiter: string): boolean {
  return matches(pattern.split(delimiter), event.split(delimiter));
}

/** Whether a name stands for several events. */
export function isEventPattern(name: string, delimiter: string): boolean {
  return name.split(delimiter).some((part) => part === "*" || part === "**");
}

function matches(pattern: readonly string[], event: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return event.length === 0;
  if (first === "**") return event.some((_, at) => matches(rest, event.slice(at))) || matches(rest, []);
  return event.length > 0 && (first === "*" || first === event[0]) && matches(rest, event.slice(1));
}
