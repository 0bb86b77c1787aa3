import { accessSync, constants } from "node:fs";
import type { Shown } from "./effective.ts";
import type { Fault } from "./fault.ts";
import { SCHEMA } from "./notes/root.ts";
import { settingsOf } from "./schema.ts";
import { nameOf } from "./setting.ts";

const TO_BE_READ: ReadonlySet<string> = new Set(
  settingsOf(SCHEMA)
    .filter(({ path }) => path === "read")
    .map(nameOf),
);

/** The files that settings name and that cannot be read here: tokens, keys and certificates without which nothing would start. */
export function fileFaults(settings: readonly Shown[]): Fault[] {
  return settings.flatMap(({ setting, value, from }) => {
    // Addresses, and what stands in the place of a path, are no files.
    const isPath = TO_BE_READ.has(setting) && typeof value === "string" && !/^[a-z][\w+.-]*:\/\/|^</i.test(value);
    const code = isPath ? failureOf(value) : undefined;
    if (code === undefined) return [];
    const what = code === "ENOENT" ? "there is no file" : `cannot read (${code}) the file`;
    return [{ at: from, message: `${setting}: ${what} ${value}`, setting }];
  });
}

function failureOf(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}
