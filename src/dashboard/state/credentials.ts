const KEY = "connect-actuator.authorization";

/** The value of the header `Authorization` that this tab uses: in memory, and in its session storage only if the operator wishes. */
let authorization: string | undefined = sessionStorage.getItem(KEY) ?? undefined;

export function currentAuthorization(): string | undefined {
  return authorization;
}

/** @param remember whether to keep it in the session storage, until the tab closes */
export function setAuthorization(value: string | undefined, remember: boolean): void {
  authorization = value;
  if (value !== undefined && remember) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}
