/** Why a server does not register, as the rest of a sentence that begins with its address. */
export function refusalOf(status: number, withCredentials: boolean): string {
  if (status >= 300 && status < 400)
    return `answers ${status}, a redirect, perhaps to log in; none is followed. ${ADDRESS}`;
  const hint = HINTS[status]?.(withCredentials);
  return hint === undefined ? `answers ${status}` : `answers ${status}: ${hint}`;
}

const ADDRESS = "Its own address, with its context path, belongs into `admin.url`";

const HINTS: Readonly<Record<number, (withCredentials: boolean) => string>> = {
  400: () =>
    "it does not take the registration; one that guards against requests into its own network (ssrf-protection) takes only addresses that it allows",
  401: (withCredentials) =>
    withCredentials
      ? "it does not know `admin.username` with `admin.password`"
      : "it asks who registers; give `admin.username` and `admin.password`",
  403: () => "it knows who registers and does not let them; its protection against CSRF has to leave /instances out",
  404: () => `it has no /instances. ${ADDRESS}`,
  405: () => `its /instances takes no registrations. ${ADDRESS}`,
};
