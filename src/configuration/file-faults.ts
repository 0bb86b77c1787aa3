import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Shown } from "./effective.ts";
import type { Fault } from "./fault.ts";
import { SCHEMA } from "./notes/root.ts";
import { settingsOf } from "./schema.ts";
import { nameOf, type Setting } from "./setting.ts";

const PATHS: ReadonlyMap<string, Setting["path"]> = new Map(
  settingsOf(SCHEMA).map((setting) => [nameOf(setting), setting.path]),
);

/**
 * The files that settings name and that cannot be read here, such as tokens, keys and certificates, and those that are written
 * and whose folder is not there: nothing makes a folder.
 */
export function fileFaults(settings: readonly Shown[]): Fault[] {
  return settings.flatMap(({ setting, value, from }) => {
    const path = PATHS.get(setting);
    // Addresses, and what stands in the place of a path, are no files.
    if (path === undefined || typeof value !== "string" || /^[a-z][\w+.-]*:\/\/|^</i.test(value)) return [];
    const what = path === "read" ? unreadable(value) : withoutFolder(value);
    return what === undefined ? [] : [{ at: from, message: `${setting}: ${what}`, setting }];
  });
}

function unreadable(path: string): string | undefined {
  const code = failureOf(path, constants.R_OK);
  if (code === undefined) return undefined;
  return code === "ENOENT" ? `there is no file ${path}` : `cannot read (${code}) the file ${path}`;
}

function withoutFolder(path: string): string | undefined {
  const folder = dirname(path);
  return failureOf(folder, constants.F_OK) === undefined ? undefined : `there is no folder ${folder}`;
}

function failureOf(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}
