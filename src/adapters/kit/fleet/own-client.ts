/** Registered, so that another copy of the package sees it too. */
const OWN = Symbol.for("connect-actuator.own-client");

/**
 * Marks a client as one of this package, not of the application, or the options that it is made with: `connect-actuator/auto` does not
 * show it. Returns what is marked.
 */
export function markOwnClient<T extends object>(client: T): T {
  return Object.defineProperty(client, OWN, { value: true });
}

/** Whether a client, or options, are marked. */
export function isOwnClient(client: unknown): boolean {
  return (client as { readonly [OWN]?: unknown } | null | undefined)?.[OWN] === true;
}
