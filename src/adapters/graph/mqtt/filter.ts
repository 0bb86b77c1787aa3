/** A subscription as the library is asked for it, apart from the group of clients that share it. */
export interface Filter {
  readonly filter: string;
  readonly group: string | undefined;
}

export function filterOf(subscription: string): Filter {
  const [, group, filter] = /^\$share\/([^/]+)\/(.+)$/s.exec(subscription) ?? [];
  return filter === undefined ? { filter: subscription, group: undefined } : { filter, group };
}

export function hasWildcard(filter: string): boolean {
  return filter === "#" || filter.endsWith("/#") || filter.split("/").includes("+");
}

/** Whether a topic is one of those that a filter stands for (MQTT 5, section 4.7). */
export function matches(filter: string, topic: string): boolean {
  if (filter === topic) return true;
  // Topics of the broker's own are for those who ask for them.
  if (topic.startsWith("$") && /^[+#]/.test(filter)) return false;
  const [wanted, given] = [filter.split("/"), topic.split("/")];
  if (wanted.at(-1) === "#") {
    // "a/#" stands for "a" too.
    return given.length >= wanted.length - 1 && fits(wanted.slice(0, -1), given);
  }
  return wanted.length === given.length && fits(wanted, given);
}

function fits(wanted: readonly string[], given: readonly string[]): boolean {
  return wanted.every((level, index) => level === "+" || level === given[index]);
}
