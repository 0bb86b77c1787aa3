/** Where a file stands below the innermost `node_modules`: `pino/pino.js`; undefined if it stands below none. */
export function placeInPackages(path: string): string | undefined {
  const at = path.lastIndexOf("node_modules");
  return at < 0 ? undefined : path.slice(at + "node_modules".length + 1).replaceAll("\\", "/");
}
