/** The index: every path that is served, under the name that monitoring servers look for. */
export function indexJson(base: string, paths: Iterable<string>): string {
  const links: Record<string, { href: string; templated: boolean }> = {};
  for (const path of paths) links[linkName(path)] = { href: base + path, templated: path.includes("{") };
  return JSON.stringify({ _links: links });
}

/** `self` for the base path, `loggers` for `/loggers`, `loggers-name` for `/loggers/{name}`. */
function linkName(path: string): string {
  return path === "" ? "self" : path.slice(1).replace(/\/\{(.*)\}/, "-$1");
}
