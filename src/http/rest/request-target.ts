/** What a request asks for, as it came: nothing is decoded. */
export interface RequestTarget {
  readonly path: string;
  /** What follows the `?`; empty where nothing does. */
  readonly query: string;
  /** Where the target is absolute (`GET http://host/path`), its host and port. */
  readonly authority: string | undefined;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Takes a request target apart (RFC 9112 section 3.2). */
export function parseRequestTarget(url: string): RequestTarget {
  const absolute = url.startsWith("/") ? null : ABSOLUTE.exec(url);
  const from = absolute === null ? 0 : absolute[0].length;
  const mark = url.indexOf("?", from);
  return {
    path: mark < 0 ? url.slice(from) : url.slice(from, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    authority: absolute?.[1],
  };
}

/** Whether a target has only what a URI can have. A fragment never belongs into a request. */
export function isWellFormedTarget(url: string): boolean {
  return !/[^!-~]|#/.test(url);
}

/** What of a path stands below the base path: empty for the base path itself, undefined outside it. */
export function pathBelow(basePath: string, path: string): string | undefined {
  if (!path.startsWith(basePath)) return undefined;
  const next = path[basePath.length];
  return next === undefined || next === "/" ? path.slice(basePath.length) : undefined;
}
