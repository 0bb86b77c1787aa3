import type { SessionRecord } from "../../../sessions/principal.ts";
import { attributeNames, maxInactiveInterval } from "../../kit/connect-session/record.ts";

const HIDDEN = ["_expire", "_maxAge", "_session"];

/** Milliseconds of inactivity until the session expires; undefined: its cookie lives as long as the browser. */
function koaMaxAge({ _maxAge }: SessionRecord): number | undefined {
  return finite(_maxAge);
}

/** When the session expires, in milliseconds since the epoch; Infinity: never. */
export function koaExpiryTime({ _expire }: SessionRecord): number {
  return finite(_expire) ?? Number.POSITIVE_INFINITY;
}

/** When the session was last saved; undefined: it does not say. */
export function koaSavedTime(record: SessionRecord): number | undefined {
  const age = koaMaxAge(record);
  const expires = finite(record._expire);
  return age === undefined || expires === undefined ? undefined : expires - age;
}

/** What a record of koa-session says of itself. */
export function koaFields(record: SessionRecord) {
  return {
    attributeNames: attributeNames(record, HIDDEN),
    maxInactiveInterval: maxInactiveInterval(koaMaxAge(record)),
    expired: koaExpiryTime(record) < Date.now(),
  };
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
