import { isRecord } from "../common/record.ts";
import { LEVELS, type Level } from "./level.ts";
import { loggerName } from "./name.ts";
import type { Override } from "./override.ts";

/** A level that somebody set, as it is stored. */
export interface StoredSetting {
  readonly level: Level;
  readonly override: Override;
}

/** What is stored of one logger, group or prefix. */
export interface StoredLevel {
  readonly name: string;
  /** What was set for good. Where there is neither this nor `temporary`, a logger has no part in what its prefix has. */
  readonly lasting?: StoredSetting | undefined;
  /** What was set for a time, above that. */
  readonly temporary?: StoredSetting | undefined;
}

/** Everything that is stored of the levels of an application. */
export interface StoredState {
  readonly loggers: readonly StoredLevel[];
  readonly groups: readonly StoredLevel[];
  /** What loggers that appear below a name begin with; by that name, without the wildcard. */
  readonly prefixes: readonly StoredLevel[];
}

/** The version of the format that {@link encodeState} writes. */
const STATE_VERSION = 1;

/** The end of the year 9999: what a timestamp of Protobuf can hold. */
const LATEST_TIME = 253_402_300_799_999;

/**
 * A state as one line of JSON:
 *
 * ```json
 * {"version":1,"loggers":[{"name":"orders",
 *   "lasting":{"level":"WARN","override":{"setTime":1795253066000,"actor":"ann","reason":"","instance":"host:1"}},
 *   "temporary":{"level":"DEBUG","override":{"setTime":1795253066123,"expireTime":1795253666123,
 *     "actor":"ben","reason":"ticket 812","instance":"host:1"}}}],
 *  "groups":[],"prefixes":[]}
 * ```
 *
 * Times are milliseconds since the epoch. Keys that a version does not know are ignored; whatever changes the meaning of the
 * others is a new version.
 */
export function encodeState({ loggers, groups, prefixes }: StoredState): string {
  return `${JSON.stringify({ version: STATE_VERSION, loggers, groups, prefixes })}\n`;
}

/**
 * Reads what {@link encodeState} wrote.
 *
 * @throws Error that says what is wrong, for anything else.
 */
export function decodeState(bytes: Uint8Array): StoredState {
  const { version, loggers, groups, prefixes } = objectIn(parsed(bytes), "the file");
  if (version !== STATE_VERSION) {
    if (Number.isInteger(version) && (version as number) > STATE_VERSION) {
      throw new Error(`it has version ${version}, and this release reads version ${STATE_VERSION}`);
    }
    throw new Error("it has no version");
  }
  return {
    loggers: levelsIn(loggers, "loggers"),
    groups: levelsIn(groups, "groups"),
    prefixes: levelsIn(prefixes, "prefixes"),
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the text.
    throw new Error("it is not JSON");
  }
}

function levelsIn(value: unknown, key: string): StoredLevel[] {
  if (!Array.isArray(value)) throw new Error(`"${key}" is not a list`);
  return value.map((entry, index) => {
    const where = `"${key}" ${index}`;
    const { name, lasting, temporary } = objectIn(entry, where);
    const stored = {
      name: nameIn(name, where),
      ...(lasting !== undefined && { lasting: settingIn(lasting, where) }),
      ...(temporary !== undefined && { temporary: settingIn(temporary, where) }),
    };
    if (stored.lasting?.override.expireTime !== undefined) throw new Error(`${where} has a lasting level that ends`);
    if (stored.temporary && stored.temporary.override.expireTime === undefined) {
      throw new Error(`${where} has a temporary level without end`);
    }
    return stored;
  });
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
    throw new Error(`${where} has an unfit name`);
  }
}

function timeIn(value: unknown, where: string): number {
  if (Number.isFinite(value) && (value as number) >= 0 && (value as number) <= LATEST_TIME) return value as number;
  throw new Error(`${where} has an unfit time`);
}

function textIn(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${where} lacks a text`);
}
