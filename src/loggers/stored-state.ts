import { isRecord } from "../common/record.ts";
import { LEVELS, type Level } from "./level.ts";
import { loggerName } from "./name.ts";
import type { Override } from "./setting.ts";

/** A level that an operator set, as it is stored. */
export interface StoredSetting {
  readonly level: Level;
  readonly override: Override;
}

/** The stored levels of one logger, group or prefix. */
export interface StoredLevel {
  readonly name: string;
  /** The permanent level. A logger with neither this nor `temporary` does not get the level of its prefix. */
  readonly lasting?: StoredSetting | undefined;
  /** The temporary level, which takes precedence. */
  readonly temporary?: StoredSetting | undefined;
  /** The temporary levels that come back when it ends, from the oldest to the latest. */
  readonly earlier?: readonly StoredSetting[] | undefined;
}

/** A state that was read, and what was left out of it. */
export interface DecodedState extends StoredState {
  /** What is wrong with each entry that cannot be read. */
  readonly unreadable: readonly string[];
}

/** All stored levels of an application. */
export interface StoredState {
  readonly loggers: readonly StoredLevel[];
  readonly groups: readonly StoredLevel[];
  /** The levels that new loggers below a name start with. The name has no wildcard. */
  readonly prefixes: readonly StoredLevel[];
}

/** The version of the format. */
const STATE_VERSION = 1;

/** The end of the year 9999, the maximum of a Protobuf timestamp. */
const MAX_TIME = 253_402_300_799_999;

/**
 * Formats a state as one line of JSON:
 *
 * ```json
 * {"version":1,"loggers":[{"name":"orders",
 *   "lasting":{"level":"WARN","override":{"setTime":1795253066000,"actor":"ann","reason":"","instance":"host:1"}},
 *   "temporary":{"level":"DEBUG","override":{"setTime":1795253066123,"expireTime":1795253666123,
 *     "actor":"ben","reason":"ticket 812","instance":"host:1"}}}],
 *  "groups":[],"prefixes":[]}
 * ```
 *
 * Times are milliseconds since the epoch. Unknown keys are ignored. A change in the meaning of a known key needs a new version.
 */
export function encodeState({ loggers, groups, prefixes }: StoredState): string {
  return `${JSON.stringify({ version: STATE_VERSION, loggers, groups, prefixes })}\n`;
}

/**
 * Reads what {@link encodeState} wrote. An entry that cannot be read is left out.
 *
 * @throws Error with what is wrong, for anything else.
 */
export function decodeState(bytes: Uint8Array): DecodedState {
  const { version, loggers, groups, prefixes } = objectIn(parsed(bytes), "the file");
  if (version !== STATE_VERSION) {
    if (Number.isInteger(version) && (version as number) > STATE_VERSION) {
      throw new Error(`it has version ${version}, and this release reads version ${STATE_VERSION}`);
    }
    throw new Error("it has no version");
  }
  const unreadable: string[] = [];
  return {
    loggers: levelsIn(loggers, "loggers", unreadable),
    groups: levelsIn(groups, "groups", unreadable),
    prefixes: levelsIn(prefixes, "prefixes", unreadable),
    unreadable,
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message would quote the content.
    throw new Error("it is not JSON");
  }
}

function levelsIn(value: unknown, key: string, unreadable: string[]): StoredLevel[] {
  if (!Array.isArray(value)) throw new Error(`"${key}" is not a list`);
  return value.flatMap((entry, index) => {
    try {
      return levelIn(entry, `"${key}" ${index}`);
    } catch (error) {
      unreadable.push((error as Error).message);
      return [];
    }
  });
}

function levelIn(entry: unknown, where: string): StoredLevel {
  const { name, lasting, temporary, earlier } = objectIn(entry, where);
  const stored = {
    name: nameIn(name, where),
    ...(lasting !== undefined && { lasting: settingIn(lasting, where) }),
    ...(temporary !== undefined && { temporary: temporaryIn(temporary, where) }),
    ...(Array.isArray(earlier) && { earlier: earlier.map((each) => temporaryIn(each, where)) }),
  };
  if (stored.lasting?.override.expireTime !== undefined) throw new Error(`${where} has a lasting level that ends`);
  return stored;
}

function temporaryIn(value: unknown, where: string): StoredSetting {
  const setting = settingIn(value, where);
  if (setting.override.expireTime === undefined) throw new Error(`${where} has a temporary level without end`);
  return setting;
}

function settingIn(value: unknown, where: string): StoredSetting {
  const { level, override } = objectIn(value, where);
  if (!LEVELS.includes(level as Level)) throw new Error(`${where} has an unknown level`);
  const { setTime, expireTime, actor, reason, instance } = objectIn(override, where);
  return {
    level: level as Level,
    override: {
      setTime: timeIn(setTime, where),
      expireTime: expireTime === undefined ? undefined : timeIn(expireTime, where),
      actor: textIn(actor, where),
      reason: textIn(reason, where),
      instance: textIn(instance, where),
    },
  };
}

function objectIn(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new Error(`${where} is not an object`);
}

function nameIn(value: unknown, where: string): string {
  try {
    return loggerName(textIn(value, where));
  } catch {
    throw new Error(`${where} has an invalid name`);
  }
}

function timeIn(value: unknown, where: string): number {
  if (Number.isFinite(value) && (value as number) >= 0 && (value as number) <= MAX_TIME) return value as number;
  throw new Error(`${where} has an invalid time`);
}

function textIn(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${where} lacks a string`);
}
