/** Registered, so that another copy of the package sees it too. */
const OWN = Symbol.for("connect-actuator.own-client");

/** Marks a client as one of this package, not of the application: `connect-actuator/auto` does not show it. Returns the client. */
export function markOwnClient<T extends object>(client: T): T {
  return Object.defineProperty(client, OWN, { value: true });
}

/** Whether a client is marked. */
export function isOwnClient(client: object): boolean {
  return Reflect.get(client, OWN) === true;
}
