import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";

const source = join(import.meta.dirname, "..", "..", "src");

/** All files of `src`, such as `loggers/level.ts`, without the built page. */
export const sourceFiles: readonly string[] = globSync("**/*.{ts,tsx}", { cwd: source })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !file.startsWith("dashboard/built/"));

/** What one file takes from elsewhere. */
export interface Import {
  /** `loggers/level.ts` for a file of `src`, `pino` for a library, `node:http` for Node's own. */
  readonly what: string;
  readonly typeOnly: boolean;
  /** It is loaded only when the code gets there. */
  readonly dynamic: boolean;
}

export function importsOf(file: string): Import[] {
  const code = sourceOf(file).replace(/^\s*(\/\*\*?|\*|\/\/).*$/gm, "");
  const statement =
    /^(?:import|export)\b(?<clause>[^"';]*?)\bfrom\s+"(?<from>[^"]+)"|^import\s+"(?<bare>[^"]+)"|\bimport\("(?<dynamic>[^"]+)"\)/gm;
  return [...code.matchAll(statement)].map(({ groups }) => ({
    what: resolve(file, (groups!.from ?? groups!.bare ?? groups!.dynamic)!),
    typeOnly: groups!.clause?.trimStart().startsWith("type ") ?? false,
    dynamic: groups!.dynamic !== undefined,
  }));
}

function resolve(file: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier);
  return isBuiltin(specifier) && !specifier.startsWith("node:") ? `node:${specifier}` : specifier;
}

export function sourceOf(file: string): string {
  return readFileSync(join(source, file), "utf8");
}
