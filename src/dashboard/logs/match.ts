import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { LogRecord } from "../../gen/actuator/v3/logs_pb.ts";
import { textOf } from "./record.ts";

/** Which records a tail shows, as the server selects them. */
export interface Conditions {
  readonly names: readonly string[];
  readonly level?: Level | undefined;
  readonly contains?: string | undefined;
  readonly fields?: Readonly<Record<string, string>> | undefined;
}

/** Whether a record that is here already meets other conditions, too. */
export function meets(
  record: LogRecord,
  { names, level = 0, contains = "", fields = {} }: Conditions,
  groups: ReadonlyMap<string, { readonly members: readonly string[] }>,
): boolean {
  if (level !== 0 && record.level > level) return false;
  const selected = names.flatMap((name) => groups.get(name)?.members ?? [name]);
  if (names.length > 0 && !selected.some((name) => isNamed(record.logger, name))) return false;
  return hasText(record, contains.toLowerCase()) && hasFields(record, fields);
}

function isNamed(logger: string, name: string): boolean {
  return name.endsWith(".*") ? logger.startsWith(name.slice(0, -1)) : logger === name;
}

function hasText({ message, error, fieldsJson }: LogRecord, text: string): boolean {
  const parts = [message, fieldsJson, error?.type, error?.message, error?.stack];
  return text === "" || parts.some((part) => part?.toLowerCase().includes(text));
}

function hasFields({ fieldsJson }: LogRecord, wanted: Readonly<Record<string, string>>): boolean {
  const conditions = Object.entries(wanted);
  if (conditions.length === 0) return true;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(fieldsJson);
  } catch {
    return false;
  }
  return conditions.every(([path, value]) => {
    const found = Object.hasOwn(fields, path)
      ? fields[path]
      : path.split(".").reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], fields);
    return found !== undefined && textOf(found) === value;
  });
}
