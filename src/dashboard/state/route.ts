import { signal } from "@preact/signals";

/** The screens. */
export type Page = "overview" | "loggers" | "logs" | "sessions" | "graph" | "fleet";

export const PAGES: readonly Page[] = ["overview", "loggers", "logs", "sessions", "graph", "fleet"];

/** What the address after `#` says: `#/loggers/shop.orders?filter=a`. Every state of a screen that is worth a link stands in it. */
export interface Route {
  readonly page: Page;
  /** What is selected: a logger's name, a user, a node's key; empty: nothing. */
  readonly subject: string;
  readonly params: URLSearchParams;
}

function parsed(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, ...rest] = path.split("/");
  let subject = "";
  try {
    subject = decodeURIComponent(rest.join("/"));
  } catch {
    // A mistyped link selects nothing.
  }
  return { page: PAGES.find((each) => each === page) ?? "overview", subject, params: new URLSearchParams(query) };
}

/** Where the page is. */
export const route = signal(parsed(location.hash));

addEventListener("hashchange", () => {
  route.value = parsed(location.hash);
});

/** The link to a place; parameters that are undefined or empty are left out. */
export function hrefOf(page: Page, subject = "", params: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${page}${subject === "" ? "" : `/${encodeURIComponent(subject)}`}${text === "" ? "" : `?${text}`}`;
}

/** Goes to a place, as a link does. */
export function go(page: Page, subject?: string, params?: Readonly<Record<string, string | undefined>>): void {
  location.hash = hrefOf(page, subject, params);
}

/** Changes the address without a new entry in the history of the browser, as while typing a filter. */
export function amend(subject: string, params: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(undefined, "", hrefOf(route.value.page, subject, params));
  route.value = parsed(location.hash);
}
