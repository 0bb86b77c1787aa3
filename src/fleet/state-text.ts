import { ActuatorError } from "../common/error.ts";
import { checkRequest } from "../loggers/change-request.ts";
import { LEVELS, type Level } from "../loggers/level.ts";
import { loggerName } from "../loggers/name.ts";
import { type CanaryGoal, type FleetEntry, type FleetState, keyOf, type Slot } from "./entry.ts";
import { isGeneration, isTime } from "./numbers.ts";
import { selectorOf } from "./selector.ts";

/** In UTF-16 code units. No fleet writes as much, and to read more would hold up the application. */
const MAX_LENGTH = 1024 * 1024;
/** Of callers and instances. A header of HTTP, which may name the caller, is no longer. */
const MAX_NAME = 16_384;

/** A state as engines carry it. */
export function textOf({ generation, reset, entries }: FleetState): string {
  return JSON.stringify({ format: 1, generation, ...(reset > 0 && { reset }), entries: [...entries.values()] });
}

/**
 * Reads {@link textOf}; an empty text is an empty state.
 *
 * @throws ActuatorError UNAVAILABLE for a text that was not written by a fleet, or in a later format.
 */
export function stateOf(text: string): FleetState {
  if (text === "") return { generation: 0, reset: 0, entries: new Map() };
  let read: Record<string, unknown> | null;
  try {
    read = text.length > MAX_LENGTH ? null : JSON.parse(text);
  } catch {
    read = null;
  }
  const { format, generation, reset = 0, entries: listed } = read ?? {};
  if (format !== 1 || !isGeneration(generation) || !isGeneration(reset) || !Array.isArray(listed)) {
    throw typeof format === "number" && format > 1 ? later() : foreign();
  }
  const entries = listed.map(entryFrom);
  if (!entries.every((entry) => entry !== undefined)) throw foreign();
  return { generation, reset, entries: new Map(entries.map((entry) => [keyOf(entry), entry])) };
}

function later(): ActuatorError {
  return unreadable("The fleet's levels were written by a later release; update this one.");
}

function foreign(): ActuatorError {
  return unreadable(
    "What the engine has for this fleet was not written by connect-actuator; give the fleet another name.",
  );
}

function unreadable(message: string): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "FLEET_DOCUMENT_UNREADABLE", message);
}

/** Takes over what an entry has, and nothing else; undefined if it does not fit. */
function entryFrom(value: unknown): FleetEntry | undefined {
  const {
    name,
    selector,
    slot,
    level,
    generation,
    setTime,
    expireTime,
    actor,
    reason,
    instance,
    restores,
    reach,
    canary,
  } = (value ?? {}) as Record<string, unknown>;
  const goal = canary === undefined ? undefined : goalFrom(canary);
  const isFit =
    isName(name) &&
    isSelector(selector) &&
    isSlot(slot) &&
    isLevel(level) &&
    isGeneration(generation) &&
    isTime(setTime) &&
    (expireTime === undefined || isTime(expireTime)) &&
    isReason(reason) &&
    isShort(actor) &&
    isShort(instance) &&
    (reach === undefined || (Array.isArray(reach) && reach.every(isShort))) &&
    (canary === undefined || goal !== undefined);
  if (!isFit) return undefined;
  return {
    ...{ name, selector, slot, level, generation, setTime },
    ...(expireTime !== undefined && { expireTime }),
    ...{ actor, reason, instance },
    ...(restores === true && { restores }),
    ...(reach !== undefined && { reach }),
    ...(goal && { canary: goal }),
  };
}

function goalFrom(value: unknown): CanaryGoal | undefined {
  const { selector, ttlMs } = (value ?? {}) as Record<string, unknown>;
  if (!isSelector(selector)) return undefined;
  if (ttlMs === undefined) return { selector };
  return isTime(ttlMs) && ttlMs > 0 ? { selector, ttlMs } : undefined;
}

function isName(value: unknown): value is string {
  return isUnchanged(value, loggerName);
}

function isSelector(value: unknown): value is string {
  return isUnchanged(value, selectorOf);
}

/** Whether a text is as `normal` returns it. */
function isUnchanged(value: unknown, normal: (text: string) => string): value is string {
  try {
    return typeof value === "string" && normal(value) === value;
  } catch {
    return false;
  }
}

function isSlot(value: unknown): value is Slot {
  return typeof value === "string" && /^(lasting|temporary|lease:[\w-]{1,100})$/.test(value);
}

function isLevel(value: unknown): value is Level | null {
  return value === null || LEVELS.includes(value as Level);
}

function isReason(value: unknown): value is string {
  return isUnchanged(value, (reason) => {
    checkRequest({ reason }, 0);
    return reason;
  });
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME;
}
